//! Adapters of Vulkan opened without `robustBufferAccess` and `robustBufferAccess2`, to measure their cost. wgpu requests
//! both if an adapter has them, and then leaves out its own checks.

#[cfg(not(target_vendor = "apple"))]
use wgpu::hal::api::Vulkan;
use zerostride::Device;

use crate::common::Failure;

#[cfg(target_vendor = "apple")]
pub(crate) fn open(_: &str, _: bool) -> Result<Device, Failure> {
    Err("wgpu has no Vulkan here".into())
}

/// The adapter of a device, opened by hand with wgpu's requests, or without robust buffers.
#[cfg(not(target_vendor = "apple"))]
pub(crate) fn open(name: &str, is_robust: bool) -> Result<Device, Failure> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::VULKAN));
    let same = |adapter: &wgpu::Adapter| {
        let info = adapter.get_info();
        name == format!("{} ({})", info.name, info.backend.to_str())
    };
    let adapter = adapters.into_iter().find(same).ok_or("it is not of Vulkan")?;
    let features = adapter.features()
        & (wgpu::Features::SHADER_INT64 | wgpu::Features::SHADER_F64 | wgpu::Features::TIMESTAMP_QUERY);
    let limits = adapter.limits();
    let memory = wgpu::MemoryHints::Performance;
    #[allow(unsafe_code)]
    // SAFETY: the device is created with the extensions and features that wgpu-hal itself requests, except robust
    // buffers. It is handed over once. Kernels that run on it index their buffers in range, as tests on software adapters
    // with checks show.
    let opened = unsafe {
        let hal = adapter.as_hal::<Vulkan>().ok_or("it is not of Vulkan")?;
        let mut extensions = hal.required_device_extensions(features);
        if !is_robust {
            extensions.retain(|&name| name != ash::ext::robustness2::NAME);
        }
        let mut wanted = hal.physical_device_features(&extensions, features);
        let family = ash::vk::DeviceQueueCreateInfo::default().queue_family_index(0).queue_priorities(&[1.0]);
        let families = [family];
        let names: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
        let info = ash::vk::DeviceCreateInfo::default()
            .queue_create_infos(&families)
            .enabled_extension_names(&names);
        let info = wanted.add_to_device_create(info);
        let mut core = *info.p_enabled_features;
        if !is_robust {
            core.robust_buffer_access = 0;
        }
        let info = info.enabled_features(&core);
        let raw =
            hal.shared_instance().raw_instance().create_device(hal.raw_physical_device(), &info, None)?;
        hal.device_from_raw(raw, None, &extensions, features, &limits, &memory, 0, 0)?
    };
    let descriptor = wgpu::DeviceDescriptor {
        required_features: features,
        required_limits: limits,
        memory_hints: memory,
        ..Default::default()
    };
    #[allow(unsafe_code)]
    // SAFETY: the device is of this adapter, and was opened with these features and limits.
    let (device, queue) = unsafe { adapter.create_device_from_hal::<Vulkan>(opened, &descriptor)? };
    Ok(Device::from_wgpu(&device, &queue)?)
}
