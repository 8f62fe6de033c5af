//! Work for a caller's encoder. Nobody knows when the encoder is submitted, or whether. So a session holds everything
//! that its work uses, until the work has run or the encoder is gone.

use std::sync::{Arc, Mutex};

use super::batch::{Batch, Work};
use super::buffer::Memory;
use super::connection::Connection;
use super::lock::lock;
use super::pool::{PAGE, Pool};
use crate::error::Result;

/// Work that is not yet encoded.
#[derive(Debug)]
pub(super) struct Session {
    held: Mutex<Held>,
}

/// The buffers that work uses. They return to the pool when this is dropped.
#[derive(Debug)]
struct Held {
    batches: Vec<Batch>,
    buffers: Vec<Memory>,
    pool: Arc<Pool>,
}

impl Held {
    fn new(pool: Arc<Pool>) -> Held {
        Held { batches: Vec::new(), buffers: Vec::new(), pool }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.batches.drain(..).for_each(|batch| self.pool.give_back_page(batch.page));
    }
}

impl Session {
    pub(super) fn new(pool: Arc<Pool>) -> Session {
        Session { held: Mutex::new(Held::new(pool)) }
    }

    /// Adds work.
    pub(super) fn record(&self, connection: &Connection, work: Work<'_>) -> Result<()> {
        let mut held = lock(&self.held);
        let Held { batches, buffers, pool } = &mut *held;
        let has_room = match batches.last() {
            Some(batch) => batch.has_room(connection, work)?,
            None => false,
        };
        if !has_room {
            let batch = Batch::new(page(connection, pool)?);
            batch.has_room(connection, work)?;
            batches.push(batch);
        }
        if let Some(batch) = batches.last_mut() {
            batch.push(connection, pool, work)?;
        }
        work.mark_written(connection.failures.epoch());
        buffers.extend(work.bound.iter().map(|bound| bound.memory.clone()));
        Ok(())
    }

    /// Encodes all added work; if it cannot run, nothing.
    pub(super) fn encode(&self, connection: &Connection, encoder: &mut wgpu::CommandEncoder) -> Result<()> {
        let mut held = lock(&self.held);
        let pool = held.pool.clone();
        let mut held = std::mem::replace(&mut *held, Held::new(pool));
        held.batches.iter().try_for_each(|batch| batch.write(connection))?;
        for batch in &mut held.batches {
            batch.encode(encoder);
            batch.clear();
        }
        // Dropped when the work is done, or with the encoder.
        encoder.on_submitted_work_done(move || drop(held));
        Ok(())
    }
}

fn page(connection: &Connection, pool: &Pool) -> Result<wgpu::Buffer> {
    let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
    pool.take_page().map_or_else(|| connection.create_for(PAGE, usage), Ok)
}
