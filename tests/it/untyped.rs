//! Types at run time: untyped expressions and tensors do the same as typed ones, and wrong types are mistakes with a
//! line.

use crate::common::{adapters, on_every_device};
use zerostride::{
    AnyExpr, AnyTensor, Bits, Broadcast, DType, Device, Element, Error, ErrorKind, Expr, Float, Integer,
    Numeric, Scalar, Shape, bf16, compositions, f16, operations,
};

/// An element type with numbers in it, and their bytes by definition.
trait Value: Element {
    fn of(number: i32) -> Self;
    fn bytes(self) -> Vec<u8>;
    /// The result of a typed method, for the operations of this type.
    fn method(name: &str, operands: &[Expr<Self>; 3]) -> Option<AnyExpr>;
}

macro_rules! values {
    ($($t:ident |$i:ident| $value:expr, $method:ident;)*) => {
        $(impl Value for $t {
            fn of($i: i32) -> $t { $value }
            fn bytes(self) -> Vec<u8> { self.to_le_bytes().into() }
            fn method(name: &str, operands: &[Expr<$t>; 3]) -> Option<AnyExpr> {
                elementwise(name, operands).or_else(|| numeric(name, operands)).or_else(|| $method(name, operands))
            }
        })*

        /// Calls a generic test with every element type.
        macro_rules! for_every_type {
            ($test:ident, $device:expr) => {{
                $($test::<$t>($device);)*
                $test::<bool>($device);
            }};
        }
    };
}
values! {
    f32 |i| i as f32, float;
    f64 |i| i.into(), float;
    f16 |i| f16::from_f32(i as f32), float;
    bf16 |i| bf16::from_f32(i as f32), float;
    i8 |i| i as i8, integer;
    i16 |i| i as i16, integer;
    i32 |i| i, integer;
    i64 |i| i.into(), integer;
    u8 |i| i as u8, integer;
    u16 |i| i as u16, integer;
    u32 |i| i as u32, integer;
    u64 |i| i as u64, integer;
}

impl Value for bool {
    fn of(number: i32) -> bool {
        number % 2 == 0
    }
    fn bytes(self) -> Vec<u8> {
        vec![self.into()]
    }
    fn method(name: &str, operands: &[Expr<bool>; 3]) -> Option<AnyExpr> {
        elementwise(name, operands).or_else(|| bits(name, operands))
    }
}

macro_rules! methods {
    ($($group:ident $class:ident: [$($one:ident)*] [$($two:ident)*] [$($three:ident)*];)*) => {$(
        fn $group<T: $class>(name: &str, [a, b, c]: &[Expr<T>; 3]) -> Option<AnyExpr> {
            let _ = (b, c);
            match name {
                $(stringify!($one) => Some(a.$one().into()),)*
                $(stringify!($two) => Some(a.$two(b).into()),)*
                $(stringify!($three) => Some(a.$three(b, c).into()),)*
                _ => None,
            }
        }
    )*};
}
methods! {
    elementwise Element: [] [eq ne] [];
    numeric Numeric: [neg positive abs sign square]
        [add sub mul div rem div_floor rem_floor pow minimum maximum lt le gt ge] [clamp];
    bits Bits: [not] [and or xor] [];
    whole Integer: [count_ones leading_zeros trailing_zeros reverse_bits]
        [gcd lcm rotate_left rotate_right shl shr] [];
    float Float: [relu floor ceil round trunc sqrt exp log sin cos tanh sigmoid reciprocal rsqrt cbrt exp2 exp10
        expm1 log2 log10 log1p tan asin acos atan sinh cosh asinh acosh atanh erf erfc logit lgamma digamma
        to_degrees to_radians fract signbit is_nan is_inf is_finite]
        [fmin fmax copysign atan2 hypot logaddexp xlogy nextafter] [fma];
    composed Float: [nan_to_num relu6 selu gelu gelu_tanh silu softplus mish softsign hardsigmoid hardswish tanhshrink ln]
        [fill_nan leaky_relu prelu elu celu powf] [mul_add lerp hardtanh threshold];
}

