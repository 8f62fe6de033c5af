//! Checks of behaviour that differs in a browser: forms that wait, late reports, losses, and limits.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use wasm_bindgen::prelude::*;
use zerostride::{
    AnyTensor, DType, Device, Error, ErrorKind, Expr, Function, Limits, Options, Tensor, operations, wgpu,
};

/// An error, if something is wrong.
type Outcome = Result<(), String>;

macro_rules! ensure {
    ($holds:expr, $($text:tt)*) => {
        if !$holds {
            return Err(format!($($text)*));
        }
    };
}

macro_rules! checks {
    ($($name:ident)*) => {
        /// The names of the checks.
        #[wasm_bindgen]
        pub fn checks() -> Vec<String> {
            vec![$(stringify!($name).into()),*]
        }

        /// Runs a check. Returns an error, or nothing.
        #[wasm_bindgen]
        pub async fn check(name: String) -> Option<String> {
            console_error_panic_hook::set_once();
            let check: Pin<Box<dyn Future<Output = Outcome>>> = match name.as_str() {
                $(stringify!($name) => Box::pin($name()),)*
                _ => return Some(format!("no check is called {name}")),
            };
            check.await.err()
        }
    };
}

checks! {
    webgpu_is_picked
    results_are_those_of_the_cpu_path
    the_hash_is_that_of_the_readme
    forms_that_wait_name_those_that_do_not
    kernels_are_timed
    lost_devices_are_told
    lost_devices_of_the_callers_are_told
    refused_kernels_are_told
    memory_that_is_not_there_is_told
    storages_are_cut_at_limits
    tensors_may_be_larger_than_a_binding
    memory_stays_flat
    devices_close
}

fn text(error: Error) -> String {
    format!("{error:?}")
}

async fn webgpu() -> Result<Device, String> {
    Device::named_async("webgpu").await.map_err(text)
}

async fn webgpu_is_picked() -> Outcome {
    let device = Device::open_async().await.map_err(text)?;
    let name = device.name();
    ensure!(name.ends_with(" (webgpu)") && name.len() > "adapter (webgpu)".len(), "picked {name}");
    let all = Device::all_async().await;
    ensure!(all.len() == 2 && all[1].name == "cpu", "{all:?}");
    let missing = Device::missing_async().await;
    ensure!(missing.is_empty(), "{missing:?}");
    Ok(())
}

/// A few expressions and every operation of floats, on a device and on the CPU path.
async fn compared(device: &Device) -> Outcome {
    let values: Vec<f32> = (0..12_000).map(|i| (i * 7919 % 1000) as f32 / 8.0 - 20.0).collect();
    let run = async |device: &Device| {
        let x = device.upload(&values, [30, 20, 20])?;
        let row = device.upload(&values[..20], [20])?;
        let mut all: Vec<Expr<f32>> = vec![
            (&x - &row) / 3.0 + &row,
            x.permute([2, 0, 1]) * 2.0,
            x.sum(1) - x.max(1),
            x.flip(0).cumsum(2).sqrt(),
            x.softmax(2),
            // Words of 64 bits whose upper half a compiler knows.
            x.cast::<u32>().cast::<u64>().leading_zeros().cast(),
        ];
        let own = operations().filter(|op| op.result(DType::F32) == Some(DType::F32));
        let operands = [x.expr(), row.expr(), Expr::scalar(0.75)];
        all.extend(own.map(|op| Expr::call(op.name, &operands[..op.arity])));
        let mut results = Vec::new();
        for expr in all {
            results.push(expr.eval_async().await?.to_vec_async().await?);
        }
        x.slice(1, ..5).assign(x.slice(1, 5..10) * 2.0)?;
        results.push(x.to_vec_async().await?);
        Ok::<_, Error>(results)
    };
    let (got, expected) = (run(device).await.map_err(text)?, run(&Device::cpu()).await.map_err(text)?);
    for (i, (got, expected)) in got.iter().zip(&expected).enumerate() {
        // An adapter may flush a subnormal number.
        let known = |x: &f32| if x.is_subnormal() { 0.0_f32.copysign(*x) } else { *x };
        let same =
            |(a, b): (&f32, &f32)| known(a).to_bits() == known(b).to_bits() || a.is_nan() && b.is_nan();
        ensure!(got.len() == expected.len() && got.iter().zip(expected).all(same), "expression {i} differs");
    }
    Ok(())
}

