//! The loops: the same arithmetic as the crate's expressions, in the same order.

use std::array::from_fn;

/// A loop over a result.
pub(crate) trait Loop<T> {
    /// Computes all of it.
    fn run(&self, out: &mut [T]);
}

/// Runs a loop with vectors of 256 bits, where this processor has them.
pub(crate) fn wide<T, L: Loop<T>>(own: &L, out: &mut [T]) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,fma")]
        fn by_256<T, L: Loop<T>>(own: &L, out: &mut [T]) {
            own.run(out);
        }
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
            // SAFETY: the processor has the instructions.
            #[allow(unsafe_code)]
            return unsafe { by_256(own, out) };
        }
    }
    own.run(out);
}

pub(crate) struct Lerp {
    pub weight: Vec<f32>,
    pub ends: [f32; 6],
}

impl Loop<u8> for Lerp {
    #[inline(always)]
    fn run(&self, out: &mut [u8]) {
        let [a0, a1, a2, b0, b1, b2] = self.ends;
        for (out, t) in out.chunks_exact_mut(3).zip(&self.weight) {
            out[0] = ((a0 + t * (b0 - a0)) * 255.0) as u8;
            out[1] = ((a1 + t * (b1 - a1)) * 255.0) as u8;
            out[2] = ((a2 + t * (b2 - a2)) * 255.0) as u8;
        }
    }
}

pub(crate) struct Grey {
    pub photo: Vec<u8>,
}

impl Loop<u8> for Grey {
    #[inline(always)]
    fn run(&self, out: &mut [u8]) {
        for (out, p) in out.iter_mut().zip(self.photo.chunks_exact(3)) {
            *out = grey(from_fn(|i| f32::from(p[i]))) as u8;
        }
    }
}

/// How bright a pixel is.
#[inline(always)]
fn grey([r, g, b]: [f32; 3]) -> f32 {
    r * 0.2126 + g * 0.7152 + b * 0.0722
}

pub(crate) const SEPIA: [[f32; 3]; 3] = [[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]];

pub(crate) struct Sepia {
    pub photo: Vec<f32>,
}

impl Loop<f32> for Sepia {
    #[inline(always)]
    fn run(&self, out: &mut [f32]) {
        for (out, p) in out.chunks_exact_mut(3).zip(self.photo.chunks_exact(3)) {
            for (out, [i, j, k]) in out.iter_mut().zip(SEPIA) {
                *out = p[0] * i + p[1] * j + p[2] * k;
            }
        }
    }
}

pub(crate) struct Saturation {
    pub photo: Vec<f32>,
}

impl Loop<f32> for Saturation {
    #[inline(always)]
    fn run(&self, out: &mut [f32]) {
        for (out, p) in out.chunks_exact_mut(3).zip(self.photo.chunks_exact(3)) {
            let grey = grey([p[0], p[1], p[2]]);
            for (out, x) in out.iter_mut().zip(p) {
                *out = grey + (x - grey) * 1.3;
            }
        }
    }
}

pub(crate) struct Waves {
    pub side: usize,
}

impl Loop<f32> for Waves {
    #[inline(always)]
    fn run(&self, out: &mut [f32]) {
        let columns: Vec<f32> = (0..self.side).map(|x| (x as f32 * 0.01).sin()).collect();
        for (y, row) in out.chunks_exact_mut(self.side).enumerate() {
            let own = (y as f32 * 0.01).cos();
            for (out, column) in row.iter_mut().zip(&columns) {
                *out = column + own;
            }
        }
    }
}

pub(crate) struct Sin {
    pub numbers: Vec<f32>,
}

impl Loop<f32> for Sin {
    #[inline(always)]
    fn run(&self, out: &mut [f32]) {
        for (out, x) in out.iter_mut().zip(&self.numbers) {
            *out = x.sin();
        }
    }
}

pub(crate) const GAMMA: f32 = 0.8;

pub(crate) struct Photo {
    pub photo: Vec<u8>,
    pub side: usize,
}

impl Loop<u8> for Photo {
    #[inline(always)]
    fn run(&self, out: &mut [u8]) {
        let side = self.side;
        let mut developed = vec![0.0_f32; side * side * 3];
        let scale = 2.0 / side as f32;
        let row = 3 * side;
        for (i, (out, p)) in developed.chunks_exact_mut(row).zip(self.photo.chunks_exact(row)).enumerate() {
            let y = i as f32 * scale - 1.0;
            for (j, (out, p)) in out.chunks_exact_mut(3).zip(p.chunks_exact(3)).enumerate() {
                let u = j as f32 * scale - 1.0;
                let light = 1.0 - (u * u + y * y) * 0.3;
                let p = from_fn(|k| ((f32::from(p[k]) / 255.0).powf(GAMMA) - 0.5) * 1.2 + 0.5);
                let grey = grey(p);
                for (out, x) in out.iter_mut().zip(p) {
                    *out = (grey + (x - grey) * 1.3) * light;
                }
            }
        }
        let inner = row - 6;
        for (i, out) in out.chunks_exact_mut(inner).enumerate() {
            let [a, b, c] = from_fn(|k| &developed[(i + k) * row..(i + k + 1) * row]);
            for (j, out) in out.iter_mut().enumerate() {
                let column = |j: usize| a[j] + b[j] + c[j];
                *out = ((column(j) + column(j + 3) + column(j + 6)) * (1.0 / 9.0) * 255.0) as u8;
            }
        }
    }
}
