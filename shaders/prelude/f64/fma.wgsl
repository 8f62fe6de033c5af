// The bits of a word.
const WORD_u64: u32 = 64u;

fn fma_f64(a: vec4<f64>, b: vec4<f64>, c: vec4<f64>) -> vec4<f64> {
    return fma_rounded_f64(a, b, c, false);
}

fn multiply_high_u64(a: vec4<u64>, b: vec4<u64>) -> vec4<u64> {
    let low = vec4<u64>(0xfffffffflu);
    let shift = vec4<u32>(32u);
    let middle = (a >> shift) * (b & low) + (((a & low) * (b & low)) >> shift);
    let other = (a & low) * (b >> shift) + (middle & low);
    return (a >> shift) * (b >> shift) + (middle >> shift) + (other >> shift);
}

// a * b + c of f32, rounded once, where the builtin fma rounds twice. The product is exact in f64. The sum is rounded to
// odd, so that the rounding to f32 has the result of a single rounding. For adapters that convert to the nearest.
fn fma_by_f64(a: vec4<f32>, b: vec4<f32>, c: vec4<f32>) -> vec4<f32> {
    let product = times_f64(vec4<f64>(a), vec4<f64>(b));
    let addend = vec4<f64>(c);
    let less = magnitude_bits_f64(product) < magnitude_bits_f64(addend);
    let greater = select(product, addend, less);
    let sum = opaque_f64(plus_f64(greater, select(addend, product, less)));
    let lost = bits_f64(select(addend, product, less) - opaque_f64(sum - greater));
    let bits = bits_f64(sum);
    let down = (lost ^ bits) >= vec4<u64>(SIGN_f64);
    let odd = bits + select(vec4<u64>(1lu), vec4<u64>(0xfffffffffffffffflu), down);
    // What infinities and NaN lose is NaN.
    let loses = (lost & vec4<u64>(MAGNITUDE_f64)) - vec4<u64>(1lu) < vec4<u64>(INFINITE_f64);
    let even = (bits & vec4<u64>(1lu)) == vec4<u64>(0lu);
    return vec4<f32>(bitcast<vec4<f64>>(select(bits, odd, loses & even)));
}
