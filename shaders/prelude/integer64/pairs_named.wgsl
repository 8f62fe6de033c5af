// Elements of 64 bits as pairs of words, the lower first, for adapters without the type. Read again with i64 and f64 for u64.

alias Lane_u64 = vec2<u32>;

struct Lanes_u64 {
    x: vec2<u32>,
    y: vec2<u32>,
    z: vec2<u32>,
    w: vec2<u32>,
}

// In memory, as two loads of 16 bytes.
struct Stored_u64 {
    xy: vec4<u32>,
    zw: vec4<u32>,
}

struct Pair_u64 {
    x: vec2<u32>,
    y: vec2<u32>,
}

fn unpack_u64(x: Stored_u64) -> Lanes_u64 {
    return Lanes_u64(x.xy.xy, x.xy.zw, x.zw.xy, x.zw.zw);
}

fn pack_u64(x: Lanes_u64) -> Stored_u64 {
    return Stored_u64(vec4<u32>(x.x, x.y), vec4<u32>(x.z, x.w));
}

fn splat_u64(x: Lane_u64) -> Lanes_u64 {
    return Lanes_u64(x, x, x, x);
}

fn low_u64(x: Lanes_u64) -> vec4<u32> {
    return vec4<u32>(x.x.x, x.y.x, x.z.x, x.w.x);
}

fn high_u64(x: Lanes_u64) -> vec4<u32> {
    return vec4<u32>(x.x.y, x.y.y, x.z.y, x.w.y);
}

fn of_words_u64(low: vec4<u32>, high: vec4<u32>) -> Lanes_u64 {
    return Lanes_u64(vec2<u32>(low.x, high.x), vec2<u32>(low.y, high.y), vec2<u32>(low.z, high.z), vec2<u32>(low.w, high.w));
}

fn select_u64(a: Lanes_u64, b: Lanes_u64, condition: vec4<bool>) -> Lanes_u64 {
    return of_words_u64(select(low_u64(a), low_u64(b), condition), select(high_u64(a), high_u64(b), condition));
}
