//! Tensors and expressions, as one kind of object: an expression is evaluated when it is read, and stays evaluated.

use std::cell::RefCell;

use js_sys::{Array, Function, Uint8Array};
use wasm_bindgen::convert::TryFromJsValue;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;
use zerostride::{AnyExpr, AnyTensor, Device, ReduceOptions};

use crate::error::{refused, thrown};
use crate::lent::Lent;
use crate::operands::{Operands, dtype_of, reduced};

/// An expression and the device that computes it.
#[wasm_bindgen]
pub struct CoreTensor {
    device: Device,
    expr: RefCell<AnyExpr>,
}

/// Several results.
#[wasm_bindgen]
pub struct Tensors(Vec<Option<CoreTensor>>);

impl CoreTensor {
    /// An expression, or the mistake that it holds.
    pub(crate) fn new(device: &Device, expr: AnyExpr) -> Result<CoreTensor, JsValue> {
        expr.shape().map_err(thrown)?;
        Ok(CoreTensor { device: device.clone(), expr: RefCell::new(expr) })
    }

    /// The expression.
    pub fn expr(&self) -> AnyExpr {
        self.expr.borrow().clone()
    }

    /// The device that computes it.
    pub fn device(&self) -> &Device {
        &self.device
    }

    pub(crate) fn made(&self, expr: AnyExpr) -> Result<CoreTensor, JsValue> {
        CoreTensor::new(&self.device, expr)
    }

    /// The elements, row by row, which it keeps in place of the expression.
    pub(crate) fn evaluated(&self) -> Result<AnyTensor, JsValue> {
        let named = self.expr.borrow().named().map_err(thrown)?;
        let tensor = match named {
            Some(tensor) if tensor.layout().is_contiguous() => tensor,
            // A view names elements of another, so the copy does not take its place.
            Some(tensor) => return tensor.copy().map_err(thrown),
            None => self.expr.borrow().eval_on(&self.device).map_err(thrown)?,
        };
        *self.expr.borrow_mut() = tensor.expr();
        Ok(tensor)
    }
}

impl Tensors {
    pub(crate) fn of(device: &Device, all: impl IntoIterator<Item = AnyExpr>) -> Result<Tensors, JsValue> {
        let all = all.into_iter().map(|expr| CoreTensor::new(device, expr).map(Some));
        Ok(Tensors(all.collect::<Result<_, _>>()?))
    }
}

#[wasm_bindgen]
impl Tensors {
    /// One of the results, once.
    pub fn take(&mut self, index: usize) -> Option<CoreTensor> {
        self.0.get_mut(index).and_then(Option::take)
    }
}

#[wasm_bindgen]
impl CoreTensor {
    /// The lengths of the axes.
    #[wasm_bindgen(getter)]
    pub fn shape(&self) -> Vec<f64> {
        let expr = self.expr.borrow();
        expr.shape().map_or_else(|_| Vec::new(), |shape| shape.iter().map(|&length| length as f64).collect())
    }

    /// The name of the element type.
    #[wasm_bindgen(getter)]
    pub fn dtype(&self) -> String {
        self.expr.borrow().dtype().map_or_else(|_| String::new(), |dtype| dtype.to_string())
    }

    /// Another handle of the same elements.
    pub fn again(&self) -> CoreTensor {
        CoreTensor { device: self.device.clone(), expr: self.expr.clone() }
    }

    /// Every element converted to a type.
    ///
    /// # Errors
    /// For another name.
    pub fn cast(&self, dtype: &str) -> Result<CoreTensor, JsValue> {
        self.made(self.expr().cast(dtype_of(dtype)?))
    }

    /// A reduction by name over axes, or over all.
    ///
    /// # Errors
    /// For another name, type or axis.
    pub fn reduce(
        &self,
        name: &str,
        axes: Option<Vec<i32>>,
        keepdim: bool,
        correction: f64,
        exclusive: bool,
        reverse: bool,
    ) -> Result<CoreTensor, JsValue> {
        let mut options = ReduceOptions::default().correction(correction);
        if keepdim {
            options = options.keepdim();
        }
        if exclusive {
            options = options.exclusive();
        }
        if reverse {
            options = options.reverse();
        }
        let expr = reduced(name, self.expr())?;
        self.made(match axes {
            Some(axes) => expr.reduce(name, axes, options),
            None => expr.reduce(name, .., options),
        })
    }

