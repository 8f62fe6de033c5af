// The zoom of work.rs with eight times as many pixels a side, as a program would write it. A compiler that treats floats as
// real numbers makes each `low` 0.
const SIDE = 512u;
const MOST = 200u;
const STEP = 1.0 / 8589934592.0;

struct Double { high: f32, low: f32 }

@group(0) @binding(0) var<storage, read_write> result: array<u32>;

fn quick(a: f32, b: f32) -> Double {
    let high = a + b;
    return Double(high, b - (high - a));
}

fn sum(a: f32, b: f32) -> Double {
    let high = a + b;
    let of_b = high - a;
    return Double(high, (a - (high - of_b)) + (b - of_b));
}

fn product(a: f32, b: f32) -> Double {
    let scaled_a = a * 4097.0;
    let a0 = scaled_a - (scaled_a - a);
    let a1 = a - a0;
    let scaled_b = b * 4097.0;
    let b0 = scaled_b - (scaled_b - b);
    let b1 = b - b0;
    let high = a * b;
    return Double(high, ((a0 * b0 - high) + a0 * b1 + a1 * b0) + a1 * b1);
}

fn plus(x: Double, y: Double) -> Double {
    let s = sum(x.high, y.high);
    return quick(s.high, s.low + (x.low + y.low));
}

fn minus(x: Double, y: Double) -> Double {
    return plus(x, Double(-y.high, -y.low));
}

fn times(x: Double, y: Double) -> Double {
    let p = product(x.high, y.high);
    return quick(p.high, p.low + (x.high * y.low + x.low * y.high));
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let row = i32(id.x / SIDE) - i32(SIDE / 2u);
    let column = i32(id.x % SIDE) - i32(SIDE / 2u);
    // The middle: -0.101096363845622, 0.956286510809142.
    let x = plus(Double(bitcast<f32>(0xbdcf0b9cu), bitcast<f32>(0xb1076227u)), Double(f32(column) * STEP, 0.0));
    let y = plus(Double(bitcast<f32>(0x3f74cf31u), bitcast<f32>(0x32b30ffbu)), Double(f32(row) * STEP, 0.0));
    var a = Double(0.0, 0.0);
    var b = Double(0.0, 0.0);
    var n = 0u;
    while (n < MOST) {
        let aa = times(a, a);
        let bb = times(b, b);
        let ab = times(a, b);
        if (aa.high + bb.high > 4.0) {
            break;
        }
        a = plus(minus(aa, bb), x);
        b = plus(plus(ab, ab), y);
        n++;
    }
    result[id.x] = n;
}
