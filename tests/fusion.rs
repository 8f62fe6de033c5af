//! Random expressions over random views: every adapter gives the answer of the CPU path.

#![allow(clippy::reversed_empty_ranges)] // a negative bound counts from the end

mod common;

use common::{Random, adapters, ulps};
use proptest::prelude::*;
use zerostride::{Device, Element, Expr, Shape};

/// An expression, before it is known on which device and of which shape.
#[derive(Clone, Debug)]
enum Recipe {
    /// A tensor whose values, layout and stretched axes come from a seed.
    Leaf(Type, u64),
    Scalar(Type, u64),
    Index(usize),
    /// An op by its number among those of its operands' type.
    Call(Type, usize, Vec<Recipe>),
    Select(Box<[Recipe; 3]>),
    Cast(Type, Box<Recipe>),
    /// Permuted, reversed and cut by a seed.
    View(u64, Box<Recipe>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Type {
    F32,
    I32,
    U32,
    U8,
    Bool,
}

/// An expression of some type.
enum Any {
    F32(Expr<f32>),
    I32(Expr<i32>),
    U32(Expr<u32>),
    U8(Expr<u8>),
    Bool(Expr<bool>),
}

/// Calls `$body` with `$t` as the Rust type and `$variant` as the constructor.
macro_rules! by_type {
    ($type:expr, $t:ident, $variant:ident, $body:expr) => {
        match $type {
            Type::F32 => {
                type $t = f32;
                use Any::F32 as $variant;
                $body
            }
            Type::I32 => {
                type $t = i32;
                use Any::I32 as $variant;
                $body
            }
            Type::U32 => {
                type $t = u32;
                use Any::U32 as $variant;
                $body
            }
            Type::U8 => {
                type $t = u8;
                use Any::U8 as $variant;
                $body
            }
            Type::Bool => {
                type $t = bool;
                use Any::Bool as $variant;
                $body
            }
        }
    };
}

/// Values whose sums, products and remainders stay clear of subnormals, which adapters may flush.
trait Value: Element {
    fn draw(random: &mut Random) -> Self;
}

impl Value for f32 {
    fn draw(random: &mut Random) -> f32 {
        let odd = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0, 1e9, -3e15];
        match random.chance(15) {
            true => odd[random.below(odd.len())],
            false => (random.below(801) as f32 - 400.0) / 8.0,
        }
    }
}

macro_rules! integers {
    ($($t:ident)*) => {$(
        impl Value for $t {
            fn draw(random: &mut Random) -> $t {
                match random.chance(50) {
                    true => random.below(9) as $t,
                    false => random.next() as $t,
                }
            }
        }
    )*};
}
integers!(i32 u32 u8);

impl Value for bool {
    fn draw(random: &mut Random) -> bool {
        random.chance(50)
    }
}

/// Ops that are exact, and so may stand anywhere, with the number of their operands.
fn calls(of: Type) -> &'static [(&'static str, usize, bool)] {
    match of {
        Type::F32 => &[
            ("add", 2, false),
            ("sub", 2, false),
            ("mul", 2, false),
            ("rem", 2, false),
            ("rem_floor", 2, false),
            ("min", 2, false),
            ("max", 2, false),
            ("fmin", 2, false),
            ("fmax", 2, false),
            ("clamp", 3, false),
            ("neg", 1, false),
            ("abs", 1, false),
            ("sign", 1, false),
            ("relu", 1, false),
            ("floor", 1, false),
            ("ceil", 1, false),
            ("round", 1, false),
            ("trunc", 1, false),
            ("eq", 2, true),
            ("ne", 2, true),
            ("lt", 2, true),
            ("le", 2, true),
            ("gt", 2, true),
            ("ge", 2, true),
            ("is_nan", 1, true),
            ("is_inf", 1, true),
            ("is_finite", 1, true),
        ],
        Type::Bool => &[
            ("and", 2, true),
            ("or", 2, true),
            ("xor", 2, true),
            ("not", 1, true),
            ("eq", 2, true),
            ("ne", 2, true),
        ],
        _ => &[
            ("add", 2, false),
            ("sub", 2, false),
            ("mul", 2, false),
            ("div", 2, false),
            ("rem", 2, false),
            ("div_floor", 2, false),
            ("rem_floor", 2, false),
            ("pow", 2, false),
            ("min", 2, false),
            ("max", 2, false),
            ("clamp", 3, false),
            ("neg", 1, false),
            ("abs", 1, false),
            ("sign", 1, false),
            ("and", 2, false),
            ("or", 2, false),
            ("xor", 2, false),
            ("not", 1, false),
            ("shl", 2, false),
            ("shr", 2, false),
            ("eq", 2, true),
            ("ne", 2, true),
            ("lt", 2, true),
            ("le", 2, true),
            ("gt", 2, true),
            ("ge", 2, true),
        ],
    }
}

