//! The playground: the layouts, kernel and results of operands, a rule and an expression.

use js_sys::Array;
use wasm_bindgen::JsValue;
use zerostride::{AnyExpr, AnyTensor, DType, Device, Error, Explain, Result};

use crate::build::{Builder, MOST, Refusal, Rule, Wrong, dtype};
use crate::grammar::{self, Mistake};
use crate::js;

/// The typed text.
pub(crate) struct Typed<'a> {
    pub operands: &'a str,
    pub rule: Option<Rule>,
    pub expression: &'a str,
}

/// A mistake, with its field.
pub(crate) struct Failure {
    field: &'static str,
    wrong: Wrong,
}

impl Failure {
    fn of(field: &'static str, text: impl Into<String>) -> Failure {
        let mistake = Mistake { text: text.into(), at: 0..0 };
        Failure { field, wrong: mistake.into() }
    }

    pub(crate) fn to_js(&self) -> JsValue {
        let Wrong { mistake, refusal } = &self.wrong;
        let places = |places: &[usize]| js::lengths(places);
        let refusal = refusal.as_ref().map_or(JsValue::NULL, |Refusal { shapes, places: at, axis }| {
            js::object([
                ("shapes", js::list(shapes.iter().map(|shape| js::lengths(shape)))),
                ("places", js::list(at.iter().map(|at| places(at)))),
                ("axis", axis.map_or(JsValue::NULL, |axis| (axis as f64).into())),
            ])
        });
        js::object([
            ("field", self.field.into()),
            ("text", mistake.text.as_str().into()),
            ("from", (mistake.at.start as f64).into()),
            ("to", (mistake.at.end as f64).into()),
            ("refusal", refusal),
        ])
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::of("device", error.message())
    }
}

/// Operands on a device, and the expression over them.
pub(crate) struct Made {
    operands: Vec<(String, AnyTensor)>,
    expr: AnyExpr,
}

impl Typed<'_> {
    /// Reads the typed text, and aligns the operands on a device.
    pub(crate) fn make(&self, device: &Device) -> std::result::Result<Made, Failure> {
        let of = |field| move |mistake: Mistake| Failure { field, wrong: mistake.into() };
        let rule = self.rule.as_ref().ok_or_else(|| Failure::of("rule", "no such rule"))?;
        let declared = grammar::operands(self.operands).map_err(of("operands"))?;
        let term = grammar::expression(self.expression).map_err(of("expression"))?;
        let mut operands = Vec::new();
        for own in declared {
            let Some(dtype) = dtype(&own.dtype) else {
                let all: Vec<&str> = DType::ALL.iter().map(|dtype| dtype.name()).collect();
                let text = format!("no element type is called {}: there are {}", own.dtype, all.join(", "));
                return Err(Failure::of("operands", text));
            };
            let count = own.shape.iter().try_fold(1_usize, |n, &length| n.checked_mul(length));
            let Some(count) = count.filter(|&n| n <= MOST) else {
                let text = format!("{} has more than the {MOST} elements that this page shows", own.name);
                return Err(Failure::of("operands", text));
            };
            let bytes = elements(count, dtype)?.to_bytes()?;
            operands.push((own.name, device.upload_bytes(&bytes, dtype, own.shape)?));
        }
        let builder = Builder { operands: &operands, rule };
        let expr = builder.build(&term).map_err(|wrong| Failure { field: "expression", wrong })?;
        Ok(Made { operands, expr })
    }
}

/// The elements of every operand: 1, 2, 3 and so on, as far as its type holds them and a reader can follow.
fn elements(count: usize, dtype: DType) -> Result<AnyTensor> {
    let number = AnyExpr::iota([count], 0);
    let whole = |n: i64| AnyExpr::scalar(DType::I32, n);
    let most = match dtype {
        DType::Bool => 2,
        _ if dtype.size() == 1 => 100,
        _ => 1000,
    };
    let first = i64::from(dtype != DType::Bool);
    let own = AnyExpr::call("add", &[AnyExpr::call("rem", &[number, whole(most)]), whole(first)]);
    own.cast(dtype).eval_on(&Device::cpu())
}

/// Elements as numbers that JavaScript has.
fn as_floats(bytes: &[u8], dtype: DType) -> Result<Vec<f64>> {
    let own = Device::cpu().upload_bytes(bytes, dtype, [bytes.len() / dtype.size()])?;
    own.cast(DType::F64).to_vec::<f64>()
}

impl Made {
    /// The explanation, for JavaScript.
    pub(crate) fn plan(&self, device: &Device) -> Result<JsValue> {
        let explain = self.expr.explain(device)?;
        let operand = |(name, tensor): &(String, AnyTensor)| -> Result<JsValue> {
            let values = elements(tensor.shape().iter().product(), tensor.dtype())?;
            Ok(js::object([
                ("name", name.as_str().into()),
                ("dtype", tensor.dtype().name().into()),
                ("shape", js::lengths(tensor.shape())),
                ("values", js::floats(&as_floats(&values.to_bytes()?, tensor.dtype())?)),
            ]))
        };
        let operands = self.operands.iter().map(operand).collect::<Result<Vec<_>>>()?;
        Ok(js::object([
            ("shape", js::lengths(self.expr.shape()?)),
            ("dtype", self.expr.dtype()?.name().into()),
            ("operands", js::list(operands)),
            ("reads", self.reads(&explain)),
            ("text", explain.to_string().into()),
            ("svg", explain.svg().into()),
            ("wgsl", js::text_or_null(explain.wgsl())),
        ]))
    }

