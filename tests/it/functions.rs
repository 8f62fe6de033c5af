//! Functions of users: every device has the closure's results, wherever a function stands, and mistakes are errors when
//! it is made.

use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::time::Duration;

use crate::common::{adapters, on_every_device};
use zerostride::{AnyExpr, AnyFunction, Device, Element, ErrorKind, Expr, Function, bf16, f16};

fn on<T: Element>(device: &Device, expr: &Expr<T>) -> Vec<T> {
    expr.to_vec_on(device).unwrap_or_else(|e| panic!("{}: {e}", device.name()))
}

/// The same on every device as on the CPU path, bit for bit.
fn everywhere<T: Element>(expr: impl Fn(&Device) -> Expr<T>) {
    let cpu = Device::cpu();
    // As text zeros have signs.
    let known = format!("{:?}", on(&cpu, &expr(&cpu)));
    on_every_device(|device| match expr(device).to_vec_on(device) {
        Ok(all) => assert_eq!(format!("{all:?}"), known, "{}", device.name()),
        Err(error) => assert!(error.message().contains("needs the feature"), "{error}"),
    });
}

fn soft() -> Function<(f32, f32), f32> {
    Function::new(
        "soft",
        "// Shrinks towards 0.
const least = 0.0;
alias Lanes = vec4<f32>;
struct Parts { size: Lanes, over: Lanes }
fn parts(x: Lanes, k: Lanes) -> Parts { return Parts(abs(x), abs(x) - k); }
fn soft(x: Lanes, k: Lanes) -> Lanes {
    let p = parts(x, k);
    return select(Lanes(least), select(-p.over, p.over, x > Lanes(0.0)), p.size > k);
}",
        |x: f32, k: f32| match x.abs() - k {
            over if x.abs() > k => {
                if x > 0.0 {
                    over
                } else {
                    -over
                }
            }
            _ => 0.0,
        },
    )
    .unwrap()
}

#[test]
fn functions_of_every_arity_and_type() {
    let x: Vec<f32> = (0..1000).map(|i| (i as f32 - 500.0) / 8.0).collect();
    let one = soft();
    everywhere(|device| one.call(device.upload(&x, [1000]).unwrap(), 1.5_f32));
    let hash = Function::new(
        "hash",
        "fn hash(x: vec4<u32>) -> vec4<u32> {
            var h = x;
            for (var i = 0; i < 3; i++) { h = (h ^ (h >> vec4<u32>(16u))) * 0x45d9f3bu; }
            return h;
        }",
        |x: u32| (0..3).fold(x, |h, _| (h ^ (h >> 16)).wrapping_mul(0x45d_9f3b)),
    )
    .unwrap();
    everywhere(|device| hash.call(device.upload(&(0..999).collect::<Vec<u32>>(), [999]).unwrap()));
    let pick = Function::new(
        "pick",
        "fn pick(i: vec4<i32>, a: vec4<f32>, b: vec4<u32>, c: vec4<f32>) -> vec4<f32> {
            return select(select(c, vec4<f32>(b & vec4<u32>(255u)), i == vec4<i32>(1)), a, i < vec4<i32>(1));
        }",
        |i: i32, a: f16, b: u32, c: f32| match i {
            ..1 => a.to_f32(),
            1 => (b & 255) as f32,
            _ => c,
        },
    )
    .unwrap();
    everywhere(|device| {
        let i = Expr::iota([5, 66], 1) % 3;
        let a = device.upload(&[1.5, 2.5, -3.0, 0.0, 9.0].map(f16::from_f32), [5, 1]).unwrap();
        pick.call(i, &a, Expr::<u32>::random_bits([66], 1), 0.25_f32)
    });
    let third =
        Function::new("third", "fn third(x: vec4<f32>) -> vec4<f32> { return x * 0.5 + 1.0; }", |x: bf16| {
            bf16::from_f32(x.to_f32() * 0.5 + 1.0)
        })
        .unwrap();
    everywhere(|device| {
        let x: Vec<bf16> = (0..301).map(|i| bf16::from_f32(i as f32)).collect();
        third.call(device.upload(&x, [301]).unwrap())
    });
    let wide = Function::new(
        "wide",
        "fn wide(x: vec4<f64>, n: vec4<i32>) -> vec4<f64> { return select(x, -x, n < vec4<i32>(0)); }",
        |x: f64, n: i32| if n < 0 { -x } else { x },
    )
    .unwrap();
    everywhere(|device| wide.call(Expr::scalar(0.1), device.upload(&[-1, 2, -3], [3]).unwrap()));
}