fn integer<T: Integer>(name: &str, operands: &[Expr<T>; 3]) -> Option<AnyExpr> {
    bits(name, operands).or_else(|| whole(name, operands))
}

/// Three tensors of small numbers, unless the device lacks the type.
fn operands<T: Value>(device: &Device) -> Option<[Expr<T>; 3]> {
    if device.supports(T::DTYPE).is_err() {
        return None;
    }
    let upload = |start: i32| {
        let values: Vec<T> = (start..start + 4).map(T::of).collect();
        device.upload(&values, [4]).map(|tensor| tensor.expr())
    };
    let all: Result<Vec<Expr<T>>, Error> = [1, 3, 2].into_iter().map(upload).collect();
    let all = all.and_then(|all| Ok((all[0].eq(&all[1]).eval()?, all)));
    match all {
        Ok((_, all)) => all.try_into().ok(),
        Err(error) if error.kind() == ErrorKind::Limit => None,
        Err(error) => panic!("{} on {}: {error}", T::DTYPE, device.name()),
    }
}

/// Both run the same kernel. The CPU path, which compiles nothing, shows that the results are the same.
fn same(device: &Device, call: &AnyExpr, method: &AnyExpr) {
    let (a, b) = (call.explain(device).unwrap(), method.explain(device).unwrap());
    assert_eq!((a.to_string(), a.wgsl()), (b.to_string(), b.wgsl()));
    if device.name() == "cpu" {
        assert_eq!(call.to_bytes().unwrap(), method.to_bytes().unwrap(), "{a}");
    }
}

fn operations_are_methods<T: Value>(device: &Device) {
    let Some(typed) = operands::<T>(device) else { return };
    let untyped: Vec<AnyExpr> = typed.iter().map(AnyExpr::from).collect();
    for op in operations() {
        let method = T::method(op.name, &typed);
        let call = AnyExpr::call(op.name, &untyped[..op.arity]);
        assert_eq!(method.is_some(), op.result(T::DTYPE).is_some(), "{} of {}", op.name, T::DTYPE);
        let Some(method) = method else {
            let text = format!("{} takes no {}: cast the operands", op.name, T::DTYPE);
            assert_eq!(call.eval().unwrap_err().message(), text);
            continue;
        };
        assert_eq!(call.dtype().ok(), op.result(T::DTYPE), "{} of {}", op.name, T::DTYPE);
        same(device, &call, &method);
    }
}

#[test]
fn operations_by_name_are_the_typed_methods() {
    on_every_device(|device| for_every_type!(operations_are_methods, device));
}

fn compositions_are_methods<T: Value + Float>(device: &Device) {
    let Some(typed) = operands::<T>(device) else { return };
    let untyped: Vec<AnyExpr> = typed.iter().map(AnyExpr::from).collect();
    for function in compositions() {
        let method = composed(function.name, &typed).unwrap_or_else(|| panic!("{}", function.name));
        let call = AnyExpr::call(function.name, &untyped[..function.arity]);
        same(device, &call, &method);
    }
}

#[test]
fn compositions_by_name_are_the_typed_methods() {
    on_every_device(|device| {
        compositions_are_methods::<f32>(device);
        compositions_are_methods::<f16>(device);
        compositions_are_methods::<bf16>(device);
        compositions_are_methods::<f64>(device);
    });
}