async fn results_are_those_of_the_cpu_path() -> Outcome {
    compared(&webgpu().await?).await
}

/// `examples/hash` on WebGPU: one hash on every device.
async fn the_hash_is_that_of_the_readme() -> Outcome {
    let device = webgpu().await?;
    let mut hashes = String::new();
    for work in crate::hash::all() {
        let hash = async |device: &Device| {
            let bytes = work.expr.eval_on(&work.on(device))?.to_bytes_async().await?;
            Ok::<_, Error>(crate::hash::hash(&bytes))
        };
        let (got, expected) = (hash(&device).await.map_err(text)?, hash(&Device::cpu()).await.map_err(text)?);
        ensure!(got == expected, "{}: {got}, but {expected} on the CPU path", work.name);
        hashes += &got;
    }
    let all = crate::hash::hash(hashes.as_bytes());
    ensure!(include_str!("../../../README.md").contains(&all), "the README does not name {all}");
    Ok(())
}

async fn forms_that_wait_name_those_that_do_not() -> Outcome {
    let device = webgpu().await?;
    let x = device.full([4], 2.0_f32).map_err(text)?;
    let all: [(&str, Result<(), Error>); 9] = [
        ("to_vec", x.to_vec().map(drop)),
        ("to_vec", (&x + 1.0).to_vec().map(drop)),
        ("read_into", x.read_into(&mut [0.0; 4])),
        ("to_bytes", AnyTensor::from(x.clone()).to_bytes().map(drop)),
        ("synchronize", device.synchronize()),
        ("profile", device.profile(|| Ok(())).map(drop)),
        ("Device::open", Device::open().map(drop)),
        ("Device::named", Device::named("webgpu").map(drop)),
        ("Device::open_with", Device::open_with(&Options::default()).map(drop)),
    ];
    for (form, result) in all {
        let error = result.err().ok_or_else(|| format!("{form} waited"))?;
        ensure!(error.kind() == ErrorKind::Blocking, "{form}: {error:?}");
        ensure!(error.message().ends_with(&format!("await {form}_async")), "{form}: {error}");
    }
    ensure!(Device::named("cpu").is_ok(), "the CPU path is there at once");
    // On the CPU path all forms work.
    let cpu = Device::cpu();
    let y = cpu.upload(&[1.0_f32, 4.0], [2]).map_err(text)?;
    ensure!(y.sqrt().to_vec().map_err(text)? == [1.0, 2.0], "the CPU path");
    cpu.synchronize().map_err(text)?;
    ensure!(x.to_vec_async().await.map_err(text)? == [2.0; 4], "what waits changed something");
    Ok(())
}

async fn kernels_are_timed() -> Outcome {
    let device = webgpu().await?;
    let x = device.zeros::<f32>([1 << 20]).map_err(text)?;
    let timed = device.profile_async(|| (&x * 2.0 + 1.0).eval_async()).await;
    match timed {
        Ok((_, times)) => ensure!(times.len() == 1 && times[0].steps == "mul, add", "{times:?}"),
        Err(error) => ensure!(error.kind() == ErrorKind::Limit, "{error:?}"),
    }
    device.synchronize_async().await.map_err(text)
}

/// Everything on a lost device returns an error, and another device opens.
async fn told(device: &Device, x: &Tensor<f32>) -> Outcome {
    let lost = |result: Result<(), Error>| result.err().map(|error| error.kind()) == Some(ErrorKind::Lost);
    ensure!(lost(x.to_vec_async().await.map(drop)), "read");
    ensure!(device.is_lost(), "is not lost");
    ensure!(lost((x + 1.0).eval().map(drop)), "evaluated");
    ensure!(lost((x + 1.0).eval_async().await.map(drop)), "evaluated later");
    ensure!(lost(device.synchronize_async().await), "synchronized");
    ensure!(lost(device.upload(&[1.0_f32], [1]).map(drop)), "uploaded");
    compared(&webgpu().await?).await
}