#[test]
fn fused_where_they_stand() {
    let (soft, x) = (soft(), (Expr::<f32>::uniform([33, 70], 3) - 0.5) * 4.0);
    // Two of one name, of other texts, with functions of one name beside them.
    let other = Function::new(
        "soft",
        "fn parts(x: vec4<f32>) -> vec4<f32> { return abs(x); } fn soft(x: vec4<f32>) -> vec4<f32> { return parts(x); }",
        |x: f32| x.abs(),
    )
    .unwrap();
    everywhere(|_| (soft.call(&x, 0.5_f32) * 2.0).sum(1));
    everywhere(|_| other.call(soft.call(&x, 0.5_f32)) + soft.call(x.flip(0), 0.25_f32));
    everywhere(|_| soft.call(&x, 0.5_f32).permute([1, 0]).slice(0, 3..50));
    everywhere(|_| soft.call(&x, x.max_keepdim(1) * 0.5).cumsum(1));
    everywhere(|_| soft.call(x.softmax_free(), 0.125_f32));
    everywhere(|device| {
        let to = x.eval_on(device).unwrap();
        to.assign(soft.call(&to, 0.5_f32)).unwrap();
        to.slice(0, 1..).assign(soft.call(to.slice(0, ..-1), 0.5_f32)).unwrap();
        to.expr()
    });
    // A function that returns its operand stands between fences, so no compiler combines the result with the operand.
    let same = Function::new("same", "fn same(x: vec4<f32>) -> vec4<f32> { return x; }", |x: f32| x).unwrap();
    everywhere(|device| {
        let (a, b) = (
            device.upload(&[1.0_f32, 1e8, 3.0], [3]).unwrap(),
            device.upload(&[1e8_f32, 1.0, 0.1], [3]).unwrap(),
        );
        (same.call(&a + &b) - &a) + (same.call(&a) - same.call(&a) / &b)
    });
}

/// A quotient of rows, by operations whose bits are the same everywhere.
trait SoftmaxFree {
    fn softmax_free(&self) -> Expr<f32>;
}

impl SoftmaxFree for Expr<f32> {
    fn softmax_free(&self) -> Expr<f32> {
        self / (self.abs().sum_keepdim(1) + 1.0)
    }
}

#[test]
fn a_kernel_shows_and_names_them() {
    let soft = soft();
    let x = Expr::<f32>::uniform([4, 4], 1);
    let drawn = format!("{:?}", soft.call(&x, 0.5_f32));
    assert!(drawn.starts_with("soft(unit(random_bits("), "{drawn}");
    for device in adapters() {
        let explained = (soft.call(&x, 0.5_f32) + 1.0).explain(device).unwrap();
        assert!(explained.to_string().contains("soft(unit("), "{explained}");
        assert!(explained.wgsl().unwrap().contains("let p = parts_"), "{explained}");
        // Another constant is no other kernel. Tests beside this one make others.
        let text = "fn lone(x: vec4<f32>) -> vec4<f32> { return -x; }";
        let lone = Function::new("lone", text, |x: f32| -x).unwrap();
        (0..3).for_each(|i| drop(on(device, &(lone.call(i as f32) + 7.5))));
        assert_eq!(device.kernels().iter().filter(|kernel| kernel.contains("fn lone_")).count(), 1);
    }
}

#[test]
fn untyped() {
    let any: AnyFunction = soft().into();
    let x = AnyExpr::from(Expr::<f32>::uniform([3], 1));
    assert_eq!(any.name(), "soft");
    let told = any.call(std::slice::from_ref(&x)).eval().unwrap_err();
    assert_eq!(
        (told.kind(), told.message()),
        (ErrorKind::Type, "soft takes (f32, f32) and got (f32): cast the operands")
    );
    let told = any.call(&[x.broadcast_to([2, 3]), x.broadcast_to([3, 3])]).eval().unwrap_err();
    assert!(told.message().starts_with("cannot broadcast [2, 3] with [3, 3]"), "{told}");
}

