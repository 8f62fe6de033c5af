//! The value of a recipe, element by element and one operation at a time: the oracle for the CPU path and every
//! adapter. It uses nothing of the crate but the addresses of a [`Layout`], so a mistake of a schedule, a plan or a
//! kernel shows.

use std::collections::HashMap;
use std::rc::Rc;

use zerostride::{DType, Layout, Shape};

use super::recipe::{Beyond, Kind, Node, Recipe};
use super::reference::{BINARY, UNARY};
use super::value::{Value, by_rank, is_float, least, nearest, rank};

/// An element, and whether the contract leaves it open: a subnormal number on the way, or the sign of NaN.
#[derive(Clone, Copy, Debug)]
pub struct Naive {
    pub value: Value,
    pub open: bool,
}

impl Naive {
    pub fn float(self) -> f64 {
        if let Value::Float(x) = self.value { x } else { panic!("{self:?} is no float") }
    }

    fn int(self) -> i128 {
        if let Value::Int(x) = self.value { x } else { panic!("{self:?} is no integer") }
    }

    fn truth(self) -> bool {
        if let Value::Bool(x) = self.value { x } else { panic!("{self:?} is no bool") }
    }
}

/// The values of nodes. Each is computed once.
pub type Known = HashMap<*const Node, Rc<Vec<Naive>>>;

/// All elements of a recipe in row-major order. An inexact function, which may stand at the root only,
/// has the exact value as far as f64 holds it.
pub fn evaluate(recipe: &Recipe, storages: &[Vec<Naive>], known: &mut Known) -> Rc<Vec<Naive>> {
    if let Some(known) = known.get(&recipe.id()) {
        return known.clone();
    }
    if let Kind::Repeat { id, turns, states, result } = recipe.kind {
        let all = repeat(recipe, id, turns, states, storages, known);
        known.insert(recipe.id(), all[result].clone());
        return all[result].clone();
    }
    let args: Vec<_> = recipe.args.iter().map(|arg| evaluate(arg, storages, known)).collect();
    let shape = Shape::from(&recipe.shape[..]);
    let dense = Layout::contiguous(shape.clone()).unwrap();
    let closed = |value| Naive { value, open: false };
    let all: Vec<Naive> = match &recipe.kind {
        Kind::Leaf(i) => storages[*i].clone(),
        Kind::Constant(value) => vec![closed(*value)],
        Kind::Index(axis) => {
            let strides: Vec<isize> = (0..shape.rank()).map(|k| isize::from(k == *axis)).collect();
            let coordinates = Layout::strided(shape, &strides, 0, usize::MAX).unwrap();
            coordinates.addresses().map(|i| closed(Value::Int(i as i128))).collect()
        }
        Kind::Random(key) => (0..dense.count()).map(|i| closed(random(recipe.dtype, i, *key))).collect(),
        Kind::View(view) => {
            let layout = view.of(&Layout::contiguous(&recipe.args[0].shape[..]).unwrap()).unwrap();
            layout.addresses().map(|i| args[0][i]).collect()
        }
        Kind::Reduce(reduction) => {
            let of = &recipe.args[0];
            reduction.evaluate(&of.shape, of.dtype, &args[0])
        }
        Kind::Shared => args[0].to_vec(),
        Kind::Join(axis) => {
            let inner: usize = shape[axis + 1..].iter().product();
            let outer: usize = shape[..*axis].iter().product();
            let of_row = |row: usize| {
                let part = move |(arg, all): (&Recipe, &Rc<Vec<Naive>>)| {
                    let count = arg.shape[*axis] * inner;
                    all[row * count..(row + 1) * count].to_vec()
                };
                recipe.args.iter().zip(&args).flat_map(part).collect::<Vec<_>>()
            };
            (0..outer).flat_map(of_row).collect()
        }
        Kind::Lookup(beyond) => {
            let table = Layout::contiguous(&recipe.args[0].shape[..]).unwrap();
            let mut addresses: Vec<_> = (recipe.args[1..].iter())
                .map(|arg| Layout::contiguous(&arg.shape[..]).unwrap().broadcast_to(&shape).unwrap())
                .map(|layout| layout.addresses().collect::<Vec<_>>().into_iter())
                .collect();
            let mut indices = || -> Vec<Naive> {
                args[1..].iter().zip(&mut addresses).map(|(arg, at)| arg[at.next().unwrap()]).collect()
            };
            (0..dense.count()).map(|_| look_up(&table, &args[0], &indices(), *beyond)).collect()
        }
        // Outside of its loop, where a case may be on the way to a smaller one.
        Kind::State(_) => vec![Naive { value: Value::Bool(false), open: true }; dense.count()],
        Kind::Repeat { .. } => unreachable!("it is evaluated above"),
        Kind::Op(_) | Kind::Written(_) | Kind::Select | Kind::Cast => {
            let mut addresses: Vec<_> = (recipe.args.iter())
                .map(|arg| Layout::contiguous(&arg.shape[..]).unwrap().broadcast_to(&shape).unwrap())
                .map(|layout| layout.addresses().collect::<Vec<_>>().into_iter())
                .collect();
            let (operation, mut operands) = (operation(recipe), vec![closed(Value::Bool(false)); args.len()]);
            let mut element = || {
                let places = args.iter().zip(&mut addresses);
                operands.iter_mut().zip(places).for_each(|(own, (arg, at))| *own = arg[at.next().unwrap()]);
                operation(&operands)
            };
            (0..dense.count()).map(|_| element()).collect()
        }
    };
    let all = Rc::new(all);
    known.insert(recipe.id(), all.clone());
    all
}

