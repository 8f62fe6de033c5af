//! The devices of tests, and the checks after every test.

#![allow(dead_code, unreachable_pub)] // each test program uses a part
#![allow(unreachable_patterns)] // inside of the crate enums are known to their end
#![allow(clippy::print_stdout, clippy::print_stderr)] // which the library does not do

pub mod case;
pub mod depth;
pub mod draw;
pub mod naive;
pub mod portable;
pub mod program;
pub mod recipe;
pub mod reduce;
pub mod reference;
pub mod shrink;
pub mod value;
pub mod written;

use std::collections::BTreeMap;
use std::io::Write;
use std::panic::Location;
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock};

use zerostride::{Adapter, Device, Limits, Options};

/// Every device of this machine, the CPU path first, opened once per test program.
///
/// `ZEROSTRIDE_EXPECT` names devices that must be among them, as `Device::named` takes them and
/// separated by commas: scripts/test sets it, so that a driver that went missing fails.
pub fn devices() -> &'static [Device] {
    static DEVICES: OnceLock<Vec<Device>> = OnceLock::new();
    DEVICES.get_or_init(|| {
        let expected = std::env::var("ZEROSTRIDE_EXPECT").unwrap_or_default();
        for name in expected.split(',').filter(|name| !name.is_empty()) {
            Device::named(name).unwrap_or_else(|e| panic!("expected device: {e}"));
        }
        let mut adapters = Device::all();
        adapters.reverse();
        let devices: Vec<Device> = adapters.iter().map(open).collect();
        let names: Vec<String> = devices.iter().map(Device::name).collect();
        // Past the harness, which keeps what tests print to itself.
        let _ = writeln!(std::io::stderr(), "devices under test: {}", names.join(", "));
        devices
    })
}

/// The names that a variable lists, separated by commas.
pub fn listed(variable: &str) -> Option<Vec<String>> {
    Some(std::env::var(variable).ok()?.split(',').map(str::to_string).collect())
}

/// The limits of all tests, if not the adapters' own: `ZEROSTRIDE_TEST_LIMITS` is
/// `webgpu` or `downlevel`.
pub fn test_limits() -> Option<Limits> {
    match std::env::var("ZEROSTRIDE_TEST_LIMITS").as_deref() {
        Ok("webgpu") => Some(Limits::webgpu()),
        Ok("downlevel") => Some(Limits::downlevel()),
        Ok("") | Err(_) => None,
        Ok(other) => panic!("ZEROSTRIDE_TEST_LIMITS is {other}, and neither webgpu nor downlevel"),
    }
}

/// A limit, as tests run with it: `max_...` by its name.
pub fn limit(adapter: &Adapter, name: &str) -> u64 {
    let of = |limits: Limits| limits.named().iter().find(|(own, _)| *own == name).unwrap().1;
    let own = of(adapter.limits().unwrap());
    test_limits().map_or(own, |lesser| of(lesser).min(own))
}

/// An adapter with these limits.
pub fn options(adapter: &Adapter) -> Options {
    let options = Options::default().adapter(match adapter.backend {
        "cpu" => "cpu".into(),
        backend => format!("{backend}:{}", adapter.index),
    });
    test_limits().into_iter().fold(options, Options::limits)
}

/// Opens an adapter anew with these limits.
pub fn open(adapter: &Adapter) -> Device {
    // More kernels are kept than any test makes, to be checked.
    let device = Device::open_with(&options(adapter).pipelines(1024))
        .unwrap_or_else(|e| panic!("{} does not open: {e}", adapter.name));
    assert!(device.name().starts_with(&adapter.name), "{} is not {}", device.name(), adapter.name);
    device
}

/// An adapter opened with small buffers and bindings, and with a number of bindings.
pub fn lowered(adapter: &Adapter, (buffer, binding): (u64, u64), bindings: u64) -> Device {
    let mut limits = Limits::webgpu();
    limits.max_buffer_size = buffer;
    limits.max_storage_buffer_binding_size = binding;
    let most = limit(adapter, "max_storage_buffers_per_shader_stage");
    limits.max_storage_buffers_per_shader_stage = bindings.min(most);
    let name = format!("{}:{}", adapter.backend, adapter.index);
    Device::open_with(&Options::default().pipelines(1024).adapter(name).limits(limits)).unwrap()
}

/// The adapters that are no CPU path, to open them anew.
pub fn found() -> impl Iterator<Item = Adapter> {
    Device::all().into_iter().filter(|adapter| adapter.backend != "cpu")
}

/// An ignored test of this program, in a process of its own.
pub fn alone(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--ignored", "--nocapture"]);
    command
}