/// Ops with rounding, at the root only, so that their bound is that of the result.
const INEXACT: &[(&str, usize)] = &[
    ("div", 2),
    ("sqrt", 1),
    ("exp", 1),
    ("log", 1),
    ("sin", 1),
    ("cos", 1),
    ("tanh", 1),
    ("sigmoid", 1),
    ("pow", 2),
];

fn types() -> impl Strategy<Value = Type> {
    prop_oneof![Just(Type::F32), Just(Type::I32), Just(Type::U32), Just(Type::U8), Just(Type::Bool)]
}

fn leaf(of: Type) -> BoxedStrategy<Recipe> {
    let tensors = any::<u64>().prop_map(move |seed| Recipe::Leaf(of, seed));
    let scalars = any::<u64>().prop_map(move |seed| Recipe::Scalar(of, seed));
    let index = (0..6usize).prop_map(move |axis| match of {
        Type::I32 => Recipe::Index(axis),
        _ => Recipe::Cast(of, Box::new(Recipe::Index(axis))),
    });
    prop_oneof![6 => tensors, 2 => scalars, 1 => index].boxed()
}

/// Expressions of a type, of a bounded number of ops.
fn recipe(of: Type, budget: usize) -> BoxedStrategy<Recipe> {
    if budget == 0 {
        return leaf(of);
    }
    let own = calls(of).iter().enumerate().filter(|(_, call)| call.2 == (of == Type::Bool));
    let own: Vec<(usize, usize)> = own.map(|(i, call)| (i, call.1)).collect();
    let call = prop::sample::select(own).prop_flat_map(move |(i, arity)| {
        let operands: Vec<BoxedStrategy<Recipe>> = (0..arity)
            .map(|k| recipe(of, (budget - 1) / arity + usize::from(k == 0 && budget.is_multiple_of(2))))
            .collect();
        operands.prop_map(move |operands| Recipe::Call(of, i, operands))
    });
    let select =
        (recipe(Type::Bool, (budget - 1) / 3), recipe(of, (budget - 1) / 3), recipe(of, (budget - 1) / 3))
            .prop_map(move |(c, a, b)| Recipe::Select(Box::new([c, a, b])));
    let cast = types().prop_flat_map(move |from| {
        recipe(from, budget - 1).prop_map(move |inner| Recipe::Cast(of, Box::new(inner)))
    });
    let view =
        (any::<u64>(), recipe(of, budget - 1)).prop_map(|(seed, inner)| Recipe::View(seed, Box::new(inner)));
    let compare = types().prop_flat_map(move |from| {
        let comparisons: Vec<(usize, usize)> =
            calls(from).iter().enumerate().filter(|(_, c)| c.2).map(|(i, c)| (i, c.1)).collect();
        prop::sample::select(comparisons).prop_flat_map(move |(i, arity)| {
            let operands: Vec<BoxedStrategy<Recipe>> =
                (0..arity).map(|_| recipe(from, (budget - 1) / arity)).collect();
            operands.prop_map(move |operands| Recipe::Call(from, i, operands))
        })
    });
    match of {
        Type::Bool => prop_oneof![2 => call, 4 => compare, 1 => select, 1 => view, 1 => cast].boxed(),
        _ => prop_oneof![6 => call, 1 => select, 1 => cast, 1 => view, 1 => leaf(of)].boxed(),
    }
}

fn root() -> impl Strategy<Value = (Option<usize>, Recipe)> {
    let budget = 1..12usize;
    let exact =
        (types(), budget.clone()).prop_flat_map(|(of, budget)| recipe(of, budget)).prop_map(|r| (None, r));
    let inexact = (0..INEXACT.len(), budget).prop_flat_map(|(i, budget)| {
        let operands = prop::collection::vec(recipe(Type::F32, budget / INEXACT[i].1), INEXACT[i].1);
        operands.prop_map(move |operands| (Some(i), Recipe::Call(Type::F32, usize::MAX, operands)))
    });
    prop_oneof![4 => exact, 1 => inexact]
}

