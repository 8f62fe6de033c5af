//! Random numbers: expressions of a key and a shape. The place of an element alone decides its value.

use super::both::built;
use super::{AnyExpr, Expr};
use crate::dtype::{DType, Float};
use crate::error::{Result, bail};
use crate::ir::{Node, Op, Source, philox};
use crate::layout::{Layout, Shape};

/// The key of random numbers. One key has one sequence, the same on every device and in every run. Other keys have
/// independent sequences. So every draw needs a key of its own: a number for each, or keys derived from one, for
/// independent parts of a program.
///
/// ```
/// use zerostride::{Device, Expr, Key};
///
/// let device = Device::cpu();
/// let [weights, noise] = Key::new(7).split();
/// let w = Expr::<f32>::normal([2, 3], weights).eval_on(&device)?;
/// for step in 0..3 {
///     let x = &w + Expr::<f32>::uniform([2, 3], noise.fold_in(step));
///     assert!(x.to_vec()? != w.to_vec()?);
/// }
/// # Ok::<(), zerostride::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key(u64);

impl Key {
    /// The key of a seed, which may be any number.
    pub const fn new(seed: u64) -> Key {
        Key(seed)
    }

    /// A key of its own for each number, such as a step or a part of a program.
    ///
    /// ```
    /// use zerostride::Key;
    ///
    /// assert_eq!(Key::new(1).fold_in(5), Key::new(1).fold_in(5));
    /// assert_ne!(Key::new(1).fold_in(5), Key::new(1).fold_in(6));
    /// ```
    pub fn fold_in(self, number: u64) -> Key {
        let halves = |word: u64| [word as u32, (word >> 32) as u32];
        let [low, high] = halves(number);
        // From a block whose counter no element has.
        let [low, high, ..] = philox::block([low, high, 0, 1], halves(self.0));
        Key(u64::from(low) | u64::from(high) << 32)
    }

    /// As many keys as needed: those of [`fold_in`](Self::fold_in) from 0 on.
    ///
    /// ```
    /// use zerostride::Key;
    ///
    /// let [a, b] = Key::new(1).split();
    /// assert_eq!((a, b), (Key::new(1).fold_in(0), Key::new(1).fold_in(1)));
    /// ```
    pub fn split<const N: usize>(self) -> [Key; N] {
        std::array::from_fn(|i| self.fold_in(i as u64))
    }
}

impl From<u64> for Key {
    fn from(seed: u64) -> Key {
        Key(seed)
    }
}

/// The most elements of a sequence.
const MOST: usize = i32::MAX as usize;

impl AnyExpr {
    /// Random words of u32 ([`Expr::random_bits`]).
    ///
    /// ```
    /// use zerostride::{AnyExpr, Device};
    ///
    /// let bits = AnyExpr::random_bits([4], 0).eval_on(&Device::cpu())?;
    /// assert_eq!(bits.to_vec::<u32>()?, [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn random_bits(shape: impl Into<Shape>, key: impl Into<Key>) -> AnyExpr {
        let bits = || {
            let shape = shape.into();
            let count = shape.count()?;
            if count > MOST {
                bail!(
                    Limit,
                    "random numbers of {shape}, which has {count} elements: one key makes {MOST}, so draw parts with a key each"
                );
            }
            let Key(key) = key.into();
            let place = Node::leaf(DType::I32, Source::Index(None), Layout::contiguous(&shape)?);
            let place = Node::op(Op::Cast, DType::U32, &[&place])?;
            let half = |bits: u64| -> Result<_> {
                Ok(Node::leaf(DType::U32, Source::Scalar(bits & 0xffff_ffff), Layout::contiguous([])?))
            };
            Node::op(Op::Random, DType::U32, &[&place, &half(key)?, &half(key >> 32)?])
        };
        AnyExpr::new(bits())
    }

    /// Random numbers of a float type, from 0 to below 1 ([`Expr::uniform`]).
    ///
    /// ```
    /// use zerostride::{AnyExpr, DType, Device};
    ///
    /// let x = AnyExpr::uniform(DType::F16, [2, 2], 1).eval_on(&Device::cpu())?;
    /// assert!(x.cast(DType::F32).to_vec::<f32>()?.iter().all(|x| (0.0..1.0).contains(x)));
    ///
    /// let error = AnyExpr::uniform(DType::I32, [2], 1).eval_on(&Device::cpu()).unwrap_err();
    /// assert_eq!(error.message(), "no uniform numbers of i32: draw floats or random_bits, and cast them");
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn uniform(dtype: DType, shape: impl Into<Shape>, key: impl Into<Key>) -> AnyExpr {
        let (shape, key) = (shape.into(), key.into());
        let word = Expr::<u32>::random_bits(shape.clone(), key);
        built(|| {
            Ok(match dtype {
                DType::F32 => unit(&word).into(),
                // As many bits as the type holds for all such numbers, so that none is rounded up to 1.
                DType::F16 => unit(&(word & 0xffe0_0000)).any.cast(dtype),
                DType::BF16 => unit(&(word & 0xff00_0000)).any.cast(dtype),
                DType::F64 => {
                    let count = shape.count().unwrap_or(usize::MAX);
                    let words = Expr::<u32>::random_bits([count, 2], key);
                    let half = |i: isize, shift: u32| {
                        let own = words.slice(1, i..i + 1).reshape(&shape);
                        (own >> shift).cast::<f64>()
                    };
                    ((half(0, 5) * 67_108_864.0 + half(1, 6)) * (1.0 / 9_007_199_254_740_992.0)).into()
                }
                _ => bail!(
                    Operation,
                    "no uniform numbers of {dtype}: draw floats or random_bits, and cast them"
                ),
            })
        })
    }
}

