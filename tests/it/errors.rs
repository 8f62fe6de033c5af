//! Mistakes: the exact text of each. No tensor changes.

#![allow(clippy::reversed_empty_ranges)] // a negative bound counts from the end

use std::sync::Mutex;

use crate::common::{adapters, alone, devices, on_every_device};
use zerostride::{AnyExpr, Broadcast, DType, Device, Error, ErrorKind, Expr, Layout, MAX_RANK, Pad, Shape};

fn message<T: std::fmt::Debug>(result: Result<T, Error>) -> String {
    result.unwrap_err().message().to_string()
}

#[test]
fn shapes_that_do_not_broadcast() {
    let text = |rule: Broadcast, a: &[usize], b: &[usize]| message(rule.shape(a, b));
    let rules = [
        (
            text(Broadcast::NumPy, &[2, 3, 4], &[2, 3, 6]),
            "cannot broadcast [2, 3, 4] with [2, 3, 6]: axis 2 has lengths 4 and 6 (numpy rule)",
        ),
        (
            text(Broadcast::NumPy, &[3], &[0]),
            "cannot broadcast [3] with [0]: axis 0 has lengths 3 and 0 (numpy rule)",
        ),
        (text(Broadcast::None, &[1], &[3]), "cannot combine [1] with [3]: the shapes differ (none rule)"),
        (
            text(Broadcast::Pdpd { axis: 1 }, &[2, 1, 4], &[3, 1]),
            "cannot broadcast [2, 1, 4] with [3, 1]: axis 1 has lengths 1 and 3, and the second may not be the longer (pdpd axis 1 rule)",
        ),
        (
            text(Broadcast::Pdpd { axis: -1 }, &[4], &[2, 4]),
            "cannot broadcast [4] with [2, 4]: the second operand has more axes (pdpd axis -1 rule)",
        ),
        (
            text(Broadcast::Pdpd { axis: 2 }, &[2, 3, 4], &[3, 4]),
            "cannot broadcast [2, 3, 4] with [3, 4]: 2 axes from axis 2 on do not fit in 3 (pdpd axis 2 rule)",
        ),
        (
            text(Broadcast::Pdpd { axis: -2 }, &[2, 3], &[3]),
            "cannot broadcast [2, 3] with [3]: axis -2 is below -1 (pdpd axis -2 rule)",
        ),
        (
            text(Broadcast::Paddle { axis: 3 }, &[2, 3, 4], &[3]),
            "cannot broadcast [2, 3, 4] with [3]: axis 3 is out of range for [2, 3, 4] (paddle axis 3 rule)",
        ),
        (
            text(Broadcast::Paddle { axis: 1 }, &[2, 3], &[1, 3]),
            "cannot broadcast [2, 3] with [1, 3]: axis 1 is neither -1 nor 0 for equal ranks (paddle axis 1 rule)",
        ),
        (
            text(Broadcast::Bidirectional, &[2], &[3]),
            "cannot broadcast [2] with [3]: axis 0 has lengths 2 and 3 (bidirectional rule)",
        ),
        (
            text(Broadcast::Explicit { axes: vec![1, 0] }, &[2, 3], &[2, 3]),
            "cannot broadcast [2, 3] to [2, 3]: the axes are not strictly increasing (explicit axes [1, 0] rule)",
        ),
        (
            text(Broadcast::Explicit { axes: vec![0] }, &[2], &[3, 2]),
            "cannot broadcast [2] to [3, 2]: axis 0 has lengths 2 and 3 (explicit axes [0] rule)",
        ),
        (
            text(Broadcast::NumPy, &[2, 6], &[3, 4]),
            "cannot broadcast [2, 6] with [3, 4]: axis 0 has lengths 2 and 3 (numpy rule); both have 12 elements: reshape one",
        ),
        (
            text(Broadcast::Paddle { axis: 1 }, &[4, 2, 3], &[6, 4]),
            "cannot broadcast [4, 2, 3] with [6, 4]: axis 1 has lengths 2 and 6 (paddle axis 1 rule); both have 24 elements: reshape one",
        ),
        (
            message(Broadcast::in_place(&[2, 6], &[3, 4])),
            "cannot assign [3, 4] to [2, 6]: axis 0 has lengths 2 and 3 (in-place rule); both have 12 elements: reshape one",
        ),
        (
            text(Broadcast::NumPy, &[0, 2], &[3, 0]),
            "cannot broadcast [0, 2] with [3, 0]: axis 0 has lengths 0 and 3 (numpy rule)",
        ),
        (
            message(Broadcast::expand(&[2, 3], &[2, 4])),
            "cannot expand [2, 3] to [2, 4]: axis 1 has length 3 and not 1 or 4 (expand rule)",
        ),
        (
            message(Broadcast::expand(&[3], &[-1, 3])),
            "cannot expand [3] to [-1, 3]: axis 0 is new, so -1 has no length to keep (expand rule)",
        ),
        (
            message(Broadcast::in_place(&[3], &[1, 3])),
            "cannot assign [1, 3] to [3]: together they broadcast to [1, 3] and a destination keeps its shape (in-place rule)",
        ),
        (
            message(Broadcast::in_place(&[2, 3], &[4])),
            "cannot assign [4] to [2, 3]: axis 1 has lengths 3 and 4 (in-place rule)",
        ),
        (
            message(Broadcast::NumPy.shape_of(&[Shape::from([2]), Shape::from([1]), Shape::from([3])])),
            "cannot broadcast [2] with [1] with [3]: axis 0 has lengths 2 and 3 (numpy rule)",
        ),
    ];
    for (got, expected) in rules {
        assert_eq!(got, expected);
    }
}