fn shapes() -> impl Strategy<Value = Vec<usize>> {
    let length = prop_oneof![1 => Just(0usize), 3 => Just(1), 24 => 2..6usize, 3 => 60..71usize];
    prop::collection::vec(length, 0..=6).prop_map(|mut shape| {
        // At most a few thousand elements.
        while shape.iter().product::<usize>() > 6000 {
            let longest = (0..shape.len()).max_by_key(|&k| shape[k]).unwrap();
            shape[longest] = shape[longest] / 2 + 1;
        }
        shape
    })
}

/// A tensor that broadcasts to `shape`, with a layout by chance: stretched and missing axes,
/// permuted, reversed, stepped, and off the begin of its storage.
fn tensor<T: Value>(device: &Device, shape: &[usize], seed: u64) -> Expr<T> {
    let mut random = Random(seed);
    let plain = random.chance(40);
    let mut own: Vec<usize> = shape.to_vec();
    if !plain {
        own.iter_mut().for_each(|n| {
            if random.chance(25) {
                *n = 1
            }
        });
        let missing = if random.chance(25) { random.below(own.len() + 1) } else { 0 };
        own.drain(..missing);
    }
    let mut order: Vec<usize> = (0..own.len()).collect();
    let permuted = !plain && random.chance(40);
    for k in (1..own.len()).filter(|_| permuted) {
        order.swap(k, random.below(k + 1));
    }
    // The storage: axes in another order, each with room for a step and an offset.
    let room = |random: &mut Random| {
        if plain || random.chance(70) { (1, 0) } else { (1 + random.below(3), random.below(3)) }
    };
    let rooms: Vec<(usize, usize)> = order.iter().map(|_| room(&mut random)).collect();
    let stored: Vec<usize> =
        order.iter().zip(&rooms).map(|(&k, &(step, offset))| own[k] * step + offset).collect();
    let values: Vec<T> = (0..stored.iter().product()).map(|_| T::draw(&mut random)).collect();
    let mut x = device.upload(&values, stored.clone()).unwrap();
    for (axis, &(step, offset)) in rooms.iter().enumerate() {
        let axis = axis as isize;
        x = match random.chance(20) && !plain {
            true => x.slice(axis, offset as isize..).unwrap().slice_step(axis, .., -(step as isize)).unwrap(),
            false => x.slice_step(axis, offset as isize.., step as isize).unwrap(),
        };
    }
    let mut inverse = vec![0; order.len()];
    order.iter().enumerate().for_each(|(i, &k)| inverse[k] = i as isize);
    x.permute(inverse).unwrap().expr()
}

