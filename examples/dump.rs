#![allow(missing_docs)]
use zerostride::*;
fn main() {
    let d = Device::named(&std::env::args().nth(1).unwrap()).unwrap();
    let which = std::env::args().nth(2).unwrap();
    let n = 4096usize;
    let text = match which.as_str() {
        "f16" => {
            let x = d.zeros::<f16>([n, n]).unwrap();
            let y = d.zeros::<f16>([n, n]).unwrap();
            (&x + &y).explain(&d).unwrap().wgsl().unwrap().to_string()
        }
        "odd" => {
            let x = d.zeros::<f32>([n - 1, n + 1]).unwrap();
            let y = d.zeros::<f32>([n + 1]).unwrap();
            (&x + &y).explain(&d).unwrap().wgsl().unwrap().to_string()
        }
        _ => {
            let x = d.zeros::<f32>([n, n]).unwrap();
            let y = d.zeros::<f32>([n, n]).unwrap();
            (&x + y.transpose(0, 1).unwrap()).explain(&d).unwrap().wgsl().unwrap().to_string()
        }
    };
    print!("{text}");
}
