//! The GPU path, and the only code that names `wgpu`.
//!
//! Each file uses only those before it: facts about [`drivers`], the [`budget`] of work, [`mod@limits`], [`adapters`],
//! [`failures`] of a device and the [`connection`] to it, its memory ([`pool`], [`buffer`]), compiled [`pipelines`] and
//! their file on [`disk`], the plan cache ([`cached`]), [`batch`]es of [`dispatch`]es and their times ([`profile`]),
//! the [`recorder`] for the queue and the [`session`] for a caller's encoder, [`transfer`] to and from the host, the
//! [`device`] made of these, the devices that are [`known`], opening (`open`), sharing with a program ([`lend`],
//! [`textures`]), running commands ([`mod@execute`]) and explaining them ([`mod@explain`]), and the [`backend`] of
//! expressions.

mod adapters;
mod backend;
mod batch;
mod budget;
mod buffer;
mod cached;
mod connection;
mod device;
mod disk;
mod dispatch;
mod drivers;
mod execute;
mod explain;
mod failures;
mod known;
mod lend;
mod limits;
mod lock;
mod open;
mod pipelines;
mod pool;
mod profile;
mod recorder;
mod session;
#[cfg(test)]
mod tests;
mod textures;
mod transfer;

pub(crate) use adapters::{Found, find, find_but_gl, missing};
pub(crate) use backend::of;
pub(crate) use device::Gpu;
pub(crate) use lend::Loan;
pub(crate) use open::{adopt, open, wants};
#[cfg(test)]
pub(crate) use tests::{Random, depth, each_late};
pub(crate) use textures::Area;
