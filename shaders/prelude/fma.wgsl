// a * b + c, rounded once. It takes integers, because the builtin fma rounds twice on some drivers. The product
// of the significands has two words, the addend is aligned with it, and their sum is rounded once.

struct Long_u32 {
    high: vec4<u32>,
    low: vec4<u32>,
}

// x 2^n for n below the bits of two words.
fn long_up_u32(x: Long_u32, n: Count) -> Long_u32 {
    let m = n & Count(WORD_u32 - 1u);
    let spill = select(x.low >> ((Count(WORD_u32) - m) & Count(WORD_u32 - 1u)), vec4<u32>(0), m == Count(0));
    let far = n >= Count(WORD_u32);
    let low = x.low << m;
    return Long_u32(select((x.high << m) | spill, low, far), select(low, vec4<u32>(0), far));
}

// x 2^-n. If bits are lost, the last bit is set.
fn long_down_u32(x: Long_u32, n: Count) -> Long_u32 {
    let bounded = min(n, Count(2u * WORD_u32 - 1u));
    let m = bounded & Count(WORD_u32 - 1u);
    let up = (Count(WORD_u32) - m) & Count(WORD_u32 - 1u);
    let spill = select(x.high << up, vec4<u32>(0), m == Count(0));
    let cut = select(x.low << up, vec4<u32>(0), m == Count(0));
    let far = bounded >= Count(WORD_u32);
    let high = x.high >> m;
    let lost = select(cut, spill | x.low, far) != vec4<u32>(0);
    let low = select((x.low >> m) | spill, high, far) | select(vec4<u32>(0), vec4<u32>(1), lost);
    return Long_u32(select(high, vec4<u32>(0), far), low);
}

// A significand shifted so that its leading bit is in place, and the exponent of it.
struct Normal_f32 {
    significand: vec4<u32>,
    exponent: vec4<i32>,
}

fn normal_f32(magnitude: vec4<u32>) -> Normal_f32 {
    let significand = significand_f32(magnitude);
    let up = Count(leading_zeros_u32(significand, 32u)) - Count(EXPONENT_BITS_f32);
    return Normal_f32(significand << up, vec4<i32>(exponent_f32(magnitude)) - vec4<i32>(up));
}

