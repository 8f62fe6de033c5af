//! Standardizes a Zarr array larger than memory. Chunks are read, computed and written one after the other. Two chunks are
//! in flight at a time, so the device works while files are read and written.
//!
//! ```text
//! cargo run --release --manifest-path examples/zarr/Cargo.toml [-- FOLDER]
//! ```

use std::collections::VecDeque;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use zarrs::array::{Array, ArrayBuilder, data_type};
use zarrs::filesystem::FilesystemStore;
use zerostride::Device;

type Failure = Box<dyn std::error::Error>;
type Stored = Array<FilesystemStore>;

const CHUNKS: u64 = 24;
const ROWS: usize = 256;
const COLUMNS: usize = 1024;
const ON_THEIR_WAY: usize = 2;

fn main() -> ExitCode {
    let folder = std::env::args_os()
        .nth(1)
        .map_or_else(|| std::env::temp_dir().join("zerostride.zarr"), PathBuf::from);
    match run(folder) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(folder: PathBuf) -> Result<(), Failure> {
    let store = Arc::new(FilesystemStore::new(folder)?);
    let input = made(&store, "/measured")?;
    for chunk in 0..CHUNKS {
        input.store_chunk(&[chunk, 0], measurements(chunk))?;
    }
    let output = made(&store, "/standard")?;

    let device = Device::open()?;
    let (mean, std) = statistics(&device, &input)?;
    println!("on {}: mean {mean:.4}, standard deviation {std:.4}", device.name());
    standardize(&device, &input, &output, mean as f32, std as f32)?;
    let (mean, std) = statistics(&device, &output)?;
    println!("standardized: mean {mean:.4}, standard deviation {std:.4}");
    if mean.abs() > 1e-3 || (std - 1.0).abs() > 1e-3 {
        return Err("what was written is not standard".into());
    }
    Ok(())
}

/// An array of `chunks` chunks of whole rows.
fn made(store: &Arc<FilesystemStore>, path: &str) -> Result<Stored, Failure> {
    let shape = vec![CHUNKS * ROWS as u64, COLUMNS as u64];
    let chunk = vec![ROWS as u64, COLUMNS as u64];
    let array = ArrayBuilder::new(shape, chunk, data_type::float32(), 0.0_f32).build(store.clone(), path)?;
    array.store_metadata()?;
    Ok(array)
}

/// Made-up measurements, which differ by chunk.
fn measurements(chunk: u64) -> Vec<f32> {
    let value = |i: usize| ((i * 7919 + chunk as usize * 104_729) % 1000) as f32 * 0.01 + 3.0;
    (0..ROWS * COLUMNS).map(value).collect()
}

/// The mean and the standard deviation of all chunks, by their sums, in one pass.
fn statistics(device: &Device, array: &Stored) -> Result<(f64, f64), Failure> {
    let (mut sum, mut squares) = (0.0, 0.0);
    for chunk in 0..CHUNKS {
        let elements: Vec<f32> = array.retrieve_chunk(&[chunk, 0])?;
        let x = device.upload(&elements, [ROWS, COLUMNS])?;
        sum += f64::from(x.sum(..).item()?);
        squares += f64::from(x.sum_square(..).item()?);
    }
    let count = CHUNKS as f64 * (ROWS * COLUMNS) as f64;
    let mean = sum / count;
    Ok((mean, (squares / count - mean * mean).sqrt()))
}

/// Writes each chunk standardized. While the device computes one, the next is read and the one before is written.
fn standardize(device: &Device, input: &Stored, output: &Stored, mean: f32, std: f32) -> Result<(), Failure> {
    let mut begun = VecDeque::new();
    for chunk in 0..CHUNKS {
        let elements: Vec<f32> = input.retrieve_chunk(&[chunk, 0])?;
        let x = device.upload(&elements, [ROWS, COLUMNS])?;
        begun.push_back((chunk, ((&x - mean) / std).eval_async()));
        if begun.len() > ON_THEIR_WAY
            && let Some((chunk, computed)) = begun.pop_front()
        {
            output.store_chunk(&[chunk, 0], pollster::block_on(computed)?.to_vec()?)?;
        }
    }
    for (chunk, computed) in begun {
        output.store_chunk(&[chunk, 0], pollster::block_on(computed)?.to_vec()?)?;
    }
    Ok(())
}