fn casts_and_selects<T: Value>(device: &Device) {
    let Some([x, y, _]) = operands::<T>(device) else { return };
    let (any, other) = (AnyExpr::from(&x), AnyExpr::from(&y));
    let as_i32 = any.cast(DType::I32);
    assert_eq!(as_i32.to_vec::<i32>().unwrap(), x.cast::<i32>().to_vec().unwrap());
    assert_eq!(as_i32.cast(T::DTYPE).to_vec::<T>().unwrap(), x.to_vec().unwrap());
    assert_eq!(any.coordinate(0).to_vec::<i32>().unwrap(), [0, 1, 2, 3]);

    let odd = AnyExpr::call("eq", &[any.coordinate(0), AnyExpr::scalar(DType::I32, 1)]);
    let typed = x.coordinate(0).eq(1).select(&x, &y).to_vec().unwrap();
    assert_eq!(odd.select(&any, &other).to_vec::<T>().unwrap(), typed);

    let both = AnyExpr::eval_all(&[any.clone(), as_i32, other]).unwrap();
    assert_eq!(both[0].to_vec::<T>().unwrap(), x.to_vec().unwrap());
    assert_eq!(both[1].dtype(), DType::I32);
    assert_eq!(both[2].to_vec::<T>().unwrap(), y.to_vec().unwrap());
}

#[test]
fn casts_selects_and_several_results() {
    on_every_device(|device| for_every_type!(casts_and_selects, device));
}

fn bytes_come_back<T: Value>(device: &Device) {
    if operands::<T>(device).is_none() {
        return;
    }
    for shape in [vec![], vec![0], vec![2, 0, 3], vec![1], vec![2, 3], vec![3, 5, 7]] {
        let count: usize = shape.iter().product();
        let values: Vec<T> = (0..count as i32).map(T::of).collect();
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.bytes()).collect();
        // From an address that no type but bytes can have.
        let mut room = vec![0_u8];
        room.extend_from_slice(&bytes);
        let x = device.upload_bytes(&room[1..], T::DTYPE, shape.as_slice()).unwrap();
        assert_eq!((x.dtype(), x.shape()), (T::DTYPE, &Shape::from(shape.as_slice())));
        assert_eq!(x.to_bytes().unwrap(), bytes);
        assert_eq!(pollster::block_on(x.to_bytes_async()).unwrap(), bytes);
        assert_eq!(x.to_vec::<T>().unwrap(), values);

        let typed = x.typed::<T>().unwrap();
        assert_eq!(typed.to_vec().unwrap(), values);
        assert_eq!(AnyTensor::from(typed).to_bytes().unwrap(), bytes);

        if shape.len() == 2 {
            let view = x.transpose(0, 1).flip(0).slice(1, ..1);
            let column: Vec<u8> = [2, 1, 0].into_iter().flat_map(|i| values[i].bytes()).collect();
            assert_eq!(view.to_bytes().unwrap(), column);
            assert_eq!(view.to_bytes().unwrap(), column);
            // The first row, backwards.
            let row: Vec<u8> = column.chunks(T::DTYPE.size()).rev().flatten().copied().collect();
            view.assign(device.upload_bytes(&row, T::DTYPE, [3, 1]).unwrap()).unwrap();
            let expected = [values[2], values[1], values[0], values[3], values[4], values[5]];
            assert_eq!(x.to_vec::<T>().unwrap(), expected);
        }
    }
    let zeros = device.zeros_any(T::DTYPE, [2, 2]).unwrap();
    assert_eq!(zeros.to_vec::<T>().unwrap(), [T::ZERO; 4]);
}

#[test]
fn bytes_of_every_type_come_back() {
    on_every_device(|device| for_every_type!(bytes_come_back, device));
}

#[test]
fn bytes_of_bool_are_0_and_1() {
    on_every_device(|device| {
        let x = device.upload_bytes(&[0, 1, 2, 255, 128], DType::Bool, [5]).unwrap();
        assert_eq!(x.to_bytes().unwrap(), [0, 1, 1, 1, 1]);
        assert_eq!(x.cast(DType::I32).to_vec::<i32>().unwrap(), [0, 1, 1, 1, 1]);
    });
}

