//! The proof of the promise: work that compilers like to rewrite, and one SHA-256 of its bits, the same on every device.
//!
//! ```text
//! cargo run --release --example hash [-- --device NAME]
//! ```
//!
//! Without a device, it runs on every device and fails if two hashes differ.

mod work;

use clap::Parser;
use zerostride::Device;

#[derive(Parser)]
struct Options {
    /// A device, as `Device::named` takes it; every device when none is given
    #[arg(long)]
    device: Option<String>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let devices = match Options::parse().device {
        Some(name) => vec![Device::named(&name)?],
        None => Device::all().iter().map(|adapter| adapter.open()).collect::<Result<_, _>>()?,
    };
    let mut totals: Vec<String> = Vec::new();
    for device in devices {
        println!("on {}", device.name());
        let mut hashes = String::new();
        for work in work::all() {
            let hash = work::hash(&work.expr.eval_on(&work.on(&device))?.to_bytes()?);
            println!("  {hash}  {}", work.name);
            hashes += &hash;
        }
        totals.push(work::hash(hashes.as_bytes()));
        println!("  {}  all of it\n", totals[totals.len() - 1]);
    }
    match totals.windows(2).all(|pair| pair[0] == pair[1]) {
        true => Ok(()),
        false => Err("hashes differ".into()),
    }
}
