//! Reductions by the words of the contract: the order of additions, compositions, and the bounds of exponentials.

use zerostride::DType;

use super::naive::Naive;
use super::value::{Value, is_float, least, nearest};

/// A reduction of a recipe, as it is called.
#[derive(Clone, Debug)]
pub struct Reduction {
    pub name: &'static str,
    /// As given, negative ones too; none are all.
    pub axes: Option<Vec<isize>>,
    pub keepdim: bool,
    pub correction: f64,
    pub exclusive: bool,
    pub reverse: bool,
}

impl Reduction {
    pub fn over(name: &'static str, axes: impl Into<Vec<isize>>) -> Reduction {
        let axes = Some(axes.into());
        Reduction { name, axes, keepdim: false, correction: 0.0, exclusive: false, reverse: false }
    }

    pub fn keeps_shape(&self) -> bool {
        matches!(self.name, "softmax" | "log_softmax" | "cumsum" | "cumprod" | "cummax" | "cummin")
    }

    /// Whether bits differ between devices.
    pub fn is_bounded(&self) -> bool {
        matches!(self.name, "softmax" | "log_softmax" | "logsumexp")
    }

    pub fn result(&self, of: DType) -> DType {
        match self.name {
            "argmin" | "argmax" | "count_nonzero" => DType::U32,
            _ => of,
        }
    }

    /// Which axes of a rank are reduced.
    fn reduced(&self, rank: usize) -> Vec<bool> {
        let mut reduced = vec![self.axes.is_none(); rank];
        for &axis in self.axes.iter().flatten() {
            reduced[axis.rem_euclid(rank as isize) as usize] = true;
        }
        reduced
    }

    /// The shape of the result.
    pub fn shape(&self, shape: &[usize]) -> Vec<usize> {
        if self.keeps_shape() {
            return shape.to_vec();
        }
        let axes = shape.iter().zip(self.reduced(shape.len()));
        let length = |(&n, reduced)| match (reduced, self.keepdim) {
            (false, _) => Some(n),
            (true, true) => Some(1),
            (true, false) => None,
        };
        axes.filter_map(length).collect()
    }

    /// The values of the result, in row-major order. Functions within bounds have the exact values as far as
    /// f64 holds them.
    pub fn evaluate(&self, shape: &[usize], of: DType, x: &[Naive]) -> Vec<Naive> {
        let reduced = self.reduced(shape.len());
        // Axes of length 1 count for nothing.
        let long = || shape.iter().zip(&reduced).filter(|(n, _)| **n != 1);
        let lengths: Vec<usize> = long().map(|(&n, _)| n).collect();
        let reduced: Vec<bool> = long().map(|(_, &reduced)| reduced).collect();
        let ranges = Ranges { lengths, reduced, of: accumulating(of) };
        let values = if self.keeps_shape() { ranges.kept(self, x) } else { ranges.reduced(self, x) };
        let last = |value: Naive| {
            let rounded = round(value, self.result(of));
            if self.is_bounded() { Naive { value: value.value, ..rounded } } else { rounded }
        };
        values.into_iter().map(last).collect()
    }
}

/// f16 and bf16 are computed in f32.
fn accumulating(of: DType) -> DType {
    if is_float(of) && of.size() < 4 { DType::F32 } else { of }
}

/// `fold` of the contract.
fn fold(mut x: Vec<Naive>, f: &impl Fn(Naive, Naive) -> Naive) -> Naive {
    while x.len() > 1 {
        let block = |block: &[Naive]| {
            let (first, rest) = block.split_at(block.len().min(64));
            let mut a = first.to_vec();
            rest.iter().enumerate().for_each(|(i, &x)| a[i % 64] = f(a[i % 64], x));
            for h in [32, 16, 8, 4, 2, 1] {
                (h..a.len()).for_each(|i| a[i - h] = f(a[i - h], a[i]));
                a.truncate(h);
            }
            a[0]
        };
        x = x.chunks(1024).map(block).collect();
    }
    x[0]
}

