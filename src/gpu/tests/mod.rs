//! Tests of devices that are lost or report later, of errors on purpose, and of limits that are low.

mod browser;
mod budget;
mod faults;
mod lost;
mod partials;
mod random;
mod reductions;
mod scans;
mod vectors;

pub(crate) use crate::common::depth::{depth, in_turn};
pub(crate) use browser::each as each_late;
pub(crate) use faults::Faults;
pub(crate) use random::Random;
