//! Tests of failures, on every device.

mod faults;