/// An element of a table. If an index is open, so is the element.
fn look_up(table: &Layout, elements: &[Naive], indices: &[Naive], beyond: Beyond) -> Naive {
    let open = indices.iter().any(|index| index.open);
    let mut at = 0;
    for (k, index) in indices.iter().enumerate() {
        let (Value::Int(index), n) = (index.value, table.shape()[k] as i128) else { panic!("{index:?}") };
        let from_end = if index < 0 { index + n } else { index };
        let index = match beyond {
            Beyond::Wrapped => index.rem_euclid(n),
            Beyond::Fill(value) if !(0..n).contains(&from_end) => return Naive { value, open },
            _ => from_end.clamp(0, n - 1),
        };
        at += index as usize * table.strides()[k] as usize;
    }
    Naive { value: elements[at].value, open: open || elements[at].open }
}

/// The values of a loop when it ends: all elements a turn at a time.
fn repeat(
    recipe: &Recipe,
    id: u64,
    turns: u32,
    states: usize,
    storages: &[Vec<Naive>],
    known: &mut Known,
) -> Vec<Rc<Vec<Naive>>> {
    let first = &recipe.args[..states];
    let (next, goes_on) = recipe.args[states..].split_at(states);
    let mut values: Vec<_> = first.iter().map(|first| evaluate(first, storages, known)).collect();
    let nodes: Vec<Recipe> = recipe.args[states..].iter().flat_map(Recipe::nodes).collect();
    let mut open = vec![Naive { value: Value::Bool(true), open: false }; values[0].len()];
    for _ in 0..turns {
        let mut turn = Known::new();
        for node in &nodes {
            if let Kind::State(state) = node.kind
                && let Some(value) = state.checked_sub(id).and_then(|i| values.get(i as usize))
            {
                turn.insert(node.id(), value.clone());
            }
            // Of another loop, around this one.
            if let (Kind::State(_), Some(value)) = (&node.kind, known.get(&node.id())) {
                turn.insert(node.id(), value.clone());
            }
        }
        let shape = Shape::from(&recipe.shape[..]);
        let full = |value: &Recipe, all: Rc<Vec<Naive>>| -> Vec<Naive> {
            let own = Layout::contiguous(&value.shape[..]).unwrap().broadcast_to(&shape).unwrap();
            own.addresses().map(|i| all[i]).collect()
        };
        if let [goes_on] = goes_on {
            let go = full(goes_on, evaluate(goes_on, storages, &mut turn));
            for (open, go) in open.iter_mut().zip(go) {
                open.open |= open.value == Value::Bool(true) && go.open;
                if go.value == Value::Bool(false) {
                    open.value = go.value;
                }
            }
        }
        let after = |(value, next): (&Rc<Vec<Naive>>, &Recipe)| {
            let new = full(next, evaluate(next, storages, &mut turn));
            let all = new.iter().zip(value.iter()).zip(&open).map(|((new, old), open)| {
                let chosen = if open.value == Value::Bool(true) { new } else { old };
                Naive { value: chosen.value, open: chosen.open || open.open }
            });
            Rc::new(all.collect())
        };
        values = values.iter().zip(next).map(after).collect();
    }
    values
}

