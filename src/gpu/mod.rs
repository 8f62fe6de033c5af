//! The GPU path, and the only code that names `wgpu`.
//!
//! Each file uses only those before it: what is known of [`drivers`]; how much work they are given at a time
//! ([`budget`]); their [`mod@limits`] and which [`adapters`] there are; [`failures`] of one, and a [`connection`] to it; its memory ([`pool`],
//! [`buffer`]); compiled [`pipelines`] and their file on [`disk`]; the plan cache ([`cached`]); [`batch`]es of [`dispatch`]es, and
//! their times ([`profile`]); where they go, to the queue ([`recorder`]) or an encoder of the caller's
//! ([`session`]); [`transfer`] to and fro; the [`device`] made of these, which of them are [`known`], how they are
//! opened or adopted (`open`), and what they share with a program ([`lend`], [`textures`]); how commands are run
//! ([`mod@execute`]) and told ([`mod@explain`]); and the [`backend`] that
//! expressions see.

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
