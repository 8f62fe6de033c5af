#![allow(missing_docs)]
use std::time::Instant;
#[allow(dead_code)]
#[path = "../benches/elementwise/copy.rs"]
mod copy;
use wgpu::util::DeviceExt;
fn main() {
    // args: device-name-part, then triples file groups words
    let args: Vec<String> = std::env::args().collect();
    let device = zerostride::Device::named(&args[1]).unwrap();
    let (device, queue) = copy::raw_device(&device.name()).unwrap();
    let n = 1usize << 24;
    let data: Vec<f32> = (0..n + 16).map(|i| i as f32 * 1e-6).collect();
    let mk = || {
        device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: None,
            contents: bytemuck::cast_slice(&data),
            usage: wgpu::BufferUsages::STORAGE,
        })
    };
    let bufs = [mk(), mk(), mk()];
    let mut runs = Vec::new();
    for t in args[2..].chunks(3) {
        let text = std::fs::read_to_string(&t[0]).unwrap();
        let groups: Vec<u32> = t[1].split(',').map(|x| x.parse().unwrap()).collect();
        let mut words: Vec<u32> = t[2].split(',').map(|x| x.parse().unwrap()).collect();
        words.resize(64, 0);
        let uni = device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: None,
            contents: bytemuck::cast_slice(&words),
            usage: wgpu::BufferUsages::UNIFORM,
        });
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(text.clone().into()),
        });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &module,
            entry_point: Some("main"),
            compilation_options: Default::default(),
            cache: None,
        });
        let layout = pipeline.get_bind_group_layout(0);
        let mut entries = vec![wgpu::BindGroupEntry { binding: 0, resource: uni.as_entire_binding() }];
        for i in 0..3 {
            if text.contains(&format!("@binding({})", i + 1)) {
                entries.push(wgpu::BindGroupEntry {
                    binding: i as u32 + 1,
                    resource: bufs[i].as_entire_binding(),
                });
            }
        }
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &layout,
            entries: &entries,
        });
        runs.push((t[0].clone(), pipeline, group, groups, Vec::new()));
    }
    for round in 0..17 {
        for (_, pipeline, group, groups, times) in runs.iter_mut() {
            let start = Instant::now();
            let mut e = device.create_command_encoder(&Default::default());
            {
                let mut p = e.begin_compute_pass(&Default::default());
                p.set_pipeline(pipeline);
                p.set_bind_group(0, &*group, &[]);
                p.dispatch_workgroups(groups[0], groups[1], groups[2]);
            }
            queue.submit([e.finish()]);
            device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
            if round > 1 {
                times.push(start.elapsed().as_secs_f64() * 1e3);
            }
        }
    }
    for (name, _, _, groups, mut times) in runs {
        times.sort_by(f64::total_cmp);
        println!(
            "{:<28} {:?} median {:.2} min {:.2}",
            name.rsplit('/').next().unwrap(),
            groups,
            times[times.len() / 2],
            times[0]
        );
    }
}