/// `scan` of the contract.
fn scan(x: &[Naive], f: &impl Fn(Naive, Naive) -> Naive) -> Vec<Naive> {
    let mut y = x.to_vec();
    y.chunks_mut(16).for_each(|y| (1..y.len()).for_each(|k| y[k] = f(y[k - 1], y[k])));
    if x.len() > 16 {
        let lasts: Vec<Naive> = y.chunks(16).map(|y| y[y.len() - 1]).collect();
        let c = scan(&lasts[..lasts.len() - 1], f);
        (16..y.len()).for_each(|i| y[i] = f(c[i / 16 - 1], y[i]));
    }
    y
}

fn closed(value: Value) -> Naive {
    Naive { value, open: false }
}

/// Rounded to a float type. A number that may be flushed is open.
fn round(x: Naive, of: DType) -> Naive {
    match x.value {
        Value::Float(exact) => {
            let open = x.open || exact != 0.0 && exact.abs() < least(of);
            Naive { value: Value::Float(nearest(exact, of)), open }
        }
        _ => x,
    }
}

/// The low bits of an integer, as a number of the type.
fn wrap(x: i128, of: DType) -> i128 {
    let free = 128 - 8 * of.size() as u32;
    if of.name().starts_with('u') { ((x as u128) << free >> free) as i128 } else { x << free >> free }
}

/// Ranges of an operand: axes, none of length 1, and the reduced axes.
struct Ranges {
    lengths: Vec<usize>,
    reduced: Vec<bool>,
    of: DType,
}

impl Ranges {
    /// An operation of floats or integers of the accumulating type.
    fn op(&self, a: Naive, b: Naive, f: fn(f64, f64) -> f64, g: fn(i128, i128) -> i128) -> Naive {
        let open = a.open || b.open;
        match (a.value, b.value) {
            (Value::Float(a), Value::Float(b)) => {
                round(Naive { value: Value::Float(f(a, b)), open }, self.of)
            }
            (Value::Int(a), Value::Int(b)) => Naive { value: Value::Int(wrap(g(a, b), self.of)), open },
            values => panic!("{values:?} are no numbers"),
        }
    }

    fn add(&self, a: Naive, b: Naive) -> Naive {
        self.op(a, b, |a, b| a + b, |a, b| a + b)
    }

    fn sub(&self, a: Naive, b: Naive) -> Naive {
        self.op(a, b, |a, b| a - b, |a, b| a - b)
    }

    fn mul(&self, a: Naive, b: Naive) -> Naive {
        self.op(a, b, |a, b| a * b, i128::wrapping_mul)
    }

    fn div(&self, a: Naive, b: f64) -> Naive {
        // The count is rounded before it divides.
        let b = closed(Value::Float(nearest(b, self.of)));
        self.op(a, b, |a, b| a / b, |_, _| panic!("a quotient of integers"))
    }

    fn of_type(&self, x: i128) -> Naive {
        closed(if is_float(self.of) { Value::Float(x as f64) } else { Value::Int(x) })
    }

    /// The element that every other beats.
    fn last(&self, of_greatest: bool) -> Naive {
        let bits = 8 * self.of.size() as u32;
        let unsigned = matches!(self.of, DType::U8 | DType::U16 | DType::U32 | DType::U64);
        let (least, greatest) = match unsigned {
            true => (0, (1_i128 << bits) - 1),
            false => (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1),
        };
        closed(match (is_float(self.of), of_greatest) {
            (true, true) => Value::Float(f64::NEG_INFINITY),
            (true, false) => Value::Float(f64::INFINITY),
            (false, true) => Value::Int(least),
            (false, false) => Value::Int(greatest),
        })
    }

