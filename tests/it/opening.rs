//! Opening a device: the choice, and low limits.

use crate::common::depth::depth;
use crate::common::{alone, cannot_run, check_kernels, found};
use zerostride::{AdapterKind, Device, ErrorKind, Expr, Limits, Options};

fn named(adapter: &zerostride::Adapter) -> Options {
    Options::default().adapter(format!("{}:{}", adapter.backend, adapter.index))
}

#[test]
fn an_index_names_each_adapter() {
    for adapter in found() {
        let name = format!("{}:{}", adapter.backend.to_uppercase(), adapter.index);
        let all: Vec<usize> = found().filter(|other| other.matches(&name)).map(|other| other.index).collect();
        assert_eq!(all, [adapter.index], "{name}");
        let device = Device::named(&name).unwrap();
        assert_eq!(device.name(), format!("{} ({})", adapter.name, adapter.backend));
        let beyond = format!("{}:{}", adapter.backend, 99);
        assert_eq!(Device::named(&beyond).unwrap_err().kind(), ErrorKind::Device);
    }
}

/// Layouts of every walk, as on the adapter itself.
fn check(device: &Device) {
    let numbers = |n: usize| (0..n).map(|i| (i * 7919 % 1021) as f32 / 64.0).collect::<Vec<f32>>();
    let cpu = Device::cpu();
    for (rows, columns) in [(1, 7), (100, 3), (70, 68), (63, 253), (300, 260), (5, 4096)] {
        let run = |device: &Device| {
            let x = device.upload(&numbers(rows * columns), [rows, columns]).unwrap();
            let row = device.upload(&numbers(columns), [columns]).unwrap();
            let turned = device.upload(&numbers(rows * columns), [columns, rows]).unwrap();
            let turned = turned.transpose(0, 1);
            // An operation of as many tensors as every kernel can read.
            let chosen = x.gt(&turned).select(&x + &row, &turned - &row);
            let all = [&x + &row, &x + &turned, turned * 2.0, &x * &x - 1.0, chosen];
            let all: Vec<Vec<f32>> = all.iter().map(|expr: &Expr<f32>| expr.to_vec().unwrap()).collect();
            let bytes = x.cast::<u8>().eval().unwrap();
            let part = bytes.slice_step(1, .., 2);
            part.assign(&part + 1).unwrap();
            (all, bytes.to_vec().unwrap())
        };
        assert!(run(device) == run(&cpu), "{rows} x {columns} on {}", device.name());
    }
    check_kernels(device);
}

#[test]
fn lesser_limits_are_kept() {
    let mut least = Limits::downlevel();
    least.max_storage_buffers_per_shader_stage = 4;
    least.max_compute_invocations_per_workgroup = 64;
    least.max_compute_workgroup_size_x = 64;
    least.max_compute_workgroup_storage_size = 16_352;
    least.max_buffer_size = 64 << 10;
    least.max_storage_buffer_binding_size = 16 << 10;
    for adapter in found().take(depth(1, usize::MAX)) {
        for limits in [Limits::webgpu(), Limits::downlevel(), least] {
            let device = Device::open_with(&named(&adapter).limits(limits)).unwrap();
            check(&device);
            if limits == least {
                let wide = "@workgroup_size(256";
                assert!(device.kernels().iter().all(|text| !text.contains(wide)), "{}", device.name());
            }
        }
        // More than there is stays what there is.
        let mut most = Limits::webgpu();
        most.max_buffer_size = u64::MAX;
        most.max_storage_buffers_per_shader_stage = u64::MAX;
        check(&Device::open_with(&named(&adapter).limits(most)).unwrap());
        // Less than kernels run with is refused, whatever it is.
        for (name, _) in most.named().iter().filter(|(name, _)| name.starts_with("max")) {
            let mut none = Limits::webgpu();
            match *name {
                "max_buffer_size" => none.max_buffer_size = 65_535,
                "max_storage_buffer_binding_size" => none.max_storage_buffer_binding_size = 16_383,
                "max_storage_buffers_per_shader_stage" => none.max_storage_buffers_per_shader_stage = 3,
                "max_uniform_buffer_binding_size" => none.max_uniform_buffer_binding_size = 16,
                "max_compute_workgroups_per_dimension" => none.max_compute_workgroups_per_dimension = 1,
                "max_compute_invocations_per_workgroup" => none.max_compute_invocations_per_workgroup = 63,
                "max_compute_workgroup_size_x" => none.max_compute_workgroup_size_x = 1,
                "max_compute_workgroup_size_y" => none.max_compute_workgroup_size_y = 0,
                "max_compute_workgroup_storage_size" => none.max_compute_workgroup_storage_size = 16_351,
                other => panic!("{other} is not tested"),
            }
            let error = Device::open_with(&named(&adapter).limits(none)).unwrap_err();
            assert!(error.kind() == ErrorKind::Limit && error.message().starts_with(name), "{error}");
        }
    }
}

