//! The page's calls of the crate. JavaScript draws, and this module computes shapes, rules, kernels and elements.

mod bits;
mod build;
mod demos;
mod grammar;
mod js;
mod picture;
mod playground;
mod speed;

use std::cell::RefCell;

use wasm_bindgen::prelude::*;
use zerostride::Device;
use zerostride_npm::CoreDevice;

use build::Rule;
use demos::{Bodies, Flock};
use picture::Picture;
use playground::Typed;
use speed::Bench;

/// The devices of a page: WebGPU, if the browser has it, and the CPU path.
#[wasm_bindgen]
#[derive(Default)]
pub struct Page {
    gpu: RefCell<Option<Device>>,
}

#[wasm_bindgen]
impl Page {
    /// A page without a device: [`take`](Self::take) gives it one.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Page {
        Page::default()
    }

    /// Computes on a device of the package, in place of the one before.
    pub fn take(&self, device: &CoreDevice) {
        let is_gpu = device.device().wgpu().is_some();
        *self.gpu.borrow_mut() = is_gpu.then(|| device.device().clone());
    }

    /// Drops the device. Its memory is freed with the last tensor.
    pub fn close(&self) {
        *self.gpu.borrow_mut() = None;
    }

    fn gpu(&self) -> Option<Device> {
        self.gpu.borrow().clone()
    }

    /// The layouts and the kernel of a typed expression, or `error`.
    ///
    /// # Errors
    /// Of the device.
    pub fn plan(
        &self,
        operands: &str,
        rule: &str,
        axis: i32,
        axes: &str,
        expression: &str,
    ) -> Result<JsValue, JsValue> {
        let typed = Typed { operands, rule: Rule::of(rule, axis, axes), expression };
        let device = self.gpu().unwrap_or_else(Device::cpu);
        match typed.make(&device) {
            Ok(made) => made.plan(&device).map_err(js::thrown),
            Err(failure) => Ok(js::object([("error", failure.to_js())])),
        }
    }

    /// Evaluates a typed expression on both devices, once and then `again` times, and compares.
    ///
    /// # Errors
    /// The `error` of [`plan`](Self::plan), and errors of the device.
    pub async fn evaluate(
        &self,
        operands: String,
        rule: String,
        axis: i32,
        axes: String,
        expression: String,
        again: u32,
    ) -> Result<JsValue, JsValue> {
        let rule = Rule::of(&rule, axis, &axes);
        let typed = Typed { operands: &operands, rule, expression: &expression };
        playground::evaluate(typed, self.gpu().as_ref(), again as usize).await
    }

    /// A photograph to develop, as bytes of red, green, blue and opacity: on WebGPU and shown on a canvas, or without a
    /// canvas on the CPU path.
    ///
    /// # Errors
    /// When there is no device, or no memory.
    pub fn picture(
        &self,
        width: usize,
        height: usize,
        rgba: &[u8],
        canvas: Option<web_sys::HtmlCanvasElement>,
    ) -> Result<Picture, JsValue> {
        let device = match canvas {
            Some(_) => self.gpu().ok_or("no WebGPU")?,
            None => Device::cpu(),
        };
        Picture::new(&device, (width, height), rgba, canvas)
    }

    /// The SHA-256 of one work of [`same_bits`], by its number, and the bytes: on the CPU path or on WebGPU.
    ///
    /// # Errors
    /// When there is no device, or no memory.
    pub async fn hash(&self, number: usize, on_cpu: bool) -> Result<JsValue, JsValue> {
        let device = if on_cpu { Device::cpu() } else { self.gpu().ok_or("no WebGPU")? };
        bits::hash(device, number).await
    }

    /// Random boids, the same on both devices: on the CPU path or on WebGPU.
    ///
    /// # Errors
    /// When there is no device, or no memory.
    pub fn flock(&self, boids: usize, on_cpu: bool) -> Result<Flock, JsValue> {
        Flock::new(&self.device(on_cpu)?, boids)
    }

    /// Systems of three bodies at rest: on the CPU path or on WebGPU.
    ///
    /// # Errors
    /// When there is no device, or no memory.
    pub fn bodies(&self, on_cpu: bool) -> Result<Bodies, JsValue> {
        Bodies::new(&self.device(on_cpu)?)
    }

    /// How [`bodies`](Self::bodies) begin, and their steps in plain WGSL.
    pub fn about_bodies(&self) -> JsValue {
        demos::about()
    }

    fn device(&self, on_cpu: bool) -> Result<Device, JsValue> {
        if on_cpu { Ok(Device::cpu()) } else { Ok(self.gpu().ok_or("no WebGPU")?) }
    }

    /// A layout of the benchmark on WebGPU.
    ///
    /// # Errors
    /// When there is no device, or no memory.
    pub fn bench(&self, name: &str, n: usize) -> Result<Bench, JsValue> {
        Bench::new(&self.gpu().ok_or("no WebGPU")?, name, n).map_err(js::thrown)
    }
}

/// The names of the works whose bits are the same on every device.
#[wasm_bindgen]
pub fn same_bits() -> JsValue {
    bits::about()
}

/// The hash of several hashes, written one after another.
#[wasm_bindgen]
pub fn total_hash(hashes: &str) -> String {
    bits::total(hashes)
}