#[test]
fn what_a_device_lacks_is_an_error() {
    let odd = Function::on_cpu("odd", |x: u32| x | 1).unwrap();
    assert_eq!(on(&Device::cpu(), &odd.call(6_u32)), [7]);
    for device in adapters() {
        let error = odd.call(Expr::random_bits([3], 1)).eval_on(device).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Operation);
        let text = error.message();
        assert!(text.starts_with("odd has no WGSL and cannot run on "), "{text}");
        assert!(text.ends_with(": make it by Function::new, or evaluate on Device::cpu()"), "{text}");
        let looped = Expr::repeat(3, Expr::random_bits([3], 1), |x| odd.call(x));
        assert!(looped.eval_on(device).is_err());
    }
}

#[test]
fn mistakes_are_told_when_it_is_made() {
    let told = |text: &str| {
        let error = Function::new("f", text, |x: f32| x).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Operation | ErrorKind::Type));
        error.message().to_string()
    };
    let cases = [
        (
            "fn f(x: vec4<f32>) -> vec4<f32> {\n    return x +;\n}",
            "the WGSL of f, line 2, column 15: expected expression, found \";\"",
        ),
        (
            "fn f(x: vec4<f32>) -> vec4<f32> {\n    return y;\n}",
            "the WGSL of f, line 2, column 12: no definition in scope for identifier: `y`",
        ),
        (
            "fn g(x: vec4<f32>) -> vec4<f32> { return x; }",
            "the WGSL of f has no function of that name, but g",
        ),
        ("const k = 1;", "the WGSL of f has no function of that name, but none"),
        (
            "fn f(x: vec4<i32>) -> vec4<f32> { return vec4<f32>(x); }",
            "f is (vec4<i32>) -> vec4<f32> in WGSL, and its closure is (vec4<f32>) -> vec4<f32> of lanes: change one of them",
        ),
        (
            "fn f(x: f32) { }",
            "f is (no vec4) -> nothing in WGSL, and its closure is (vec4<f32>) -> vec4<f32> of lanes: change one of them",
        ),
        (
            "@group(0) @binding(0) var<storage> a: array<f32>; fn f(x: vec4<f32>) -> vec4<f32> { return x * a[0]; }",
            "the WGSL of f has a global variable or a binding: a part of a kernel has functions, constants, structs and aliases alone",
        ),
        (
            "var<private> n: i32; fn f(x: vec4<f32>) -> vec4<f32> { n += 1; return x; }",
            "the WGSL of f has a global variable or a binding: a part of a kernel has functions, constants, structs and aliases alone",
        ),
        (
            "override k: f32 = 1.0; fn f(x: vec4<f32>) -> vec4<f32> { return x * k; }",
            "the WGSL of f has an override: a part of a kernel has functions, constants, structs and aliases alone",
        ),
        (
            "@compute @workgroup_size(1) fn main() { } fn f(x: vec4<f32>) -> vec4<f32> { return x; }",
            "the WGSL of f has an entry point: a part of a kernel has functions, constants, structs and aliases alone",
        ),
        (
            "enable f16; fn f(x: vec4<f32>) -> vec4<f32> { return x; }",
            "the WGSL of f has enable: it becomes a part of a kernel, so leave enable out",
        ),
        (
            "fn f(x: vec4<f32>) -> vec4<f32> { workgroupBarrier(); return x; }",
            "the WGSL of f has workgroupBarrier: it becomes a part of a kernel, so leave workgroupBarrier out",
        ),
        // The kernel's own names are not in scope.
        (
            "fn f(x: vec4<f32>) -> vec4<f32> { return exp_f32(x) + p.zero; }",
            "the WGSL of f, line 1, column 42: no definition in scope for identifier: `exp_f32`",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(told(text), message);
    }
    // Errors after parsing, and builtins that a compute kernel lacks.
    assert!(told("fn f(x: vec4<f32>) -> vec4<f32> { return f(x); }").starts_with("the WGSL of f"));
    assert!(told("fn f(x: vec4<f32>) -> vec4<f32> { return dpdx(x); }").starts_with("the WGSL of f"));
    for name in ["", "2x", "a b", "é", "_"] {
        let error = Function::on_cpu(name, |x: f32| x).unwrap_err();
        assert!(error.message().ends_with("a name begins with a letter and has letters, digits and _"));
    }
}

/// Names that kernels have too, keywords aside.
#[test]
fn names_of_kernels_are_free() {
    let names = [
        "p",
        "result",
        "in0",
        "v0",
        "Params",
        "philox_narrow",
        "repeat0",
        "main",
        "quotients",
        "id",
        "round",
    ];
    for name in names {
        let text = format!(
            "const k_{name} = 1.0; fn {name}(x: vec4<f32>) -> vec4<f32> {{ let v1 = x; let zero = v1 + k_{name}; return zero; }}"
        );
        let function = Function::new(name, &text, |x: f32| x + 1.0).unwrap();
        everywhere(|_| function.call(Expr::<f32>::uniform([7, 9], 1) * 2.0) - 1.0);
    }
}

