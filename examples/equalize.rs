//! Equalizes the histogram of a grey picture: a histogram, its cumulative sum and a lookup. A median filter over windows then
//! removes noise. Both are checked against loops on the host, and drawn.
//!
//! ```text
//! cargo run --release --example equalize [IMAGE] [-- --device NAME]
//! ```

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use image::{GrayImage, Luma};
use zerostride::{Device, Expr, Tensor};

#[derive(Parser)]
struct Options {
    /// The picture; an astronaut when none is given
    image: Option<PathBuf>,
    /// A device, as `Device::named` takes it; the best one when none is given
    #[arg(long)]
    device: Option<String>,
    /// Where the result goes
    #[arg(long, default_value = "equalized.png")]
    output: PathBuf,
}

type Failure = Box<dyn std::error::Error>;

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
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data/astronaut.png");
    let photo = image::open(options.image.as_ref().unwrap_or(&own))?.to_luma8();
    let (width, height) = photo.dimensions();
    let shape = [height as usize, width as usize];
    let device = options.device.as_deref().map_or_else(Device::open, Device::named)?;
    println!("on {}\n", device.name());

    let x = device.upload(photo.as_raw(), shape)?;
    let even = equalized(&x);
    println!("{}", even.explain(&device)?);
    let even = even.to_vec()?;
    if even != equalized_by_loops(photo.as_raw()) {
        return Err("the even picture differs from that of a loop".into());
    }

    let noisy = with_noise(&even);
    let clean = filtered(&device.upload(&noisy, shape)?)?.to_vec()?;
    if clean != filtered_by_loops(&noisy, shape) {
        return Err("the clean picture differs from that of a loop".into());
    }
    println!("checked: the same bytes as by loops on the host");

    let mut drawn = GrayImage::new(4 * width, height);
    for (k, picture) in [photo.as_raw(), &even, &noisy].into_iter().enumerate() {
        place(&mut drawn, picture, width, (k as u32 * width, 0));
    }
    // Windows are within the picture, so a border of one is left out.
    place(&mut drawn, &clean, width - 2, (3 * width + 1, 1));
    drawn.save(&options.output).map_err(|e| format!("{}: {e}", options.output.display()))?;
    println!("drawn: {}: as it is, made even, with noise, cleaned", options.output.display());
    Ok(())
}

/// The picture with a curve applied that makes all bytes about equally frequent.
fn equalized(x: &Tensor<u8>) -> Expr<u8> {
    let count: usize = x.shape().iter().product();
    let below = x.bincount(256).cumsum(0).cast::<f32>();
    let curve = (below * (255.0 / count as f32)).cast::<u8>();
    curve.take(x, 0)
}

fn equalized_by_loops(bytes: &[u8]) -> Vec<u8> {
    let mut counts = [0_u32; 256];
    bytes.iter().for_each(|&x| counts[usize::from(x)] += 1);
    let mut below = 0;
    let curve = counts.map(|count| {
        below += count;
        (below as f32 * (255.0 / bytes.len() as f32)) as u8
    });
    bytes.iter().map(|&x| curve[usize::from(x)]).collect()
}

/// A twentieth of the bytes black or white.
fn with_noise(bytes: &[u8]) -> Vec<u8> {
    let mut state = 1_u64;
    let mut noise = |x: u8| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        match state >> 57 {
            0..3 => 0,
            3..6 => 255,
            _ => x,
        }
    };
    bytes.iter().map(|&x| noise(x)).collect()
}

/// The median of each nine bytes.
fn filtered(x: &Tensor<u8>) -> zerostride::Result<Expr<u8>> {
    let [height, width] = x.shape()[..] else { return Ok(x.expr()) };
    let windows = x.windows([3, 3], [0, 1]).eval()?;
    Ok(windows.reshape([height - 2, width - 2, 9]).sort(2).slice(2, 4..5).squeeze(2))
}

fn filtered_by_loops(bytes: &[u8], [height, width]: [usize; 2]) -> Vec<u8> {
    let median = |row: usize, column: usize| {
        let mut nine: Vec<u8> = (0..9).map(|k| bytes[(row + k / 3) * width + column + k % 3]).collect();
        nine.sort_unstable();
        nine[4]
    };
    (0..height - 2).flat_map(|row| (0..width - 2).map(move |column| median(row, column))).collect()
}

fn place(drawn: &mut GrayImage, bytes: &[u8], width: u32, (left, top): (u32, u32)) {
    for (k, &x) in (0..).zip(bytes) {
        drawn.put_pixel(left + k % width, top + k / width, Luma([x]));
    }
}
