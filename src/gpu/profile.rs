//! Times of kernels, by timestamps that the device writes before and after each.

use std::time::Duration;

use super::connection::Connection;
use super::dispatch::Dispatch;
use crate::ir::KernelTime;

/// Timestamps of one submission, and their staging buffer.
#[derive(Debug)]
pub(super) struct Timed {
    pub names: Vec<String>,
    pub staging: wgpu::Buffer,
}

/// Bytes of a timestamp.
const STAMP: u64 = 8;

/// Encodes each dispatch in a pass of its own, with a timestamp on either side.
pub(super) fn encode(
    device: &wgpu::Device,
    encoder: &mut wgpu::CommandEncoder,
    dispatches: &[Dispatch],
) -> Timed {
    let count = 2 * dispatches.len() as u32;
    let set = device.create_query_set(&wgpu::QuerySetDescriptor {
        label: None,
        ty: wgpu::QueryType::Timestamp,
        count,
    });
    let mut names = Vec::with_capacity(dispatches.len());
    for (i, dispatch) in (0..).zip(dispatches) {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: None,
            timestamp_writes: Some(wgpu::ComputePassTimestampWrites {
                query_set: &set,
                beginning_of_pass_write_index: Some(2 * i),
                end_of_pass_write_index: Some(2 * i + 1),
            }),
        });
        dispatch.encode(&mut pass, None);
        names.push(dispatch.compiled.name.to_string());
    }
    let size = u64::from(count) * STAMP;
    let buffer = |usage| {
        device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
    };
    let resolved = buffer(wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC);
    let staging = buffer(wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST);
    encoder.resolve_query_set(&set, 0..count, &resolved, 0);
    encoder.copy_buffer_to_buffer(&resolved, 0, &staging, 0, size);
    Timed { names, staging }
}

/// The times of kernels by their timestamps.
pub(super) fn times(connection: &Connection, names: Vec<String>, stamps: &[u8]) -> Vec<KernelTime> {
    let period = f64::from(connection.queue.get_timestamp_period());
    let stamps: Vec<u64> = bytemuck::pod_collect_to_vec(stamps);
    let each = names.into_iter().zip(stamps.chunks_exact(2));
    let time = |stamp: &[u64]| (stamp[1].saturating_sub(stamp[0]) as f64 * period) as u64;
    each.map(|(steps, stamp)| KernelTime { steps, time: Duration::from_nanos(time(stamp)) }).collect()
}