/// An element of random numbers: word `i % 4` of block `i / 4` of Philox4x32-10, or its first bits as a
/// fraction, as many as the type holds. An f64 has two words.
fn random(of: DType, i: usize, key: u64) -> Value {
    let key_half = |half: u32| key >> (32 * half) & 0xffff_ffff;
    let word = |i: usize| {
        let mut x = [i as u64 / 4, 0, 0, 0];
        for round in 0..10 {
            let key = |half: u64, step: u64| (half + round * step) & 0xffff_ffff;
            let (first, second) = (x[0] * 0xd251_1f53, x[2] * 0xcd9e_8d57);
            let (low, high) = (key(key_half(0), 0x9e37_79b9), key(key_half(1), 0xbb67_ae85));
            x = [
                (second >> 32) ^ x[1] ^ low,
                second & 0xffff_ffff,
                (first >> 32) ^ x[3] ^ high,
                first & 0xffff_ffff,
            ];
        }
        x[i % 4]
    };
    let fraction = |bits: u32| (word(i) >> (32 - bits)) as f64 / 2.0_f64.powi(bits as i32);
    match of {
        DType::U32 => Value::Int(word(i).into()),
        DType::F32 => Value::Float(fraction(24)),
        DType::F16 => Value::Float(fraction(11)),
        DType::BF16 => Value::Float(fraction(8)),
        _ => {
            let bits = (word(2 * i) >> 5) << 26 | word(2 * i + 1) >> 6;
            Value::Float(bits as f64 / 2.0_f64.powi(53))
        }
    }
}

/// A function of an element of each operand.
type OfElements<'a> = Box<dyn Fn(&[Naive]) -> Naive + 'a>;

/// A function of floats, which may open its result.
type OfFloats<R> = Box<dyn Fn(&[f64], &mut bool) -> R>;

type OfIntegers = Box<dyn Fn(&[i128]) -> i128>;

/// An operation as a function of an element of each operand, found by its name once for all elements.
fn operation(recipe: &Recipe) -> OfElements<'_> {
    let (first, from) = (recipe.args[0].dtype, recipe.args.last().unwrap().dtype);
    // Open if an operand is, or if the function says so.
    fn with(args: &[Naive], value: impl FnOnce(&mut bool) -> Value) -> Naive {
        let mut open = args.iter().any(|arg| arg.open);
        Naive { value: value(&mut open), open }
    }
    match &recipe.kind {
        Kind::Select => Box::new(|args| {
            let chosen = &args[if args[0].truth() { 1 } else { 2 }];
            Naive { value: chosen.value, open: args[0].open || chosen.open }
        }),
        Kind::Written(own) => Box::new(|args| {
            let values: Vec<Value> = args.iter().map(|arg| arg.value).collect();
            with(args, |_| own.of(&values))
        }),
        Kind::Cast => Box::new(|args| with(args, |open| cast(args[0].value, recipe.dtype, open))),
        Kind::Op(name) if is_float(first) => {
            fn floats<R>(args: &[Naive], f: impl FnOnce(&[f64]) -> R) -> R {
                let mut floats = [0.0; 3];
                floats.iter_mut().zip(args).for_each(|(own, arg)| *own = arg.float());
                f(&floats[..args.len()])
            }
            if let Some(truth) = truth(name) {
                return Box::new(move |args| {
                    with(args, |open| Value::Bool(floats(args, |x| truth(x, open))))
                });
            }
            // Inexact functions are compared without rounding.
            let (float, of, is_rounded) = (float(name, from), recipe.dtype, recipe.bound().is_none());
            Box::new(move |args| {
                with(args, |open| {
                    let exact = floats(args, |x| float(x, open));
                    *open |= may_be_flushed(exact, of);
                    Value::Float(if is_rounded { nearest(exact, of) } else { exact })
                })
            })
        }
        Kind::Op(name) if first == DType::Bool => Box::new(move |args| {
            let value = match (*name, args) {
                ("not", [a]) => !a.truth(),
                ("and", [a, b]) => a.truth() && b.truth(),
                ("or", [a, b]) => a.truth() || b.truth(),
                ("xor" | "ne", [a, b]) => a.truth() != b.truth(),
                ("eq", [a, b]) => a.truth() == b.truth(),
                _ => panic!("no {name} of bool"),
            };
            with(args, |_| Value::Bool(value))
        }),
        Kind::Op(name) => {
            if let Some(relation) = relation(name) {
                return Box::new(move |args| {
                    with(args, |_| Value::Bool(relation(&args[0].int(), &args[1].int())))
                });
            }
            let integer = integer(name, from);
            Box::new(move |args| {
                let mut all = [0; 3];
                all.iter_mut().zip(args).for_each(|(own, arg)| *own = arg.int());
                with(args, |_| Value::Int(wrap(integer(&all[..args.len()]), from)))
            })
        }
        kind => panic!("{kind:?} is no operation"),
    }
}

