//! Kernels as SPIR-V on a Vulkan driver: run on inputs, or only compiled, for drivers whose device is absent. It panics on any
//! error, and frees nothing before the end of the process.

use std::collections::HashMap;
use std::ffi::CStr;
use std::fs;
use std::path::Path;
use std::time::Instant;

use ash::{ext, khr, vk};

pub struct Gpu {
    instance: ash::Instance,
    physical: vk::PhysicalDevice,
    device: ash::Device,
    queue: vk::Queue,
    /// Whether there are integers and floats of 64 bits.
    wide: bool,
    _entry: ash::Entry,
}

/// The driver's checks of bounds: none, those of `robustBufferAccess`, or those of `robustBufferAccess2`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Checks {
    None,
    First,
    Second,
}

/// A driver's report about a kernel.
pub struct Code {
    /// Invocations that take one step together.
    pub lanes: u32,
    pub statistics: HashMap<String, u64>,
    /// The steps from SPIR-V to the machine's code, each by its name.
    pub forms: Vec<(String, String)>,
}

/// The words of a SPIR-V file.
pub fn words(path: &Path) -> Vec<u32> {
    ash::util::read_spv(&mut fs::File::open(path).unwrap()).unwrap()
}

fn text(chars: &[std::ffi::c_char]) -> String {
    unsafe { CStr::from_ptr(chars.as_ptr()) }.to_string_lossy().into_owned()
}

