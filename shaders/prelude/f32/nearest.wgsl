// Quotients and roots to the nearest f32, halves to even, for adapters whose own are a few units off.
// The adapter's own result is a guess of the significand; what remains of the operand, an integer
// that 32 bits hold though its parts are longer, tells the right one.

// What lies 8 below the guess is right by 1 to 15 more, for guesses of up to 7 units off.
const FROM_GUESS: u32 = 8u;

fn div_nearest_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    let x = magnitude_bits_f32(a);
    let y = magnitude_bits_f32(b);
    let m = (x & vec4<u32>(FRACTION_f32)) | vec4<u32>(LEAST_f32);
    let n = (y & vec4<u32>(FRACTION_f32)) | vec4<u32>(LEAST_f32);
    // The quotient of the significands has 24 bits, and is below 1 where m is less than n.
    let shift = select(vec4<u32>(23u), vec4<u32>(24u), m < n);
    let guess = bitcast<vec4<f32>>(m ^ vec4<u32>(LEAST_f32 ^ ONE_f32)) / bitcast<vec4<f32>>(n ^ vec4<u32>(LEAST_f32 ^ ONE_f32));
    var q = vec4<u32>(guess * select(vec4<f32>(8388608.0), vec4<f32>(16777216.0), m < n)) - FROM_GUESS;
    var rest = (m << shift) - q * n;
    for (var step = FROM_GUESS; step > 0u; step >>= 1u) {
        let more = rest >= n * step;
        q = select(q, q + step, more);
        rest = select(rest, rest - n * step, more);
    }
    let up = (rest + rest > n) | ((rest + rest == n) & ((q & vec4<u32>(1u)) != vec4<u32>(0u)));
    let exponent = vec4<i32>(x >> vec4<u32>(23u)) - vec4<i32>(y >> vec4<u32>(23u)) + vec4<i32>(150) - vec4<i32>(shift);
    let rounded = q + select(vec4<u32>(0u), vec4<u32>(1u), up);
    let finite = rounded + (bitcast<vec4<u32>>(exponent - vec4<i32>(1)) << vec4<u32>(23u));
    let bounded = select(finite, vec4<u32>(INFINITE_f32), exponent >= vec4<i32>(255));
    // Half a unit below the least normal float it rounds to that.
    let least = (exponent == vec4<i32>(0)) & (q == vec4<u32>(0xffffffu));
    let bits = select(bounded, vec4<u32>(LEAST_f32), least);
    let normal = (x - vec4<u32>(LEAST_f32) < vec4<u32>(INFINITE_f32 - LEAST_f32))
        & (y - vec4<u32>(LEAST_f32) < vec4<u32>(INFINITE_f32 - LEAST_f32));
    let sign = (bits_f32(a) ^ bits_f32(b)) & vec4<u32>(SIGN_f32);
    // Of subnormals, which may be flushed, the adapter's own.
    return select(a / b, bitcast<vec4<f32>>(bits | sign), normal & (least | (exponent > vec4<i32>(0))));
}

fn sqrt_nearest_f32(x: vec4<f32>) -> vec4<f32> {
    let bits = bits_f32(x);
    let m = (bits & vec4<u32>(FRACTION_f32)) | vec4<u32>(LEAST_f32);
    let exponent = bits >> vec4<u32>(23u);
    // As 1 to 2 times an even power of two, or 2 to 4 times.
    let doubled = (exponent & vec4<u32>(1u)) == vec4<u32>(0u);
    let scaled = (m ^ vec4<u32>(LEAST_f32)) | select(vec4<u32>(ONE_f32), vec4<u32>(0x40000000u), doubled);
    var root = vec4<u32>(sqrt(bitcast<vec4<f32>>(scaled)) * 8388608.0) - FROM_GUESS;
    var rest = (m << select(vec4<u32>(23u), vec4<u32>(24u), doubled)) - root * root;
    for (var step = FROM_GUESS; step > 0u; step >>= 1u) {
        let next = (root + root + step) * step;
        let more = rest >= next;
        root = select(root, root + step, more);
        rest = select(rest, rest - next, more);
    }
    let rounded = root + select(vec4<u32>(0u), vec4<u32>(1u), rest > root);
    let biased = (exponent + vec4<u32>(126u) + (exponent & vec4<u32>(1u))) >> vec4<u32>(1u);
    let value = bitcast<vec4<f32>>(rounded + ((biased - vec4<u32>(1u)) << vec4<u32>(23u)));
    let normal = bits - vec4<u32>(LEAST_f32) < vec4<u32>(INFINITE_f32 - LEAST_f32);
    return select(sqrt_f32(x), value, normal);
}