fn build(recipe: &Recipe, device: &Device, shape: &[usize]) -> Any {
    match recipe {
        Recipe::Leaf(of, seed) => by_type!(of, T, V, V(tensor::<T>(device, shape, *seed))),
        Recipe::Scalar(of, seed) => by_type!(of, T, V, V(Expr::scalar(T::draw(&mut Random(*seed))))),
        Recipe::Index(axis) if shape.is_empty() => Any::I32(Expr::scalar(*axis as i32)),
        Recipe::Index(axis) => Any::I32(Expr::coordinate(shape, (axis % shape.len()) as isize)),
        Recipe::Call(of, op, operands) => {
            let built: Vec<Any> = operands.iter().map(|r| build(r, device, shape)).collect();
            let &(name, _, gives_bool) = &calls(*of)[*op];
            by_type!(of, T, V, {
                let args: Vec<Expr<T>> = built
                    .into_iter()
                    .map(|any| match any {
                        V(expr) => expr,
                        _ => unreachable!("operands have one type"),
                    })
                    .collect();
                match gives_bool {
                    true => Any::Bool(Expr::call(name, &args)),
                    false => V(Expr::call(name, &args)),
                }
            })
        }
        Recipe::Select(parts) => {
            let [c, a, b] = parts.as_ref();
            let Any::Bool(c) = build(c, device, shape) else { unreachable!("conditions are bool") };
            match (build(a, device, shape), build(b, device, shape)) {
                (Any::F32(a), Any::F32(b)) => Any::F32(c.select(a, b)),
                (Any::I32(a), Any::I32(b)) => Any::I32(c.select(a, b)),
                (Any::U32(a), Any::U32(b)) => Any::U32(c.select(a, b)),
                (Any::U8(a), Any::U8(b)) => Any::U8(c.select(a, b)),
                (Any::Bool(a), Any::Bool(b)) => Any::Bool(c.select(a, b)),
                _ => unreachable!("both values have one type"),
            }
        }
        Recipe::Cast(of, inner) => by_type!(
            of,
            T,
            V,
            match build(inner, device, shape) {
                Any::F32(x) => V(x.cast::<T>()),
                Any::I32(x) => V(x.cast::<T>()),
                Any::U32(x) => V(x.cast::<T>()),
                Any::U8(x) => V(x.cast::<T>()),
                Any::Bool(x) => V(x.cast::<T>()),
            }
        ),
        Recipe::View(seed, inner) => {
            let mut random = Random(*seed);
            let mut order: Vec<usize> = (0..shape.len()).collect();
            for k in 1..shape.len() {
                order.swap(k, random.below(k + 1));
            }
            // The inner expression has the axes in another order, and one that is longer.
            let mut under: Vec<usize> = vec![0; shape.len()];
            order.iter().enumerate().for_each(|(k, &from)| under[from] = shape[k]);
            let cut = random.below(shape.len().max(1));
            let flipped = random.chance(50);
            if !shape.is_empty() {
                under[cut] += 2;
            }
            let built = build(inner, device, &under);
            let (axes, full): (Vec<isize>, Shape) =
                (order.iter().map(|&k| k as isize).collect(), under.clone().into());
            macro_rules! view {
                ($x:expr) => {{
                    let mut x = $x.broadcast_to(full.clone());
                    if !shape.is_empty() {
                        x = x.slice(cut as isize, 1..-1);
                        if flipped {
                            x = x.flip(cut as isize);
                        }
                    }
                    x.permute(&axes)
                }};
            }
            match built {
                Any::F32(x) => Any::F32(view!(x)),
                Any::I32(x) => Any::I32(view!(x)),
                Any::U32(x) => Any::U32(view!(x)),
                Any::U8(x) => Any::U8(view!(x)),
                Any::Bool(x) => Any::Bool(view!(x)),
            }
        }
    }
}

/// The result on a device, broadcast to the shape: as f64, which holds every type's values.
fn run(root: &(Option<usize>, Recipe), device: &Device, shape: &[usize]) -> zerostride::Result<Vec<f64>> {
    let built = match root {
        (None, recipe) => build(recipe, device, shape),
        (Some(i), Recipe::Call(_, _, operands)) => {
            let operand = |recipe: &Recipe| match build(recipe, device, shape) {
                // Of two zeros min and max may return either, and these ops tell them apart.
                Any::F32(x) => x.eq(0.0).select(0.0, &x),
                _ => unreachable!("operands of inexact ops are floats"),
            };
            Any::F32(Expr::call(INEXACT[*i].0, &operands.iter().map(operand).collect::<Vec<_>>()))
        }
        _ => unreachable!("inexact roots are calls"),
    };
    macro_rules! read {
        ($x:expr, |$v:ident| $f:expr) => {
            Ok($x.broadcast_to(shape).to_vec_on(device)?.into_iter().map(|$v| $f).collect())
        };
    }
    match built {
        Any::F32(x) => read!(x, |v| f64::from(v)),
        Any::I32(x) => read!(x, |v| f64::from(v)),
        Any::U32(x) => read!(x, |v| f64::from(v)),
        Any::U8(x) => read!(x, |v| f64::from(v)),
        Any::Bool(x) => read!(x, |v| f64::from(u8::from(v))),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, ..ProptestConfig::default() })]

    #[test]
    fn adapters_agree_with_the_cpu(root in root(), shape in shapes()) {
        let expected = run(&root, &Device::cpu(), &shape).unwrap();
        let bound = root.0.map_or(0, |i| {
            zerostride::operations().find(|op| op.name == INEXACT[i].0).map_or(0, |op| op.ulp(zerostride::DType::F32).into())
        });
        for device in adapters() {
            let got = match run(&root, device, &shape) {
                Ok(got) => got,
                // Adapters bind as few as four storages.
                Err(error) if error.message().contains("max_storage_buffers_per_shader_stage") => continue,
                Err(error) => panic!("{error}"),
            };
            prop_assert_eq!(got.len(), expected.len());
            for (i, (&e, &g)) in expected.iter().zip(&got).enumerate() {
                let agree = e == g || (e.is_nan() && g.is_nan()) || (bound > 0 && ulps(e as f32, g as f32) <= bound);
                prop_assert!(agree, "element {i} on {}: {g} and not {e}", device.name());
            }
            common::check_kernels(device);
        }
    }
}