/// Whether an adapter may flush a number, even if it rounds up to the least normal number of its type.
fn may_be_flushed(exact: f64, of: DType) -> bool {
    exact != 0.0 && exact.abs() < least(of)
}

/// As Rust's `as`.
fn cast(x: Value, to: DType, open: &mut bool) -> Value {
    let size = 8 * to.size() as u32;
    match x {
        _ if to == DType::Bool => Value::Bool(match x {
            Value::Float(x) => x != 0.0,
            Value::Int(x) => x != 0,
            Value::Bool(x) => x,
        }),
        Value::Float(x) if is_float(to) => {
            *open |= may_be_flushed(x, to);
            Value::Float(nearest(x, to))
        }
        Value::Float(x) => {
            let whole = x as i128; // NaN gives 0
            let top = 1 << (size - u32::from(is_signed(to)));
            Value::Int(whole.clamp(if is_signed(to) { -top } else { 0 }, top - 1))
        }
        Value::Int(x) if is_float(to) => {
            // Of 64 bits f64 drops some: where it did, the last one kept stands for them.
            let near = x as f64;
            let below = near.to_bits() - u64::from(near.abs() as i128 > x.abs());
            let odd = f64::from_bits(below | u64::from(near as i128 != x));
            Value::Float(if to == DType::F64 { near } else { nearest(odd, to) })
        }
        Value::Int(x) => Value::Int(wrap(x, to)),
        Value::Bool(x) if is_float(to) => Value::Float(x.into()),
        Value::Bool(x) => Value::Int(x.into()),
    }
}

/// A function of floats that is true or false, if it has this name.
fn truth(name: &str) -> Option<OfFloats<bool>> {
    Some(match name {
        "is_nan" => Box::new(|x, _| x[0].is_nan()),
        "is_inf" => Box::new(|x, _| x[0].is_infinite()),
        "is_finite" => Box::new(|x, _| x[0].is_finite()),
        "signbit" => Box::new(|x, open| {
            *open |= x[0].is_nan();
            x[0].is_sign_negative()
        }),
        _ => {
            let relation = relation(name)?;
            Box::new(move |x, _| relation(&x[0], &x[1]))
        }
    })
}

/// The lesser of two, or the greater. -0 is less than 0. NaN wins, or loses.
fn extreme(a: f64, b: f64, greater: bool, nan_wins: bool) -> f64 {
    let is_less = a < b || a == b && a.is_sign_negative();
    match (a.is_nan(), b.is_nan()) {
        (false, false) if is_less != greater => a,
        (false, false) => b,
        (first, _) if first == nan_wins => a,
        _ => b,
    }
}

