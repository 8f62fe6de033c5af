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
use zerostride::{DType, Device, compositions, operations, reductions};

use build::Rule;
use demos::{Bodies, Flock};
use picture::Picture;
use playground::Typed;
use speed::Bench;

/// Prints a panic, which is a defect, before the page ends.
#[wasm_bindgen(start)]
pub fn start() {
    std::panic::set_hook(Box::new(|panic| js::error(&panic.to_string())));
}

/// The devices of a page: WebGPU, if the browser has it, and the CPU path.
#[wasm_bindgen]
#[derive(Default)]
pub struct Page {
    gpu: RefCell<Option<Device>>,
    adapter: RefCell<String>,
}

#[wasm_bindgen]
impl Page {
    /// A page without a device: [`open`](Self::open) opens one.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Page {
        Page::default()
    }

    /// Opens the browser's adapter, in place of the open one. Returns whether there is one.
    ///
    /// # Errors
    /// When the browser refuses.
    pub async fn open(&self) -> Result<bool, JsValue> {
        self.close();
        let all = Device::all_async().await;
        let Some(adapter) = all.iter().find(|adapter| adapter.backend == "webgpu") else { return Ok(false) };
        let device = adapter.open_async().await.map_err(js::thrown)?;
        *self.adapter.borrow_mut() = adapter.name.clone();
        *self.gpu.borrow_mut() = Some(device);
        Ok(true)
    }

    /// Drops the device. Its memory is freed with the last tensor.
    pub fn close(&self) {
        *self.gpu.borrow_mut() = None;
    }

    /// The adapter's name, if one is open.
    pub fn adapter(&self) -> Option<String> {
        self.gpu().map(|_| self.adapter.borrow().clone())
    }

    /// Fails when the device is lost.
    ///
    /// # Errors
    /// When it is.
    pub fn check(&self) -> Result<(), JsValue> {
        self.gpu().map_or(Ok(()), |device| device.flush()).map_err(js::thrown)
    }

    /// The device's memory for tensors, in bytes: in use, and idle.
    pub fn memory(&self) -> JsValue {
        let memory = self.gpu().map(|device| device.memory()).unwrap_or_default();
        let number = |n: u64| JsValue::from_f64(n as f64);
        js::object([
            ("used", number(memory.used)),
            ("idle", number(memory.idle)),
            ("created", number(memory.created)),
            ("pipelines", number(memory.pipelines)),
        ])
    }

    /// Bytes of the module's own memory, which never shrinks.
    pub fn wasm(&self) -> f64 {
        let memory = wasm_bindgen::memory().unchecked_into::<js_sys::WebAssembly::Memory>();
        f64::from(memory.buffer().unchecked_into::<js_sys::ArrayBuffer>().byte_length())
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

/// The operations of expressions: for each its name, number of operands and documentation.
#[wasm_bindgen]
pub fn table() -> JsValue {
    let row = |name: &str, arity: Option<usize>, doc: &str, kind: &str| {
        let arity = arity.map_or(JsValue::NULL, |n| (n as f64).into());
        let properties =
            [("name", name.into()), ("arity", arity), ("doc", doc.into()), ("kind", kind.into())];
        js::object(properties)
    };
    let types =
        DType::ALL.into_iter().map(|dtype| row(dtype.name(), Some(1), "Converted to this type.", "cast"));
    js::list(
        operations()
            .map(|op| row(op.name, Some(op.arity), op.doc, "operation"))
            .chain(compositions().map(|own| row(own.name, Some(own.arity), own.doc, "composition")))
            .chain(reductions().map(|own| row(own.name, None, own.doc, "reduction")))
            .chain(types),
    )
}
