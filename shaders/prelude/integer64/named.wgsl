// Elements of 64 bits, read again with i64 and f64 for u64.

fn wzyx_u64(v: Lanes_u64) -> Lanes_u64 {
    return Lanes_u64(v.w, v.z, v.y, v.x);
}

fn zwxy_u64(v: Lanes_u64) -> Lanes_u64 {
    return Lanes_u64(v.z, v.w, v.x, v.y);
}

fn yxwz_u64(v: Lanes_u64) -> Lanes_u64 {
    return Lanes_u64(v.y, v.x, v.w, v.z);
}
