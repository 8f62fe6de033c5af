//! A developed picture: white balance, a curve by lookup, a vignette, a colour map for the shadows and a warp. All of
//! it is one kernel after the sums of the balance. Checked against the CPU path, and drawn.
//!
//! ```text
//! cargo run --release --example picture [IMAGE] [-- --device NAME]
//! ```

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use image::RgbImage;
use zerostride::{Device, Expr, Tensor};

#[derive(Parser)]
struct Options {
    /// The picture; an astronaut when none is given
    image: Option<PathBuf>,
    /// A device, as `Device::named` takes it; the best one when none is given
    #[arg(long)]
    device: Option<String>,
    /// Where the result goes
    #[arg(long, default_value = "developed.png")]
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
    let photo = image::open(options.image.as_ref().unwrap_or(&own))?.to_rgb8();
    let shape = [photo.height() as usize, photo.width() as usize, 3];
    let device = options.device.as_deref().map_or_else(Device::open, Device::named)?;
    let pixels = device.upload(photo.as_raw(), shape)?;
    let picture = developed(&device, &pixels)?;
    println!("on {}\n\n{}", device.name(), picture.explain(&device)?);

    let (own, cpu) = (picture.to_vec()?, Device::cpu());
    let reference = developed(&cpu, &cpu.upload(photo.as_raw(), shape)?)?.to_vec()?;
    // Functions are within a few units in the last place, so rounded bytes may differ by one, and indices by a
    // neighbour.
    let differ = own.iter().zip(&reference).filter(|(a, b)| a.abs_diff(**b) > 1).count();
    if differ * 1000 > own.len() {
        return Err(format!("{differ} of {} bytes differ from those of the CPU path", own.len()).into());
    }
    let Some(drawn) = RgbImage::from_raw(photo.width(), photo.height(), own) else {
        return Err("fewer bytes than pixels".into());
    };
    drawn.save(&options.output).map_err(|e| format!("{}: {e}", options.output.display()))?;
    println!("checked against the CPU path, and drawn: {}", options.output.display());
    Ok(())
}

/// The developed picture of height, width and channels.
fn developed(device: &Device, photo: &Tensor<u8>) -> zerostride::Result<Expr<u8>> {
    let [height, width] = [photo.shape()[0], photo.shape()[1]];
    // Grey on average: each channel as bright as all of them.
    let mean = photo.cast::<f32>().mean([0, 1]);
    let gain = (mean.mean(0) / mean).eval()?;

    // The source of each pixel: lines bend towards the edge, as through an old lens.
    let place = |axis: usize, length: usize| {
        let at = Expr::iota([height, width, 1], axis as isize).cast::<f32>();
        (at * 2.0 + 1.0) / length as f32 - 1.0
    };
    let (y, x) = (place(0, height), place(1, width));
    let radius = &x * &x + &y * &y;
    let bent = |along: &Expr<f32>, length: usize| {
        ((along * (&radius * 0.12 + 0.86) + 1.0) * (length as f32 / 2.0) - 0.5)
            .round()
            .maximum(0.0)
            .cast::<i32>()
    };
    let channel = Expr::iota([height, width, 3], 2);
    let warped = photo.at([&bent(&y, height), &bent(&x, width), &channel]).cast::<f32>();

    // The curve of a film: 256 entries that soften shadows and lights.
    let light = Expr::<f32>::linspace(0, 1, 256);
    let curve = ((light * 7.0 - 3.5).sigmoid() * 255.0).eval_on(device)?;
    let toned = curve.take((warped * gain).minimum(255.0).cast::<u8>(), 0);

    // Shadows in blue and lights in gold, by the nearest of a map's four colours.
    let colours = device.upload(
        &[20.0_f32, 30.0, 70.0, 90.0, 80.0, 110.0, 220.0, 170.0, 120.0, 255.0, 240.0, 210.0],
        [4, 3],
    )?;
    let grey = toned.slice(2, 1..2);
    let tint = colours.at([&(&grey / 64.0).cast::<i32>(), &channel]);
    let vignette = 1.0 - &radius * 0.3;
    Ok(((toned * 0.75 + tint * 0.25) * vignette).round().cast::<u8>())
}
