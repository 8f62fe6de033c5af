//! Reductions of made-up measurements: standardized columns, rows as probabilities, and k-means, each an expression
//! that copies nothing. Checked against the CPU path, and the clusters are drawn.
//!
//! ```text
//! cargo run --release --example statistics [-- --device NAME]
//! ```

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use image::{Rgb, RgbImage};
use zerostride::{Device, Expr, Tensor};

#[derive(Parser)]
struct Options {
    /// A device, as `Device::named` takes it; the best one when none is given
    #[arg(long)]
    device: Option<String>,
    /// Where the picture of the clusters goes
    #[arg(long, default_value = "clusters.png")]
    output: PathBuf,
}

type Failure = Box<dyn std::error::Error>;

const POINTS: usize = 3000;
const CLUSTERS: usize = 5;

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), Failure> {
    let device = options.device.as_deref().map_or_else(Device::open, Device::named)?;
    println!("on {}\n", device.name());
    let points = measurements();
    let x = device.upload(&points, [POINTS, 2])?;

    println!("mean of the columns {:.4?}", x.mean(0).to_vec()?);
    println!("their standard deviation {:.4?}", x.std(0, 0).to_vec()?);
    let standard = standardized(&x);
    println!("\nstandardized, as one expression:\n{}", standard.explain(&device)?);
    let standard = standard.eval()?;
    println!("mean of the columns {:?}", standard.mean(0).to_vec()?);

    let (centers, nearest) = clusters(&standard)?;
    let sizes = nearest.bincount(CLUSTERS).to_vec()?;
    println!("\n{CLUSTERS} clusters by k-means, of {sizes:?} points, around");
    for center in centers.to_vec()?.chunks(2) {
        println!("  {center:.3?}");
    }

    // The nearness of points to the centers, as probabilities: a softmax for each row.
    let membership = (-distances(&standard, &centers)).softmax(1).eval()?;
    let sums = membership.sum(1).to_vec()?;
    println!("rows of the softmax of distances sum to {:.6} and the like", sums[0]);

    // Sums have the same bits on every device; exponentials are left out here.
    let cpu = Device::cpu();
    let reference = standardized(&cpu.upload(&points, [POINTS, 2])?).eval()?;
    let (own_centers, own_nearest) = clusters(&reference)?;
    let same = |a: &[f32], b: &[f32]| a.iter().map(|x| x.to_bits()).eq(b.iter().map(|x| x.to_bits()));
    if !same(&standard.to_vec()?, &reference.to_vec()?)
        || !same(&centers.to_vec()?, &own_centers.to_vec()?)
        || nearest.to_vec()? != own_nearest.to_vec()?
    {
        return Err("the results differ from those of the CPU path".into());
    }
    println!("checked: the same bits on {} and the CPU path", device.name());

    let colours: Vec<u32> = nearest.to_vec()?;
    draw(&standard.to_vec()?, &colours)
        .save(&options.output)
        .map_err(|e| format!("{}: {e}", options.output.display()))?;
    println!("drawn: {}", options.output.display());
    Ok(())
}

/// Points around five places, of two very different units.
fn measurements() -> Vec<f32> {
    let mut state = 1_u64;
    let mut unit = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f32 / (1_u64 << 24) as f32
    };
    let places = [[0.2, 0.3], [0.8, 0.2], [0.5, 0.55], [0.2, 0.8], [0.8, 0.85]];
    let point = |i: usize| {
        let [x, y] = places[i % places.len()];
        // A sum of four is close to a bell.
        let mut bell = || (unit() + unit() + unit() + unit() - 2.0) * 0.16;
        [1000.0 * (x + bell()), y + bell()]
    };
    (0..POINTS).flat_map(point).collect()
}

/// Each column with mean 0 and standard deviation 1.
fn standardized(x: &Tensor<f32>) -> Expr<f32> {
    (x - x.mean_keepdim(0)) / x.std_keepdim(0, 0)
}

/// The squared distance of every point to every center.
fn distances(points: &Tensor<f32>, centers: &Tensor<f32>) -> Expr<f32> {
    (points.expr().unsqueeze(1) - centers.expr().unsqueeze(0)).square().sum(2)
}

/// Lloyd's algorithm: the centers, and for each point the number of the nearest.
fn clusters(points: &Tensor<f32>) -> zerostride::Result<(Tensor<f32>, Tensor<u32>)> {
    let mut centers = points.slice(0, ..CLUSTERS as isize).eval()?;
    let mut nearest = distances(points, &centers).argmin(1).eval()?;
    for _ in 0..20 {
        // A center with no points stays where it is.
        let means = points.segment_mean(&nearest, CLUSTERS).eval()?;
        let next = means.is_nan().select(&centers, &means).eval()?;
        let moved = (next.expr() - &centers).abs().max(..).to_vec()?[0];
        centers = next;
        nearest = distances(points, &centers).argmin(1).eval()?;
        if moved == 0.0 {
            break;
        }
    }
    Ok((centers, nearest))
}

/// The points in the colour of their cluster.
fn draw(points: &[f32], clusters: &[u32]) -> RgbImage {
    const SIDE: u32 = 600;
    let colours = [[230, 80, 60], [60, 130, 220], [60, 170, 90], [230, 170, 40], [150, 90, 200]];
    let mut picture = RgbImage::from_pixel(SIDE, SIDE, Rgb([255; 3]));
    let at = |value: f32| ((value + 2.5) / 5.0 * SIDE as f32).clamp(2.0, SIDE as f32 - 3.0) as u32;
    for (point, &cluster) in points.chunks_exact(2).zip(clusters) {
        let (x, y) = (at(point[0]), at(-point[1]));
        for (dx, dy) in [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (0, 2), (1, 2), (2, 1), (2, 2)] {
            picture.put_pixel(x + dx - 1, y + dy - 1, Rgb(colours[cluster as usize % colours.len()]));
        }
    }
    picture
}