async fn lost_devices_are_told() -> Outcome {
    let device = webgpu().await?;
    let x = device.full([4], 2.0_f32).map_err(text)?;
    let reading = x.to_vec_async();
    let (own, _) = device.wgpu().ok_or("no device of wgpu")?;
    own.destroy();
    drop(reading);
    told(&device, &x).await
}

async fn callers() -> Result<(wgpu::Device, wgpu::Queue), String> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapter = instance.request_adapter(&wgpu::RequestAdapterOptions::default()).await;
    let adapter = adapter.map_err(|e| e.to_string())?;
    let (required_features, required_limits) = Device::wants(&adapter);
    let descriptor = wgpu::DeviceDescriptor { required_features, required_limits, ..Default::default() };
    adapter.request_device(&descriptor).await.map_err(|e| e.to_string())
}

async fn lost_devices_of_the_callers_are_told() -> Outcome {
    let (own, queue) = callers().await?;
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    own.on_uncaptured_error(Arc::new(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
    }));
    let device = Device::from_wgpu_async(&own, &queue).await.map_err(text)?;
    compared(&device).await?;
    ensure!(device.same(&Device::from_wgpu(&own, &queue).map_err(text)?), "another device");
    // A failure here does not reach the owner.
    refused(&device).await?;
    ensure!(calls.load(Ordering::Relaxed) == 0, "the owner heard of {calls:?} errors");
    let x = device.full([4], 2.0_f32).map_err(text)?;
    own.destroy();
    told(&device, &x).await
}

/// A function that naga accepts and Tint refuses: a constant that is NaN.
async fn refused(device: &Device) -> Outcome {
    let wgsl = "fn bad(x: vec4<f32>) -> vec4<f32> { return x + vec4(bitcast<f32>(0x7fc00000u)); }";
    let bad = Function::new("bad", wgsl, |x: f32| x).map_err(text)?;
    let x = device.upload(&[1.0_f32, 2.0], [2]).map_err(text)?;
    let tells = |result: Result<(), Error>| match result {
        Err(error) => error.kind() == ErrorKind::Kernel && error.message().contains("refuses a kernel"),
        Ok(()) => false,
    };
    ensure!(tells(bad.call(&x).eval_async().await.map(drop)), "evaluated");
    ensure!(tells(bad.call(&x).eval_async().await.map(drop)), "evaluated again");
    ensure!(tells(bad.call(&x).warm_up_async(device).await), "warmed up");
    let later = bad.call(&x * 3.0).eval().map_err(text)?;
    let more = (&later + 1.0).eval().map_err(text)?;
    ensure!(
        tells(more.to_vec_async().await.map(drop)) && tells(later.to_vec_async().await.map(drop)),
        "read"
    );
    ensure!(x.to_vec_async().await.map_err(text)? == [1.0, 2.0], "what was there before");
    let fine = (&x + 1.0).eval_async().await.map_err(text)?;
    ensure!(fine.to_vec_async().await.map_err(text)? == [2.0, 3.0], "what came after");
    Ok(())
}

async fn refused_kernels_are_told() -> Outcome {
    refused(&webgpu().await?).await
}

#[wasm_bindgen]
extern "C" {
    /// Sets whether buffers of more than 1 MiB can be created. The page replaces WebGPU's function.
    #[wasm_bindgen(js_name = setMemory)]
    fn set_memory(is_there: bool);
}

