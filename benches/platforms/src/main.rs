//! The Rust part of `scripts/check-dx12`, `scripts/check-fast-math`, `scripts/check-spirv` and `scripts/gpu-code`.
//!
//! ```text
//! platforms translate FOLDER       every FOLDER/*.wgsl as HLSL (sm51/, sm60/) and SPIR-V (spv/)
//! platforms run DEVICE JOBS        runs the kernels of JOBS, a line each: KERNEL VECTORS OUT BYTES INPUT...
//! platforms same A B SIZE          whether two results of floats of a size have the same bits, except NaN
//! platforms code DEVICE FOLDER KERNEL...    the driver's code of kernels
//! platforms table DEVICE FOLDER    a table of that, of the kernels of FOLDER/elements.txt
//! ```

mod table;
mod translate;
mod vulkan;

use std::path::Path;

use vulkan::{Checks, Gpu};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["translate", folder] => translate::all(folder.as_ref()),
        ["run", device, jobs] => {
            let gpu = Gpu::named(device, Checks::Second);
            for line in std::fs::read_to_string(jobs).unwrap().lines() {
                let [kernel, vectors, out, bytes, ref inputs @ ..] = line.split(' ').collect::<Vec<_>>()[..]
                else {
                    panic!("no job: {line}")
                };
                if !gpu.takes(kernel.as_ref()) {
                    continue;
                }
                let (vectors, bytes) = (vectors.parse().unwrap(), bytes.parse().unwrap());
                let (compiled, ran) = gpu.run(kernel.as_ref(), vectors, out.as_ref(), bytes, inputs);
                println!("{compiled:.2} {ran:.3} {kernel}");
            }
        }
        ["same", a, b, size] => {
            let (a, b) = (std::fs::read(a).unwrap(), std::fs::read(b).unwrap());
            let float = |x: &[u8]| match size {
                "8" => f64::from_le_bytes(x.try_into().unwrap()),
                _ => f32::from_le_bytes(x.try_into().unwrap()).into(),
            };
            let mut pairs = a.chunks_exact(size.parse().unwrap()).zip(b.chunks_exact(size.parse().unwrap()));
            let same = pairs.all(|(a, b)| a == b || (float(a).is_nan() && float(b).is_nan()));
            std::process::exit(i32::from(!same));
        }
        ["code", device, folder, ref kernels @ ..] => {
            let gpu = Gpu::named(device, Checks::Second);
            for kernel in kernels {
                let name = Path::new(kernel).file_stem().unwrap().to_str().unwrap();
                for (kind, text) in gpu.code(&vulkan::words(kernel.as_ref())).forms {
                    std::fs::write(Path::new(folder).join(format!("{name}.{kind}.txt")), text).unwrap();
                }
            }
        }
        ["table", device, folder] => table::print(device, folder.as_ref()),
        _ => panic!(
            "usage: platforms translate FOLDER | run DEVICE JOBS | same A B SIZE | code DEVICE FOLDER KERNEL... | table DEVICE FOLDER"
        ),
    }
}
