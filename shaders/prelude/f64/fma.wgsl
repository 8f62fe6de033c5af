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
