//! Lookups: of every type, with indices of every type, through views, in reductions, in place, in chunks. NumPy's
//! results are in tests/it/joining.rs.

use crate::common::{check_kernels, found_in_turn, in_turn, on_every_device};
use zerostride::{AnyExpr, DType, Device, ErrorKind, Expr, Function, Limits, Options, Outside, Tensor};

/// 0, 1, 2 .. in a shape.
fn ramp<const N: usize>(device: &Device, shape: [usize; N]) -> Tensor<f32> {
    let all: Vec<f32> = (0..shape.iter().product::<usize>()).map(|i| i as f32).collect();
    device.upload(&all, shape).unwrap()
}

#[test]
fn tables_and_indices_of_every_type() {
    let bytes: Vec<u8> = (0..8 * 64).map(|i| (i * 7 % 60) as u8).collect();
    let answer = |device: &Device, of: DType, by: DType| -> zerostride::Result<Vec<Vec<u8>>> {
        let of_bool = |i: usize| if of == DType::Bool { bytes[i] % 2 } else { bytes[i] };
        let bytes: Vec<u8> = (0..6 * 9 * of.size()).map(of_bool).collect();
        let x = device.upload_bytes(&bytes, of, [6, 9])?;
        let i = device.upload(&[0_i8, 5, 3, 5, 1, 4, 2, 0, 1, 2, 3], [11])?;
        let j = device.upload(&[-9_i8, -1, 8, 3, 100, -100, 0, 2, 7, 6, 5], [11])?;
        let (i, j) = (AnyExpr::from(i).cast(by), AnyExpr::from(j).cast(by));
        [
            x.at([&i, &j]),
            x.at_with([&i, &j], Outside::Wrapped),
            x.at_with([&i, &j], if of == DType::Bool { Outside::fill(true) } else { Outside::fill(1) }),
            x.take(&i, 0),
            x.take(&j, 1),
            x.flip(0).transpose(0, 1).at([&j, &i]),
            x.slice(0, 2..3).broadcast_to([6, 9]).at([&i, &j]),
            x.slice_step(1, .., -2).at([&i, &j]),
        ]
        .iter()
        .map(|found| found.to_bytes())
        .collect()
    };
    for (k, of) in DType::ALL.into_iter().enumerate() {
        // Every type of index with some type, and an index of 32 bits with every type.
        for by in [DType::I32, DType::ALL[(k + 5) % DType::ALL.len()]] {
            let Ok(expected) = answer(&Device::cpu(), of, by) else {
                assert!(!matches!(by.name().as_bytes()[0], b'i' | b'u'), "{of} by {by}");
                continue;
            };
            for device in in_turn(k) {
                match answer(device, of, by) {
                    Ok(got) => assert_eq!(got, expected, "{of} by {by} on {}", device.name()),
                    Err(error) => {
                        assert!(error.message().contains("needs the feature"), "{of} by {by}: {error}")
                    }
                }
                check_kernels(device);
            }
        }
    }
}

/// The only element of a table is read without a lookup, so its reader once took the product's sum for the table.
#[test]
fn a_table_of_one_element_has_the_steps_after_a_product() {
    on_every_device(|device| {
        let (x, index) = (ramp(device, [1, 5]), device.upload(&[0, 0, 0], [3]).unwrap());
        let table = x.matmul(x.transpose(0, 1)) + 1.0;
        let one = index.slice(0, ..1);
        assert_eq!(table.at([&one, &one]).to_vec().unwrap(), [31.0]);
        assert_eq!((table.at([&one, &one]) * 2.0).to_vec().unwrap(), [62.0]);
        assert_eq!(table.cast::<i32>().at([&one, &one]).to_vec().unwrap(), [31]);
        assert_eq!(table.at([&index, &index]).to_vec().unwrap(), [31.0; 3]);
    });
}