#[test]
fn mistakes_of_arguments_keep_their_line() {
    let x = Device::cpu().upload(&[1, 2, 3], [3]).unwrap();
    let wrong = || x.squeeze(0);
    let line = line!() - 1;
    let is_there = |expr: Expr<i32>| {
        let at = expr.eval().unwrap_err().location().unwrap();
        assert_eq!((at.file(), at.line()), (file!(), line));
    };
    // These make the expression while the method runs.
    is_there(x.at(std::iter::once_with(wrong)));
    is_there(x.scatter(std::iter::once_with(wrong), 1));
    is_there(Expr::repeat(2, x.expr(), |_| wrong()));
}

#[test]
fn operators_keep_the_first_mistake_and_its_line() {
    on_every_device(|device| {
        let a = device.zeros::<f32>([2, 3]).unwrap();
        let b = device.zeros::<f32>([4]).unwrap();
        let line = line!() + 1;
        let wrong = &a + &b;
        let later = (wrong.exp() * 2.0).permute([7, 7]) + device.zeros::<f32>([9]).unwrap();
        let error = later.eval().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Shape);
        let text = "cannot broadcast [2, 3] with [4]: axis 1 has lengths 3 and 4 (numpy rule)";
        assert_eq!(error.message(), text);
        assert_eq!(error.to_string(), format!("{text}, at tests/it/errors.rs:{line}:21"));
        assert_eq!(later.to_vec().unwrap_err().message(), text);
        assert_eq!(a.assign(&later).unwrap_err().message(), text);
        assert_eq!(a.to_vec().unwrap(), [0.0; 6]);
    });
}

/// Functions that call other functions of the crate name the outermost line too.
#[test]
fn mistakes_name_the_line_of_the_call() {
    let device = Device::cpu();
    let x = device.zeros::<f32>([2]).unwrap();
    let any = AnyExpr::from(&x);
    let deep = vec![1; MAX_RANK + 1];
    let deepest = device.zeros::<f32>(vec![1; MAX_RANK]).unwrap();
    let index = device.zeros::<i32>([1, 1]).unwrap();
    let errors = [
        device.zeros::<f32>(deep.clone()).unwrap_err(),
        device.full(deep.clone(), 1_u8).unwrap_err(),
        device.zeros_any(DType::U8, deep).unwrap_err(),
        Expr::stack([&deepest, &deepest], 0).eval().unwrap_err(),
        deepest.take(&index, 0).eval().unwrap_err(),
        Expr::<f32>::uniform([1 << 31, 4], 1).eval_on(&device).unwrap_err(),
        any.at([&any, &any]).eval().unwrap_err(),
    ];
    for error in errors {
        assert!(error.to_string().contains("tests/it/errors.rs"), "{error}");
    }
}