/// A function of floats of a type, by its name.
fn float(name: &str, of: DType) -> OfFloats<f64> {
    let own: fn(&[f64], &mut bool) -> f64 = match name {
        "add" => |x, _| x[0] + x[1],
        "sub" => |x, _| x[0] - x[1],
        "mul" => |x, _| x[0] * x[1],
        "div" => |x, _| x[0] / x[1],
        "rem" => |x, _| x[0] % x[1],
        "rem_floor" => |x, _| rem_floor(x[0], x[1]),
        "div_floor" => |x, open| div_floor(x[0], x[1], open),
        "minimum" | "min" => |x, _| extreme(x[0], x[1], false, true),
        "maximum" | "max" => |x, _| extreme(x[0], x[1], true, true),
        "fmin" => |x, _| extreme(x[0], x[1], false, false),
        "fmax" => |x, _| extreme(x[0], x[1], true, false),
        "clamp" => |x, _| extreme(extreme(x[0], x[1], true, true), x[2], false, true),
        "fma" => return Box::new(move |x, _| fma(x[0], x[1], x[2], of)),
        "copysign" => |x, open| {
            *open |= x[1].is_nan();
            x[0].copysign(x[1])
        },
        "nextafter" => return Box::new(move |x, _| nextafter(x[0], x[1], of)),
        "neg" => |x, _| -x[0],
        "abs" => |x, _| x[0].abs(),
        "positive" => |x, _| x[0],
        "square" => |x, _| x[0] * x[0],
        "reciprocal" => |x, _| 1.0 / x[0],
        "sqrt" => |x, _| x[0].sqrt(),
        "floor" => |x, _| x[0].floor(),
        "ceil" => |x, _| x[0].ceil(),
        "trunc" => |x, _| x[0].trunc(),
        "round" => |x, _| x[0].round_ties_even(),
        "fract" => |x, _| x[0] - x[0].floor(),
        "relu" => |x, _| if x[0] <= 0.0 { 0.0 } else { x[0] },
        "sign" => |x, _| if x[0] == 0.0 { 0.0 } else { x[0].signum() },
        name => {
            if let Some(row) = UNARY.iter().find(|row| row.name == name) {
                return Box::new(|x, _| (row.of_f64)(x[0]));
            }
            let row = BINARY.iter().find(|row| row.name == name).expect(name);
            return Box::new(|x, _| (row.of_f64)(x[0], x[1]));
        }
    };
    Box::new(own)
}

fn nextafter(a: f64, b: f64, of: DType) -> f64 {
    match () {
        () if a.is_nan() => a,
        () if b.is_nan() || a == b => b,
        () if b > a => by_rank(rank(a, of) + 1, of).copysign(if a == 0.0 { b } else { a }),
        () => by_rank(rank(a, of) - 1, of).copysign(if a == 0.0 { b } else { a }),
    }
}

/// With the sign of the divisor.
fn rem_floor(a: f64, b: f64) -> f64 {
    let r = a % b;
    match () {
        () if r == 0.0 => r.copysign(b),
        () if (r < 0.0) != (b < 0.0) => r + b,
        () => r,
    }
}

/// The integer below the quotient. Large ones, by whose roundings it would be another integer, are open.
fn div_floor(a: f64, b: f64, open: &mut bool) -> f64 {
    if b == 0.0 {
        return a / b;
    }
    let r = a % b;
    let whole = ((a - r) / b).round() - f64::from(u8::from(r != 0.0 && (r < 0.0) != (b < 0.0)));
    *open |= whole.abs() >= f64::from(1 << 20);
    if whole == 0.0 { whole.copysign(a / b) } else { whole }
}

/// Rounded once. f64 holds the product of narrow types, and the last bit of the sum stands for the lost bits.
fn fma(a: f64, b: f64, c: f64, of: DType) -> f64 {
    match of {
        DType::F64 => a.mul_add(b, c),
        DType::F32 => f64::from((a as f32).mul_add(b as f32, c as f32)),
        _ => {
            let product = a * b;
            let sum = product + c;
            let part = sum - product;
            let lost = (product - (sum - part)) + (c - part);
            if lost == 0.0 || !lost.is_finite() || sum.to_bits() & 1 == 1 {
                return sum;
            }
            let away = (lost > 0.0) == (sum > 0.0);
            f64::from_bits(if away { sum.to_bits() + 1 } else { sum.to_bits() - 1 })
        }
    }
}

fn is_signed(of: DType) -> bool {
    matches!(of, DType::I8 | DType::I16 | DType::I32 | DType::I64)
}

/// The low bits, as a number of the type.
fn wrap(x: i128, of: DType) -> i128 {
    let free = 128 - 8 * of.size() as u32;
    if is_signed(of) { x << free >> free } else { ((x as u128) << free >> free) as i128 }
}