#[test]
fn features_are_those_that_were_named() {
    for adapter in found() {
        let has_wide = adapter.features().contains(&"SHADER_INT64");
        let plain = Device::open_with(&named(&adapter).features(Vec::<String>::new())).unwrap();
        check(&plain);
        let error = plain.supports(zerostride::DType::F64).unwrap_err();
        assert!(error.kind() == ErrorKind::Limit && error.message().contains("SHADER_INT64"), "{error}");
        assert_eq!(plain.full([1], i64::MIN).unwrap().to_vec().unwrap(), [i64::MIN]);
        assert!(plain.profile(|| Ok(())).is_err());
        assert!(!plain.cache_pipelines(std::env::temp_dir()).unwrap());
        let wide = Device::open_with(&named(&adapter).features(["SHADER_INT64"]));
        match wide {
            Ok(device) => assert_eq!(device.full([1], -1_i64).unwrap().to_vec().unwrap(), [-1]),
            Err(error) => assert!(!has_wide && error.kind() == ErrorKind::Limit, "{error}"),
        }
        let error = Device::open_with(&named(&adapter).features(["SHADER_VOODOO"])).unwrap_err();
        assert!(error.message().starts_with("the feature SHADER_VOODOO is not among those of"), "{error}");
    }
    let cpu = Options::default().adapter("cpu").limits(Limits::downlevel());
    assert_eq!(Device::open_with(&cpu).unwrap().name(), "cpu");
}

/// Run by the next test, in a process where RADV makes an adapter of no card, which does not open.
#[test]
#[ignore = "run by an_adapter_that_does_not_open_is_passed_over"]
fn with_an_adapter_that_does_not_open() {
    let broken = found().find(|adapter| adapter.kind != AdapterKind::Cpu);
    let Some(broken) = broken else { return println!("no such adapter") };
    let Err(error) = Device::named(&format!("{}:{}", broken.backend, broken.index)) else {
        return println!("it opens");
    };
    assert!(error.kind() == ErrorKind::Device && error.message().contains("does not open"), "{error}");
    let device = Device::open().unwrap();
    assert!(!device.name().contains(&broken.name));
    assert_eq!(device.full([2], 1.5_f32).unwrap().to_vec().unwrap(), [1.5; 2]);
    println!("passed over");
}

#[test]
fn an_adapter_that_does_not_open_is_passed_over() {
    let child = alone("opening::with_an_adapter_that_does_not_open")
        .env("RADV_FORCE_FAMILY", "navi21")
        .env_remove(zerostride::DEVICE_VARIABLE)
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success(), "{output}{}", String::from_utf8_lossy(&child.stderr));
    if !output.contains("passed over") {
        cannot_run("there is no adapter here that does not open (Mesa's RADV without a card makes one)");
    }
}

/// Run by the next test, in a process where nothing else has looked for adapters.
#[test]
#[ignore = "run by gl_is_not_asked_for_other_interfaces"]
#[cfg(target_os = "linux")]
fn with_a_device_of_another_interface() {
    // What GL is reached by on Linux.
    let asks_gl = || std::fs::read_to_string("/proc/self/maps").unwrap().contains("libEGL");
    let named = std::env::var("ZEROSTRIDE_EXPECT").unwrap_or_default();
    let named =
        |interface: &str| named.split(',').find(|name| name.starts_with(interface)).map(str::to_string);
    let (Some(vulkan), Some(gl)) = (named("vulkan:"), named("gl:")) else {
        return println!("no such adapters");
    };
    assert!(Device::named(&vulkan).unwrap().name().ends_with("(vulkan)") && !asks_gl());
    assert!(Device::named(&gl).unwrap().name().ends_with("(gl)") && asks_gl());
    println!("asked in time");
}

#[test]
#[cfg(target_os = "linux")]
fn gl_is_not_asked_for_other_interfaces() {
    let child = alone("opening::with_a_device_of_another_interface").output().unwrap();
    let output = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success(), "{output}{}", String::from_utf8_lossy(&child.stderr));
    if !output.contains("asked in time") {
        cannot_run("ZEROSTRIDE_EXPECT names no adapters of Vulkan and GL");
    }
}