/// Far beyond 32 bits, where an index must not wrap around.
#[test]
fn indices_beyond_32_bits() {
    on_every_device(|device| {
        let x = ramp(device, [5]);
        let Ok(i) = device.upload(&[1_i64 << 32, -(1_i64 << 32) - 1, i64::MIN, i64::MAX, -2, 1], [6]) else {
            return;
        };
        assert_eq!(x.at([&i]).to_vec().unwrap(), [4.0, 0.0, 0.0, 4.0, 3.0, 1.0]);
        assert_eq!(x.at_with([&i], Outside::fill(-1)).to_vec().unwrap(), [-1.0, -1.0, -1.0, -1.0, 3.0, 1.0]);
        let wrapped =
            [1_i64 << 32, -(1_i64 << 32) - 1, i64::MIN, i64::MAX, -2, 1].map(|i| i.rem_euclid(5) as f32);
        assert_eq!(x.at_with([&i], Outside::Wrapped).to_vec().unwrap(), wrapped);
        let i = device.upload(&[1_u64 << 40, u64::MAX, 3], [3]).unwrap();
        assert_eq!(x.at([&i]).to_vec().unwrap(), [4.0, 4.0, 3.0]);
        assert_eq!(x.at_with([&i], Outside::Wrapped).to_vec().unwrap(), [1.0, 0.0, 3.0]);
    });
    on_every_device(|device| {
        let x = ramp(device, [300]);
        let i = device.upload(&[u32::MAX, 0x8000_0000, 299, 300, 0], [5]).unwrap();
        assert_eq!(x.at([&i]).to_vec().unwrap(), [299.0, 299.0, 299.0, 299.0, 0.0]);
        // The length is more than the type of the index holds.
        let i = device.upload(&[-1_i8, -128, 127], [3]).unwrap();
        assert_eq!(x.at([&i]).to_vec().unwrap(), [299.0, 172.0, 127.0]);
        let i = device.upload(&[i32::MIN, i32::MAX], [2]).unwrap();
        assert_eq!(x.at([&i]).to_vec().unwrap(), [0.0, 299.0]);
    });
}

