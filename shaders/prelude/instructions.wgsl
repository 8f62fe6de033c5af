// Functions by instructions that an adapter may lack, or may round in another way. Probes find out when the adapter is
// opened. These functions replace those of the same names in other files.

fn decode_f16(raw: vec4<u32>) -> vec4<f32> {
    let low = vec2<f32>(unpack2x16float(raw.x).x, unpack2x16float(raw.y).x);
    return vec4<f32>(low, unpack2x16float(raw.z).x, unpack2x16float(raw.w).x);
}

// For f32 values that f16 has: this instruction does not round to the nearest on every adapter.
fn encode_f16(x: vec4<f32>) -> vec4<u32> {
    return unpack_u16(vec2<u32>(pack2x16float(x.xy), pack2x16float(x.zw)));
}

fn round_f16(x: vec4<f32>) -> vec4<f32> {
    return vec4<f32>(vec4<f16>(x));
}

fn multiply_high_u32(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    return vec4<u32>((vec4<u64>(a) * vec4<u64>(b)) >> vec4<u32>(32u));
}

fn high_word_u32(a: u32, b: u32) -> u32 {
    return u32((u64(a) * u64(b)) >> 32u);
}

// For adapters on which NaN from arithmetic ends in zeros.
fn round_sum_bf16(x: vec4<f32>) -> vec4<f32> {
    let bits = bits_f32(x);
    let up = vec4<u32>(0x7fffu) + ((bits >> vec4<u32>(16u)) & vec4<u32>(1u));
    return bitcast<vec4<f32>>((bits + up) & vec4<u32>(0xffff0000u));
}

// For adapters whose fma rounds once.
fn residue_f32(a: vec4<f32>, b: vec4<f32>, c: vec4<f32>) -> vec4<f32> {
    return fma(a, b, c);
}

// For adapters whose fma rounds once. After P. Markstein (1990), a step of Newton improves the reciprocal and another one
// the quotient. A search tried every quotient within 3 / 2^25 units of halfway between two floats, with reciprocals up to
// 7 units off.
fn div_nearest_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    let x = magnitude_bits_f32(a);
    let y = magnitude_bits_f32(b);
    let dividend = (x - vec4<u32>(EASY_f32) < vec4<u32>(EASY_SPAN_f32)) | (x == vec4<u32>(0));
    let divisor = y - vec4<u32>(EASY_f32) < vec4<u32>(EASY_SPAN_f32);
    if (!all(dividend & divisor & ((y & vec4<u32>(FRACTION_f32)) < vec4<u32>(LAST_FRACTION_f32)))) {
        return div_by_integers_f32(a, b);
    }
    let m = bitcast<vec4<f32>>(x);
    let n = bitcast<vec4<f32>>(y);
    let guess = 1.0 / n;
    let reciprocal = fma(guess, fma(-n, guess, vec4<f32>(1.0)), guess);
    let q = m * reciprocal;
    let nearest = fma(reciprocal, fma(-n, q, m), q);
    return bitcast<vec4<f32>>(bits_f32(nearest) | ((bits_f32(a) ^ bits_f32(b)) & vec4<u32>(SIGN_f32)));
}

// Operands and the result pass fences here, because kernels put no fences around an operation of bits, such as this one.
fn fma_f32(a: vec4<f32>, b: vec4<f32>, c: vec4<f32>) -> vec4<f32> {
    return opaque_f32(fma(behind_f32(a, 1u), behind_f32(b, 2u), behind_f32(c, 3u)));
}

// For adapters that keep an fma whole. Here the addend is -0 and below the factor is 1, and no compiler knows it. The sum is an
// fma too, because Mesa's compilers exchange the addends of `fma(a, b, -0) + 0.5`.
fn times_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return fma(a, b, vec4<f32>(bitcast<f32>(p.zero | SIGN_f32)));
}

// For adapters that do not flush.
fn times_kept_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return times_f32(a, b);
}

fn plus_f32(product: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return fma(product, vec4<f32>(bitcast<f32>(p.zero | ONE_f32)), b);
}

// For adapters whose division rounds to the nearest float.
fn quotient_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return opaque_f32(a / b);
}

fn quotient_f64(a: vec4<f64>, b: vec4<f64>) -> vec4<f64> {
    return opaque_f64(a / b);
}

// For adapters whose square root rounds to the nearest float.
fn root_f32(x: vec4<f32>) -> vec4<f32> {
    return opaque_f32(sqrt(x));
}

fn root_f64(x: vec4<f64>) -> vec4<f64> {
    return opaque_f64(sqrt(x));
}

// For adapters whose builtins see every fraction.
fn whole_f64(x: vec4<f64>) -> vec4<f64> {
    return round(x);
}

fn down_f64(x: vec4<f64>) -> vec4<f64> {
    return floor(x);
}

fn up_f64(x: vec4<f64>) -> vec4<f64> {
    return ceil(x);
}

fn inward_f64(x: vec4<f64>) -> vec4<f64> {
    return trunc(x);
}
