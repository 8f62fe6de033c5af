//! Tests of what no device may do wrong, however it fails.

mod faults;