/// A lookup is one kernel with the expressions of its operands and of its readers, and reductions take it in.
#[test]
fn it_fuses_on_both_sides() {
    on_every_device(|device| {
        let x = ramp(device, [64, 100]);
        let i = device.upload(&(0..100).map(|k| (k * 37 % 71) as f32).collect::<Vec<_>>(), [100]).unwrap();
        let row = (&i * 0.5).cast::<i32>();
        let found = (x.at([&row, &(&row + 1)]) * 2.0 + &i).eval().unwrap();
        let explained = (x.at([&row, &(&row + 1)]) * 2.0 + &i).explain(device).unwrap().to_string();
        assert!(!explained.contains("first, as it is stored"), "{explained}");
        assert!(explained.contains("an index of 64 times 100, an index of 100 times 1"), "{explained}");
        assert!(device.name() == "cpu" || explained.contains("lookup: a load per lane"), "{explained}");
        let expected: Vec<f32> = (0..100)
            .map(|k| {
                let i = (k * 37 % 71) as f32;
                let r = (i * 0.5) as usize;
                (r * 100 + r + 1) as f32 * 2.0 + i
            })
            .collect();
        assert_eq!(found.to_vec().unwrap(), expected);
        // Reductions and scans of looked-up rows, along either axis.
        let rows = x.take(&row, 0);
        let all: Vec<f32> = (0..100)
            .flat_map(|k| {
                let r = ((k * 37 % 71) as f32 * 0.5) as usize;
                (0..100).map(move |c| (r * 100 + c) as f32)
            })
            .collect();
        assert_eq!(rows.to_vec().unwrap(), all);
        let rows_of = |k: usize| &all[k * 100..(k + 1) * 100];
        let sums: Vec<f32> = (0..100).map(|k| rows_of(k).iter().sum()).collect();
        assert_eq!(rows.sum(1).to_vec().unwrap(), sums);
        let columns: Vec<f32> =
            (0..100).map(|c| (0..100).map(|k| rows_of(k)[c]).fold(0.0, f32::max)).collect();
        assert_eq!(rows.max(0).to_vec().unwrap(), columns);
        assert_eq!(rows.argmax(1).to_vec().unwrap(), [99; 100]);
        let last: Vec<f32> = rows.cumsum(1).slice(1, 99..).to_vec().unwrap();
        assert_eq!(last, sums);
        assert_eq!(
            rows.cumsum(0).slice(0, 99..).to_vec().unwrap(),
            (0..100).map(|c| (0..100).map(|k| rows_of(k)[c]).sum::<f32>()).collect::<Vec<_>>()
        );
        // A softmax of a lookup equals the softmax of its stored result.
        let kept = rows.eval().unwrap();
        assert_eq!(rows.softmax(1).to_vec().unwrap(), kept.softmax(1).to_vec().unwrap());
        // A table that is computed, shared or folded, and a lookup in a lookup.
        let squares = (&x * &x).shared();
        assert_eq!(
            squares.at([&row, &row]).to_vec().unwrap(),
            (0..100)
                .map(|k| {
                    let r = ((k * 37 % 71) as f32 * 0.5) as usize;
                    ((r * 100 + r) as f32).powi(2)
                })
                .collect::<Vec<_>>()
        );
        assert_eq!(
            (&x + 1.0).sum(1).take(&row, 0).to_vec().unwrap(),
            sums.iter().map(|s| s + 100.0).collect::<Vec<_>>()
        );
        let twice = row.take(&row, 0).take(&row, 0);
        let step = |k: usize| ((k * 37 % 71) as f32 * 0.5) as usize;
        assert_eq!(twice.to_vec().unwrap(), (0..100).map(|k| step(step(step(k))) as i32).collect::<Vec<_>>());
        // Coordinates and constants as tables, and of no axes.
        assert_eq!(x.coordinate(1).at([&row, &row]).to_vec().unwrap(), row.to_vec().unwrap());
        assert_eq!(Expr::scalar(7.0_f32).broadcast_to([64]).take(&row, 0).to_vec().unwrap(), [7.0; 100]);
        let nothing: [AnyExpr; 0] = [];
        assert_eq!(x.sum(..).at(nothing).to_vec().unwrap(), x.sum(..).to_vec().unwrap());
    });
}

/// Coordinates as they are make no lookup: a load like others.
#[test]
fn coordinates_are_loads() {
    on_every_device(|device| {
        let x = ramp(device, [6, 8]);
        let (i, j) = (Expr::iota([6, 8], 0), Expr::iota([6, 8], 1));
        assert_eq!(x.at([&i, &j]).to_vec().unwrap(), x.to_vec().unwrap());
        let turned = x.at([i.flip(0).transpose(0, 1), j.transpose(0, 1)]);
        assert_eq!(turned.to_vec().unwrap(), x.flip(0).transpose(0, 1).to_vec().unwrap());
        let explained = turned.explain(device).unwrap().to_string();
        assert!(!explained.contains("lookup"), "{explained}");
        let diagonal = x.at([Expr::iota([6], 0), Expr::iota([6], 0)]);
        assert_eq!(diagonal.to_vec().unwrap(), [0.0, 9.0, 18.0, 27.0, 36.0, 45.0]);
        let third = x.at([AnyExpr::scalar(DType::I32, 2), AnyExpr::scalar(DType::U8, 200)]);
        assert_eq!(third.to_vec().unwrap(), [23.0]);
        // Rows at computed places are loaded whole.
        let x = ramp(device, [6, 128]);
        let i = device.upload(&[5, 0, 3, 3, 9], [5]).unwrap();
        let rows = x.take(&i, 0);
        let explained = rows.explain(device).unwrap().to_string();
        assert!(device.name() == "cpu" || explained.contains("lookup: one load of four"), "{explained}");
        let expected = [5, 0, 3, 3, 5].iter().flat_map(|r| (0..128).map(move |c| (r * 128 + c) as f32));
        assert_eq!(rows.to_vec().unwrap(), expected.collect::<Vec<_>>());
    });
}

