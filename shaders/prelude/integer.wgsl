// Integers. They are divided by magnitude in u32, because signed `/` and `%` differ between drivers and a
// division by 0 must be 0.

fn div_u32(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    return select(a / max(b, vec4<u32>(1u)), vec4<u32>(0u), b == vec4<u32>(0u));
}

fn rem_u32(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    return select(a - (a / max(b, vec4<u32>(1u))) * b, vec4<u32>(0u), b == vec4<u32>(0u));
}

fn div_floor_u32(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    return div_u32(a, b);
}

fn rem_floor_u32(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    return rem_u32(a, b);
}

// The magnitude. For the least integer it is the integer itself, read as unsigned.
fn magnitude_i32(x: vec4<i32>) -> vec4<u32> {
    let bits = bitcast<vec4<u32>>(x);
    return select(bits, ~bits + 1u, x < vec4<i32>(0));
}

// The integer of magnitude `m`, negative where `negative` is true.
fn signed_i32(m: vec4<u32>, negative: vec4<bool>) -> vec4<i32> {
    return bitcast<vec4<i32>>(select(m, ~m + 1u, negative));
}

fn div_i32(a: vec4<i32>, b: vec4<i32>) -> vec4<i32> {
    return signed_i32(div_u32(magnitude_i32(a), magnitude_i32(b)), (a ^ b) < vec4<i32>(0));
}

fn rem_i32(a: vec4<i32>, b: vec4<i32>) -> vec4<i32> {
    return signed_i32(rem_u32(magnitude_i32(a), magnitude_i32(b)), a < vec4<i32>(0));
}

fn div_floor_i32(a: vec4<i32>, b: vec4<i32>) -> vec4<i32> {
    let down = (rem_i32(a, b) != vec4<i32>(0)) & ((a ^ b) < vec4<i32>(0));
    return div_i32(a, b) - select(vec4<i32>(0), vec4<i32>(1), down);
}

fn rem_floor_i32(a: vec4<i32>, b: vec4<i32>) -> vec4<i32> {
    let r = rem_i32(a, b);
    return r + select(vec4<i32>(0), b, (r != vec4<i32>(0)) & ((a ^ b) < vec4<i32>(0)));
}

fn neg_i32(x: vec4<i32>) -> vec4<i32> {
    return signed_i32(bitcast<vec4<u32>>(x), vec4<bool>(true));
}

fn neg_u32(x: vec4<u32>) -> vec4<u32> {
    return ~x + 1u;
}

// abs() of unsigned integers is signed on some backends.
fn abs_u32(x: vec4<u32>) -> vec4<u32> {
    return x;
}

fn abs_i32(x: vec4<i32>) -> vec4<i32> {
    return bitcast<vec4<i32>>(magnitude_i32(x));
}

fn sign_i32(x: vec4<i32>) -> vec4<i32> {
    return select(vec4<i32>(0), vec4<i32>(1), x > vec4<i32>(0)) - select(vec4<i32>(0), vec4<i32>(1), x < vec4<i32>(0));
}

fn sign_u32(x: vec4<u32>) -> vec4<u32> {
    return min(x, vec4<u32>(1u));
}

fn shl_u32(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    return select(a << (b & vec4<u32>(31u)), vec4<u32>(0u), b > vec4<u32>(31u));
}

// Read as unsigned, a negative amount is large.
fn shl_i32(a: vec4<i32>, b: vec4<i32>) -> vec4<i32> {
    return bitcast<vec4<i32>>(shl_u32(bitcast<vec4<u32>>(a), bitcast<vec4<u32>>(b)));
}

fn shr_u32(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    return select(a >> (b & vec4<u32>(31u)), vec4<u32>(0u), b > vec4<u32>(31u));
}

fn shr_i32(a: vec4<i32>, b: vec4<i32>) -> vec4<i32> {
    return a >> min(bitcast<vec4<u32>>(b), vec4<u32>(31u));
}

// Square and multiply, modulo 2^32.
fn pow_u32(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    var power = vec4<u32>(1u);
    var base = a;
    var exponent = b;
    while (any(exponent != vec4<u32>(0u))) {
        power *= select(vec4<u32>(1u), base, (exponent & vec4<u32>(1u)) != vec4<u32>(0u));
        base *= base;
        exponent >>= vec4<u32>(1u);
    }
    return power;
}

// A negative exponent gives 0, except that 1 stays 1 and -1 alternates.
fn pow_i32(a: vec4<i32>, b: vec4<i32>) -> vec4<i32> {
    let power = bitcast<vec4<i32>>(pow_u32(bitcast<vec4<u32>>(a), bitcast<vec4<u32>>(max(b, vec4<i32>(0)))));
    let odd = (b & vec4<i32>(1)) != vec4<i32>(0);
    let unit = (a == vec4<i32>(1)) | (a == vec4<i32>(-1));
    let inverse = select(vec4<i32>(0), select(vec4<i32>(1), a, odd), unit);
    return select(power, inverse, b < vec4<i32>(0));
}

// Bits of integers of fewer than 32 bits. The bits above are copies of the sign, or 0.
fn count_ones_u32(x: vec4<u32>, width: u32) -> vec4<u32> {
    return countOneBits(x << vec4<u32>(32u - width));
}

fn count_ones_i32(x: vec4<i32>, width: u32) -> vec4<i32> {
    return vec4<i32>(count_ones_u32(bitcast<vec4<u32>>(x), width));
}

fn leading_zeros_u32(x: vec4<u32>, width: u32) -> vec4<u32> {
    return min(countLeadingZeros(x << vec4<u32>(32u - width)), vec4<u32>(width));
}

