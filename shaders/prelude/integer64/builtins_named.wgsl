// Elements of 64 bits on adapters that have the type, read again with i64 and f64 for u64.

alias Lane_u64 = u64;

alias Lanes_u64 = vec4<u64>;

alias Stored_u64 = vec4<u64>;

alias Pair_u64 = vec2<u64>;

fn unpack_u64(x: Stored_u64) -> Lanes_u64 {
    return x;
}

fn pack_u64(x: Lanes_u64) -> Stored_u64 {
    return x;
}

fn splat_u64(x: Lane_u64) -> Lanes_u64 {
    return vec4<u64>(x);
}

fn select_u64(a: Lanes_u64, b: Lanes_u64, condition: vec4<bool>) -> Lanes_u64 {
    return select(a, b, condition);
}