impl Expr<u32> {
    /// Random words, each bit of which is 0 or 1 with the same probability.
    ///
    /// They are the words of Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011):
    /// element `i` in row-major order is word `i % 4` of the block with the counter `i / 4`. So they depend on the key
    /// and on the place in the shape alone. Every device has the same bits, and a view shows the same elements. Nothing
    /// is kept between draws, and nothing is stored: the mask of a dropout is computed where it is read.
    ///
    /// One key has 2^31 - 1 elements; more is a mistake.
    ///
    /// ```
    /// use zerostride::{Device, Expr};
    ///
    /// let device = Device::cpu();
    /// let bits = Expr::random_bits([4], 0);
    /// assert_eq!(bits.to_vec_on(&device)?, [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]);
    /// assert_eq!(bits.flip(0).to_vec_on(&device)?[0], 0x9b00dbd8);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn random_bits(shape: impl Into<Shape>, key: impl Into<Key>) -> Self {
        Expr::face(AnyExpr::random_bits(shape, key))
    }
}

impl<T: Float> Expr<T> {
    /// Random numbers from 0 to below 1: the first 24 bits of [`random_bits`](Expr::random_bits) of the same key as a
    /// fraction, or 11 of them for f16 and 8 for bf16. An f64 has 53 bits, from two words of its own.
    ///
    /// ```
    /// use zerostride::{Device, Expr};
    ///
    /// let dice = (Expr::<f32>::uniform([1000], 42) * 6.0).floor() + 1.0;
    /// let thrown = dice.eval_on(&Device::cpu())?;
    /// assert_eq!((thrown.min(..).item()?, thrown.max(..).item()?), (1.0, 6.0));
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn uniform(shape: impl Into<Shape>, key: impl Into<Key>) -> Self {
        Expr::face(AnyExpr::uniform(T::DTYPE, shape, key))
    }
}

impl Expr<f32> {
    /// Random numbers of the standard normal distribution, of mean 0 and variance 1, with the same bits on every
    /// device. `mean + deviation * Expr::normal(shape, key)` has another mean and deviation.
    ///
    /// The first bit of a word of [`random_bits`](Expr::random_bits) is the sign. The others determine the magnitude by
    /// the inverse of its distribution, within 1e-6, up to 6.3, as one in 2^31 is larger: a cubic of a table, by products
    /// and sums.
    ///
    /// ```
    /// use zerostride::{Device, Expr};
    ///
    /// let x = Expr::<f32>::normal([10_000], 3).eval_on(&Device::cpu())?;
    /// assert!(x.mean(..).item()?.abs() < 0.03);
    /// assert!((x.std(.., 1).item()? - 1.0).abs() < 0.03);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn normal(shape: impl Into<Shape>, key: impl Into<Key>) -> Self {
        let bits = Expr::<u32>::random_bits(shape, key);
        of_words(&bits, Op::Normal)
    }
}

/// The first 24 bits of words, as numbers from 0 to below 1.
fn unit(bits: &Expr<u32>) -> Expr<f32> {
    of_words(bits, Op::Unit)
}

fn of_words(bits: &Expr<u32>, op: Op) -> Expr<f32> {
    let node = bits.any.node().and_then(|node| Node::op(op, DType::F32, &[node]));
    Expr::face(AnyExpr::new(node))
}
