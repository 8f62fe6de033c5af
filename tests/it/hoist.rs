//! Expensive parts over fewer elements than the result run once, and change no bit.

use crate::common::{check_kernels, devices, takes};
use zerostride::{Device, Expr, Result, Tensor};

/// Enough elements for a kernel of its own, and few enough for a test.
const SHAPE: [usize; 2] = [1030, 1029];

fn numbers(device: &Device, shape: [usize; 2]) -> Result<Tensor<f32>> {
    let count = shape[0] * shape[1];
    let values: Vec<f32> = (0..count).map(|i| (i * 7919 % 1021 + 1) as f32 / 512.0).collect();
    device.upload(&values, shape)
}

/// Expressions with a part over fewer elements: as they are, and with this part evaluated before.
fn pairs(device: &Device) -> Result<Vec<(Expr<f32>, Expr<f32>)>> {
    let [rows, columns] = SHAPE;
    let x = numbers(device, SHAPE)?;
    let (row, column, one) =
        (numbers(device, [1, columns])?, numbers(device, [rows, 1])?, numbers(device, [1, 1])?);
    let part = |expr: Expr<f32>| -> Result<Expr<f32>> { Ok(expr.eval_on(device)?.expr()) };
    let both = (&row.sin() * 2.0, (&column.log() + 1.0));
    Ok(vec![
        (&x + row.exp(), &x + part(row.exp())?),
        (&x * column.tanh(), &x * part(column.tanh())?),
        (&x - one.lgamma(), &x - part(one.lgamma())?),
        // Two parts, and a part that is used twice.
        (&x + &both.0 * &both.1, &x + part(both.0.clone())? * part(both.1.clone())?),
        ((&x + row.exp()) / row.exp(), (&x + part(row.exp())?) / part(row.exp())?),
        // Views and coordinates within, and a result that is stretched itself.
        (
            &x + row.flip(1).erf() + Expr::iota([1, columns], 1).cast::<f32>().cos(),
            &x + part(row.flip(1).erf())? + part(Expr::iota([1, columns], 1).cast::<f32>().cos())?,
        ),
        (row.exp().broadcast_to(SHAPE), part(row.exp())?.broadcast_to(SHAPE)),
    ])
}

#[test]
fn parts_over_fewer_elements_run_once() {
    for device in devices() {
        let pairs = pairs(device).unwrap();
        for (i, (whole, apart)) in pairs.iter().enumerate().filter(|&(case, _)| takes(case, device)) {
            let told = whole.explain(device).unwrap().to_string();
            assert!(told.contains("first, as it is stored"), "{i} on {}: {told}", device.name());
            assert!(!apart.explain(device).unwrap().to_string().contains("first, as"), "{i}");
            assert!(whole.to_vec().unwrap() == apart.to_vec().unwrap(), "{i} on {}", device.name());
            // Into a tensor that the part reads, too.
            let to = numbers(device, SHAPE).unwrap();
            to.assign(whole.clone() + to.slice(0, ..1).exp()).unwrap();
            let from = numbers(device, SHAPE).unwrap();
            let expected = apart.clone() + from.slice(0, ..1).exp().eval().unwrap();
            assert!(to.to_vec().unwrap() == expected.to_vec().unwrap(), "{i} in place on {}", device.name());
        }
        check_kernels(device);
    }
}

#[test]
fn small_or_cheap_parts_stay_where_they_are() {
    for device in devices() {
        let (x, row) = (numbers(device, SHAPE).unwrap(), numbers(device, [1, SHAPE[1]]).unwrap());
        let (small, small_row) = (numbers(device, [64, 64]).unwrap(), numbers(device, [1, 64]).unwrap());
        let few_rows = numbers(device, [2, SHAPE[1]]).unwrap();
        for expr in [&x + &row * 2.0 / 3.0, &small + small_row.exp(), (&few_rows + row.exp()), x.exp()] {
            let told = expr.explain(device).unwrap().to_string();
            assert!(!told.contains("first, as"), "{told}");
        }
    }
}
