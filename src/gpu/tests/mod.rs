//! Tests of devices that are lost or report later, of errors on purpose, and of limits that are low.

mod browser;
mod budget;
#[allow(dead_code, unreachable_pub)] // a helper of the integration tests, used here in part
#[path = "../../../tests/common/depth.rs"]
mod depth;
mod faults;
mod lost;
mod partials;
mod random;

pub(crate) use browser::each as each_late;
pub(crate) use depth::{depth, in_turn};
pub(crate) use faults::Faults;
pub(crate) use random::Random;
