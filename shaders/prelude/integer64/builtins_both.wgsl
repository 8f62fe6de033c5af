// For adapters with 64-bit integers, read again with i64 for u64.

fn add_u64(a: Lanes_u64, b: Lanes_u64) -> Lanes_u64 {
    return a + b;
}

fn sub_u64(a: Lanes_u64, b: Lanes_u64) -> Lanes_u64 {
    return a - b;
}

fn mul_u64(a: Lanes_u64, b: Lanes_u64) -> Lanes_u64 {
    return a * b;
}

fn min_u64(a: Lanes_u64, b: Lanes_u64) -> Lanes_u64 {
    return min(a, b);
}

fn max_u64(a: Lanes_u64, b: Lanes_u64) -> Lanes_u64 {
    return max(a, b);
}

fn eq_u64(a: Lanes_u64, b: Lanes_u64) -> vec4<bool> {
    return a == b;
}

fn lt_u64(a: Lanes_u64, b: Lanes_u64) -> vec4<bool> {
    return a < b;
}

fn and_u64(a: Lanes_u64, b: Lanes_u64) -> Lanes_u64 {
    return a & b;
}

fn or_u64(a: Lanes_u64, b: Lanes_u64) -> Lanes_u64 {
    return a | b;
}

fn xor_u64(a: Lanes_u64, b: Lanes_u64) -> Lanes_u64 {
    return a ^ b;
}

fn not_u64(x: Lanes_u64) -> Lanes_u64 {
    return ~x;
}

// Shifts by 0 to 63.
fn up_u64(x: Lanes_u64, by: vec4<u32>) -> Lanes_u64 {
    return x << by;
}

fn down_u64(x: Lanes_u64, by: vec4<u32>) -> Lanes_u64 {
    return x >> by;
}
