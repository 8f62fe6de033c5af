//! A flock in lockstep: two devices step the same boids side by side, as two players' machines do, and compare a checksum
//! in each frame. Then both go back 60 frames and arrive at the same checksum again. Beside it, the same steps by fast
//! math, with the driver's own functions and without fences.
//!
//! ```text
//! cargo run --release --example lockstep [-- --devices cpu,vulkan] [--boids N] [--frames N] [--picture FILE]
//! ```

use std::f32::consts::{PI, TAU};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use image::{Rgb, RgbImage};
use zerostride::{Device, EvalAll, Expr, Key, Math, Result, Tensor};

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

/// Cells along a side of the world, which is a torus of size 1. A boid sees its cell and the eight around it.
const CELLS: usize = 64;
/// How far a boid flies in a frame.
const SPEED: f32 = 0.002;
/// The largest turn of a frame, and of a random kick, in radians.
const TURN: f32 = 0.2;
const KICK: f32 = 0.5;
const SEED: u64 = 2026;

/// All boids: the coordinates and the heading of each.
#[derive(Clone)]
struct Flock {
    x: Tensor<f32>,
    y: Tensor<f32>,
    heading: Tensor<f32>,
}

impl Flock {
    /// Random boids.
    fn new(device: &Device, boids: usize) -> Result<Flock> {
        let [x, y, heading] = Key::new(SEED).split().map(|key| Expr::<f32>::uniform([boids], key));
        let (x, y, heading) = (x, y, heading * TAU - PI).eval_all_on(device)?;
        Ok(Flock { x, y, heading })
    }

    /// The flock a frame later. The kick of each boid depends on its number and the frame alone.
    fn step(&self, frame: usize) -> Result<Flock> {
        let Flock { x, y, heading } = self;
        let index = |place: &Tensor<f32>| (place * CELLS as f32).cast::<i32>().minimum(CELLS as i32 - 1);
        let cell = (index(y) * CELLS as i32 + index(x)).eval()?;

        // The sum of the directions of each cell and its neighbours.
        let directions = Expr::stack([heading.cos(), heading.sin()], 1);
        let of_cell = directions.segment_sum(&cell, CELLS * CELLS).reshape([CELLS, CELLS, 2]).eval()?;
        let rows = of_cell.roll([1], [0]) + &of_cell + of_cell.roll([-1], [0]);
        let around =
            (rows.roll([1], [1]) + &rows + rows.roll([-1], [1])).reshape([CELLS * CELLS, 2]).eval()?;
        let seen = around.take(&cell, 0);
        let (east, north) = (seen.slice(1, 0..1).squeeze(1), seen.slice(1, 1..2).squeeze(1));

        // That direction in the boid's own frame: the angle to turn by.
        let (cos, sin) = (heading.cos(), heading.sin());
        let angle = (&cos * &north - &sin * &east).atan2(&cos * east + sin * north);
        let kick = Expr::<f32>::uniform(heading.shape(), Key::new(SEED).fold_in(frame as u64)) - 0.5;
        let heading = heading + angle.clamp(-TURN, TURN) + kick * KICK;
        // As an angle from -pi to pi.
        let heading = &heading - (&heading / TAU).round() * TAU;
        let (x, y) = ((x + heading.cos() * SPEED).fract(), (y + heading.sin() * SPEED).fract());
        let (x, y, heading) = (x, y, heading).eval_all()?;
        Ok(Flock { x, y, heading })
    }

    fn checksum(&self) -> Result<u32> {
        Expr::stack([self.x.expr(), self.y.expr(), self.heading.expr()], 0).checksum().eval()?.item()
    }

    /// A boid is a dot in the colour of its heading.
    fn draw(&self) -> Result<RgbImage> {
        const SIDE: u32 = 512;
        let (x, y, heading) = (self.x.to_vec()?, self.y.to_vec()?, self.heading.to_vec()?);
        let mut picture = RgbImage::from_pixel(SIDE, SIDE, Rgb([12, 14, 24]));
        for ((x, y), heading) in x.iter().zip(&y).zip(&heading) {
            let place = |way: f32| ((way * SIDE as f32) as u32).min(SIDE - 1);
            let channel = |shift: f32| (150.0 + 105.0 * (heading + shift).cos()) as u8;
            let colour = Rgb([channel(0.0), channel(-TAU / 3.0), channel(TAU / 3.0)]);
            picture.put_pixel(place(*x), SIDE - 1 - place(*y), colour);
        }
        Ok(picture)
    }
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
        self.checksums.push(self.flock.checksum()?);
        Ok(())
    }
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
        own.flock.draw()?.save(path)?;
        println!("drawn: {}", path.display());
    }
    Ok(())
}
