//! A flock in lockstep: two devices step the same boids side by side, as two players' machines do, and compare a checksum
//! in each frame. Then both go back 60 frames and arrive at the same checksum again. Beside it, the same steps by fast
//! math, with the driver's own functions and without fences.
//!
//! ```text
//! cargo run --release --example lockstep [-- --devices cpu,vulkan] [--boids N] [--frames N] [--picture FILE]
//! ```

mod flock;

use std::f32::consts::TAU;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use image::{Rgb, RgbImage};
use zerostride::{Device, Math, Result};

use flock::Flock;

#[derive(Parser)]
struct Options {
    /// Two devices, as `Device::named` takes them; the best one and the CPU path when none are given
    #[arg(long, value_delimiter = ',')]
    devices: Vec<String>,
    #[arg(long, default_value_t = 100_000)]
    boids: usize,
    /// Frames; half of them, and 60 at most, are rolled back
    #[arg(long, default_value_t = 300)]
    frames: usize,
    /// Where a picture of the last frame goes
    #[arg(long)]
    picture: Option<PathBuf>,
}

/// A device and its flock.
struct Player {
    name: String,
    flock: Flock,
    /// Of each frame.
    checksums: Vec<u32>,
    /// The flock before the frames that are rolled back.
    kept: Flock,
}

impl Player {
    fn new(name: String, device: &Device, boids: usize) -> Result<Player> {
        let flock = Flock::new(device, boids)?;
        Ok(Player { name, kept: flock.clone(), flock, checksums: Vec::new() })
    }

    fn step(&mut self, frame: usize) -> Result<()> {
        self.flock = self.flock.step(frame)?;
        self.checksums.push(self.flock.checksum()?.item()?);
        Ok(())
    }
}

/// A boid is a dot in the colour of its heading.
fn drawn(flock: &Flock) -> Result<RgbImage> {
    const SIDE: u32 = 512;
    let (x, y, heading) = (flock.x.to_vec()?, flock.y.to_vec()?, flock.heading.to_vec()?);
    let mut picture = RgbImage::from_pixel(SIDE, SIDE, Rgb([12, 14, 24]));
    for ((x, y), heading) in x.iter().zip(&y).zip(&heading) {
        let place = |way: f32| ((way * SIDE as f32) as u32).min(SIDE - 1);
        let channel = |shift: f32| (150.0 + 105.0 * (heading + shift).cos()) as u8;
        let colour = Rgb([channel(0.0), channel(-TAU / 3.0), channel(TAU / 3.0)]);
        picture.put_pixel(place(*x), SIDE - 1 - place(*y), colour);
    }
    Ok(picture)
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> std::result::Result<(), Box<dyn std::error::Error>> {
    let devices = match options.devices.as_slice() {
        [] => [Device::open()?, Device::cpu()],
        [a, b] => [Device::named(a)?, Device::named(b)?],
        other => return Err(format!("{} devices: lockstep takes two", other.len()).into()),
    };
    // The first device once more, with the driver's own functions, where its compiler may rewrite the steps.
    let mut fast = devices[0].clone();
    fast.set_math(Math::Fast);
    let mut players = Vec::new();
    for (name, device) in [
        (devices[0].name(), &devices[0]),
        (devices[1].name(), &devices[1]),
        (format!("{}, fast math", devices[0].name()), &fast),
    ] {
        players.push(Player::new(name, device, options.boids)?);
    }
    let names: Vec<&str> = players.iter().map(|player| player.name.as_str()).collect();
    println!("{} boids on {}", options.boids, names.join(" | "));

    let back = (options.frames / 2).min(60);
    for frame in 0..options.frames {
        for player in &mut players {
            if frame == options.frames - back {
                player.kept = player.flock.clone();
            }
            player.step(frame)?;
        }
        let sums: Vec<String> =
            players.iter().map(|player| format!("{:08x}", player.checksums[frame])).collect();
        println!("frame {frame:4}: {}", sums.join(" | "));
        if players[0].checksums[frame] != players[1].checksums[frame] {
            return Err(format!("frame {frame}: the devices differ").into());
        }
    }
    for player in &mut players[..2] {
        let arrived = player.checksums.last().copied();
        player.flock = player.kept.clone();
        for frame in options.frames - back..options.frames {
            player.step(frame)?;
        }
        if player.checksums.last().copied() != arrived {
            return Err(format!("{}: other bits after going back", player.name).into());
        }
    }
    println!("both went back {back} frames and arrived at the same checksum");
    let [own, _, other] = &players[..] else { return Ok(()) };
    match (0..options.frames).find(|&frame| own.checksums[frame] != other.checksums[frame]) {
        Some(frame) => println!("by fast math, frame {frame} has other bits"),
        None => println!("by fast math, the bits are the same here; nothing promises them elsewhere"),
    }
    if let Some(path) = &options.picture {
        drawn(&own.flock)?.save(path)?;
        println!("drawn: {}", path.display());
    }
    Ok(())
}