#[test]
fn views_are_those_of_typed_tensors() {
    let typed = Device::cpu().upload(&[1, 2, 3, 4, 5, 6], [2, 3]).unwrap();
    let tensor = AnyTensor::from(&typed);
    let expr = AnyExpr::call("neg", &[tensor.expr()]);
    macro_rules! check {
        ($($view:ident($($arg:expr),*))*) => {$(
            let expected = typed.$view($($arg),*);
            let view = tensor.$view($($arg),*);
            assert_eq!(view.tensor().unwrap().layout(), expected.tensor().unwrap().layout());
            assert_eq!(view.to_vec::<i32>().unwrap(), expected.to_vec().unwrap());
            let negative: Vec<i32> = (-expected).to_vec().unwrap();
            assert_eq!(expr.$view($($arg),*).to_vec::<i32>().unwrap(), negative);
        )*};
    }
    check! {
        permute([1, 0]) transpose(0, 1) slice(1, 1..) slice_step(1, .., -2) flip(0) broadcast_to([4, 2, 3])
        expand([4, -1, -1]) unsqueeze(-1) reshape([3, -1])
    }
    assert_eq!(expr.slice(0, ..1).squeeze(0).to_vec::<i32>().unwrap(), [-1, -2, -3]);
    assert_eq!(tensor.as_strided([2], &[3], 1).to_vec::<i32>().unwrap(), [2, 5]);
    assert_eq!(expr.shared().flip(1).shape().unwrap(), &[2, 3]);
    let (a, b) = Broadcast::Pdpd { axis: 0 }.align_any(&tensor, tensor.slice(1, 0..1).squeeze(1)).unwrap();
    assert_eq!(AnyExpr::call("sub", &[a, b]).to_vec::<i32>().unwrap(), [0, 1, 2, 0, 1, 2]);
    let coordinate = AnyExpr::iota([2, 2], 0).eval_on(&Device::cpu()).unwrap();
    assert_eq!(coordinate.to_vec::<i32>().unwrap(), [0, 0, 1, 1]);
}

/// A mistake: its kind, its text, and the line that made it.
#[track_caller]
fn mistake<T: std::fmt::Debug>(result: Result<T, Error>, kind: ErrorKind, text: &str, line: u32) {
    let error = result.unwrap_err();
    assert_eq!(error.message(), text);
    assert_eq!(error.kind(), kind);
    let at = error.location().unwrap_or_else(|| panic!("no line: {text}"));
    assert_eq!((at.file(), at.line()), ("tests/it/untyped.rs", line), "{text}");
}