    /// Elements of a range.
    fn count(&self) -> usize {
        self.lengths.iter().zip(&self.reduced).filter(|(_, reduced)| **reduced).map(|(n, _)| n).product()
    }

    /// `f` of each run of neighbouring axes, the last run first, which makes one value of each.
    fn runs(&self, x: &[Naive], f: impl Fn(Vec<Naive>) -> Naive) -> Vec<Naive> {
        let (mut x, mut end) = (x.to_vec(), self.lengths.len());
        while let Some(last) = (0..end).rfind(|&axis| self.reduced[axis]) {
            let start = (0..last).rfind(|&axis| !self.reduced[axis]).map_or(0, |axis| axis + 1);
            // Later axes that are left are not reduced.
            let kept = |axis: &usize| *axis <= last || !self.reduced[*axis];
            let inner: usize =
                (last + 1..self.lengths.len()).filter(kept).map(|axis| self.lengths[axis]).product();
            let count: usize = self.lengths[start..=last].iter().product();
            let outer: usize = self.lengths[..start].iter().product();
            let range = |o: usize, i: usize| (0..count).map(|k| x[(o * count + k) * inner + i]).collect();
            x = (0..outer * inner).map(|k| f(range(k / inner, k % inner))).collect();
            end = start;
        }
        x
    }

    fn sum(&self, x: &[Naive]) -> Vec<Naive> {
        let zero = self.of_type(0);
        let sum = |x: Vec<Naive>| if x.is_empty() { zero } else { fold(x, &|a, b| self.add(a, b)) };
        // A sum of zero is +0.
        self.runs(x, sum).into_iter().map(|sum| self.add(sum, zero)).collect()
    }

    /// The first and the values of each range, in row-major order: their places.
    fn places(&self) -> Vec<Vec<usize>> {
        let total: usize = self.lengths.iter().product();
        let kept: usize = self
            .lengths
            .iter()
            .zip(&self.reduced)
            .filter(|(_, reduced)| !**reduced)
            .map(|(n, _)| n)
            .product();
        let mut places = vec![Vec::new(); kept];
        for place in 0..total {
            let (mut rest, mut number, mut unit) = (place, 0, 1);
            for (&n, &reduced) in self.lengths.iter().zip(&self.reduced).rev() {
                if !reduced {
                    number += rest % n * unit;
                    unit *= n;
                }
                rest /= n;
            }
            places[number].push(place);
        }
        places
    }

    /// Each value of a range, one for all elements of it, laid over the operand again.
    fn spread(&self, values: &[Naive]) -> Vec<Naive> {
        let mut all = vec![closed(Value::Bool(false)); self.lengths.iter().product()];
        for (places, &value) in self.places().iter().zip(values) {
            places.iter().for_each(|&place| all[place] = value);
        }
        all
    }

    fn reduced(&self, reduction: &Reduction, x: &[Naive]) -> Vec<Naive> {
        let n = self.count() as f64;
        let map = |f: &dyn Fn(Naive) -> Naive| x.iter().map(|&x| f(x)).collect::<Vec<_>>();
        let root = |x: Naive| round(Naive { value: Value::Float(x.float().sqrt()), ..x }, self.of);
        let squares = || map(&|x| self.mul(x, x));
        match reduction.name {
            "sum" | "sum_to" => self.sum(x),
            "prod" => {
                let one = self.of_type(1);
                self.runs(x, |x| if x.is_empty() { one } else { fold(x, &|a, b| self.mul(a, b)) })
            }
            "mean" => self.sum(x).into_iter().map(|sum| self.div(sum, n)).collect(),
            "l1" => self.sum(&map(&|x| Naive {
                value: match x.value {
                    Value::Float(x) => Value::Float(x.abs()),
                    Value::Int(x) => Value::Int(wrap(x.abs(), self.of)),
                    other => other,
                },
                ..x
            })),
            "sum_square" => self.sum(&squares()),
            "l2" => self.sum(&squares()).into_iter().map(root).collect(),
            "var" => self.var(x, n, reduction.correction),
            "std" => self.var(x, n, reduction.correction).into_iter().map(root).collect(),
            "logsumexp" => self.each(x, |x| {
                let (greatest, sum) = powers(x);
                match greatest.is_infinite() || greatest.is_nan() {
                    true => greatest,
                    false => greatest + sum.ln(),
                }
            }),
            name => self.places().iter().map(|places| picked(name, places, x)).collect(),
        }
    }

