//! Folds and scans, in the order of the contract, over elements that were computed before.

use bytemuck::{Pod, cast_slice as cast, cast_slice_mut as cast_mut};

use super::math;
use crate::dtype::DType;
use crate::expr::{BLOCK, Fold, Folding, GROUP, for_each_fold};
use crate::layout::Shape;

/// Elements to be folded, in row-major order: `outer` times `count` rows of `inner`.
struct Job<'a> {
    elements: &'a [u8],
    out: &'a mut [u8],
    folding: &'a Folding,
    identity: u64,
    count: usize,
    inner: usize,
}

/// Folds elements of a type and a shape, which lie in row-major order, into `out`.
pub(super) fn fold(folding: &Folding, dtype: DType, shape: &Shape, elements: &[u8], out: &mut [u8]) {
    let inner = shape[folding.axes.end..].iter().product();
    let count = folding.count(shape);
    run(Job { elements, out, folding, identity: folding.fold.identity(dtype), count, inner }, dtype);
}

impl Job<'_> {
    /// The values of each range, one range after another, with the place of its first.
    fn ranges<T: Pod>(&self) -> impl Iterator<Item = (usize, Vec<T>)> + use<'_, T> {
        let elements: &[T] = cast(self.elements);
        let step = self.count * self.inner;
        (0..elements.len()).step_by(step.max(1)).flat_map(move |first| {
            (first..first + self.inner).map(move |first| {
                let range = elements[first..].iter().step_by(self.inner).take(self.count);
                (first, range.copied().collect())
            })
        })
    }

    fn values<T: Pod>(mut self, combine: impl Fn(T, T) -> T) {
        let out = std::mem::take(&mut self.out);
        let out: &mut [T] = cast_mut(out);
        let identity: T = cast(&[self.identity])[0];
        for (i, (first, mut range)) in self.ranges::<T>().enumerate() {
            let Some(scan) = self.folding.scan else {
                // Which makes +0 of a sum's -0.
                out[i] = combine(folded(range, &combine), identity);
                continue;
            };
            scanned(&mut range, &combine);
            if scan.exclusive {
                range.insert(0, identity);
            }
            let to = out[first..].iter_mut().step_by(self.inner).take(self.count);
            to.zip(range).for_each(|(to, value)| *to = combine(value, identity));
        }
    }

    fn indexes<T: Pod>(mut self, beats: impl Fn(T, T) -> bool) {
        let out: &mut [u32] = cast_mut(std::mem::take(&mut self.out));
        for (out, (_, range)) in out.iter_mut().zip(self.ranges::<T>()) {
            let best = (1..range.len()).fold(0, |a, b| if beats(range[a], range[b]) { b } else { a });
            *out = best as u32;
        }
    }
}

fn folded<T: Pod>(mut values: Vec<T>, combine: &impl Fn(T, T) -> T) -> T {
    while values.len() > 1 {
        for block in values.chunks_mut(BLOCK) {
            let mut half = BLOCK / 2;
            while half > 0 {
                for i in half..block.len().min(2 * half) {
                    block[i - half] = combine(block[i - half], block[i]);
                }
                half /= 2;
            }
        }
        values = values.iter().copied().step_by(BLOCK).collect();
    }
    values[0]
}

fn scanned<T: Pod>(values: &mut [T], combine: &impl Fn(T, T) -> T) {
    for group in values.chunks_mut(GROUP) {
        for k in 1..group.len() {
            group[k] = combine(group[k - 1], group[k]);
        }
    }
    if values.len() > GROUP {
        let mut carried: Vec<T> = values.chunks_exact(GROUP).map(|group| group[GROUP - 1]).collect();
        carried.truncate(values.len().div_ceil(GROUP) - 1);
        scanned(&mut carried, combine);
        for (group, carry) in values.chunks_mut(GROUP).skip(1).zip(carried) {
            group.iter_mut().for_each(|value| *value = combine(carry, *value));
        }
    }
}

macro_rules! form {
    ($job:ident $dtype:ident $call:ident float $f:expr) => {
        match $dtype {
            DType::F32 => return $job.$call::<f32>($f),
            DType::F64 => return $job.$call::<f64>($f),
            _ => {}
        }
    };
    ($job:ident $dtype:ident $call:ident int $f:expr) => {
        match $dtype {
            DType::I8 => return $job.$call::<i8>($f),
            DType::I16 => return $job.$call::<i16>($f),
            DType::I32 => return $job.$call::<i32>($f),
            DType::I64 => return $job.$call::<i64>($f),
            DType::U8 => return $job.$call::<u8>($f),
            DType::U16 => return $job.$call::<u16>($f),
            DType::U32 => return $job.$call::<u32>($f),
            DType::U64 => return $job.$call::<u64>($f),
            _ => {}
        }
    };
    ($job:ident $dtype:ident $call:ident bool $f:expr) => {
        if $dtype == DType::Bool {
            return $job.$call::<u8>($f);
        }
    };
}

macro_rules! table {
    ($($(#[doc = $doc:literal])+ $fold:ident: $name:ident from $identity:ident -> $gives:ident
        { $($kind:ident $wgsl:literal = $cpu:expr;)+ })*) => {
        fn run(job: Job<'_>, dtype: DType) {
            match job.folding.fold {
                $(Fold::$fold => { $(table!(@ $gives job dtype $kind $cpu);)+ })*
            }
        }
    };
    (@ u32 $job:ident $dtype:ident $kind:ident $cpu:expr) => { form!($job $dtype indexes $kind $cpu) };
    (@ T $job:ident $dtype:ident $kind:ident $cpu:expr) => { form!($job $dtype values $kind $cpu) };
}
for_each_fold!(table);