/// Numbers next to the largest ones.
#[test]
fn what_overflows_is_an_error() {
    let device = Device::cpu();
    let none = device.zeros::<f32>([0, 3]).unwrap();
    for pad in [Pad::Edge, Pad::constant(0.0)] {
        let error = none.pad([(usize::MAX, 1), (0, 0)], pad).eval().unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Shape | ErrorKind::Overflow), "{error}");
    }
    let arange = |from, to, by| AnyExpr::arange(DType::I32, from, to, by).eval_on(&device);
    assert_eq!(arange(i128::MIN, i128::MAX, 1).unwrap_err().kind(), ErrorKind::Overflow);
    assert_eq!(arange(5, 0, i128::MIN).unwrap().to_vec::<i32>().unwrap(), [5]);
    assert_eq!(arange(0, 5, i128::MIN).unwrap().shape(), &[0]);
    let long = Expr::iota([(1 << 31) + 1], 0).eval_on(&device).unwrap_err();
    let text =
        "axis 0 of [2147483649] is too long for its coordinates, which are below 2^31: take a slice of it";
    assert_eq!((long.kind(), long.message()), (ErrorKind::Limit, text));
    let last = Expr::iota([1 << 31], 0).slice(0, -1..);
    assert_eq!(last.to_vec_on(&device).unwrap(), [i32::MAX]);
    for strides in [[1, 1 << 62], [0, 1 << 62]] {
        let far = Layout::strided([2, 2], &strides, 0, isize::MAX as usize).unwrap();
        assert!(far.reshape(&[4]).is_err());
    }
}

#[test]
fn uploads() {
    on_every_device(|device| {
        assert_eq!(
            message(device.upload(&[1.0_f32; 5], [2, 3])),
            "upload of 5 elements as [2, 3], which has 6: data and shape must agree"
        );
        assert_eq!(
            message(device.zeros::<u8>([usize::MAX, 2])),
            format!("the element count of [{}, 2] overflows 64 bits", usize::MAX)
        );
        assert_eq!(
            message(device.upload::<u8>(&[1], vec![1; MAX_RANK + 1])),
            "a shape of rank 129 exceeds the limit of 128 axes"
        );
        assert!(device.upload(&[7], vec![1; MAX_RANK]).is_ok());
    });
}

#[test]
fn views_that_do_not_exist() {
    on_every_device(|device| {
        let x = device.upload(&[1, 2, 3, 4, 5, 6], [2, 3]).unwrap();
        let checks = [
            (x.permute([0]), "permute of [2, 3] needs 2 axes, got [0]"),
            (x.permute([1, -1]), "permute of [2, 3] by [1, -1] names axis 1 twice"),
            (x.permute([0, 2]), "axis 2 of [2, 3] is out of range: axes go from -2 to 1"),
            (x.flip(-3), "axis -3 of [2, 3] is out of range: axes go from -2 to 1"),
            (x.slice(1, 1..4), "slice bound 4 is outside of axis 1 of [2, 3], which has length 3"),
            (x.slice(0, -3..), "slice bound -3 is outside of axis 0 of [2, 3], which has length 2"),
            (x.slice(1, ..=3), "slice bound 3 is outside of axis 1 of [2, 3], which has length 3"),
            (x.slice_step(1, .., 0), "slice of axis 1 of [2, 3] by a step of 0"),
            (x.squeeze(0), "squeeze of axis 0 of [2, 3], which has length 2 and not 1"),
            (x.unsqueeze(4), "axis 4 of [2, 3] is out of range: axes go from -3 to 2"),
            (
                x.expand([2, 4]),
                "cannot expand [2, 3] to [2, 4]: axis 1 has length 3 and not 1 or 4 (expand rule)",
            ),
            (x.reshape([4, 2]), "reshape of [2, 3] to [4, 2]: 6 elements and not 8"),
            (x.reshape([-1, 4]), "reshape of [2, 3] to [-1, 4]: no length for -1 gives 6 elements"),
            (x.reshape([-1, -1]), "reshape of [2, 3] to [-1, -1]: only one length may be -1"),
            (x.reshape([-2, -3]), "reshape of [2, 3] to [-2, -3]: -2 is no length"),
            (
                x.transpose(0, 1).reshape([6]),
                "cannot view [3, 2] with strides [1, 3] as [6]: no strides describe it, so evaluate first and reshape the result",
            ),
            (
                x.as_strided([2, 2], &[4, 2], 0),
                "[2, 2] with strides [4, 2] from element 0 reaches elements 0 to 6 of a storage that holds 6",
            ),
            (
                x.broadcast_to([usize::MAX / 2, 2, 3]),
                "the element count of [9223372036854775807, 2, 3] overflows 64 bits",
            ),
        ];
        for (got, expected) in checks {
            assert_eq!(message(got.tensor()), expected);
        }
        let scalar = device.upload(&[1], []).unwrap();
        assert_eq!(message(scalar.flip(0).tensor()), "axis 0 of [], which has no axes");
        // Expressions keep the same texts.
        assert_eq!(
            message((&x + 1).flip(5).eval()),
            "axis 5 of [2, 3] is out of range: axes go from -2 to 1"
        );
        assert_eq!(message(x.coordinate(2).eval()), "axis 2 of [2, 3] is out of range: axes go from -2 to 1");
        assert_eq!(x.to_vec().unwrap(), [1, 2, 3, 4, 5, 6]);
    });
}

