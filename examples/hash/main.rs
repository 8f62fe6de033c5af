//! The proof of the promise: work that compilers like to rewrite, and one SHA-256 of its bits, the same on every device.
//!
//! ```text
//! cargo run --release --example hash [-- --device NAME] [--report] [--picture FILE]
//! ```
//!
//! Without a device, it runs on every device and fails if two hashes differ. `--report` prints a row of
//! `docs/same-bits.md` for each device. `--picture` draws the zoom by this crate beside the same loop in plain WGSL.

#[path = "../plain/mod.rs"]
mod plain;
mod work;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Parser;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{Rgb, RgbImage};
use zerostride::{Adapter, Device, Result};

#[derive(Parser)]
struct Options {
    /// A device, as `Device::named` takes it; every device when none is given
    #[arg(long)]
    device: Option<String>,
    /// Print rows of the table of hashes
    #[arg(long)]
    report: bool,
    /// Where the zoom goes, of 512 x 512 pixels: on the left by this crate, on the right by plain WGSL
    #[arg(long)]
    picture: Option<PathBuf>,
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let options = Options::parse();
    let mut adapters = Device::all();
    if let Some(name) = &options.device {
        let found = adapters.iter().position(|adapter| adapter.matches(name));
        adapters = vec![adapters.swap_remove(found.ok_or_else(|| format!("no device matches '{name}'"))?)];
    }
    if let Some(path) = &options.picture {
        return picture(&adapters, path);
    }
    let mut totals: Vec<String> = Vec::new();
    for adapter in &adapters {
        let device = adapter.open()?;
        let hashes = hashes(&device, options.report)?;
        let total = work::hash(hashes.concat().as_bytes());
        match options.report {
            true => println!("{}", row(adapter, &total)),
            false => println!("  {total}  all of it\n"),
        }
        totals.push(total);
    }
    match totals.windows(2).all(|pair| pair[0] == pair[1]) {
        true => Ok(()),
        false => Err("hashes differ".into()),
    }
}

/// The hash of each work.
fn hashes(device: &Device, silent: bool) -> Result<Vec<String>> {
    if !silent {
        println!("on {}", device.name());
    }
    let hash = |work: work::Work| {
        let hash = work::hash(&work.expr.eval_on(&work.on(device))?.to_bytes()?);
        if !silent {
            println!("  {hash}  {}", work.name);
        }
        Ok(hash)
    };
    work::all().into_iter().map(hash).collect()
}

/// A row of the table of hashes.
fn row(adapter: &Adapter, total: &str) -> String {
    let Adapter { name, driver, backend, .. } = adapter;
    let system = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
    let (version, date) = (env!("CARGO_PKG_VERSION"), today());
    format!("| {name} | {driver} | {backend} | {system} | {version} | {date} | `{total}` |")
}

/// The date, by the clock of UTC (Hinnant, Chrono-compatible low-level date algorithms, 2014).
fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    // Days since the first of March of the year 0, in which a leap day is the last of its year.
    let days = seconds / 86400 + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let in_month = day - (153 * month + 2) / 5 + 1;
    let (year, month) = (era * 400 + year + u64::from(month > 9), (month + 2) % 12 + 1);
    format!("{year}-{month:02}-{in_month:02}")
}

/// Pixels along a side of the picture.
const SIDE: usize = 512;

/// Draws the zoom by the first device that runs WGSL, and by plain WGSL there.
fn picture(adapters: &[Adapter], path: &Path) -> std::result::Result<(), Box<dyn std::error::Error>> {
    for adapter in adapters {
        let device = adapter.open()?;
        let zeros = vec![0; SIDE * SIDE];
        let groups = (SIDE * SIDE / 64) as u32;
        let Some(plain) = plain::run(&device, include_str!("plain.wgsl"), &zeros, groups, 1) else {
            continue;
        };
        let step = work::STEP * work::SIZE[1] as f32 / SIDE as f32;
        let own = work::zoom([SIDE, SIDE], step).eval_on(&device)?.to_vec()?;
        let wrong = own.iter().zip(&plain).filter(|(a, b)| a != b).count();
        println!("{}: {wrong} of {} pixels of plain WGSL are wrong", device.name(), own.len());
        let least = own.iter().copied().min().unwrap_or(0);
        let picture = RgbImage::from_fn(2 * SIDE as u32, SIDE as u32, |x, y| {
            let (panel, x) = (x as usize / SIDE, x as usize % SIDE);
            colour([&own, &plain][panel][y as usize * SIDE + x].saturating_sub(least))
        });
        let best = CompressionType::Best;
        picture.write_with_encoder(PngEncoder::new_with_quality(
            File::create(path)?,
            best,
            FilterType::NoFilter,
        ))?;
        return Ok(());
    }
    Err("no device runs WGSL, which the picture compares".into())
}

/// The colour of a count of iterations more than the least one: from blue by white and gold to black.
fn colour(count: u32) -> Rgb<u8> {
    const STOPS: [[f32; 3]; 6] = [
        [6.0, 10.0, 52.0],
        [24.0, 88.0, 172.0],
        [225.0, 242.0, 255.0],
        [255.0, 176.0, 32.0],
        [110.0, 28.0, 40.0],
        [8.0, 6.0, 20.0],
    ];
    let place = ((count + 1) as f32).ln() / (work::MOST as f32).ln() * (STOPS.len() - 1) as f32;
    let at = (place as usize).min(STOPS.len() - 2);
    let mix = |channel: usize| {
        let (from, to) = (STOPS[at][channel], STOPS[at + 1][channel]);
        (from + (to - from) * (place - at as f32)) as u8
    };
    Rgb([mix(0), mix(1), mix(2)])
}