    /// Computes and stores the elements. On WebGPU it does not wait.
    ///
    /// # Errors
    /// When there is no memory, or the device is lost.
    pub fn eval(&self) -> Result<(), JsValue> {
        self.evaluated().map(drop)
    }

    /// The bytes of the elements in row-major order, as a promise of a `Uint8Array`.
    ///
    /// # Errors
    /// When there is no memory, or the device is lost.
    pub fn read(&self) -> Result<js_sys::Promise, JsValue> {
        let bytes = self.evaluated()?.to_bytes_async();
        Ok(future_to_promise(async move {
            let bytes = bytes.await.map_err(thrown)?;
            Ok(Uint8Array::from(bytes.as_slice()).into())
        }))
    }

    /// Writes a value to the elements, which it stretches to. A view writes those of the tensor that it is of.
    ///
    /// # Errors
    /// When the shape does not fit, or the elements are an expression's.
    pub fn assign(&self, value: &Operands) -> Result<(), JsValue> {
        if self.expr.borrow().named().map_err(thrown)?.is_none() {
            self.evaluated()?;
        }
        let (expr, mut all) = (self.expr(), value.together()?);
        let dtype = expr.dtype().map_err(thrown)?;
        let value = all.pop().ok_or_else(|| refused("assign takes a value"))?;
        expr.assign(value.cast(dtype)).map_err(thrown)
    }

    /// The text of what would run, and why.
    ///
    /// # Errors
    /// Of the device.
    pub fn explain(&self) -> Result<String, JsValue> {
        Ok(self.expr().explain(&self.device).map_err(thrown)?.to_string())
    }

    /// The text of the last kernel in WGSL, if there is one.
    ///
    /// # Errors
    /// Of the device.
    pub fn wgsl(&self) -> Result<Option<String>, JsValue> {
        Ok(self.expr().explain(&self.device).map_err(thrown)?.wgsl().map(String::from))
    }

    /// The buffer of the elements, on WebGPU.
    ///
    /// # Errors
    /// On the CPU path.
    pub fn buffer(&self) -> Result<Lent, JsValue> {
        let lent = self.evaluated()?.buffer().map_err(thrown)?;
        self.device.flush().map_err(thrown)?;
        Ok(Lent::new(lent))
    }
}

/// An operation or a composition by name, or `select`.
///
/// # Errors
/// For another name, number of operands, type or shape.
#[wasm_bindgen]
pub fn call(name: &str, operands: &Operands) -> Result<CoreTensor, JsValue> {
    let device = operands.device(name)?;
    let expr = if name == "select" { operands.select() } else { operands.call(name) };
    CoreTensor::new(&device, expr?)
}

/// What `n` iterations of a step make of some values: one loop in a kernel. The step is called once, with an array of
/// tensors, and returns operands. With `is_while` the first of them is the condition of the next iteration.
///
/// # Errors
/// What the step throws, and mistakes of the loop.
#[wasm_bindgen]
pub fn repeat(n: u32, state: &Operands, step: &Function, is_while: bool) -> Result<Tensors, JsValue> {
    let device = state.device("repeat")?;
    let first = state.tensors("repeat")?;
    let mut failure = None;
    let run = |values: &[AnyExpr]| -> Result<Vec<AnyExpr>, JsValue> {
        let given = Array::new();
        for value in values {
            given.push(&CoreTensor::new(&device, value.clone())?.into());
        }
        let next = step.call1(&JsValue::UNDEFINED, &given)?;
        Operands::try_from_js_value(next)?.tensors("repeat")
    };
    let all = if is_while {
        let stays = AnyExpr::scalar(zerostride::DType::Bool, false);
        AnyExpr::repeat_while(n, &first, |values| match run(values) {
            Ok(mut next) if !next.is_empty() => (next.remove(0), next),
            Ok(_) => (stays, Vec::new()),
            Err(error) => {
                failure = Some(error);
                (stays, values.to_vec())
            }
        })
    } else {
        AnyExpr::repeat(n, &first, |values| {
            run(values).unwrap_or_else(|error| {
                failure = Some(error);
                values.to_vec()
            })
        })
    };
    match failure {
        Some(error) => Err(error),
        None => Tensors::of(&device, all),
    }
}
