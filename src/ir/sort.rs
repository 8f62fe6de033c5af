//! Sorting: the bits that order elements, and the results of a sort along an axis.
//!
//! A *key* is a word of unsigned bits that orders elements as `max` ranks them: NaN is the greatest, whatever its
//! sign, and both zeros are equal. Every sort is stable, so there is one answer.

use std::ops::Range;

use crate::dtype::{DType, Kind};

/// How the bits of an element become its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum KeyKind {
    Unsigned,
    Signed,
    Float,
    /// Truth values, four in a word. Elements of such a key move and the key does not.
    Bool,
}

/// The result of a sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Gives {
    Values,
    Indices,
    /// Elements of 32 bits of a second operand, moved as the indices of the first. Both have one axis.
    Moved,
}

/// A stable sort of the last axis, which has more than one element of 32 or 64 bits or a truth value: to values, or to
/// their indices as u32. A second operand is the key by which the first is moved. Only some
/// places of the sorted axis may be computed. Truth values are sorted to move others. Places past the first digit's
/// then have no meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Sort {
    pub gives: Gives,
    /// Whether the greatest element is first. Equal elements stay in their order either way.
    pub descending: bool,
    /// The low bits of a key that may differ between elements.
    pub bits: u32,
    /// The computed places: the first, and the end.
    pub places: [u32; 2],
}

impl Sort {
    pub(crate) fn name(&self) -> &'static str {
        match self.gives {
            Gives::Values => "sort",
            Gives::Indices => "argsort",
            Gives::Moved => "move by",
        }
    }

    pub(crate) fn places(&self) -> Range<usize> {
        self.places[0] as usize..self.places[1] as usize
    }
}

impl KeyKind {
    pub(crate) fn of(dtype: DType) -> KeyKind {
        match dtype.kind() {
            Kind::Float => KeyKind::Float,
            Kind::Signed => KeyKind::Signed,
            Kind::Unsigned => KeyKind::Unsigned,
            Kind::Bool => KeyKind::Bool,
        }
    }

    /// A mask and a bias. Elements `x` of 32 bits have the order of the `i32` `x ^ (x >> 31 & mask) ^ bias`, but for -0 and NaN.
    pub(crate) fn as_signed(self) -> [i32; 2] {
        match self {
            KeyKind::Unsigned | KeyKind::Bool => [0, i32::MIN],
            KeyKind::Signed => [0, 0],
            KeyKind::Float => [i32::MAX, 0],
        }
    }
}

macro_rules! keys {
    ($($(#[$doc:meta])+ $name:ident: $t:ty, $float:ty;)*) => {
        impl KeyKind {$(
            $(#[$doc])+
            #[inline(always)]
            pub(crate) fn $name(self, bits: $t) -> $t {
                const SIGN: $t = 1 << (<$t>::BITS - 1);
                match self {
                    KeyKind::Unsigned | KeyKind::Bool => bits,
                    KeyKind::Signed => bits ^ SIGN,
                    // Choices between two values, so that loops need no branch.
                    KeyKind::Float => {
                        let rest = bits & !SIGN;
                        let bits = if rest == 0 { 0 } else { bits };
                        let key = bits ^ (SIGN | (bits >> (<$t>::BITS - 1)).wrapping_neg());
                        if rest > <$float>::INFINITY.to_bits() { <$t>::MAX } else { key }
                    }
                }
            }
        )*}
    };
}
keys! {
    /// The key of the bits of an element of 32 bits. `wgsl/sort.rs` has the same as text.
    key32: u32, f32;
    /// The key of an element of 64 bits.
    key64: u64, f64;
}

#[cfg(test)]
mod tests {
    use super::KeyKind;

    #[test]
    fn keys_order_elements() {
        let floats =
            [f32::NEG_INFINITY, f32::MIN, -1.0, -f32::MIN_POSITIVE, -1e-45, 0.0, 1e-45, 1.0, f32::INFINITY];
        let of_32 = |x: f32| KeyKind::Float.key32(x.to_bits());
        let of_64 = |x: f64| KeyKind::Float.key64(x.to_bits());
        for pair in floats.windows(2) {
            assert!(of_32(pair[0]) < of_32(pair[1]), "{pair:?}");
            assert!(of_64(pair[0].into()) < of_64(pair[1].into()), "{pair:?}");
        }
        assert_eq!((of_32(-0.0), of_64(-0.0)), (of_32(0.0), of_64(0.0)));
        assert!(of_32(f32::NAN) > of_32(f32::INFINITY) && of_32(-f32::NAN) == of_32(f32::NAN));
        assert!(of_64(f64::NAN) > of_64(f64::INFINITY) && of_64(-f64::NAN) == of_64(f64::NAN));
        for kind in [KeyKind::Unsigned, KeyKind::Signed, KeyKind::Float] {
            let [mask, bias] = kind.as_signed();
            let of = |x: i32| (x ^ (x >> 31 & mask) ^ bias) as u32 ^ 1 << 31;
            assert!(floats.iter().all(|x| of(x.to_bits() as i32) == kind.key32(x.to_bits())));
        }
        let signed = |x: i32| KeyKind::Signed.key32(x as u32);
        assert!(signed(i32::MIN) < signed(-1) && signed(-1) < signed(0) && signed(0) < signed(i32::MAX));
        let signed = |x: i64| KeyKind::Signed.key64(x as u64);
        assert!(signed(i64::MIN) < signed(-1) && signed(-1) < signed(0) && signed(0) < signed(i64::MAX));
    }
}
