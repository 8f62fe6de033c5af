//! The main use on real input: a picture of bytes, height x width x channel, normalized by channel to floats, channel x
//! height x width. Reductions compute the mean and the spread of each channel, and one kernel does the rest. Checked
//! against the CPU path, timed on both, and drawn.
//!
//! ```text
//! cargo run --release --example normalize [-- --device NAME] [IMAGE]
//! ```

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use image::{Rgb, RgbImage};
use zerostride::{Device, Expr, Tensor};

#[derive(Parser)]
struct Options {
    /// A PNG or JPEG; a photograph by NASA when none is given
    image: Option<PathBuf>,
    /// A device, as `Device::named` takes it; the best one when none is given
    #[arg(long)]
    device: Option<String>,
    /// Where the picture of the result goes
    #[arg(long, default_value = "normalized.png")]
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
    let path = options
        .image
        .clone()
        .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data/astronaut.png"));
    let picture = load(&path)?;
    let (width, height) = picture.dimensions();
    println!("{}: {width} x {height}", path.display());

    let device = match &options.device {
        Some(name) => Device::named(name)?,
        None => Device::open()?,
    };
    let job = Job::new(&device, &picture)?;
    println!("mean per channel, of values from 0 to 1: {:.4?}", job.mean);
    println!("standard deviation: {:.4?}", job.std);
    println!("\non {}:\n{}", device.name(), job.expression().explain(&device)?);

    let reference = Job::new(&Device::cpu(), &picture)?;
    if job.mean.to_vec()? != reference.mean.to_vec()? || job.std.to_vec()? != reference.std.to_vec()? {
        return Err("the statistics differ from those of the CPU path".into());
    }
    let (chw, expected) = (job.expression().to_vec()?, reference.expression().to_vec()?);
    let difference = chw.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    let wrong = chw.iter().zip(&expected).filter(|(a, b)| !close(**a, **b)).count();
    println!("checked: {} elements against the CPU path, largest difference {difference:e}", chw.len());
    if wrong > 0 || chw.len() != expected.len() {
        return Err(format!("{wrong} elements differ from the CPU path").into());
    }
    match job.expression().explain(&device)?.wgsl() {
        Some(_) => println!("kernels: 1 for the whole expression"),
        None => println!("kernels: none, the CPU path runs one pass"),
    }
    println!("time: {:.3?} on {}", job.time(&device)?, device.name());
    if device.name() != "cpu" {
        println!("time: {:.3?} on cpu", reference.time(&Device::cpu())?);
    }

    draw(&picture, &chw).save(&options.output).map_err(|e| format!("{}: {e}", options.output.display()))?;
    println!("drawn: {}, the picture beside its three normalized channels", options.output.display());
    Ok(())
}

fn load(path: &Path) -> Result<RgbImage, Failure> {
    let read = || -> Result<RgbImage, Failure> {
        Ok(image::ImageReader::open(path)?.with_guessed_format()?.decode()?.to_rgb8())
    };
    read().map_err(|e| format!("{} cannot be read as a PNG or JPEG: {e}", path.display()).into())
}

/// The operands on a device.
struct Job {
    image: Tensor<u8>,
    mean: Tensor<f32>,
    std: Tensor<f32>,
}

impl Job {
    /// Uploads the picture, and finds the mean and the standard deviation of each channel there.
    fn new(device: &Device, picture: &RgbImage) -> zerostride::Result<Job> {
        let shape = [picture.height() as usize, picture.width() as usize, 3];
        let image = device.upload(picture.as_raw(), shape)?;
        let values = image.cast::<f32>() / 255.0;
        let (mean, std) = (values.mean([0, 1]), values.std([0, 1], 0));
        // A channel of one value has no spread to divide by.
        let std = std.gt(0.0).select(&std, 1.0);
        Ok(Job { mean: mean.eval()?, std: std.eval()?, image })
    }

    fn expression(&self) -> Expr<f32> {
        ((self.image.cast::<f32>() / 255.0 - &self.mean) / &self.std).permute([2, 0, 1])
    }

    /// The median of runs that end when the device is done.
    fn time(&self, device: &Device) -> zerostride::Result<Duration> {
        let mut times = Vec::new();
        for _ in 0..15 {
            let start = Instant::now();
            let result = self.expression().eval()?;
            device.synchronize()?;
            times.push(start.elapsed());
            drop(result);
        }
        times.sort();
        Ok(times[times.len() / 2])
    }
}

/// Within the bounds of two divisions, 3 units in the last place each.
fn close(a: f32, b: f32) -> bool {
    (a - b).abs() <= 6.0 * f32::EPSILON * (1.0 + b.abs())
}

/// The picture, and each channel in grey, from 2.5 deviations below the mean to 2.5 above.
fn draw(picture: &RgbImage, chw: &[f32]) -> RgbImage {
    let (width, height) = picture.dimensions();
    let plane = (width * height) as usize;
    RgbImage::from_fn(width * 4, height, |x, y| {
        let (panel, x) = (x / width, x % width);
        if panel == 0 {
            return *picture.get_pixel(x, y);
        }
        let value = chw[(panel - 1) as usize * plane + (y * width + x) as usize];
        let grey = ((value + 2.5) / 5.0 * 255.0).clamp(0.0, 255.0) as u8;
        Rgb([grey; 3])
    })
}
