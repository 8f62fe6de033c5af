//! Tests of devices that are lost or report later, and errors on purpose.

mod browser;
mod faults;
mod lost;

pub(crate) use browser::each as each_late;
pub(crate) use faults::Faults;
