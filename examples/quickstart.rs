//! An expression, a write in place, a rule of another system, `explain` and an error.
//!
//! ```text
//! cargo run --release --example quickstart [-- --device NAME]
//! ```

use clap::Parser;
use zerostride::{Broadcast, Device, Result};

#[derive(Parser)]
struct Options {
    /// A device, as `Device::named` takes it; the best one when none is given
    #[arg(long)]
    device: Option<String>,
}

fn main() -> std::process::ExitCode {
    match run(Options::parse().device.as_deref()) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            std::process::ExitCode::FAILURE
        }
    }
}

fn run(name: Option<&str>) -> Result<()> {
    let device = name.map_or_else(Device::open, Device::named)?;
    println!("on {}\n", device.name());

    // A picture of 2 x 2 pixels with 3 channels, and one number per channel.
    let pixels: Vec<u8> = vec![255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255];
    let image = device.upload(&pixels, [2, 2, 3])?;
    let mean = device.upload(&[0.485_f32, 0.456, 0.406], [3])?;
    let std = device.upload(&[0.229_f32, 0.224, 0.225], [3])?;

    // Nothing runs yet: operators build an expression. One eval is one kernel.
    let chw = ((image.cast::<f32>() / 255.0 - &mean) / &std).permute([2, 0, 1]).eval()?;
    println!("normalized, channels first: {} {:?}\n", chw.shape(), chw.to_vec()?);

    // In place: the tensor keeps its shape.
    chw.assign(chw.clamp(-2.0, 2.0))?;
    println!("clamped in place: {:?}\n", chw.to_vec()?);

    // Rules of other systems are values: here OpenVINO's, from axis 0 on.
    let (x, offsets) = Broadcast::Pdpd { axis: 0 }.align(&chw, &mean)?;
    println!("what would run:\n{}", (x + offsets).explain(&device)?);

    // A mistake is an error that names operands, axis, rule and line.
    let wrong = &chw + &device.zeros::<f32>([3])?;
    println!("a mistake: {}", wrong.eval().unwrap_err());
    Ok(())
}