#[test]
fn mistakes_of_types() {
    use ErrorKind::{Operation, Type};
    on_every_device(|device| {
        let float = device.zeros_any(DType::F32, [2]).unwrap();
        let int = device.zeros_any(DType::I32, [2]).unwrap();
        let truth = device.zeros_any(DType::Bool, [2]).unwrap();
        let (f, i, b) = (float.expr(), int.expr(), truth.expr());
        let (f, i, b) = (&f, &i, &b);
        let call = |name: &str, operands: &[&AnyExpr]| -> AnyExpr {
            AnyExpr::call(name, &operands.iter().map(|&x| x.clone()).collect::<Vec<_>>())
        };
        let line = line!() - 2;
        for (expr, kind, text) in [
            (
                call("add", &[f, i]),
                Type,
                "add takes operands of one type and got f32 and i32: cast one of them",
            ),
            (
                call("clamp", &[f, i, f]),
                Type,
                "clamp takes operands of one type and got f32, i32 and f32: cast one of them",
            ),
            (
                call("lerp", &[f, f, i]),
                Type,
                "lerp takes operands of one type and got f32, f32 and i32: cast one of them",
            ),
            (call("add", &[b, b]), Operation, "add takes no bool: cast the operands"),
            (call("gelu", &[i]), Operation, "gelu takes no i32: cast the operands"),
            (call("add", &[f]), Operation, "add takes 2 operands and not 1"),
            (call("exp", &[]), Operation, "exp takes 1 operand and not 0"),
            (call("gelu", &[f, f]), Operation, "gelu takes 1 operand and not 2"),
            (call("select", &[f]), Operation, "no operation is called 'select'"),
            (call("nand", &[f]), Operation, "no operation is called 'nand'"),
        ] {
            mistake(expr.eval(), kind, text, line);
        }

        let (line, wrong) = (line!(), f.select(f, f));
        mistake(wrong.eval(), Type, "select takes a condition of bool and got f32: compare or cast it", line);
        let (line, wrong) = (line!(), b.select(f, i));
        mistake(
            wrong.eval(),
            Type,
            "select takes values of one type and got f32 and i32: cast one of them",
            line,
        );

        let text = "an expression of f32 was taken as one of u8: cast it";
        mistake(f.typed::<u8>(), Type, text, line!());
        mistake(f.to_vec::<u8>(), Type, text, line!());
        let text = "a tensor of f32 was taken as one of u8: cast it";
        mistake(float.typed::<u8>(), Type, text, line!());
        mistake(float.to_vec::<u8>(), Type, text, line!());
        let text = "cannot assign i32 to a tensor of f32: cast the value";
        mistake(float.assign(i), Type, text, line!());
        assert_eq!(float.to_bytes().unwrap(), [0; 8]);

        // The first one stays, whatever comes after.
        let (line, wrong) = (line!(), AnyExpr::call("mul", &[f.clone(), b.clone()]));
        let text = "mul takes operands of one type and got f32 and bool: cast one of them";
        let later = AnyExpr::call("gelu", &[wrong.cast(DType::I32).flip(7), i.clone()]).select(f, b);
        mistake(later.eval(), Type, text, line);
        mistake(AnyExpr::call("nand", std::slice::from_ref(&later)).eval_on(device), Type, text, line);
        mistake(later.typed::<f32>(), Type, text, line);
        mistake(later.dtype(), Type, text, line);
        mistake(later.to_bytes(), Type, text, line);
        mistake(later.warm_up(device), Type, text, line);
        mistake(later.explain(device), Type, text, line);
        mistake(float.assign(&later), Type, text, line);
        mistake(AnyExpr::eval_all(&[f.clone(), later.clone()]), Type, text, line);
        mistake(Broadcast::NumPy.align_any(f, &later), Type, text, line);

        // Shapes and axes are as of typed expressions.
        let long = device.zeros_any(DType::F32, [3]).unwrap().expr();
        let text = "cannot broadcast [2] with [3]: axis 0 has lengths 2 and 3 (numpy rule)";
        let (line, wrong) = (line!(), AnyExpr::call("add", &[f.clone(), long]));
        mistake(wrong.eval(), ErrorKind::Shape, text, line);
        let text = "axis 1 of [2] is out of range: axes go from -1 to 0";
        let (line, wrong) = (line!(), [f.flip(1), f.coordinate(1), AnyExpr::iota([2], 1)]);
        wrong.iter().for_each(|wrong| mistake(wrong.eval(), ErrorKind::Axis, text, line));
    });
}

#[test]
fn mistakes_of_bytes_and_devices() {
    let device = Device::cpu();
    let text = |result: Result<AnyTensor, Error>| result.unwrap_err().message().to_string();
    assert_eq!(
        text(device.upload_bytes(&[0; 5], DType::F32, [2, 3])),
        "upload of 5 bytes as f32 [2, 3], which has 24: data and shape must agree"
    );
    assert_eq!(
        text(device.upload_bytes(&[], DType::F64, [usize::MAX / 2])),
        format!(
            "upload of 0 bytes as f64 [{}], which has 73786976294838206456: data and shape must agree",
            usize::MAX / 2
        )
    );
    assert_eq!(
        text(device.upload_bytes(&[], DType::U8, [usize::MAX, 2])),
        format!("the element count of [{}, 2] overflows 64 bits", usize::MAX)
    );
    let error = AnyExpr::scalar(DType::F32, 1).eval().unwrap_err();
    assert_eq!(error.message(), "an expression without tensors has no device: use eval_on and name one");
    let x = device.zeros_any(DType::U8, [1]).unwrap();
    for other in adapters() {
        let text = format!(
            "a tensor on cpu cannot be combined with one on {}: read it with to_vec and upload it there",
            other.name()
        );
        mistake(x.eval_on(other), ErrorKind::Device, &text, line!());
        mistake(x.warm_up(other), ErrorKind::Device, &text, line!());
        mistake(x.explain(other), ErrorKind::Device, &text, line!());
    }
}

