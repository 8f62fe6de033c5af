//! What a browser must do as documented, a step each.

use wasm_bindgen::prelude::*;
use zerostride::{Device, Expr};

#[wasm_bindgen(start)]
pub fn start() {
    console_error_panic_hook::set_once();
}

fn text(error: zerostride::Error) -> String {
    format!("error {error:?}")
}

#[wasm_bindgen]
pub async fn adapters() -> String {
    Device::all_async().await.iter().map(|a| format!("{} {} {:?}; ", a.name, a.backend, a.kind)).collect()
}

#[wasm_bindgen]
pub async fn open() -> String {
    match Device::open_async().await { Ok(d) => d.name(), Err(e) => text(e) }
}

#[wasm_bindgen]
pub async fn run(device: String, what: String) -> String {
    run_it(&device, &what).await.unwrap_or_else(text)
}

async fn run_it(name: &str, what: &str) -> zerostride::Result<String> {
    let d = Device::named_async(name).await?;
    let a = d.upload(&(0..12).map(|i| i as f32).collect::<Vec<_>>(), [3, 4])?;
    let b = d.upload(&[10.0_f32, 20.0, 30.0, 40.0], [4])?;
    match what {
        "upload" => return Ok("uploaded".into()),
        "explain" => return Ok((&a + &b).explain(&d)?.to_string()),
        "read" => return Ok(format!("{:?}", a.to_vec_async().await?)),
        "vec" => return Ok(format!("{:?}", a.to_vec()?)),
        "into" => return Ok(format!("{:?}", a.read_into(&mut [0.0; 12])?)),
        "open" => return Ok(format!("{:?}", Device::open()?)),
        "named" => return Ok(format!("{:?}", Device::named("webgpu")?)),
        "all" => return Ok(format!("{:?}", Device::all().len())),
        "missing" => return Ok(format!("{:?} {:?}", Device::missing(), Device::missing_async().await)),
        "synchronize" => return Ok(format!("{:?}", d.synchronize()?)),
        "synchronized" => return Ok(format!("{:?}", d.synchronize_async().await?)),
        "profile" => return Ok(format!("{:?}", d.profile(|| (&a + &b).eval())?.1)),
        "profiled" => return Ok(format!("{:?}", d.profile_async(|| (&a + &b).eval_async()).await?.1)),
        "debug" => return Ok(format!("{a:?}")),
        "item" => return Ok(format!("{:?}", a.sum(..).item()?)),
        "lost" => {
            let (device, _) = d.wgpu().unwrap();
            device.destroy();
            let first = a.to_vec_async().await;
            let second = (&a + 1.0).eval();
            let third = d.synchronize_async().await;
            let again = Device::named_async(name).await?;
            let fine = again.full([2], 1.0_f32)?.to_vec_async().await?;
            return Ok(format!("{first:?} {second:?} {third:?} {fine:?}"));
        }
        "evaluated" => return Ok(format!("{:?}", (&a + &b).eval_async().await?.to_vec_async().await?)),
        _ => {}
    }
    let c: Expr<f32> = match what { "exp" => (&a + &b).exp().log(), "mul" => &a * &b, _ => &a + &b };
    let c = c.eval()?;
    Ok(format!("{:?}", c.to_vec_async().await?))
}

#[wasm_bindgen]
pub async fn big(device: String) -> String {
    big_it(&device).await.unwrap_or_else(text)
}

async fn big_it(name: &str) -> zerostride::Result<String> {
    let d = Device::named_async(name).await?;
    let x = d.full([1 << 20], 2.0_f32)?;
    let v = (&x * 3.0).eval()?.to_vec_async().await?;
    Ok(format!("{} of {}", v.iter().filter(|&&v| v == 6.0).count(), v.len()))
}
