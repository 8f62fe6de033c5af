//! Loops in a kernel, as pictures: Mandelbrot's set, the basins of Newton's method, and a march along rays through a
//! landscape of spheres. Each is one expression, and one kernel, of at most a thousand iterations.
//!
//! ```text
//! cargo run --release --example fractal [-- --device NAME]
//! ```

use std::path::PathBuf;

use clap::Parser;
use image::GrayImage;
use zerostride::{Device, Expr};

#[derive(Parser)]
struct Options {
    /// A device, as `Device::named` takes it; the best one when none is given
    #[arg(long)]
    device: Option<String>,
    /// Where the pictures go
    #[arg(long, default_value = ".")]
    folder: PathBuf,
    /// Rows of a picture, which has one and a half times as many columns
    #[arg(long, default_value_t = 480)]
    rows: usize,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = Options::parse();
    let device = options.device.as_deref().map_or_else(Device::open, Device::named)?;
    let (rows, columns) = (options.rows, options.rows * 3 / 2);
    println!("on {}", device.name());
    // From -1.5 to 1.5 across, and from 1 to -1 down.
    let x = Expr::iota([rows, columns], 1).cast::<f32>() * (3.0 / columns as f32) - 1.5;
    let y = 1.0 - Expr::iota([rows, columns], 0).cast::<f32>() * (2.0 / rows as f32);
    let pictures = [("mandelbrot", mandelbrot(&x, &y)), ("newton", newton(&x, &y)), ("march", march(&x, &y))];
    for (name, brightness) in pictures {
        let start = std::time::Instant::now();
        let pixels = (brightness.clamp(0.0, 1.0) * 255.0).cast::<u8>().eval_on(&device)?.to_vec()?;
        let path = options.folder.join(name).with_extension("png");
        println!("{} in {:.0?}", path.display(), start.elapsed());
        GrayImage::from_raw(columns as u32, rows as u32, pixels).ok_or("no picture")?.save(path)?;
    }
    Ok(())
}

/// How many of 1000 iterations of `z * z + c` stay near: bright for many, and dark inside.
fn mandelbrot(x: &Expr<f32>, y: &Expr<f32>) -> Expr<f32> {
    let (x, zero) = (x - 0.5, x * 0.0);
    let (_, _, turns) = Expr::repeat_while(1000, (zero.clone(), zero.clone(), zero), |(a, b, turns)| {
        let (aa, bb) = (&a * &a, &b * &b);
        ((&aa + &bb).le(4.0), (aa - bb + &x, a * b * 2.0 + y, turns + 1.0))
    });
    turns.ge(1000.0).select(0.0, (turns / 64.0).sqrt())
}

/// The root of `z^3 = 1` that Newton's method reaches, and how soon.
fn newton(x: &Expr<f32>, y: &Expr<f32>) -> Expr<f32> {
    let (a, b, turns) = Expr::repeat_while(50, (x.clone(), y.clone(), x * 0.0), |(a, b, turns)| {
        // z^2, z^3 - 1, and their quotient.
        let (p, q) = (&a * &a - &b * &b, &a * &b * 2.0);
        let (u, v) = (&p * &a - &q * &b - 1.0, &p * &b + &q * &a);
        let size = (&p * &p + &q * &q).maximum(1e-12) * 3.0;
        let (s, t) = ((&u * &p + &v * &q) / &size, (&v * &p - &u * &q) / size);
        ((&u * &u + &v * &v).gt(1e-8), (a - s, b - t, turns + 1.0))
    });
    let root = a.gt(0.0).select(0.9, b.gt(0.0).select(0.6, Expr::scalar(0.3)));
    root / (turns * 0.06 + 1.0)
}

/// The distance along a ray to the nearest of spheres that repeat in all directions. Each step is as long as the
/// distance from the spheres.
fn march(x: &Expr<f32>, y: &Expr<f32>) -> Expr<f32> {
    let length = (x * x + y * y + 1.0).sqrt();
    let direction = [x / &length, y / &length, 1.0 / &length];
    let apart = |way: &Expr<f32>| way - (way * 0.25).round() * 4.0;
    let (way, turns) = Expr::repeat_while(100, (x * 0.0 + 0.1, x * 0.0), |(way, turns)| {
        let [p, q, r] = [0, 1, 2].map(|axis| apart(&(&direction[axis] * &way + [1.0, 0.5, 2.0][axis])));
        let distance = (&p * &p + &q * &q + &r * &r).sqrt() - 0.9;
        (distance.gt(1e-3) & way.lt(60.0), (way + distance, turns + 1.0))
    });
    (1.0 - turns * 0.01) / (way * 0.06 + 0.7)
}
