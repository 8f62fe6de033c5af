//! *Lockstep* and *chaos*: the flock of `examples/lockstep` and the bodies of `examples/chaos`, on a device of the page.

use js_sys::Float32Array;
use wasm_bindgen::prelude::*;
use zerostride::{Device, Expr};

use crate::js;

#[path = "../../examples/chaos/bodies.rs"]
mod bodies;
#[path = "../../examples/lockstep/flock.rs"]
mod flock;

/// A flock at a frame.
#[wasm_bindgen]
pub struct Flock {
    flock: flock::Flock,
    frame: usize,
}

impl Flock {
    pub(crate) fn new(device: &Device, boids: usize) -> Result<Flock, JsValue> {
        Ok(Flock { flock: flock::Flock::new(device, boids).map_err(js::thrown)?, frame: 0 })
    }
}

#[wasm_bindgen]
impl Flock {
    /// The flock a frame later. This one stays, so a page goes back by keeping it.
    ///
    /// # Errors
    /// Of the device.
    pub fn step(&self) -> Result<Flock, JsValue> {
        Ok(Flock { flock: self.flock.step(self.frame).map_err(js::thrown)?, frame: self.frame + 1 })
    }

    /// A number that depends on every bit.
    ///
    /// # Errors
    /// Of the device.
    pub async fn checksum(&self) -> Result<u32, JsValue> {
        let sum = self.flock.checksum().map_err(js::thrown)?;
        Ok(sum.to_vec_async().await.map_err(js::thrown)?[0])
    }

    /// The coordinates and the headings of all boids: three rows of numbers.
    ///
    /// # Errors
    /// Of the device.
    pub async fn places(&self) -> Result<Float32Array, JsValue> {
        let flock::Flock { x, y, heading } = &self.flock;
        floats(&Expr::stack([x.expr(), y.expr(), heading.expr()], 0)).await
    }
}

/// Systems of three bodies at a time.
#[wasm_bindgen]
pub struct Bodies(bodies::Bodies);

impl Bodies {
    pub(crate) fn new(device: &Device) -> Result<Bodies, JsValue> {
        bodies::Bodies::new(device).map(Bodies).map_err(js::thrown)
    }
}

#[wasm_bindgen]
impl Bodies {
    /// The systems a hundred steps later.
    ///
    /// # Errors
    /// Of the device.
    pub fn later(&self) -> Result<Bodies, JsValue> {
        self.0.later().map(Bodies).map_err(js::thrown)
    }

    /// All values, system by system within each: x and y of each body, then its speed along both.
    ///
    /// # Errors
    /// Of the device.
    pub async fn values(&self) -> Result<Float32Array, JsValue> {
        floats(&self.0.values().map_err(js::thrown)?).await
    }
}

/// What [`Bodies`] begin with, how many systems there are, and the same hundred steps in plain WGSL.
pub(crate) fn about() -> JsValue {
    js::object([
        ("first", Float32Array::from(&bodies::beginning()[..]).into()),
        ("systems", JsValue::from_f64(bodies::SYSTEMS as f64)),
        ("steps", JsValue::from_f64(bodies::LOOK as f64)),
        ("wgsl", include_str!("../../examples/chaos/plain.wgsl").into()),
    ])
}

async fn floats(x: &Expr<f32>) -> Result<Float32Array, JsValue> {
    let values = x.eval().map_err(js::thrown)?.to_vec_async().await.map_err(js::thrown)?;
    Ok(Float32Array::from(&values[..]))
}