// For finite a, b and c with a and b other than 0. Rounds to the nearest float, halves to even, or to odd.
fn fma_finite_f32(a: vec4<f32>, b: vec4<f32>, c: vec4<f32>, odd: bool) -> vec4<f32> {
    let x = normal_f32(magnitude_bits_f32(a));
    let y = normal_f32(magnitude_bits_f32(b));
    let z = normal_f32(magnitude_bits_f32(c));
    let product = Long_u32(multiply_high_u32(x.significand, y.significand), x.significand * y.significand);
    let addend = Long_u32(vec4<u32>(0), select(z.significand, vec4<u32>(0), magnitude_bits_f32(c) == vec4<u32>(0)));
    // Both have the leading bit three below the top, so that their sum fits.
    let p_exponent = x.exponent + y.exponent - vec4<i32>(i32(ONE_f32 >> FRACTION_BITS_f32));
    let c_exponent = select(z.exponent, vec4<i32>(-100000), magnitude_bits_f32(c) == vec4<u32>(0));
    let exponent = max(p_exponent, c_exponent);
    let p_wide = long_up_u32(product, Count(2u * EXPONENT_BITS_f32 - 2u));
    let c_wide = long_up_u32(addend, Count(2u * EXPONENT_BITS_f32 + FRACTION_BITS_f32 - 2u));
    let p = long_down_u32(p_wide, Count(exponent - p_exponent));
    let q = long_down_u32(c_wide, Count(exponent - c_exponent));

    let p_sign = (bits_f32(a) ^ bits_f32(b)) & vec4<u32>(SIGN_f32);
    let c_sign = bits_f32(c) & vec4<u32>(SIGN_f32);
    let subtracts = p_sign != c_sign;
    let less = (p.high < q.high) | ((p.high == q.high) & (p.low < q.low));
    let more_high = select(p.high, q.high, less);
    let more_low = select(p.low, q.low, less);
    let less_high = select(q.high, p.high, less);
    let less_low = select(q.low, p.low, less);
    let sum_low = p.low + q.low;
    let carry = select(vec4<u32>(0), vec4<u32>(1), sum_low < p.low);
    let borrow = select(vec4<u32>(0), vec4<u32>(1), more_low < less_low);
    let sum = Long_u32(
        select(p.high + q.high + carry, more_high - less_high - borrow, subtracts),
        select(sum_low, more_low - less_low, subtracts),
    );
    let none = (sum.high | sum.low) == vec4<u32>(0);
    let sign = select(select(p_sign, c_sign, less), vec4<u32>(0), none);

    // Moves the leading bit to the top. A subnormal result is moved down again.
    let in_low = sum.high == vec4<u32>(0);
    let zeros = Count(leading_zeros_u32(select(sum.high, sum.low, in_low), 32u)) + select(Count(0), Count(WORD_u32), in_low);
    let biased = exponent - vec4<i32>(zeros) + vec4<i32>(3);
    let down = Count(clamp(vec4<i32>(1) - biased, vec4<i32>(0), vec4<i32>(200)));
    let scaled = long_down_u32(long_up_u32(sum, min(zeros, Count(2u * WORD_u32 - 1u))), down);
    let kept = scaled.high >> Count(EXPONENT_BITS_f32);
    let rest = (scaled.high << Count(WORD_u32 - EXPONENT_BITS_f32)) | select(vec4<u32>(0), vec4<u32>(1), scaled.low != vec4<u32>(0));
    let half = vec4<u32>(SIGN_f32);
    let up = select(select(vec4<u32>(0), kept & vec4<u32>(1), rest == half), vec4<u32>(1), rest > half);
    let nearest = kept + up;
    let sticky = kept | select(vec4<u32>(0), vec4<u32>(1), rest != vec4<u32>(0));
    let rounded = select(nearest, sticky, vec4<bool>(odd));
    let finite = rounded + (vec4<u32>(max(biased, vec4<i32>(1)) - vec4<i32>(1)) << Count(FRACTION_BITS_f32));
    let beyond = biased >= vec4<i32>(i32(INFINITE_f32 >> FRACTION_BITS_f32));
    let bits = select(finite, vec4<u32>(INFINITE_f32), beyond);
    return bitcast<vec4<f32>>(select(bits, vec4<u32>(0), none) | sign);
}

fn fma_rounded_f32(a: vec4<f32>, b: vec4<f32>, c: vec4<f32>, odd: bool) -> vec4<f32> {
    let x = magnitude_bits_f32(a);
    let y = magnitude_bits_f32(b);
    let z = magnitude_bits_f32(c);
    let infinite = vec4<u32>(INFINITE_f32);
    let p_sign = (bits_f32(a) ^ bits_f32(b)) & vec4<u32>(SIGN_f32);
    let c_sign = bits_f32(c) & vec4<u32>(SIGN_f32);
    let p_zero = (x == vec4<u32>(0)) | (y == vec4<u32>(0));
    let p_infinite = (x == infinite) | (y == infinite);
    let greatest = max(x, max(y, z));
    let regular = !p_zero & (greatest < infinite);
    let one = vec4<f32>(1.0);
    let finite = fma_finite_f32(select(one, a, regular), select(one, b, regular), select(one, c, regular), odd);
    let zeros = bitcast<vec4<f32>>(p_sign & c_sign);
    let without_product = select(c, zeros, z == vec4<u32>(0));
    let from_product = bitcast<vec4<f32>>(p_sign | infinite);
    let edge = select(select(c, without_product, p_zero), from_product, p_infinite);
    let cancels = (z == infinite) & (p_sign != c_sign);
    let invalid = (greatest > infinite) | (p_infinite & (p_zero | cancels));
    return select(select(edge, finite, regular), nan_f32(c), invalid);
}