#[test]
fn of_nothing() {
    on_every_device(|device| {
        let none = device.zeros::<f32>([0, 3]).unwrap();
        let i = device.upload(&[0, 1], [2]).unwrap();
        let no_index = device.zeros::<i32>([0]).unwrap();
        assert_eq!(none.take(&no_index, 0).eval().unwrap().shape(), &[0, 3]);
        assert_eq!(none.take_with(&i, 0, Outside::fill(7)).to_vec().unwrap(), [7.0; 6]);
        assert_eq!(none.take(&i, 1).eval().unwrap().shape(), &[0, 2]);
        let error = none.take(&i, 0).eval().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Shape);
        assert_eq!(
            error.message(),
            "cannot look up 6 elements of [0, 3]: axis 0 has length 0, so choose a fill value"
        );
        assert_eq!(none.take(&no_index, 0).sum(0).to_vec().unwrap(), [0.0; 3]);
    });
}

/// An assignment whose destination is the table reads all of it first.
#[test]
fn in_place() {
    on_every_device(|device| {
        let x = ramp(device, [100]);
        let i = device.upload(&(0..100).map(|k| (k * 37 + 5) % 100).collect::<Vec<i32>>(), [100]).unwrap();
        x.assign(x.at([&i])).unwrap();
        let once: Vec<f32> = (0..100).map(|k| ((k * 37 + 5) % 100) as f32).collect();
        assert_eq!(x.to_vec().unwrap(), once);
        x.slice(0, 50..).assign(x.take(&i, 0).slice(0, ..50) + x.slice(0, 50..)).unwrap();
        let expected: Vec<f32> = (0..100)
            .map(|k| if k < 50 { once[k] } else { once[((k - 50) * 37 + 5) % 100] + once[k] })
            .collect();
        assert_eq!(x.to_vec().unwrap(), expected);
        let bytes = device.upload(&(0..77).collect::<Vec<u8>>(), [77]).unwrap();
        bytes.slice(0, 3..70).assign(bytes.roll([5], [0]).slice(0, 3..70)).unwrap();
        let rolled: Vec<u8> =
            (0..77).map(|k| if (3..70).contains(&k) { (k + 72) % 77 } else { k } as u8).collect();
        assert_eq!(bytes.to_vec().unwrap(), rolled);
        i.warm_up_assign(i.at([&i])).unwrap();
    });
}

#[test]
fn mistakes_are_errors() {
    let device = Device::cpu();
    let (x, i) = (ramp(&device, [2, 3]), device.upload(&[0, 1], [2]).unwrap());
    let says = |expr: Expr<f32>, kind: ErrorKind, text: &str| {
        let error = expr.eval().unwrap_err();
        assert_eq!((error.kind(), error.message()), (kind, text));
        assert!(error.to_string().contains("lookup.rs"), "{error}");
    };
    says(x.at([&i]), ErrorKind::Operation, "at of [2, 3] takes an index for each axis, 2 in all, and got 1");
    says(
        x.at([AnyExpr::from(&i), x.slice(0, ..1).squeeze(0).into()]),
        ErrorKind::Shape,
        "cannot broadcast [2] with [3]: axis 0 has lengths 2 and 3 (numpy rule)",
    );
    says(x.take(&x, 0), ErrorKind::Type, "an index of axis 0 takes integers and got f32: cast it");
    says(x.take(x.gt(0.0), 1), ErrorKind::Type, "an index of axis 1 takes integers and got bool: cast it");
    let i8s = device.upload(&[1_i8], [1]).unwrap();
    says(
        x.cast::<u8>().take_with(&i8s, 0, Outside::fill(256)).cast(),
        ErrorKind::Type,
        "256 is no u8, which holds whole numbers from 0 to 255",
    );
    assert_eq!(x.take(&i, 2).eval().unwrap_err().kind(), ErrorKind::Axis);
}

