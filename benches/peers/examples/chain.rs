//! C.
#![allow(missing_docs)]
use std::time::Instant;
use ndarray::parallel::prelude::*;
use ndarray::{Array2, Zip};
use zerostride::*;
fn main() -> Result<()> {
    let n = 4096usize;
    let d = Device::cpu();
    let v = |k: usize| (0..k).map(|i| (i % 1021 + 1) as f32 / 1024.0).collect::<Vec<f32>>();
    let (a, row, col, b, s) = (d.upload(&v(n * n), [n, n])?, d.upload(&v(n), [n])?, d.upload(&v(n), [n, 1])?, d.upload(&v(1), [1, 1])?, d.upload(&v(1), [1, 1])?);
    let e = ((&a - &row) / &col * &b + &s).relu();
    let same = &a + &a.expr().eval()?.reshape([n as isize, n as isize])?;
    let (na, nr, nc) = (Array2::from_shape_vec((n, n), v(n * n)).unwrap(), Array2::from_shape_vec((1, n), v(n)).unwrap(), Array2::from_shape_vec((n, 1), v(n)).unwrap());
    let (nb, ns) = (v(1)[0], v(1)[0]);
    let mut out = Array2::<f32>::zeros((n, n));
    let (mut t1, mut t2, mut t3) = (vec![], vec![], vec![]);
    for i in 0..40 {
        let x = Instant::now(); let r = e.eval()?; let x = x.elapsed(); drop(r);
        let y = Instant::now();
        Zip::from(&mut out).and(&na).and(nr.broadcast((n, n)).unwrap()).and(nc.broadcast((n, n)).unwrap()).par_for_each(|o, &a, &r, &c| *o = ((a - r) / c * nb + ns).max(0.0));
        let y = y.elapsed();
        let z = Instant::now(); let r = same.eval()?; let z = z.elapsed(); drop(r);
        if i > 4 { t1.push(x); t2.push(y); t3.push(z); }
    }
    t1.sort(); t2.sort(); t3.sort();
    println!("ours {:?} min {:?} ndarray {:?} min {:?} ratio {:.2} {:.2}; same {:?}", t1[17], t1[0], t2[17], t2[0], t1[17].as_secs_f64() / t2[17].as_secs_f64(), t1[0].as_secs_f64() / t2[0].as_secs_f64(), t3[17]);
    Ok(())
}
