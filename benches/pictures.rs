//! The CPU path beside loops that a user would write without the crate: work on pictures, and functions of many numbers
//! beside NumPy's, if `python3` has NumPy.
//!
//! ```text
//! cargo bench --bench pictures [-- --quick] [--only NAME]
//! ```
//!
//! Loops are compiled for any processor of the architecture (`plain`) and for the vectors of this one (`wide`). Every
//! result is compared with the loop's. Times are medians of interleaved, warm runs.

#[allow(dead_code)] // used here in part
mod common;
#[path = "pictures/numpy.rs"]
mod numpy;
#[path = "pictures/plain.rs"]
mod plain;

use std::cell::RefCell;
use std::process::ExitCode;
use std::rc::Rc;

use clap::Parser;
use common::{Failure, Work, medians};
use numpy::NumPy;
use plain::Loop;
use zerostride::{Device, Element, Expr, Result};

#[derive(Parser)]
struct Options {
    /// Smaller sizes and fewer runs
    #[arg(long)]
    quick: bool,
    /// Only cases whose name has this in it
    #[arg(long, default_value = "")]
    only: String,
    /// Passed by `cargo bench`; without it this is a test that everything runs
    #[arg(long, hide = true)]
    bench: bool,
}

/// The same work by the crate, by a plain loop and by a wide loop.
type Case = [Work; 3];

fn main() -> ExitCode {
    common::ended(run(&Options::parse()))
}

fn run(options: &Options) -> std::result::Result<(), Failure> {
    let (side, elements, rounds) = match (options.bench, options.quick) {
        (false, _) => (64, 1 << 10, 1),
        (true, true) => (1024, 1 << 22, 9),
        (true, false) => (2048, 1 << 24, 15),
    };
    let device = Device::cpu();
    println!("{side} x {side} pixels, {elements} numbers, medians of {rounds} interleaved runs in ms\n");
    println!("| case | ours | plain | wide | ours of plain | of wide |\n|---|---|---|---|---|---|");
    for (name, case) in CASES {
        if name.contains(&options.only) {
            let [ours, plain, wide] = case(name, &device, side)?;
            let times = medians(&device, rounds, &[&ours, &plain, &wide])?;
            let [of_plain, of_wide] = [1, 2].map(|i| times[0] / times[i]);
            println!(
                "| {name} | {:.2} | {:.2} | {:.2} | {of_plain:.2} | {of_wide:.2} |",
                times[0], times[1], times[2]
            );
        }
    }
    functions(&device, elements, rounds, &options.only)
}