/// The relations that numbers of any kind have.
fn relation<T: PartialOrd>(name: &str) -> Option<fn(&T, &T) -> bool> {
    Some(match name {
        "eq" => T::eq,
        "ne" => T::ne,
        "lt" => T::lt,
        "le" => T::le,
        "gt" => T::gt,
        "ge" => T::ge,
        _ => return None,
    })
}

/// A function of integers of a type, by its name. Its results are wrapped afterwards.
fn integer(name: &str, of: DType) -> OfIntegers {
    let width = 8 * of.size() as i128;
    // The bits of the type alone.
    let bits = move |x: i128| x as u128 & (u128::MAX >> (128 - width));
    let rotate = move |x: i128, by: i128| {
        let by = by.rem_euclid(width);
        (bits(x) << by | bits(x) >> (width - by)) as i128
    };
    let own: fn(&[i128]) -> i128 = match name {
        "add" => |x| x[0] + x[1],
        "sub" => |x| x[0] - x[1],
        "mul" => |x| x[0].wrapping_mul(x[1]),
        "square" => |x| x[0].wrapping_mul(x[0]),
        "div" => |x| if x[1] == 0 { 0 } else { x[0] / x[1] },
        "rem" => |x| if x[1] == 0 { 0 } else { x[0] % x[1] },
        "div_floor" => |x| if x[1] == 0 { 0 } else { (x[0] - (x[0] % x[1] + x[1]) % x[1]) / x[1] },
        "rem_floor" => |x| if x[1] == 0 { 0 } else { (x[0] % x[1] + x[1]) % x[1] },
        "pow" => return Box::new(move |x| power(x[0], x[1], of)),
        "minimum" | "min" => |x| x[0].min(x[1]),
        "maximum" | "max" => |x| x[0].max(x[1]),
        "clamp" => |x| x[0].max(x[1]).min(x[2]),
        "neg" => |x| -x[0],
        "positive" => |x| x[0],
        "abs" => |x| x[0].abs(),
        "sign" => |x| x[0].signum(),
        "and" => |x| x[0] & x[1],
        "or" => |x| x[0] | x[1],
        "xor" => |x| x[0] ^ x[1],
        "not" => |x| !x[0],
        "shl" => return Box::new(move |x| if (0..width).contains(&x[1]) { x[0] << x[1] } else { 0 }),
        "shr" => {
            return Box::new(move |x| match (0..width).contains(&x[1]) {
                true => x[0] >> x[1],
                false => -i128::from(x[0] < 0),
            });
        }
        "gcd" => |x| gcd(x[0], x[1]),
        "lcm" => |x| match (x[0], x[1]) {
            (0, _) | (_, 0) => 0,
            (a, b) => (a.abs() / gcd(a, b)).wrapping_mul(b.abs()),
        },
        "rotate_left" => return Box::new(move |x| rotate(x[0], x[1])),
        "rotate_right" => return Box::new(move |x| rotate(x[0], -x[1])),
        "count_ones" => return Box::new(move |x| bits(x[0]).count_ones().into()),
        "leading_zeros" => {
            return Box::new(move |x| i128::from(bits(x[0]).leading_zeros()) - (128 - width));
        }
        "trailing_zeros" => {
            return Box::new(move |x| i128::from(bits(x[0]).trailing_zeros()).min(width));
        }
        "reverse_bits" => {
            return Box::new(move |x| (bits(x[0]).reverse_bits() >> (128 - width)) as i128);
        }
        _ => panic!("no op {name} of integers"),
    };
    Box::new(own)
}

fn power(base: i128, exponent: i128, of: DType) -> i128 {
    match (base, exponent) {
        (1, _) => 1,
        (-1, exponent) => 1 - 2 * (exponent & 1),
        (_, exponent) if exponent < 0 => 0,
        (base, exponent) => {
            let square = |x: i128| wrap(x.wrapping_mul(x), of);
            let bits = (0..128).rev().map(|i| exponent >> i & 1 == 1);
            let next = |power, bit| match bit {
                true => wrap(square(power).wrapping_mul(base), of),
                false => square(power),
            };
            bits.fold(1, next)
        }
    }
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}
