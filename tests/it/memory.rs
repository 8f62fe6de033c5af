//! Missing memory is an error before a result is returned, and other tensors stay.

use std::process::Command;

use crate::common::depth::depth;
use crate::common::{cannot_run, found};
use zerostride::{Device, ErrorKind, Result, Tensor};

/// Where a child finds the name of its device.
const NAME: &str = "ZEROSTRIDE_TEST_MEMORY_OF";

/// Elements of a tensor. Memory holds a few such tensors.
const COUNT: usize = 32 << 20;

/// Kilobytes of addresses that a child may use beyond its use when the device is open.
const MORE: usize = 900 << 10;

/// Kilobytes of addresses of this process.
fn addresses() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmSize:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

fn opened() -> Option<Device> {
    let device = Device::named(&std::env::var(NAME).ok()?).unwrap();
    // Drivers take memory when they are first used.
    let x = device.full([1 << 20], 1.0_f32).unwrap();
    assert_eq!((&x + &x).to_vec().unwrap()[7], 2.0);
    Some(device)
}

fn ends(x: &Tensor<f32>) -> Result<[f32; 2]> {
    let at = |i: isize| x.slice(0, i..i + 1).item();
    Ok([at(0)?, at(COUNT as isize - 1)?])
}

#[test]
#[ignore = "run by memory_that_is_not_there"]
fn the_addresses_of_an_open_device() {
    if let Some(device) = opened() {
        println!("addresses {} of {}", addresses(), device.name());
    }
}

#[test]
#[ignore = "run by memory_that_is_not_there"]
fn until_memory_ends() {
    let Some(device) = opened() else { return };
    let small = device.upload(&[1.0_f32, 2.0, 3.0], [3]).unwrap();
    let mut tensors: Vec<Tensor<f32>> = Vec::new();
    let host = vec![-1.0_f32; COUNT];
    let error = loop {
        let number = tensors.len() as f32;
        // In turns by a kernel and by an upload.
        let made = match tensors.len() % 2 {
            0 => device.full([COUNT], number),
            _ => device.upload(&host, [COUNT]).and_then(|x| x.assign(number).map(|()| x)),
        };
        match made {
            Ok(tensor) => tensors.push(tensor),
            Err(error) => break error,
        }
        assert!(tensors.len() < 64, "memory does not end");
    };
    println!("{} tensors, then {error}", tensors.len());
    assert_eq!(error.kind(), ErrorKind::Memory, "{error}");
    assert!(tensors.len() >= 2, "only {} tensors", tensors.len());
    // More of it is refused too, in whatever way it is asked for.
    for _ in 0..3 {
        let more = (&tensors[0] + 1.0).eval().and_then(|sum| {
            tensors.push(sum);
            device.full([COUNT], -1.0_f32)
        });
        assert!(more.is_ok() || more.is_err_and(|error| error.kind() == ErrorKind::Memory));
    }
    if let Err(error) = tensors[1].to_vec() {
        assert_eq!(error.kind(), ErrorKind::Memory, "{error}");
    }
    assert!(!device.is_lost());
    // All that was handed out is right.
    assert_eq!(small.to_vec().unwrap(), [1.0, 2.0, 3.0]);
    for (i, tensor) in tensors.iter().enumerate().take(2) {
        assert_eq!(ends(tensor).unwrap(), [i as f32; 2], "tensor {i}");
    }
    // And work goes on.
    tensors.truncate(1);
    let next = (&tensors[0] + 5.0).eval().unwrap();
    assert_eq!(ends(&next).unwrap(), [5.0; 2]);
    assert_eq!((&small * 2.0).to_vec().unwrap(), [2.0, 4.0, 6.0]);
    println!("all is right");
}

/// The output of a test of this file in a process of its own.
fn child(test: &str, device: &str, kilobytes: Option<usize>) -> (bool, String) {
    let limit = kilobytes.map_or(String::new(), |most| format!("ulimit -v {most} && "));
    let command = format!("{limit}exec \"$0\" --exact memory::{test} --ignored --nocapture");
    let program = std::env::current_exe().unwrap();
    let child = Command::new("sh").args(["-c", &command]).arg(program).env(NAME, device).output().unwrap();
    let output = [child.stdout, child.stderr].concat();
    (child.status.success(), String::from_utf8_lossy(&output).into_owned())
}

#[test]
fn memory_that_is_not_there() {
    if !cfg!(target_os = "linux") {
        return cannot_run("the memory of a process is limited by the shell of Linux");
    }
    for adapter in found().take(depth(1, usize::MAX)) {
        let name = format!("{}:{}", adapter.backend, adapter.index);
        if adapter.kind != zerostride::AdapterKind::Cpu {
            cannot_run(&format!("the memory of {} is not that of a process", adapter.name));
            continue;
        }
        let (done, output) = child("the_addresses_of_an_open_device", &name, None);
        assert!(done, "{name}: {output}");
        let addresses = output.split("addresses ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
        let most = addresses.parse::<usize>().unwrap() + MORE;
        let (done, output) = child("until_memory_ends", &name, Some(most));
        assert!(done && output.contains("all is right"), "{name} within {most} kB: {output}");
    }
}