    fn var(&self, x: &[Naive], n: f64, correction: f64) -> Vec<Naive> {
        let means: Vec<Naive> = self.sum(x).into_iter().map(|sum| self.div(sum, n)).collect();
        let d: Vec<Naive> = x.iter().zip(self.spread(&means)).map(|(&x, m)| self.sub(x, m)).collect();
        let squares: Vec<Naive> = d.iter().map(|&d| self.mul(d, d)).collect();
        let divided = |(a, b): (Naive, Naive)| {
            let off = self.div(self.mul(a, a), n);
            // If the deciding value is open, so is the result.
            let rest = if off.float().is_infinite() {
                Naive { open: b.open || off.open, ..b }
            } else {
                self.sub(b, off)
            };
            let rest = match rest.float() {
                rest_value if rest_value <= 0.0 => Naive { value: Value::Float(0.0), ..rest },
                _ => rest,
            };
            self.div(rest, (n - correction).max(0.0))
        };
        self.sum(&d).into_iter().zip(self.sum(&squares)).map(divided).collect()
    }

    /// A function of f64 of each range, exact as far as that holds it.
    fn each(&self, x: &[Naive], f: impl Fn(&[f64]) -> f64) -> Vec<Naive> {
        let value = |places: &Vec<usize>| {
            let own: Vec<f64> = places.iter().map(|&place| x[place].float()).collect();
            Naive { value: Value::Float(f(&own)), open: places.iter().any(|&place| x[place].open) }
        };
        self.places().iter().map(value).collect()
    }

    /// Reductions that keep the shape.
    fn kept(&self, reduction: &Reduction, x: &[Naive]) -> Vec<Naive> {
        let mut all = x.to_vec();
        for mut places in self.places() {
            if places.is_empty() {
                continue;
            }
            if reduction.reverse {
                places.reverse();
            }
            let own: Vec<Naive> = places.iter().map(|&place| x[place]).collect();
            for (&place, value) in places.iter().zip(self.walked(reduction, &own)) {
                all[place] = value;
            }
        }
        all
    }

    fn walked(&self, reduction: &Reduction, x: &[Naive]) -> Vec<Naive> {
        let scanned = |identity: i128, f: &dyn Fn(Naive, Naive) -> Naive| {
            let identity = self.of_type(identity);
            let mut y = scan(x, &f);
            if reduction.exclusive {
                y.insert(0, identity);
                y.pop();
            }
            // Zeros of sums are +0, and 1 changes nothing.
            y.into_iter().map(|y| f(y, identity)).collect()
        };
        match reduction.name {
            "cumsum" => scanned(0, &|a, b| self.add(a, b)),
            "cumprod" => scanned(1, &|a, b| self.mul(a, b)),
            name @ ("cummax" | "cummin") => {
                let mut y = scan(x, &|a, b| picked(&name[3..], &[0, 1], &[a, b]));
                if reduction.exclusive {
                    y.insert(0, self.last(name == "cummax"));
                    y.pop();
                }
                y
            }
            name => {
                let all: Vec<f64> = x.iter().map(|&x| x.float()).collect();
                let (greatest, sum) = powers(&all);
                let open = x.iter().any(|x| x.open);
                let value = |x: f64| match name {
                    "softmax" => (x - greatest).exp() / sum,
                    _ => (x - greatest) - sum.ln(),
                };
                all.into_iter().map(|x| Naive { value: Value::Float(value(x)), open }).collect()
            }
        }
    }
}