/// A program that finds no adapter, on Linux, where drivers are found by these variables.
pub fn without_adapters(program: &mut Command) -> &mut Command {
    for variable in ["VK_DRIVER_FILES", "VK_ICD_FILENAMES", "__EGL_VENDOR_LIBRARY_FILENAMES"] {
        program.env(variable, "/nonexistent.json");
    }
    program.env_remove("ZEROSTRIDE_EXPECT")
}

/// A test that cannot be run here: it says so, and fails in CI.
pub fn cannot_run(why: &str) {
    let _ = writeln!(std::io::stderr(), "NOT RUN: {why}");
    assert!(std::env::var_os("CI").is_none(), "CI runs all tests: {why}");
}

/// The devices for a case of some: the CPU path and one of the others in turn, or all.
pub fn in_turn(case: usize) -> impl Iterator<Item = &'static Device> {
    let is_run = move |&(k, _): &(usize, _)| k == 0 || depth::in_turn(case, k, turns());
    devices().iter().enumerate().filter(is_run).map(|(_, device)| device)
}

/// Whether a device is one of those for a case.
pub fn takes(case: usize, device: &Device) -> bool {
    in_turn(case).any(|own| own.same(device))
}

/// The cases of a test that a device runs: all if it is the test's turn there, and else each in turn.
pub fn cases_of<T>(device: &Device, cases: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
    let is_run = move |(case, _): &(usize, T)| depth::depth(takes(*case, device), true);
    cases.into_iter().enumerate().filter(is_run).map(|(_, case)| case)
}

/// How many devices take turns.
pub fn turns() -> usize {
    (devices().len() - 1).max(1)
}

/// The devices that are no CPU path.
pub fn adapters() -> impl Iterator<Item = &'static Device> {
    devices().iter().filter(|device| device.name() != "cpu")
}

/// Checks each kernel that a device keeps, once. A text is known by its address. It is kept too, so that no other text gets
/// that address.
pub fn check_kernels(device: &Device) {
    static CHECKED: Mutex<BTreeMap<usize, Arc<str>>> = Mutex::new(BTreeMap::new());
    for kernel in device.kernels() {
        if CHECKED.lock().unwrap().insert(kernel.as_ptr() as usize, kernel.clone()).is_none() {
            portable::write_all(&kernel).unwrap_or_else(|e| panic!("{e}\n{kernel}"));
        }
    }
}

/// A number of the place that calls.
#[track_caller]
pub fn place() -> usize {
    depth::hash(&Location::caller().to_string()) as usize
}

/// The devices for the test at a place: the CPU path and an adapter in turn where adapters take turns by the test, or all. GL
/// is in turn wherever it is, because its driver's compiler is that of another adapter.
pub fn of_test(place: usize) -> impl Iterator<Item = &'static Device> {
    let is_always = |device: &Device| !depth::is_by_test() && !device.name().ends_with("(gl)");
    devices().iter().filter(move |device| is_always(device) || takes(place, device))
}

/// The adapters among them, to open them anew.
#[track_caller]
pub fn found_in_turn() -> impl Iterator<Item = Adapter> {
    let place = place();
    found().enumerate().filter(move |&(number, _)| is_in_turn(place, number)).map(|(_, adapter)| adapter)
}

/// Whether an adapter, by its number, takes the test at a place.
pub fn is_in_turn(place: usize, number: usize) -> bool {
    !depth::is_by_test() || depth::in_turn(place, number + 1, turns())
}

/// Runs a test on its devices. Every kernel that it made must be portable.
#[track_caller]
pub fn on_every_device(test: impl Fn(&Device)) {
    let place = place();
    on(place, of_test(place), test);
}

/// The same for tests of operations and rules, which a quick run has on each adapter.
#[track_caller]
pub fn on_each_adapter(test: impl Fn(&Device)) {
    let place = place();
    on(place, devices().iter(), test);
}

fn on(place: usize, devices: impl Iterator<Item = &'static Device>, test: impl Fn(&Device)) {
    for device in devices {
        depth::on_device(takes(place, device), || test(device));
        check_kernels(device);
    }
}

/// Numbers that look random and are the same in every run.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        // Steele, Lea and Flood, Fast splittable pseudorandom number generators, 2014.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    pub fn chance(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }
}

/// Units in the last place between two floats. NaN agrees with NaN; zeros agree with each other
/// and with subnormals, which adapters may flush.
pub fn ulps(a: f32, b: f32) -> u64 {
    let rank = |x: f32| {
        let flushed = if x.abs() < f32::MIN_POSITIVE { 0.0 } else { x };
        let magnitude = i64::from(flushed.to_bits() & 0x7fff_ffff);
        if flushed < 0.0 { -magnitude } else { magnitude }
    };
    match (a.is_nan(), b.is_nan()) {
        (true, true) => 0,
        (false, false) => rank(a).abs_diff(rank(b)),
        _ => u64::MAX,
    }
}