impl Gpu {
    /// The first device whose name contains `name`.
    pub fn named(name: &str, wanted: Checks) -> Gpu {
        unsafe {
            let entry = ash::Entry::load().unwrap();
            let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_1);
            let create = vk::InstanceCreateInfo::default().application_info(&application);
            let instance = entry.create_instance(&create, None).unwrap();
            let all = instance.enumerate_physical_devices().unwrap();
            let label = |&device: &_| {
                text(&instance.get_physical_device_properties(device).device_name).to_lowercase()
            };
            let found = all.iter().copied().find(|device| label(device).contains(&name.to_lowercase()));
            let physical = found.unwrap_or_else(|| {
                panic!("no device {name} among {:?}", all.iter().map(label).collect::<Vec<_>>())
            });
            let queues =
                [vk::DeviceQueueCreateInfo::default().queue_family_index(0).queue_priorities(&[1.0])];
            // wgpu requests the features that kernels use, and wide types if the device has them.
            let has = instance.get_physical_device_features(physical);
            let features = vk::PhysicalDeviceFeatures {
                shader_int64: has.shader_int64,
                shader_float64: has.shader_float64,
                robust_buffer_access: vk::Bool32::from(wanted >= Checks::First) & has.robust_buffer_access,
                ..Default::default()
            };
            let extensions = instance.enumerate_device_extension_properties(physical).unwrap();
            let has_one = |name: &CStr| {
                extensions.iter().any(|extension| extension.extension_name_as_c_str() == Ok(name))
            };
            let tells = has_one(khr::pipeline_executable_properties::NAME);
            let mut checks = vk::PhysicalDeviceRobustness2FeaturesEXT::default();
            let is_robust = wanted == Checks::Second && has_one(ext::robustness2::NAME) && {
                let mut all = vk::PhysicalDeviceFeatures2::default().push_next(&mut checks);
                instance.get_physical_device_features2(physical, &mut all);
                checks.robust_buffer_access2 == vk::TRUE
            };
            let mut checks = vk::PhysicalDeviceRobustness2FeaturesEXT::default().robust_buffer_access2(true);
            let wanted =
                [(tells, khr::pipeline_executable_properties::NAME), (is_robust, ext::robustness2::NAME)];
            let names: Vec<_> =
                wanted.iter().filter(|(has, _)| *has).map(|(_, name)| name.as_ptr()).collect();
            let mut properties = vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR::default()
                .pipeline_executable_info(tells);
            let mut create = vk::DeviceCreateInfo::default()
                .queue_create_infos(&queues)
                .enabled_features(&features)
                .enabled_extension_names(&names);
            if tells {
                create = create.push_next(&mut properties);
            }
            if is_robust {
                create = create.push_next(&mut checks);
            }
            let device = instance.create_device(physical, &create, None).unwrap();
            let queue = device.get_device_queue(0, 0);
            let wide = has.shader_int64 == vk::TRUE && has.shader_float64 == vk::TRUE;
            Gpu { instance, physical, device, queue, wide, _entry: entry }
        }
    }

    /// Whether the device has the types of a kernel.
    pub fn takes(&self, kernel: &Path) -> bool {
        let words = words(kernel);
        // OpCapability with Float64 or Int64.
        let needs = words.windows(2).take(50).any(|pair| pair[0] == 0x20011 && (10..=11).contains(&pair[1]));
        self.wide || !needs
    }

    /// A pipeline of a kernel with a uniform block at 0 and storage buffers behind it, and the milliseconds of compiling.
    fn pipeline(
        &self,
        words: &[u32],
        buffers: u32,
        flags: vk::PipelineCreateFlags,
    ) -> (vk::Pipeline, vk::PipelineLayout, vk::DescriptorSetLayout, f64) {
        unsafe {
            let module = self
                .device
                .create_shader_module(&vk::ShaderModuleCreateInfo::default().code(words), None)
                .unwrap();
            let bindings: Vec<_> = (0..=buffers)
                .map(|i| {
                    let kind = if i == 0 {
                        vk::DescriptorType::UNIFORM_BUFFER
                    } else {
                        vk::DescriptorType::STORAGE_BUFFER
                    };
                    vk::DescriptorSetLayoutBinding::default()
                        .binding(i)
                        .descriptor_type(kind)
                        .descriptor_count(1)
                        .stage_flags(vk::ShaderStageFlags::COMPUTE)
                })
                .collect();
            let set = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let sets = [self.device.create_descriptor_set_layout(&set, None).unwrap()];
            let layout = self
                .device
                .create_pipeline_layout(&vk::PipelineLayoutCreateInfo::default().set_layouts(&sets), None)
                .unwrap();
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(c"main");
            let create = vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout).flags(flags);
            let begin = Instant::now();
            let pipeline =
                self.device.create_compute_pipelines(vk::PipelineCache::null(), &[create], None).unwrap()[0];
            (pipeline, layout, sets[0], begin.elapsed().as_secs_f64() * 1e3)
        }
    }

    /// A buffer and the address of its memory.
    fn buffer(&self, bytes: usize, usage: vk::BufferUsageFlags) -> (vk::Buffer, *mut u8) {
        unsafe {
            let create = vk::BufferCreateInfo::default().size(bytes as u64).usage(usage);
            let buffer = self.device.create_buffer(&create, None).unwrap();
            let need = self.device.get_buffer_memory_requirements(buffer);
            let kinds = self.instance.get_physical_device_memory_properties(self.physical);
            let wanted = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
            let fits = |&i: &u32| {
                need.memory_type_bits >> i & 1 == 1
                    && kinds.memory_types[i as usize].property_flags.contains(wanted)
            };
            let kind = (0..kinds.memory_type_count).find(fits).unwrap();
            let allocate =
                vk::MemoryAllocateInfo::default().allocation_size(need.size).memory_type_index(kind);
            let memory = self.device.allocate_memory(&allocate, None).unwrap();
            self.device.bind_buffer_memory(buffer, memory, 0).unwrap();
            let at = self.device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty()).unwrap();
            (buffer, at.cast())
        }
    }

    /// Runs a flat kernel over `vectors` vectors, writes its result and returns milliseconds: to compile, and of
    /// the fastest of some runs.
    pub fn run(&self, kernel: &Path, vectors: u32, out: &Path, bytes: usize, inputs: &[&str]) -> (f64, f64) {
        unsafe {
            let (uniform, block) = self.buffer(256, vk::BufferUsageFlags::UNIFORM_BUFFER);
            // A flat kernel's block begins with pitch, vectors, zero.
            block.write_bytes(0, 256);
            *block.cast::<u32>().add(1) = vectors;
            let (result, written) = self.buffer(bytes, vk::BufferUsageFlags::STORAGE_BUFFER);
            written.write_bytes(0xcd, bytes);
            let mut buffers = vec![uniform, result];
            for path in inputs {
                let values = fs::read(path).unwrap();
                let (buffer, at) = self.buffer(values.len(), vk::BufferUsageFlags::STORAGE_BUFFER);
                at.copy_from_nonoverlapping(values.as_ptr(), values.len());
                buffers.push(buffer);
            }
            let (pipeline, layout, set_layout, compiled) =
                self.pipeline(&words(kernel), buffers.len() as u32 - 1, vk::PipelineCreateFlags::empty());
            let kinds = [vk::DescriptorType::UNIFORM_BUFFER, vk::DescriptorType::STORAGE_BUFFER];
            let sizes = kinds.map(|kind| vk::DescriptorPoolSize::default().ty(kind).descriptor_count(8));
            let pool = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
            let pool = self.device.create_descriptor_pool(&pool, None).unwrap();
            let layouts = [set_layout];
            let set = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
            let set = self.device.allocate_descriptor_sets(&set).unwrap()[0];
            for (i, &buffer) in buffers.iter().enumerate() {
                let info = [vk::DescriptorBufferInfo::default().buffer(buffer).range(vk::WHOLE_SIZE)];
                let write = vk::WriteDescriptorSet::default()
                    .dst_set(set)
                    .dst_binding(i as u32)
                    .descriptor_type(kinds[i.min(1)])
                    .buffer_info(&info);
                self.device.update_descriptor_sets(&[write], &[]);
            }
            let pool = self.device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None).unwrap();
            let commands =
                vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let commands = self.device.allocate_command_buffers(&commands).unwrap()[0];
            self.device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default()).unwrap();
            self.device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, pipeline);
            self.device.cmd_bind_descriptor_sets(
                commands,
                vk::PipelineBindPoint::COMPUTE,
                layout,
                0,
                &[set],
                &[],
            );
            self.device.cmd_dispatch(commands, vectors.div_ceil(256), 1, 1);
            self.device.end_command_buffer(commands).unwrap();
            let once = || {
                let begin = Instant::now();
                let submit = vk::SubmitInfo::default().command_buffers(std::slice::from_ref(&commands));
                self.device.queue_submit(self.queue, &[submit], vk::Fence::null()).unwrap();
                self.device.queue_wait_idle(self.queue).unwrap();
                begin.elapsed().as_secs_f64() * 1e3
            };
            // Some drivers compile only now.
            let first = once();
            let fastest = (0..5).map(|_| once()).fold(f64::INFINITY, f64::min);
            fs::write(out, std::slice::from_raw_parts(written, bytes)).unwrap();
            (compiled + first - fastest, fastest)
        }
    }

    /// Compiles a kernel and returns the driver's report, of the widest form if there are several.
    pub fn code(&self, words: &[u32]) -> Code {
        let flags = vk::PipelineCreateFlags::CAPTURE_INTERNAL_REPRESENTATIONS_KHR
            | vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR;
        let (pipeline, ..) = self.pipeline(words, 8, flags);
        unsafe {
            let extension = khr::pipeline_executable_properties::Device::new(&self.instance, &self.device);
            let all = vk::PipelineInfoKHR::default().pipeline(pipeline);
            let all = extension.get_pipeline_executable_properties(&all).unwrap();
            let (index, lanes) =
                all.iter().map(|one| one.subgroup_size).enumerate().max_by_key(|(_, lanes)| *lanes).unwrap();
            let which =
                vk::PipelineExecutableInfoKHR::default().pipeline(pipeline).executable_index(index as u32);
            let value = |statistic: &vk::PipelineExecutableStatisticKHR<'_>| match statistic.format {
                vk::PipelineExecutableStatisticFormatKHR::FLOAT64 => statistic.value.f64 as u64,
                _ => statistic.value.u64,
            };
            let statistics = extension.get_pipeline_executable_statistics(&which).unwrap();
            let statistics = statistics.iter().map(|one| (text(&one.name), value(one))).collect();
            let mut parts = extension.get_pipeline_executable_internal_representations(&which).unwrap();
            // The first call returns sizes, and the second one fills the array.
            let mut texts: Vec<Vec<u8>> = parts.iter().map(|part| vec![0; part.data_size]).collect();
            for (part, text) in parts.iter_mut().zip(&mut texts) {
                part.p_data = text.as_mut_ptr().cast();
            }
            let mut count = parts.len() as u32;
            let fill = extension.fp().get_pipeline_executable_internal_representations_khr;
            fill(self.device.handle(), &which, &mut count, parts.as_mut_ptr()).result().unwrap();
            let forms = parts.iter().zip(&texts).map(|(part, bytes)| {
                let kind = text(&part.name).to_lowercase().replace(|c: char| !c.is_ascii_alphanumeric(), "_");
                let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
                (kind, String::from_utf8_lossy(&bytes[..end]).into_owned())
            });
            let forms = forms.collect();
            self.device.destroy_pipeline(pipeline, None);
            Code { lanes, statistics, forms }
        }
    }

    /// The device and its driver, in words.
    pub fn description(&self) -> String {
        let mut driver = vk::PhysicalDeviceDriverProperties::default();
        let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut driver);
        unsafe { self.instance.get_physical_device_properties2(self.physical, &mut properties) };
        let device = text(&properties.properties.device_name);
        format!("{device}, {} {}", text(&driver.driver_name), text(&driver.driver_info))
    }
}
