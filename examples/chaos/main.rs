//! Three bodies that attract each other, of masses 3, 4 and 5, which begin at rest (Burrau, 1913; here with softened forces).
//! Their motion is chaotic: one wrong bit grows until the paths have nothing in common. Every device takes 10^5 steps to the
//! same bits. Beside it, the same steps in plain WGSL leave.
//!
//! ```text
//! cargo run --release --example chaos [-- --devices cpu,vulkan] [--steps N] [--picture FILE]
//! ```

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use image::{Rgb, RgbImage};
use zerostride::{AnyExpr, Device, Expr, Result};

#[path = "../plain/mod.rs"]
mod plain;

#[derive(Parser)]
struct Options {
    /// Devices, as `Device::named` takes them; every device when none are given
    #[arg(long, value_delimiter = ',')]
    devices: Vec<String>,
    /// Steps of time, in hundreds
    #[arg(long, default_value_t = 100_000)]
    steps: usize,
    /// Where the paths of the lightest body are drawn: this crate's in blue, over that of plain WGSL on the first device that
    /// runs it, in orange
    #[arg(long)]
    picture: Option<PathBuf>,
}

/// How many systems there are, side by side. Each begins a little apart from the one before.
const SYSTEMS: usize = 64;
/// Steps from one look at the systems to the next.
const LOOK: usize = 100;
const MASSES: [f32; 3] = [3.0, 4.0, 5.0];
const PLACES: [[f32; 2]; 3] = [[1.0, 3.0], [-2.0, -1.0], [1.0, -1.0]];
/// The time of a step, and what is added to squared distances.
const TIME: f32 = 1.0 / 1024.0;
const SOFT: f32 = 0.09;
/// The values of a system: x and y of each body, then its speed along both.
const VALUES: usize = 12;

/// All values, system by system within each.
type Values = Vec<f32>;

/// The values in the beginning.
fn beginning() -> Values {
    let value = |value: usize, system: usize| match value {
        0 => PLACES[0][0] + system as f32 / 4096.0,
        1..6 => PLACES[value / 2][value % 2],
        _ => 0.0,
    };
    (0..VALUES * SYSTEMS).map(|i| value(i / SYSTEMS, i % SYSTEMS)).collect()
}

/// The values of systems a step later.
fn step(values: &[AnyExpr]) -> Result<Vec<AnyExpr>> {
    let mut values = values.iter().map(AnyExpr::typed).collect::<Result<Vec<Expr<f32>>>>()?;
    let places = values[..6].to_vec();
    for i in 0..3 {
        let mut pull = [Expr::scalar(0.0), Expr::scalar(0.0)];
        for j in (0..3).filter(|&j| j != i) {
            let [dx, dy] = [0, 1].map(|way| &places[2 * j + way] - &places[2 * i + way]);
            let w = (&dx * &dx + &dy * &dy + SOFT).rsqrt();
            let w = &w * &w * &w * MASSES[j];
            pull = [&pull[0] + dx * &w, &pull[1] + dy * &w];
        }
        for (way, pull) in pull.iter().enumerate() {
            let at = 2 * i + way;
            values[6 + at] = &values[6 + at] + pull * TIME;
            values[at] = &places[at] + &values[6 + at] * TIME;
        }
    }
    Ok(values.into_iter().map(AnyExpr::from).collect())
}

/// The values at each look: a kernel of a hundred steps after another.
fn run(device: &Device, looks: usize) -> Result<Vec<Values>> {
    let start = AnyExpr::from(device.upload(&beginning(), [VALUES, SYSTEMS])?);
    let mut state = start.unbind(0)?;
    let mut all = Vec::new();
    for _ in 0..looks {
        let mut mistake = None;
        let next = AnyExpr::repeat(LOOK as u32, &state, |values| {
            step(values).unwrap_or_else(|error| {
                mistake = Some(error);
                values.to_vec()
            })
        });
        if let Some(error) = mistake {
            return Err(error);
        }
        let tensors = AnyExpr::eval_all(&next)?;
        state = tensors.iter().map(AnyExpr::from).collect();
        all.push(AnyExpr::stack(&state, 0).to_vec::<f32>()?);
    }
    Ok(all)
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
    let own = run(&devices[0], looks)?;
    let mut picture = RgbImage::from_pixel(512, 512, Rgb([255; 3]));
    let mut drawn = false;
    for device in &devices {
        let bits = |values: &Values| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        if !run(device, looks)?.iter().map(bits).eq(own.iter().map(bits)) {
            return Err(format!("{} and {}: other bits", devices[0].name(), device.name()).into());
        }
        let last = device.upload(own.last().ok_or("no steps")?, [VALUES, SYSTEMS])?;
        println!("{}: checksum {:08x}", device.name(), last.checksum().eval()?.item()?);
        let Some(plain) = run_plain(device, looks) else { continue };
        let first = |differs: &dyn Fn(usize) -> bool| match (0..looks).find(|&look| differs(look)) {
            Some(look) => format!("by step {}", (look + 1) * LOOK),
            None => "nowhere".to_string(),
        };
        println!(
            "  plain WGSL: other bits {}, apart by 1 {}",
            first(&|look| bits(&plain[look]) != bits(&own[look])),
            first(&|look| distance(&plain[look], &own[look]) > 1.0),
        );
        if !drawn {
            draw(&mut picture, &plain, [236, 124, 32]);
            drawn = true;
        }
    }
    if let Some(path) = &options.picture {
        draw(&mut picture, &own, [28, 92, 190]);
        picture.save(path)?;
        println!("drawn: {}", path.display());
    }
    Ok(())
}