/// A table larger than a binding and than a buffer: looked up piece by piece.
#[test]
fn tables_larger_than_a_binding() {
    for adapter in found_in_turn() {
        let name = format!("{}:{}", adapter.backend, adapter.index);
        let mut limits = Limits::downlevel();
        limits.max_storage_buffer_binding_size = 64 << 10;
        limits.max_buffer_size = 128 << 10;
        let device = Device::open_with(&Options::default().adapter(name).limits(limits)).unwrap();
        let (n, host) = (100_003, Device::cpu());
        let at = |k: usize| ((k * 7919 + 13) % (3 * n)) as i32 - n as i32;
        let indices: Vec<i32> = (0..5000).map(at).collect();
        let bytes: Vec<u8> = (0..n).map(|i| (i * 31 % 251) as u8).collect();
        let answers = |device: &Device| {
            let x = ramp(device, [n]);
            let i = device.upload(&indices, [5000]).unwrap();
            let small = device.upload(&bytes, [n]).unwrap();
            let wide = ramp(device, [1000, 100]);
            let wrapped = wide.take_with(&i, 0, Outside::Wrapped);
            let narrow = wide.transpose(0, 1).flip(0).take_with(i.slice(0, ..50), 0, Outside::Wrapped);
            (
                (x.at([&i]) * 2.0 + 1.0).to_vec().unwrap(),
                small.at_with([&i], Outside::fill(9)).to_vec().unwrap(),
                x.at([&(&i / 2)]).sum(0).to_vec().unwrap(),
                (wrapped + 1.0).to_vec().unwrap(),
                narrow.to_vec().unwrap(),
                x.at([x.at([&i]).cast::<i32>()]).to_vec().unwrap(),
                x.roll([12345], [0]).to_vec().unwrap(),
            )
        };
        let (got, expected) = (answers(&device), answers(&host));
        assert!(got == expected, "{}", device.name());
        let x = ramp(&device, [n]);
        let i = device.upload(&indices, [5000]).unwrap();
        (x.at([&i]) + 1.0).warm_up(&device).unwrap();
        (x.at([&i]) + 1.0).explain(&device).unwrap();
    }
}

/// One operation of more tensors than a kernel binds. Tensors of one type are first put into one storage.
#[test]
fn of_more_tensors_than_a_kernel_binds() {
    let text = "fn mixed(a: vec4<f32>, b: vec4<f32>, c: vec4<f32>, d: vec4<f32>) -> vec4<f32> {
        return max(max(a, b), max(c, d));
    }";
    let largest = |a: f32, b: f32, c: f32, d: f32| a.max(b).max(c.max(d));
    let mixed = Function::new("mixed", text, largest).unwrap();
    for adapter in found_in_turn() {
        let name = format!("{}:{}", adapter.backend, adapter.index);
        let options = Options::default().adapter(name).limits(Limits::downlevel());
        let device = Device::open_with(&options).unwrap();
        let answers = |device: &Device| {
            let table = ramp(device, [7, 6, 5, 4]);
            let index = |by: usize, shape: &[usize]| {
                let count = shape.iter().product();
                let all: Vec<i32> = (0..count).map(|i| (i * by % 9) as i32 - 4).collect();
                device.upload(&all, shape).unwrap()
            };
            let (i, j) = (index(5, &[3, 7]), index(4, &[7]));
            let (k, l) = (index(7, &[3, 1]), index(2, &[7, 3]));
            let found = table.at([i.expr(), j.expr(), k.expr(), l.transpose(0, 1)]);
            let x = |by: f32| (ramp(device, [3, 7]) * by - 20.0).eval().unwrap();
            let (a, b, c, d) = (x(1.0), x(-2.0), x(0.5), x(3.0));
            let wide = mixed.call(&a, &b, &c, &d) + &found;
            // Two views of one tensor share a binding.
            let both = index(3, &[14]);
            let views = [both.slice(0, 2..9), both.slice_step(0, .., 2), j.flip(0)];
            let twice = ramp(device, [7, 6, 5]).at(views) + 0.5;
            let sums = (wide.clone() * 2.0).sum(1);
            [found, wide, sums, twice].map(|y| y.to_vec().unwrap())
        };
        assert_eq!(answers(&device), answers(&Device::cpu()), "{}", device.name());
    }
}
