//! Functions of integers that are more than one operator.

/// Integer functions that Rust names differently for signed and unsigned types, or lacks.
pub(super) trait IntOps: Copy {
    fn div_floor(a: Self, b: Self) -> Self;
    fn rem_floor(a: Self, b: Self) -> Self;
    fn pow(base: Self, exponent: Self) -> Self;
    fn abs(x: Self) -> Self;
    fn sign(x: Self) -> Self;
    fn shl(a: Self, b: Self) -> Self;
    fn shr(a: Self, b: Self) -> Self;
    fn count_ones(x: Self) -> Self;
    fn leading_zeros(x: Self) -> Self;
    fn trailing_zeros(x: Self) -> Self;
    fn gcd(a: Self, b: Self) -> Self;
    fn lcm(a: Self, b: Self) -> Self;
    fn rotate_left(a: Self, b: Self) -> Self;
    fn rotate_right(a: Self, b: Self) -> Self;
}

/// Functions of signed and unsigned types. `$unsigned` holds the magnitudes of `$t`.
macro_rules! bits {
    ($t:ident $unsigned:ident) => {
        fn count_ones(x: $t) -> $t {
            x.count_ones() as $t
        }
        fn leading_zeros(x: $t) -> $t {
            x.leading_zeros() as $t
        }
        fn trailing_zeros(x: $t) -> $t {
            x.trailing_zeros() as $t
        }
        fn shl(a: $t, b: $t) -> $t {
            u32::try_from(b).ok().and_then(|b| a.checked_shl(b)).unwrap_or(0)
        }
        fn gcd(a: $t, b: $t) -> $t {
            let (mut a, mut b) = (<$t as IntOps>::abs(a) as $unsigned, <$t as IntOps>::abs(b) as $unsigned);
            while b != 0 {
                (a, b) = (b, a % b);
            }
            a as $t
        }
        fn lcm(a: $t, b: $t) -> $t {
            let (x, y) = (<$t as IntOps>::abs(a) as $unsigned, <$t as IntOps>::abs(b) as $unsigned);
            let divisor = <$t as IntOps>::gcd(a, b) as $unsigned;
            x.checked_div(divisor).unwrap_or(0).wrapping_mul(y) as $t
        }
        fn rotate_left(a: $t, b: $t) -> $t {
            a.rotate_left(b as u32 % $t::BITS)
        }
        fn rotate_right(a: $t, b: $t) -> $t {
            a.rotate_right(b as u32 % $t::BITS)
        }
    };
}

/// Square and multiply, wrapping, for an exponent >= 0 of any width.
macro_rules! power {
    ($base:expr, $exponent:expr) => {{
        let (mut power, mut base, mut exponent) = (1, $base, $exponent);
        while exponent != 0 {
            if exponent & 1 == 1 {
                power = base.wrapping_mul(power);
            }
            base = base.wrapping_mul(base);
            exponent >>= 1;
        }
        power
    }};
}

macro_rules! unsigned {
    ($($t:ident $unsigned:ident;)*) => {$(
        impl IntOps for $t {
            bits!($t $unsigned);
            fn div_floor(a: $t, b: $t) -> $t { a.checked_div(b).unwrap_or(0) }
            fn rem_floor(a: $t, b: $t) -> $t { a.checked_rem(b).unwrap_or(0) }
            fn pow(base: $t, exponent: $t) -> $t { power!(base, exponent) }
            fn abs(x: $t) -> $t { x }
            fn sign(x: $t) -> $t { x.min(1) }
            fn shr(a: $t, b: $t) -> $t { u32::try_from(b).ok().and_then(|b| a.checked_shr(b)).unwrap_or(0) }
        }
    )*};
}

macro_rules! signed {
    ($($t:ident $unsigned:ident;)*) => {$(
        impl IntOps for $t {
            bits!($t $unsigned);
            fn div_floor(a: $t, b: $t) -> $t {
                if b == 0 { return 0; }
                let down = a.wrapping_rem(b) != 0 && (a < 0) != (b < 0);
                a.wrapping_div(b) - $t::from(down)
            }
            fn rem_floor(a: $t, b: $t) -> $t {
                if b == 0 { return 0; }
                let r = a.wrapping_rem(b);
                if r != 0 && (a < 0) != (b < 0) { r + b } else { r }
            }
            fn pow(base: $t, exponent: $t) -> $t {
                match base {
                    _ if exponent >= 0 => power!(base, exponent),
                    1 => 1,
                    -1 => if exponent & 1 == 0 { 1 } else { -1 },
                    _ => 0,
                }
            }
            fn abs(x: $t) -> $t { x.wrapping_abs() }
            fn sign(x: $t) -> $t { x.signum() }
            fn shr(a: $t, b: $t) -> $t {
                let fill = if a < 0 { -1 } else { 0 };
                u32::try_from(b).ok().and_then(|b| a.checked_shr(b)).unwrap_or(fill)
            }
        }
    )*};
}

unsigned! { u8 u8; u16 u16; u32 u32; u64 u64; }
signed! { i8 u8; i16 u16; i32 u32; i64 u64; }