fn leading_zeros_i32(x: vec4<i32>, width: u32) -> vec4<i32> {
    return vec4<i32>(leading_zeros_u32(bitcast<vec4<u32>>(x), width));
}

fn trailing_zeros_u32(x: vec4<u32>, width: u32) -> vec4<u32> {
    return min(countTrailingZeros(x), vec4<u32>(width));
}

fn trailing_zeros_i32(x: vec4<i32>, width: u32) -> vec4<i32> {
    return vec4<i32>(trailing_zeros_u32(bitcast<vec4<u32>>(x), width));
}

// Exchanges neighbouring bits, then pairs, and so on. Not every version of Metal has the builtin.
fn reversed_u32(x: vec4<u32>) -> vec4<u32> {
    var r = ((x & vec4<u32>(0x55555555u)) << vec4<u32>(1u)) | ((x >> vec4<u32>(1u)) & vec4<u32>(0x55555555u));
    r = ((r & vec4<u32>(0x33333333u)) << vec4<u32>(2u)) | ((r >> vec4<u32>(2u)) & vec4<u32>(0x33333333u));
    r = ((r & vec4<u32>(0x0f0f0f0fu)) << vec4<u32>(4u)) | ((r >> vec4<u32>(4u)) & vec4<u32>(0x0f0f0f0fu));
    r = ((r & vec4<u32>(0x00ff00ffu)) << vec4<u32>(8u)) | ((r >> vec4<u32>(8u)) & vec4<u32>(0x00ff00ffu));
    return (r << vec4<u32>(16u)) | (r >> vec4<u32>(16u));
}

fn reverse_bits_u32(x: vec4<u32>, width: u32) -> vec4<u32> {
    return reversed_u32(x) >> vec4<u32>(32u - width);
}

fn reverse_bits_i32(x: vec4<i32>, width: u32) -> vec4<i32> {
    return bitcast<vec4<i32>>(reverse_bits_u32(bitcast<vec4<u32>>(x), width));
}

// Euclid's algorithm.
fn gcd_u32(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    var x = a;
    var y = b;
    while (any(y != vec4<u32>(0u))) {
        let rest = rem_u32(x, y);
        x = select(y, x, y == vec4<u32>(0u));
        y = rest;
    }
    return x;
}

fn gcd_i32(a: vec4<i32>, b: vec4<i32>) -> vec4<i32> {
    return bitcast<vec4<i32>>(gcd_u32(magnitude_i32(a), magnitude_i32(b)));
}

fn lcm_u32(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    return div_u32(a, gcd_u32(a, b)) * b;
}

fn lcm_i32(a: vec4<i32>, b: vec4<i32>) -> vec4<i32> {
    return bitcast<vec4<i32>>(lcm_u32(magnitude_i32(a), magnitude_i32(b)));
}

// Rotates the low `width` bits.
fn rotate_left_u32(a: vec4<u32>, b: vec4<u32>, width: u32) -> vec4<u32> {
    let bits = a & vec4<u32>(0xffffffffu >> (32u - width));
    let up = b & vec4<u32>(width - 1u);
    return (bits << up) | (bits >> ((vec4<u32>(width) - up) & vec4<u32>(width - 1u)));
}

fn rotate_left_i32(a: vec4<i32>, b: vec4<i32>, width: u32) -> vec4<i32> {
    return bitcast<vec4<i32>>(rotate_left_u32(bitcast<vec4<u32>>(a), bitcast<vec4<u32>>(b), width));
}

// The high word of a 32 by 32 bit product.
fn multiply_high_u32(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    let low = vec4<u32>(0xffffu);
    let shift = vec4<u32>(16u);
    let middle = (a >> shift) * (b & low) + (((a & low) * (b & low)) >> shift);
    let other = (a & low) * (b >> shift) + (middle & low);
    return (a >> shift) * (b >> shift) + (middle >> shift) + (other >> shift);
}

// The high word of one product.
fn high_word_u32(a: u32, b: u32) -> u32 {
    let middle = (a >> 16u) * (b & 0xffffu) + (((a & 0xffffu) * (b & 0xffffu)) >> 16u);
    let other = (a & 0xffffu) * (b >> 16u) + (middle & 0xffffu);
    return (a >> 16u) * (b >> 16u) + (middle >> 16u) + (other >> 16u);
}

// n / d for n < 2^31, by a factor and a shift for d.
fn quotients(n: vec4<u32>, factor: u32, shift: u32) -> vec4<u32> {
    return multiply_high_u32(n, vec4<u32>(factor)) >> vec4<u32>(shift);
}

// The same for one number.
fn quotient(n: u32, factor: u32, shift: u32) -> u32 {
    return high_word_u32(n, factor) >> shift;
}

// The same, and a factor of 0 stands for a division by 1.
fn share(n: u32, factor: u32, shift: u32) -> u32 {
    return select(quotient(n, factor, shift), n, factor == 0u);
}

fn shares(n: vec4<u32>, factor: u32, shift: u32) -> vec4<u32> {
    return select(quotients(n, factor, shift), n, factor == 0u);
}

// The high words of the products in a round of Philox.
fn philox_high_narrow(words: vec2<u32>) -> vec2<u32> {
    let factor_low = vec2<u32>(0x1f53u, 0x8d57u);
    let factor_high = vec2<u32>(0xd251u, 0xcd9eu);
    let low = words & vec2<u32>(0xffffu);
    let high = words >> vec2<u32>(16u);
    let middle = high * factor_low + ((low * factor_low) >> vec2<u32>(16u));
    let other = low * factor_high + (middle & vec2<u32>(0xffffu));
    return high * factor_high + (middle >> vec2<u32>(16u)) + (other >> vec2<u32>(16u));
}
