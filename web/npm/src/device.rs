//! Devices: the browser's adapter and the CPU path.

use wasm_bindgen::prelude::*;
use zerostride::{AnyExpr, Device, Key, Math};

use crate::error::{refused, thrown};
use crate::object::object;
use crate::operands::{constant, dtype_of};
use crate::tensor::CoreTensor;

/// A device that computes.
#[wasm_bindgen]
pub struct CoreDevice {
    device: Device,
    name: String,
}

impl CoreDevice {
    /// The device of the crate.
    pub fn device(&self) -> &Device {
        &self.device
    }

    fn made(&self, expr: AnyExpr) -> Result<CoreTensor, JsValue> {
        CoreTensor::new(&self.device, expr)
    }
}

fn shape(lengths: &[f64]) -> Vec<usize> {
    lengths.iter().map(|&length| length as usize).collect()
}

#[wasm_bindgen]
impl CoreDevice {
    /// The browser's adapter, or nothing if it has none. Call it only where there is `navigator.gpu`.
    ///
    /// # Errors
    /// When the browser refuses the adapter.
    #[wasm_bindgen(js_name = openWebGPU)]
    pub async fn open_webgpu() -> Result<Option<CoreDevice>, JsValue> {
        let all = Device::all_async().await;
        let Some(adapter) = all.iter().find(|adapter| adapter.backend == "webgpu") else { return Ok(None) };
        let device = adapter.open_async().await.map_err(thrown)?;
        Ok(Some(CoreDevice { device, name: adapter.name.clone() }))
    }

    /// The CPU path, on one thread.
    pub fn cpu() -> CoreDevice {
        CoreDevice { device: Device::cpu(), name: "CPU path".into() }
    }

    /// The adapter's name.
    #[wasm_bindgen(getter)]
    pub fn name(&self) -> String {
        self.name.clone()
    }

    /// The browser's `GPUDevice`, or undefined for the CPU path.
    #[wasm_bindgen(getter)]
    pub fn gpu(&self) -> JsValue {
        let device = self.device.wgpu();
        device.as_ref().and_then(|(device, _)| device.as_webgpu()).map_or(JsValue::UNDEFINED, JsValue::from)
    }

    /// Computes in a mode: `precise`, `fast` or `total`.
    ///
    /// # Errors
    /// For another name.
    #[wasm_bindgen(js_name = setMath)]
    pub fn set_math(&mut self, math: &str) -> Result<(), JsValue> {
        self.device.set_math(match math {
            "precise" => Math::Precise,
            "fast" => Math::Fast,
            "total" => Math::Total,
            _ => return Err(refused(format!("math '{math}': it is precise, fast or total"))),
        });
        Ok(())
    }

    /// Submits what is recorded.
    ///
    /// # Errors
    /// When the device is lost.
    pub fn flush(&self) -> Result<(), JsValue> {
        self.device.flush().map_err(thrown)
    }

    /// Waits until the device is done.
    ///
    /// # Errors
    /// Of work before.
    pub async fn synchronize(&self) -> Result<(), JsValue> {
        self.device.clone().synchronize_async().await.map_err(thrown)
    }

    /// Bytes of the device's memory: in use by tensors, idle, and created in all, and the number of compiled kernels.
    pub fn memory(&self) -> JsValue {
        let memory = self.device.memory();
        object([
            ("used", (memory.used as f64).into()),
            ("idle", (memory.idle as f64).into()),
            ("created", (memory.created as f64).into()),
            ("pipelines", (memory.pipelines as f64).into()),
        ])
    }

    /// Elements from bytes in row-major order.
    ///
    /// # Errors
    /// When their number is not the shape's, or there is no memory.
    pub fn upload(&self, bytes: &[u8], dtype: &str, lengths: &[f64]) -> Result<CoreTensor, JsValue> {
        let tensor = self.device.upload_bytes(bytes, dtype_of(dtype)?, shape(lengths)).map_err(thrown)?;
        self.made(tensor.into())
    }

    /// One value of a shape, by stride 0.
    ///
    /// # Errors
    /// When the type does not hold the value.
    pub fn full(&self, dtype: &str, lengths: &[f64], value: f64) -> Result<CoreTensor, JsValue> {
        let dtype = dtype_of(dtype)?;
        self.made(constant(dtype, value).broadcast_to(shape(lengths)))
    }

    /// A tensor of numbers that the kernel computes: `arange`, `linspace`, `eye`, `iota`, `uniform`, `normal`, `bits`.
    ///
    /// # Errors
    /// For another name, and those of the generator.
    pub fn generate(
        &self,
        name: &str,
        dtype: &str,
        numbers: &[f64],
        lengths: &[f64],
    ) -> Result<CoreTensor, JsValue> {
        let (dtype, lengths) = (dtype_of(dtype)?, shape(lengths));
        let key = |seed: f64| Key::new(seed as u64);
        self.made(match (name, numbers) {
            ("arange", &[start, end, step]) => AnyExpr::arange(dtype, start, end, step),
            ("linspace", &[start, end, count]) => AnyExpr::linspace(dtype, start, end, count as usize),
            ("eye", &[rows, columns]) => AnyExpr::eye(dtype, rows as usize, columns as usize),
            ("iota", &[axis]) => AnyExpr::iota(lengths, axis as isize).cast(dtype),
            ("uniform", &[seed]) => AnyExpr::uniform(dtype, lengths, key(seed)),
            ("normal", &[seed]) => AnyExpr::from(zerostride::Expr::normal(lengths, key(seed))).cast(dtype),
            ("bits", &[seed]) => AnyExpr::random_bits(lengths, key(seed)),
            _ => return Err(refused(format!("no generator {name} takes {} numbers", numbers.len()))),
        })
    }
}