    /// The operands of the last kernel: typed operands, coordinates, and stored results.
    fn reads(&self, explain: &Explain) -> JsValue {
        let all = explain.operands().iter().map(|read| {
            let name =
                self.operands.iter().find(|(_, tensor)| read.is_of(tensor)).map(|(name, _)| name.as_str());
            let layout = read.layout();
            js::object([
                ("name", js::text_or_null(name)),
                ("called", read.name().into()),
                ("dtype", read.dtype().name().into()),
                ("shape", js::lengths(layout.shape())),
                ("strides", js::strides(layout.strides())),
                ("offset", (layout.offset() as f64).into()),
                ("access", js::text_or_null(read.access())),
                ("lines", js::lengths(read.lines())),
            ])
        });
        all.collect::<Array>().into()
    }

    /// Evaluates and reads back several times: the bytes, the milliseconds of the first time, and the least of the
    /// others.
    async fn timed(&self, again: usize) -> Result<(Vec<u8>, f64, f64)> {
        let device = self.operands.first().map_or_else(Device::cpu, |(_, tensor)| tensor.device().clone());
        let (mut bytes, mut first, mut least) = (Vec::new(), 0.0, f64::INFINITY);
        for turn in 0..=again {
            let start = js::now();
            bytes = self.expr.eval_on(&device)?.to_bytes_async().await?;
            let took = js::now() - start;
            if turn == 0 { first = took } else { least = took.min(least) }
        }
        Ok((bytes, first, least))
    }
}

/// Evaluates on an adapter, if there is one, and on the CPU path, and compares the results.
pub(crate) async fn evaluate(
    typed: Typed<'_>,
    gpu: Option<&Device>,
    again: usize,
) -> Result<JsValue, JsValue> {
    let cpu = typed.make(&Device::cpu()).map_err(|failure| failure.to_js())?;
    let (reference, cpu_first, cpu_least) = cpu.timed(again).await.map_err(js::thrown)?;
    let dtype = cpu.expr.dtype().map_err(js::thrown)?;
    let times = |first: f64, least: f64| js::object([("first", first.into()), ("least", least.into())]);
    let (mut own, mut compared) = (JsValue::NULL, JsValue::NULL);
    let mut bytes = reference.clone();
    if let Some(device) = gpu {
        let made = typed.make(device).map_err(|failure| failure.to_js())?;
        let (found, first, least) = made.timed(again).await.map_err(js::thrown)?;
        let (differ, most) = apart([&found, &reference], dtype, device.flushes_subnormals());
        compared = js::object([("differ", (differ as f64).into()), ("ulp", (most as f64).into())]);
        own = times(first, least);
        bytes = found;
    }
    let values = as_floats(&bytes, dtype).map_err(js::thrown)?;
    Ok(js::object([
        ("values", js::floats(&values)),
        ("bytes", (bytes.len() as f64).into()),
        ("gpu", own),
        ("cpu", times(cpu_first, cpu_least)),
        ("compared", compared),
    ]))
}

/// The number of different elements, and the greatest distance, in units in the last place of floats. All NaN are
/// equal, and so are a subnormal and its zero, if the adapter `flushes` subnormals.
fn apart([a, b]: [&[u8]; 2], dtype: DType, flushes: bool) -> (usize, u64) {
    let size = dtype.size();
    let bits = |bytes: &[u8]| bytes.iter().rev().fold(0_u64, |word, &byte| word << 8 | u64::from(byte));
    let infinite: u64 = match dtype {
        DType::F32 => 0x7f80_0000,
        DType::F16 => 0x7c00,
        DType::BF16 => 0x7f80,
        _ => u64::MAX,
    };
    let sign = 1_u64 << (8 * size - 1);
    let least: u64 = match dtype {
        DType::F32 if flushes => 0x0080_0000,
        DType::BF16 if flushes => 0x0080,
        _ => 0,
    };
    let flushed = |word: u64| if word & !sign < least { word & sign } else { word };
    let is_nan = |word: u64| infinite != u64::MAX && word & !sign > infinite;
    // The order of floats as integers.
    let place = |word: u64| if word & sign == 0 { word as i64 } else { -((word & !sign) as i64) };
    let (mut differ, mut most) = (0, 0);
    for (a, b) in a.chunks(size).zip(b.chunks(size)) {
        let (a, b) = (flushed(bits(a)), flushed(bits(b)));
        if a != b && !(is_nan(a) && is_nan(b)) {
            differ += 1;
            most = most.max(if infinite == u64::MAX { 1 } else { place(a).abs_diff(place(b)) });
        }
    }
    (differ + a.len().abs_diff(b.len()), most)
}
