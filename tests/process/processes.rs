//! What a process inherits: forks, and the environment.

use std::process::Stdio;

use zerostride::{Device, Error, Expr};

use crate::common::alone;

/// Forks after a device was opened, and tries everything in the child.
#[cfg(unix)]
#[test]
#[ignore = "a process of `work_after_a_fork_is_an_error`"]
#[allow(unsafe_code)] // of the system's calls
fn forked() {
    let device = Device::named(&std::env::var("FORKED_DEVICE").unwrap()).unwrap();
    let x = device.upload(&[1.0_f32, 2.0], [2]).unwrap();
    let large = device.zeros::<f32>([1 << 20]).unwrap();
    assert_eq!((&large + 1.0).sum(0).item().unwrap(), 1048576.0);
    device.synchronize().unwrap();
    // SAFETY: the child only calls this crate, which refuses, writes to a pipe, and ends without destructors.
    let child = unsafe { libc::fork() };
    if child == 0 {
        type Work<'a> = (&'a str, &'a dyn Fn() -> Result<(), Error>);
        let work: [Work<'_>; 12] = [
            ("eval", &|| (&x + 1.0).eval().map(drop)),
            ("large eval", &|| (&large + 1.0).eval().map(drop)),
            ("assign", &|| x.assign(2.0)),
            ("to_vec", &|| x.to_vec().map(drop)),
            ("item", &|| large.sum(0).item().map(drop)),
            ("upload", &|| device.upload(&[1_u8], [1]).map(drop)),
            ("write", &|| x.write(&[1.0, 2.0])),
            ("synchronize", &|| device.synchronize()),
            ("await", &|| pollster::block_on((&x + 1.0).to_vec_async()).map(drop)),
            ("warm_up", &|| (&x * 3.0).warm_up(&device)),
            ("another device", &|| Expr::full([2], 1.0).eval_on(&Device::cpu()).map(drop)),
            ("open", &|| Device::open().map(drop)),
        ];
        for (name, work) in work {
            match work() {
                Ok(()) => println!("{name}: ok"),
                Err(error) => println!("{name}: {:?}: {}", error.kind(), error.message()),
            }
        }
        use std::io::Write;
        std::io::stdout().flush().unwrap();
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(0) }
    }
    let mut status = 0;
    // SAFETY: waits for the child, whose status goes to a local.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0);
    // The parent goes on.
    assert_eq!((&x + 1.0).to_vec().unwrap(), [2.0, 3.0]);
    println!("parent: ok");
}

#[cfg(unix)]
#[test]
fn work_after_a_fork_is_an_error() {
    let adapters = crate::common::found().map(|adapter| format!("{}:{}", adapter.backend, adapter.index));
    for device in adapters.chain(["cpu".into()]) {
        let output =
            alone("processes::forked").env("FORKED_DEVICE", &device).stdin(Stdio::null()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{device}: {}\n{text}", String::from_utf8_lossy(&output.stderr));
        let refused = "Device: this process was forked after a device was opened, and a device does not survive a fork: \
                       start processes by spawn or exec, or fork before";
        assert_eq!(text.matches(refused).count(), 12, "{device}: {text}");
        assert!(text.contains("parent: ok"), "{device}: {text}");
    }
}

#[test]
#[ignore = "a process of `a_name_that_is_no_text_is_an_error`"]
fn named_by_the_environment() {
    println!("found: {:?}", Device::open());
}

/// A name that is no UTF-8 is not passed over.
#[cfg(unix)]
#[test]
fn a_name_that_is_no_text_is_an_error() {
    use std::os::unix::ffi::OsStrExt;
    let says = |name: &[u8]| {
        let mut child = alone("processes::named_by_the_environment");
        let output = child.env("ZEROSTRIDE_DEVICE", std::ffi::OsStr::from_bytes(name)).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let text = says(b"cp\xff");
    assert!(
        text.contains(
            r#"ZEROSTRIDE_DEVICE is "cp\xFF", which is no UTF-8: set it to a name of Device::named"#
        ),
        "{text}"
    );
    assert!(says(b"cpu").contains("found: Ok(Device(cpu))"));
}
