//! Three bodies that attract each other, of masses 3, 4 and 5, which begin at rest (Burrau, 1913; here with softened forces).
//! Their motion is chaotic: one wrong bit grows until the paths have nothing in common. Every device takes 10^5 steps to the
//! same bits. Beside it, the same steps in plain WGSL leave.
//!
//! ```text
//! cargo run --release --example chaos [-- --devices cpu,vulkan] [--steps N] [--picture FILE]
//! ```

mod bodies;
#[path = "../plain/mod.rs"]
mod plain;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use image::{Rgb, RgbImage};
use zerostride::{Device, Result};

use bodies::{Bodies, LOOK, SYSTEMS, Values, beginning};

#[derive(Parser)]
struct Options {
    /// Devices, as `Device::named` takes them; every device when none are given
    #[arg(long, value_delimiter = ',')]
    devices: Vec<String>,
    /// Steps of time, in hundreds
    #[arg(long, default_value_t = 100_000)]
    steps: usize,
    /// Where the paths of the lightest body are drawn: this crate's in blue, over that of plain WGSL in orange, on the last
    /// device where it leaves
    #[arg(long)]
    picture: Option<PathBuf>,
}

/// The values at each look, and the checksum of the last ones.
fn run(device: &Device, looks: usize) -> Result<(Vec<Values>, u32)> {
    let mut bodies = Bodies::new(device)?;
    let mut all = Vec::new();
    for _ in 0..looks {
        bodies = bodies.later()?;
        all.push(bodies.values()?.to_vec()?);
    }
    Ok((all, bodies.values()?.checksum().eval()?.item()?))
}

/// The same by plain WGSL, unless the device runs none.
fn run_plain(device: &Device, looks: usize) -> Option<Vec<Values>> {
    let first: Vec<u32> = beginning().into_iter().map(f32::to_bits).collect();
    let words = plain::run(device, include_str!("plain.wgsl"), &first, 1, looks)?;
    let look = |words: &[u32]| words.iter().map(|&word| f32::from_bits(word)).collect();
    Some(words.chunks(first.len()).map(look).collect())
}

/// How far apart the lightest bodies of the first systems are.
fn distance(a: &Values, b: &Values) -> f32 {
    (a[0] - b[0]).hypot(a[SYSTEMS] - b[SYSTEMS])
}

/// The path of the lightest body of the first system, on a square from -6 to 6.
fn draw(picture: &mut RgbImage, looks: &[Values], colour: [u8; 3]) {
    let side = picture.width() as f32;
    let place = |way: f32| (way / 12.0 + 0.5) * side;
    for pair in looks.windows(2) {
        let [from, to] = [0, 1].map(|i| [place(pair[i][0]), side - place(pair[i][SYSTEMS])]);
        for part in 0..64 {
            let at = [0, 1].map(|way| from[way] + (to[way] - from[way]) * part as f32 / 64.0);
            if at.iter().all(|at| (0.0..side).contains(at)) {
                picture.put_pixel(at[0] as u32, at[1] as u32, Rgb(colour));
            }
        }
    }
}

fn main() -> ExitCode {
    match shown(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn shown(options: &Options) -> std::result::Result<(), Box<dyn std::error::Error>> {
    let devices = match options.devices.as_slice() {
        [] => Device::all().iter().map(|adapter| adapter.open()).collect::<Result<Vec<_>>>()?,
        names => names.iter().map(|name| Device::named(name)).collect::<Result<Vec<_>>>()?,
    };
    let looks = options.steps.div_ceil(LOOK).max(1);
    println!("{SYSTEMS} systems of three bodies, {} steps", looks * LOOK);
    let bits = |values: &Values| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    let mut first: Option<(Vec<Values>, u32)> = None;
    let mut beside = None;
    for device in &devices {
        let its = run(device, looks)?;
        let (own, checksum) = &*first.get_or_insert_with(|| its.clone());
        if its.1 != *checksum || !its.0.iter().map(bits).eq(own.iter().map(bits)) {
            return Err(format!("{} and {}: other bits", devices[0].name(), device.name()).into());
        }
        println!("{}: checksum {checksum:08x}", device.name());
        let Some(plain) = run_plain(device, looks) else { continue };
        let leaves = (0..looks).find(|&look| bits(&plain[look]) != bits(&own[look]));
        let apart = (0..looks).find(|&look| distance(&plain[look], &own[look]) > 1.0);
        let step = |look: Option<usize>| {
            look.map_or("nowhere".into(), |look| format!("by step {}", (look + 1) * LOOK))
        };
        println!("  plain WGSL: other bits {}, apart by 1 {}", step(leaves), step(apart));
        if beside.is_none() || leaves.is_some() {
            beside = Some(plain);
        }
    }
    if let (Some(path), Some((own, _))) = (&options.picture, &first) {
        let mut picture = RgbImage::from_pixel(512, 512, Rgb([255; 3]));
        if let Some(plain) = &beside {
            draw(&mut picture, plain, [236, 124, 32]);
        }
        draw(&mut picture, own, [28, 92, 190]);
        picture.save(path)?;
        println!("drawn: {}", path.display());
    }
    Ok(())
}