/// What memory holds past the end of a tensor is no operand: of 0 this function has no end.
#[test]
fn loops_end_for_elements_alone() {
    let steps = Function::new(
        "steps",
        "fn steps(x: vec4<i32>) -> vec4<i32> {
            var n = x;
            var count = vec4<i32>(0);
            while (any(n != vec4<i32>(1))) {
                let open = n != vec4<i32>(1);
                let next = select(n >> vec4<u32>(1u), n * 3 + 1, (n & vec4<i32>(1)) == vec4<i32>(1));
                n = select(n, next, open);
                count += select(vec4<i32>(0), vec4<i32>(1), open);
            }
            return count;
        }",
        |x: i32| {
            std::iter::successors(Some(x), |&n| Some(if n % 2 == 1 { n * 3 + 1 } else { n / 2 }))
                .take_while(|&n| n != 1)
                .count() as i32
        },
    )
    .unwrap();
    for (rows, columns) in [(1, 1), (1, 2), (1, 3), (1, 7), (3, 5), (4, 16), (5, 9), (9, 33), (40, 127)] {
        let filled = |device: &Device| {
            // Buffers that are used again.
            let zeros: Vec<_> = (0..4)
                .map(|_| device.upload(&vec![0_i32; rows * columns + 8], [rows * columns + 8]).unwrap())
                .collect();
            drop(zeros);
            let all: Vec<i32> = (1..=(rows * columns) as i32).collect();
            device.upload(&all, [rows, columns]).unwrap()
        };
        everywhere(|device| steps.call(filled(device)));
        everywhere(|device| steps.call(filled(device).flip(1)));
        everywhere(|device| steps.call(filled(device).permute([1, 0])));
        everywhere(|device| steps.call(filled(device)).cast::<i16>());
        for axis in [0, 1] {
            everywhere(|device| steps.call(filled(device)).sum(axis));
            everywhere(|device| steps.call(filled(device)).cumsum(axis));
            everywhere(|device| {
                let steps = steps.call(filled(device)).cast::<f32>();
                &steps - steps.max_keepdim(axis)
            });
        }
        // Elements beside the written ones.
        everywhere(|device| {
            let all = device.zeros::<i16>([rows, columns + 3]).unwrap();
            let part = all.slice(1, 1..columns as isize + 1);
            part.assign(filled(device).cast::<i16>()).unwrap();
            part.assign(steps.call(part.cast::<i32>()).cast::<i16>()).unwrap();
            all.expr()
        });
    }
}

/// Work that has every thread of the CPU path keeps no other caller waiting.
#[test]
fn long_work_holds_up_no_other() {
    const PATIENCE: Duration = Duration::from_secs(60);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let (enter, entered) = mpsc::channel();
    let gate = Arc::new((Mutex::new(false), Condvar::new()));
    let wait = {
        let (enter, gate) = (Mutex::new(enter), gate.clone());
        move |x: f32| {
            let (open, opened) = &*gate;
            let mut is_open = open.lock().unwrap();
            if !*is_open {
                let _ = enter.lock().unwrap().send(());
                while !*is_open {
                    is_open = opened.wait(is_open).unwrap();
                }
            }
            x
        }
    };
    let wait = Function::on_cpu("wait", wait).unwrap();
    let cpu = Device::cpu();
    let x = cpu.full([1 << 21], 1.0_f32).unwrap();
    let long = wait.call(&x);
    let (done, is_done) = mpsc::channel();
    std::thread::scope(|scope| {
        let long = [(); 2].map(|()| scope.spawn(|| long.eval().map(drop)));
        // All computing threads enter and wait. There are fewer if the environment says so.
        for _ in 0..threads + 1 {
            let _ = entered.recv_timeout(Duration::from_secs(2));
        }
        scope.spawn(|| done.send((&x + 1.0).sum(..).to_vec()));
        let own = is_done.recv_timeout(PATIENCE);
        *gate.0.lock().unwrap() = true;
        gate.1.notify_all();
        assert_eq!(own.expect("it waits for work of another caller").unwrap(), [(2 << 21) as f32]);
        long.into_iter().for_each(|long| long.join().unwrap().unwrap());
    });
}