#[test]
fn destinations_that_cannot_be_written() {
    on_every_device(|device| {
        let x = device.upload(&[1.0_f32, 2.0, 3.0, 4.0], [4]).unwrap();
        let twice = x.as_strided([2, 3], &[1, 1], 0);
        let error = twice.assign(0.0).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Alias);
        assert_eq!(
            error.message(),
            "cannot assign to [2, 3] with strides [1, 1]: it visits an element more than once, so assign to the tensor it was expanded from"
        );
        assert!(x.slice(0, ..1).broadcast_to([3]).assign(0.0).is_err());
        // Interleaved, and yet every element once.
        let interleaved = x.as_strided([2, 2], &[2, 1], 0);
        interleaved.assign(&interleaved * 2.0).unwrap();
        assert_eq!(x.to_vec().unwrap(), [2.0, 4.0, 6.0, 8.0]);
        let error = x.assign(device.zeros::<f32>([2, 4]).unwrap()).unwrap_err();
        assert_eq!(
            error.message(),
            "cannot assign [2, 4] to [4]: together they broadcast to [2, 4] and a destination keeps its shape (in-place rule)"
        );
        assert_eq!(x.to_vec().unwrap(), [2.0, 4.0, 6.0, 8.0]);
    });
}

#[test]
fn devices_that_do_not_match() {
    let x = Device::cpu().upload(&[1], [1]).unwrap();
    for device in adapters() {
        let y = device.upload(&[2], [1]).unwrap();
        let name = device.name();
        assert_eq!(
            message((&y + &x).eval()),
            format!(
                "a tensor on cpu cannot be combined with one on {name}: read it with to_vec and upload it there"
            )
        );
        assert_eq!(
            message(x.assign(&y)),
            format!(
                "a tensor on {name} cannot be combined with one on cpu: read it with to_vec and upload it there"
            )
        );
        assert_eq!((x.to_vec().unwrap(), y.to_vec().unwrap()), (vec![1], vec![2]));
    }
    assert_eq!(
        message(Expr::scalar(1.0_f32).eval()),
        "an expression without tensors has no device: use eval_on and name one"
    );
}

#[test]
fn names_without_a_device() {
    let names: Vec<String> = devices().iter().map(Device::name).collect();
    let error = Device::named("voodoo").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Device);
    assert!(error.message().starts_with("no device matches 'voodoo': there are "), "{error}");
    assert!(names.iter().all(|name| error.message().contains(name.as_str())), "{error}");
}

/// Run by the next test, in a process where no driver can be found.
#[test]
#[ignore = "run by a_machine_without_adapters"]
fn without_drivers() {
    assert_eq!(message(Device::named("vulkan")), "no device matches 'vulkan': there are cpu (cpu)");
    assert_eq!(Device::open().unwrap().name(), "cpu");
    let missing: Vec<&str> = Device::missing().into_iter().map(|(backend, _)| backend).collect();
    assert!(missing.contains(&"vulkan") && missing.contains(&"gl"), "{missing:?}");
}

