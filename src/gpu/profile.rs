//! Times of kernels, by timestamps that the device writes before and after each.

use std::time::Duration;

use super::connection::Connection;
use super::dispatch::Dispatch;
use crate::error::{Result, bail};
use crate::expr::KernelTime;

/// Timestamps of one submission, on their way to the host.
#[derive(Debug)]
pub(super) struct Pending {
    names: Vec<String>,
    staging: wgpu::Buffer,
}

/// Bytes of a timestamp.
const STAMP: u64 = 8;

/// Encodes each dispatch in a pass of its own, with a timestamp on either side.
pub(super) fn encode(
    device: &wgpu::Device,
    encoder: &mut wgpu::CommandEncoder,
    dispatches: Vec<Dispatch>,
) -> Pending {
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
        names.push(dispatch.name.unwrap_or_default());
    }
    let size = u64::from(count) * STAMP;
    let buffer = |usage| {
        device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
    };
    let resolved = buffer(wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC);
    let staging = buffer(wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST);
    encoder.resolve_query_set(&set, 0..count, &resolved, 0);
    encoder.copy_buffer_to_buffer(&resolved, 0, &staging, 0, size);
    Pending { names, staging }
}

/// Waits for the times of submissions.
pub(super) fn read(connection: &Connection, submissions: Vec<Pending>) -> Result<Vec<KernelTime>> {
    for part in &submissions {
        part.staging.map_async(wgpu::MapMode::Read, .., |_| {});
    }
    connection.wait()?;
    let period = f64::from(connection.queue.get_timestamp_period());
    let mut times = Vec::new();
    for part in submissions {
        let Ok(view) = part.staging.get_mapped_range(..) else {
            bail!(Lost, "the times of {} cannot be read", connection.name());
        };
        let stamps: Vec<u64> = bytemuck::pod_collect_to_vec(&view);
        let each = part.names.into_iter().zip(stamps.chunks_exact(2));
        times.extend(each.map(|(steps, stamp)| KernelTime {
            steps,
            time: Duration::from_nanos((stamp[1].saturating_sub(stamp[0]) as f64 * period) as u64),
        }));
    }
    Ok(times)
}
