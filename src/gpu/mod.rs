//! The GPU path, and the only code that names `wgpu`.
//!
//! Each file uses only those before it: what is known of [`drivers`]; which [`adapters`] there are; the
//! [`limits`] and [`options`] that one is opened with; a [`connection`] to it; its memory ([`pool`],
//! [`buffer`]); compiled [`pipelines`] and their file on [`disk`]; the [`recorder`] of [`dispatch`]es, and
//! their times ([`profile`]); [`transfer`] to and fro; the [`device`] made of these, and how it is opened
//! (`open`); how it runs programs ([`split`], [`evaluate`]); and the [`backend`] that expressions see.

mod adapters;
mod backend;
mod buffer;
mod connection;
mod device;
mod disk;
mod dispatch;
mod drivers;
mod evaluate;
mod fold;
mod limits;
mod lock;
#[cfg(test)]
mod lost;
mod open;
mod options;
mod parts;
mod pipelines;
mod pool;
mod profile;
mod recorder;
mod scan;
mod split;
mod transfer;

pub use adapters::AdapterKind;
pub(crate) use adapters::{Found, find, missing};
pub(crate) use drivers::INTERFACES;
pub use limits::Limits;
pub(crate) use open::open;
pub use options::Options;
