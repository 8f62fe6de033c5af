//! Hashed places: each of 2^24 numbers about as often, in no order.

use zerostride::{Device, Expr, Result, Tensor};

fn words(count: usize) -> Expr<u32> {
    let words = Expr::iota([count], 0).cast::<u32>() * 2_654_435_761;
    let words = (words.clone() ^ (words >> 15)) * 2_246_822_519;
    words.clone() ^ (words >> 13)
}

/// Numbers from 0 up to 1.
pub(crate) fn numbers(device: &Device, count: usize) -> Result<Tensor<f32>> {
    ((words(count) >> 8).cast::<f32>() / (1 << 24) as f32).eval_on(device)
}

/// Keys below 1000.
pub(crate) fn keys(device: &Device, count: usize) -> Result<Tensor<i32>> {
    words(count).rem(1000).cast::<i32>().eval_on(device)
}
