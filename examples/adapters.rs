//! Lists the devices of this machine with their limits and features, and why others are missing.
//!
//! ```text
//! cargo run --release --example adapters [-- --device NAME]
//! ```

use clap::Parser;
use zerostride::Device;

#[derive(Parser)]
struct Options {
    /// Only devices whose name, interface or both (`vulkan:llvmpipe`) match
    #[arg(long)]
    device: Option<String>,
}

fn main() -> std::process::ExitCode {
    let wanted = Options::parse().device;
    let all = Device::all();
    let shown: Vec<_> = match &wanted {
        None => all.iter().collect(),
        Some(name) => all.iter().filter(|adapter| adapter.matches(name)).collect(),
    };
    if let (true, Some(name)) = (shown.is_empty(), &wanted) {
        eprintln!("error: {}", Device::named(name).map_or_else(|e| e.to_string(), |d| d.name()));
        return std::process::ExitCode::FAILURE;
    }
    for adapter in shown {
        println!("{} ({}:{}), {}", adapter.name, adapter.backend, adapter.index, adapter.kind.name());
        println!("  driver: {}", adapter.driver);
        for (name, limit) in adapter.limits().into_iter().flat_map(|limits| limits.named()) {
            println!("  {name}: {limit}");
        }
        if !adapter.features().is_empty() {
            println!("  features: {}", adapter.features().join(", "));
        }
    }
    if wanted.is_none() {
        for (backend, reason) in Device::missing() {
            println!("no adapter by {backend}: {reason}");
        }
        match Device::open() {
            Ok(device) => println!("Device::open() takes {}", device.name()),
            Err(error) => println!("Device::open() fails: {error}"),
        }
    }
    std::process::ExitCode::SUCCESS
}