#[test]
fn scalars_are_held_by_their_types() {
    let bytes = |dtype, value: Scalar| {
        let result = AnyExpr::scalar(dtype, value).eval_on(&Device::cpu()).and_then(|x| x.to_bytes());
        result.map_err(|error| error.message().to_string())
    };
    let int = |value: i128| Scalar::Int(value);
    let float = |value: f64| Scalar::Float(value);
    for dtype in DType::ALL {
        let size = dtype.size();
        let is_float = matches!(dtype, DType::F32 | DType::F16 | DType::BF16 | DType::F64);
        let is_signed = matches!(dtype, DType::I8 | DType::I16 | DType::I32 | DType::I64);
        assert_eq!(bytes(dtype, true.into()).is_ok(), dtype == DType::Bool);
        assert_eq!(bytes(dtype, 1.into()).is_ok(), dtype != DType::Bool);
        assert_eq!(bytes(dtype, (-1.0).into()).is_ok(), is_float || is_signed);
        assert_eq!(bytes(dtype, 0.5.into()).is_ok(), is_float);
        assert_eq!(bytes(dtype, f64::NAN.into()).is_ok(), is_float);
        assert_eq!(bytes(dtype, f64::INFINITY.into()).is_ok(), is_float);
        if !is_float && dtype != DType::Bool {
            let bits = 8 * size as u32 - u32::from(is_signed);
            let (least, greatest) = (if is_signed { -(1_i128 << bits) } else { 0 }, (1_i128 << bits) - 1);
            assert_eq!(bytes(dtype, int(least)).unwrap(), least.to_le_bytes()[..size]);
            assert_eq!(bytes(dtype, int(greatest)).unwrap(), greatest.to_le_bytes()[..size]);
            assert!(bytes(dtype, int(least - 1)).is_err() && bytes(dtype, int(greatest + 1)).is_err());
            assert!(bytes(dtype, float(1e300)).is_err() && bytes(dtype, float(-1e300)).is_err());
        }
    }
    assert_eq!(bytes(DType::F32, int(i128::MAX)).unwrap(), (i128::MAX as f32).to_le_bytes());
    // Rounded once: by way of the nearest f64 these would be ties.
    for (sign, more) in [(1, 1), (1, -1), (-1, 1), (-1, -1)] {
        let value = sign * ((1_i128 << 60) + (1 << 36) + more);
        assert_eq!(bytes(DType::F32, int(value)).unwrap(), (value as f32).to_le_bytes());
    }
    for (dtype, value, text) in [
        (DType::U8, int(256), "256 is no u8, which holds whole numbers from 0 to 255"),
        (DType::I8, float(0.5), "0.5 is no i8, which holds whole numbers from -128 to 127"),
        (DType::F32, float(1e39), "1e39 is no f32, which holds numbers up to 3.4028235e38"),
        (DType::F16, int(70_000), "70000 is no f16, which holds numbers up to 65504"),
        (DType::F64, true.into(), "true is no f64, which holds numbers up to 1.7976931348623157e308"),
        (DType::Bool, int(1), "1 is no bool, which holds true and false"),
    ] {
        assert_eq!(bytes(dtype, value).unwrap_err(), text);
    }
    let (line, wrong) = (line!(), AnyExpr::scalar(DType::I32, f64::NAN));
    let text = "NaN is no i32, which holds whole numbers from -2147483648 to 2147483647";
    mistake(wrong.shape(), ErrorKind::Type, text, line);
}