async fn memory_that_is_not_there_is_told() -> Outcome {
    let device = webgpu().await?;
    let small = device.upload(&[1.0_f32, 2.0], [2]).map_err(text)?;
    let old = (&small + 1.0).eval_async().await.map_err(text)?;
    set_memory(false);
    let large = device.full([1 << 20], 1.0_f32).map_err(text)?;
    let read = large.to_vec_async().await;
    let evaluated = (&old.broadcast_to([1 << 20, 2]) * 2.0).eval_async().await;
    let uploaded = device.upload(&vec![1_u8; 9 << 20], [9 << 20]).map_err(text)?.to_vec_async().await;
    set_memory(true);
    let all = [read.map(drop), evaluated.map(drop), uploaded.map(drop), (&large + 1.0).eval().map(drop)];
    for (i, result) in all.into_iter().enumerate() {
        let error = result.err().ok_or_else(|| format!("there was memory for {i}"))?;
        ensure!(error.kind() == ErrorKind::Memory, "{i}: {error:?}");
        ensure!(error.message().contains("has no memory for"), "{i}: {error}");
    }
    ensure!(old.to_vec_async().await.map_err(text)? == [2.0, 3.0], "what was there before");
    let again = device.full([1 << 20], 1.0_f32).map_err(text)?.to_vec_async().await.map_err(text)?;
    ensure!(again.iter().all(|&x| x == 1.0), "what came after");
    device.synchronize_async().await.map_err(text)
}

async fn storages_are_cut_at_limits() -> Outcome {
    let mut limits = Limits::webgpu();
    limits.max_buffer_size = 65_536;
    limits.max_storage_buffer_binding_size = 16_384;
    limits.max_storage_buffers_per_shader_stage = 4;
    let options = Options::default().adapter("webgpu").limits(limits);
    compared(&Device::open_with_async(&options).await.map_err(text)?).await?;
    let options = Options::default().adapter("webgpu").limits(Limits::webgpu());
    compared(&Device::open_with_async(&options).await.map_err(text)?).await
}

async fn tensors_may_be_larger_than_a_binding() -> Outcome {
    let device = webgpu().await?;
    let all = Device::all_async().await;
    let limits = all[0].limits().ok_or("no limits")?;
    // A quarter more than a binding holds.
    let count = (limits.max_storage_buffer_binding_size as usize / 4).min(64 << 20) / 4 * 5;
    let x = device.full([count], 2_i32).map_err(text)?;
    let y = (&x * 3).eval_async().await.map_err(text)?;
    let ends = y.slice(0, (count - 3)..).to_vec_async().await.map_err(text)?;
    let sum = y.sum(0).to_vec_async().await.map_err(text)?;
    ensure!(ends == [6; 3] && sum == [6 * count as i32], "{ends:?} {sum:?} of {count}");
    Ok(())
}

/// Bytes of the module's memory.
fn bytes() -> u32 {
    let memory: js_sys::WebAssembly::Memory = wasm_bindgen::memory().unchecked_into();
    let buffer: js_sys::ArrayBuffer = memory.buffer().unchecked_into();
    buffer.byte_length()
}

async fn memory_stays_flat() -> Outcome {
    let device = webgpu().await?;
    let x = device.zeros::<f32>([1000]).map_err(text)?;
    let mut before = 0;
    for i in 0..10_000 {
        if i == 1000 {
            before = bytes();
        }
        let y = (&x * 2.0 + i as f32).eval().map_err(text)?;
        if i % 100 == 0 {
            ensure!(y.to_vec_async().await.map_err(text)? == [i as f32; 1000], "evaluation {i}");
        }
    }
    let (after, memory) = (bytes(), device.memory());
    ensure!(after <= before + (1 << 20), "the module grew from {before} to {after} bytes");
    ensure!(memory.used + memory.idle < 8 << 20 && memory.created < 2000, "{memory:?}");
    Ok(())
}

async fn devices_close() -> Outcome {
    let mut before = 0;
    for i in 0..100 {
        if i == 10 {
            before = bytes();
        }
        let device = webgpu().await?;
        let x = device.full([1 << 18], i as f32).map_err(text)?;
        ensure!(
            (&x + 1.0).slice(0, ..1).to_vec_async().await.map_err(text)? == [i as f32 + 1.0],
            "device {i}"
        );
    }
    let after = bytes();
    ensure!(after <= before + (1 << 20), "the module grew from {before} to {after} bytes");
    Ok(())
}