type Make = fn(&'static str, &Device, usize) -> std::result::Result<Case, Failure>;

const CASES: &[(&str, Make)] = &[
    ("lerp to u8", |name, device, side| {
        let (weight, ends) = (numbers(side * side), [0.9_f32, 0.3, 0.1, 0.1, 0.2, 0.8]);
        let t = device.upload(&weight, [side, side, 1])?;
        let [a, b] = [&ends[..3], &ends[3..]].map(|end| device.upload(end, [3]));
        let (a, b) = (a?.expr(), b?.expr());
        let mixed = ((&a + &t * (&b - &a)) * 255.0).cast::<u8>();
        case(name, device, mixed, plain::Lerp { weight, ends }, |a, b| a == b)
    }),
    ("channels of u8 to grey", |name, device, side| {
        let photo = photo(side);
        let x = device.upload(&photo, [side, side, 3])?.cast::<f32>();
        let [r, g, b] = [0, 1, 2].map(|i| x.slice(2, i..i + 1));
        let grey = (r * 0.2126 + g * 0.7152 + b * 0.0722).cast::<u8>();
        case(name, device, grey, plain::Grey { photo }, |a, b| a == b)
    }),
    ("channels of f32 to sepia", |name, device, side| {
        let photo = numbers(side * side * 3);
        let x = device.upload(&photo, [side, side, 3])?;
        let [r, g, b] = [0, 1, 2].map(|i| x.slice(2, i..i + 1));
        let mixed = plain::SEPIA.map(|[i, j, k]| &r * i + &g * j + &b * k);
        let sepia = Expr::concat(mixed, 2);
        case(name, device, sepia, plain::Sepia { photo }, |a, b| a == b)
    }),
    ("saturation of f32", |name, device, side| {
        let photo = numbers(side * side * 3);
        let x = device.upload(&photo, [side, side, 3])?.expr();
        let [r, g, b] = [0, 1, 2].map(|i| x.slice(2, i..i + 1));
        let grey = r * 0.2126 + g * 0.7152 + b * 0.0722;
        let saturated = &grey + (x - &grey) * 1.3;
        case(name, device, saturated, plain::Saturation { photo }, |a, b| a == b)
    }),
    ("sin of columns, cos of rows", |name, device, side| {
        let [y, x] = [0, 1].map(|axis| Expr::iota([side, side], axis).cast::<f32>() * 0.01);
        case(name, device, x.sin() + y.cos(), plain::Waves { side }, near)
    }),
    ("sin of a plane", |name, device, side| {
        let numbers: Vec<f32> = numbers(side * side).iter().map(|x| 20.0 * x - 10.0).collect();
        let sin = device.upload(&numbers, [side, side])?.sin();
        case(name, device, sin, plain::Sin { numbers }, near)
    }),
    ("a photograph, twelve steps", |name, device, side| {
        let photo = photo(side);
        let x = device.upload(&photo, [side, side, 3])?.cast::<f32>() / 255.0;
        let x = (x.pow(plain::GAMMA) - 0.5) * 1.2 + 0.5;
        let [r, g, b] = [0, 1, 2].map(|i| x.slice(2, i..i + 1));
        let grey = r * 0.2126 + g * 0.7152 + b * 0.0722;
        let x = &grey + (x - &grey) * 1.3;
        let place = |axis| Expr::iota([side, side, 1], axis).cast::<f32>() * (2.0 / side as f32) - 1.0;
        let (y, u) = (place(0), place(1));
        let x = x * (1.0 - (&u * &u + &y * &y) * 0.3);
        let last = side as isize;
        let part = |i: isize, j: isize| x.slice(0, i..last - 2 + i).slice(1, j..last - 2 + j);
        let rows = |j| part(0, j) + part(1, j) + part(2, j);
        let blurred = (rows(0) + rows(1) + rows(2)) * (1.0 / 9.0);
        let picture = (blurred * 255.0).cast::<u8>();
        case(name, device, picture, plain::Photo { photo, side }, |a, b| a.abs_diff(b) <= 1)
    }),
];

/// Two units in the last place of the larger number: the crate's bound, and the error of a system's library.
fn near(a: f32, b: f32) -> bool {
    (a - b).abs() <= 4.0 * f32::EPSILON * a.abs().max(b.abs()).max(0.5)
}

/// A case. Its results are compared once.
fn case<T: Element + bytemuck::Pod + std::fmt::Display>(
    name: &'static str,
    device: &Device,
    expr: Expr<T>,
    own: impl Loop<T> + 'static,
    same: fn(T, T) -> bool,
) -> std::result::Result<Case, Failure> {
    let ours = expr.eval_on(device)?.to_vec()?;
    let mut theirs = vec![T::zeroed(); ours.len()];
    own.run(&mut theirs);
    if let Some(i) = (0..ours.len()).find(|&i| !same(ours[i], theirs[i])) {
        return Err(format!("{name}: {} and not {} at {i}", ours[i], theirs[i]).into());
    }
    // Each writes to its own memory, because memory that was written just before is in the cache.
    let [plain, wide] = [theirs.clone(), theirs].map(RefCell::new);
    let own = Rc::new(own);
    let again = own.clone();
    let device = device.clone();
    Ok([
        Box::new(move || expr.eval_on(&device).map(drop)),
        Box::new(move || -> Result<()> {
            own.run(&mut plain.borrow_mut());
            Ok(())
        }),
        Box::new(move || -> Result<()> {
            plain::wide(&*again, &mut wide.borrow_mut());
            Ok(())
        }),
    ])
}

/// Functions of f32 into existing memory, beside NumPy's with `out=`.
fn functions(
    device: &Device,
    elements: usize,
    rounds: usize,
    only: &str,
) -> std::result::Result<(), Failure> {
    let names: Vec<&str> = numpy::FUNCTIONS.iter().copied().filter(|name| name.contains(only)).collect();
    if names.is_empty() {
        return Ok(());
    }
    println!("\n| function | ours | NumPy | ratio |\n|---|---|---|---|");
    let mut peer = NumPy::start(elements)?;
    let x: Vec<f32> = numbers(elements).iter().map(|x| 0.05 + 9.0 * x).collect();
    let y: Vec<f32> = numbers(elements).iter().rev().map(|y| 2.0 * y).collect();
    let operands = [device.upload(&x, [elements])?.expr(), device.upload(&y, [elements])?.expr()];
    let out = device.zeros::<f32>([elements])?;
    for name in names {
        let arity = if name == "pow" { 2 } else { 1 };
        let expr = Expr::<f32>::call(name, &operands[..arity]);
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for round in 0..rounds + 2 {
            let own = common::timed(device, || out.assign(&expr))?;
            let other = peer.as_mut().map(|peer| peer.time(name)).transpose()?;
            if round >= 2 {
                ours.push(own);
                theirs.extend(other);
            }
        }
        let ms = |times| common::median(times).as_secs_f64() * 1e3;
        let ours = ms(ours);
        match theirs.is_empty() {
            true => println!("| {name} | {ours:.2} | - | - |"),
            false => {
                let theirs = ms(theirs);
                println!("| {name} | {ours:.2} | {theirs:.2} | {:.2} |", ours / theirs);
            }
        }
    }
    Ok(())
}

/// Numbers from 0 to below 1.
fn numbers(count: usize) -> Vec<f32> {
    (0..count as u32).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 8) as f32 / 16_777_216.0).collect()
}

/// Red, green and blue bytes of a square picture.
fn photo(side: usize) -> Vec<u8> {
    (0..(side * side * 3) as u32).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 24) as u8).collect()
}