/// The greatest of some numbers, NaN above all, and the sum of the powers of e below it.
fn powers(x: &[f64]) -> (f64, f64) {
    let greater = |a: f64, b: f64| if a.is_nan() || a > b { a } else { b };
    let greatest = x.iter().copied().fold(f64::NEG_INFINITY, greater);
    (greatest, x.iter().map(|x| (x - greatest).exp()).sum())
}

/// The value of a range for a reduction without an order of additions.
fn picked(name: &str, places: &[usize], x: &[Naive]) -> Naive {
    let own = || places.iter().map(|&place| x[place]);
    let open = own().any(|x| x.open);
    let truth = |x: Naive| matches!(x.value, Value::Bool(true));
    let nonzero = |x: Naive| match x.value {
        Value::Float(x) => x != 0.0,
        Value::Int(x) => x != 0,
        Value::Bool(x) => x,
    };
    // Whether `b` is better. With `zeros`, -0 and +0 differ.
    let beats = |a: Naive, b: Naive, zeros: bool| {
        let is_max = name.ends_with("max");
        match (a.value, b.value) {
            (Value::Float(a), Value::Float(_)) if a.is_nan() => false,
            (Value::Float(_), Value::Float(b)) if b.is_nan() => true,
            (Value::Float(a), Value::Float(b)) if a == 0.0 && b == 0.0 => {
                zeros && a.is_sign_negative() != b.is_sign_negative() && b.is_sign_negative() != is_max
            }
            (Value::Float(a), Value::Float(b)) => {
                if is_max {
                    b > a
                } else {
                    b < a
                }
            }
            (Value::Int(a), Value::Int(b)) => {
                if is_max {
                    b > a
                } else {
                    b < a
                }
            }
            values => panic!("{values:?} are no numbers"),
        }
    };
    let best = |zeros| {
        (0..places.len()).reduce(|a, b| if beats(x[places[a]], x[places[b]], zeros) { b } else { a }).unwrap()
    };
    let value = match name {
        "any" => Value::Bool(own().any(truth)),
        "all" => Value::Bool(own().all(truth)),
        "count_nonzero" => Value::Int(own().filter(|&x| nonzero(x)).count() as i128),
        "min" | "max" | "amin" | "amax" => x[places[best(true)]].value,
        "argmin" | "argmax" => Value::Int(best(false) as i128),
        other => panic!("no reduction {other}"),
    };
    Naive { value, open }
}

/// Of the functions that exponentials are in, how far each result may be from the exact one (section 9 of the
/// contract): units in the last place, and the number below which they are counted as its own.
pub fn bounds(reduction: &Reduction, shape: &[usize], of: DType, x: &[Naive]) -> Vec<(f64, f64)> {
    let reduced = reduction.reduced(shape.len());
    let ranges = Ranges { lengths: shape.to_vec(), reduced, of };
    let n = ranges.count() as f64;
    let levels = n.max(1.0).log2().ceil();
    let wide = |ulp: f64| match of {
        // Rounded once from f32, whose bound may be more.
        DType::F16 => (2.0 * ulp / 8192.0).max(1.0),
        DType::BF16 => (2.0 * ulp / 65536.0).max(1.0),
        _ => ulp,
    };
    if reduction.name != "softmax" {
        let count = if reduction.keeps_shape() { x.len() } else { ranges.places().len() };
        return vec![(wide(levels + 5.0), n.ln().max(1.0)); count];
    }
    let mut all = vec![(0.0, 0.0); x.len()];
    for places in ranges.places() {
        let own: Vec<f64> = places.iter().map(|&place| x[place].float()).collect();
        let (greatest, _) = powers(&own);
        for (&place, x) in places.iter().zip(own) {
            all[place] = (wide((greatest - x) + 2.0 * levels + 14.0), 0.0);
        }
    }
    all
}
