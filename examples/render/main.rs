//! A program that draws with its own wgpu device. This crate computes a field that changes with time. Each frame shows it
//! through the program's storage buffer or texture, without a read. A hand-written kernel computes the same field. The
//! frames per second and the pictures of both are compared.
//!
//! ```text
//! cargo run --release --example render [-- --device NAME --through texture]
//! ```
//!
//! It draws into a texture, and the last frame goes to a PNG. `examples/window` shows the same in a window.

mod app;
mod draw;
mod field;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use app::{App, Failure};
use clap::Parser;
use draw::Draw;
use field::{Field, HandWritten, Ours};

#[derive(Parser)]
struct Options {
    /// An adapter: an interface as `vulkan`, a part of the adapter's name, or both as `vulkan:radeon`
    #[arg(long, default_value = "")]
    device: String,
    /// How the field reaches the program's shader
    #[arg(long, default_value = "buffer")]
    through: Through,
    #[arg(long, default_value_t = 960)]
    width: u32,
    #[arg(long, default_value_t = 540)]
    height: u32,
    /// Frames of each, in turns of 10
    #[arg(long, default_value_t = 200)]
    frames: usize,
    /// Explains the kernels of a frame
    #[arg(long)]
    explain: bool,
    /// Where the last frame goes
    #[arg(long, default_value = "render.png")]
    output: PathBuf,
}

/// How the field reaches the program's shader.
#[derive(Clone, Copy, Debug, PartialEq, clap::ValueEnum)]
pub(crate) enum Through {
    /// A storage buffer that the shader reads.
    Buffer,
    /// A texture of one channel.
    Texture,
}

/// The greatest difference that adapters' sines may make in a picture, of 255.
const MOST_APART: u8 = 4;

/// Frames of one kind before those of the other.
const TURN: usize = 10;

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
    let app = App::open(&options.device)?;
    println!("on {}, {} x {}", app.name, options.width, options.height);
    let size = [options.height, options.width];
    let ours = Ours::new(&app)?;
    if options.explain {
        println!("{}", ours.explain(size)?);
    }
    let canvas = app.canvas(size);
    let draws = || Draw::new(&app, size, options.through, canvas.format());
    let fields: [(&str, Draw, Box<dyn Field>); 2] = [
        ("zerostride", draws(), Box::new(ours)),
        ("hand-written WGSL", draws(), Box::new(HandWritten::new(&app, options.through))),
    ];
    let view = canvas.create_view(&Default::default());
    let frame = |which: usize, number: usize| -> Result<(), Failure> {
        let (_, draw, field) = &fields[which];
        let mut encoder = app.device.create_command_encoder(&Default::default());
        field.record(&mut encoder, draw, number as f32 / 60.0)?;
        draw.record(&mut encoder, &view);
        app.queue.submit([encoder.finish()]);
        app.device.poll(wgpu::PollType::wait_indefinitely())?;
        Ok(())
    };

    let mut pictures = Vec::new();
    for which in 0..fields.len() {
        frame(which, options.frames)?;
        pictures.push(app.pixels(&canvas)?);
    }
    let farthest = pictures[0].iter().zip(&pictures[1]).map(|(a, b)| a.abs_diff(*b)).max();
    let farthest = farthest.unwrap_or(0);
    println!("the two pictures are at most {farthest} of 255 apart");
    if farthest > MOST_APART {
        return Err("they are not the same field".into());
    }

    let mut times: [Vec<f64>; 2] = Default::default();
    for turn in 0..(options.frames / TURN).max(1) {
        for (which, times) in times.iter_mut().enumerate() {
            let start = Instant::now();
            (0..TURN).try_for_each(|i| frame(which, turn * TURN + i))?;
            times.push(start.elapsed().as_secs_f64() / TURN as f64);
        }
    }
    let ratios = times[1].iter().zip(&times[0]).map(|(hand, ours)| hand / ours).collect();
    for ((name, ..), times) in fields.iter().zip(times) {
        println!("{name:>18}: {:7.1} frames per second", 1.0 / median(times));
    }
    println!("{:>18}: {:7.3}, the median of turns", "ratio", median(ratios));

    frame(0, options.frames)?;
    let pixels = app.pixels(&canvas)?;
    image::save_buffer(&options.output, &pixels, options.width, options.height, image::ColorType::Rgba8)?;
    println!("the last frame is in {}", options.output.display());
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