#[cfg(target_os = "linux")] // where adapters can be hidden
#[test]
fn a_machine_without_adapters() {
    let child = crate::common::without_adapters(&mut alone("errors::without_drivers"))
        .env_remove(zerostride::DEVICE_VARIABLE)
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success() && output.contains("1 passed"), "{output}");
}

#[test]
fn operations_by_name() {
    let x = Device::cpu().upload(&[true], [1]).unwrap().expr();
    assert_eq!(
        message(Expr::<bool>::call("nand", std::slice::from_ref(&x)).eval()),
        "no operation is called 'nand'"
    );
    assert_eq!(
        message(Expr::<bool>::call("add", &[x.clone(), x.clone()]).eval()),
        "add takes no bool: cast the operands"
    );
    assert_eq!(
        message(Expr::<f32>::call("and", &[x.clone(), x.clone()]).eval()),
        "and of bool gives bool and not f32"
    );
    assert_eq!(message(Expr::<bool>::call("and", &[x]).eval()), "and takes 2 operands and not 1");
}

static LOG: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Keep;

impl log::Log for Keep {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.target().starts_with("zerostride")
    }
    fn log(&self, record: &log::Record<'_>) {
        if self.enabled(record.metadata()) {
            LOG.lock().unwrap().push(record.args().to_string());
        }
    }
    fn flush(&self) {}
}

/// The warnings are those of the process, so other tests may cause some too.
#[test]
fn the_warning_of_reinterpreted_shapes() {
    let child = alone("errors::warned_of_reinterpreted_shapes").output().unwrap();
    let output = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success() && output.contains("1 passed"), "{output}");
}

#[test]
#[ignore = "run by the_warning_of_reinterpreted_shapes"]
fn warned_of_reinterpreted_shapes() {
    log::set_logger(&Keep).unwrap();
    log::set_max_level(log::LevelFilter::Warn);
    let device = Device::cpu();
    let column = device.zeros::<f32>([4, 1]).unwrap();
    let vector = device.zeros::<f32>([4]).unwrap();
    let add = || &column + &vector;
    let warnings = || LOG.lock().unwrap().iter().filter(|text| text.contains("pointwise")).count();
    let _ = add();
    assert_eq!(warnings(), 0, "off by default");
    zerostride::warn_on_reinterpreted_shapes(true);
    for _ in 0..3 {
        let _ = add();
    }
    assert_eq!(warnings(), 1, "once per call site");
    let line = line!() + 1;
    let _ = &vector * &column;
    let _ = (&column + &column, &vector + 1.0, &column + device.zeros::<f32>([8]).unwrap());
    zerostride::warn_on_reinterpreted_shapes(false);
    assert_eq!(warnings(), 2);
    assert_eq!(
        LOG.lock().unwrap().iter().rfind(|text| text.contains("pointwise")).unwrap(),
        &format!(
            "[4] and [4, 1] broadcast to [4, 4] at tests/it/errors.rs:{line}:13; both have 4 elements, and an old pointwise reading would have viewed both as 1-D"
        )
    );
}

/// The compiler's errors in the guide are the texts of the source's attributes.
#[test]
fn the_guide_has_the_texts_of_the_compiler() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = ["src/expr/build.rs", "src/expr/axes.rs", "src/layout/range.rs"];
    let sources = files.map(|file| std::fs::read_to_string(root.join(file)).unwrap()).concat();
    let texts: Vec<&str> =
        sources.split("message = \"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let page = std::fs::read_to_string(root.join("docs/guide/errors.md")).unwrap();
    let told: Vec<&str> = page.split("| the compiler: `` ").skip(1).collect();
    assert!(told.len() > 3, "{} texts", told.len());
    for told in told {
        let told = told.split("``").next().unwrap();
        // Names stand between backquotes, in both.
        let words = |text: &str| text.split('`').step_by(2).map(str::to_string).collect::<Vec<_>>();
        assert!(texts.iter().any(|text| words(text) == words(told)), "{told} is no text of {texts:?}");
    }
}
