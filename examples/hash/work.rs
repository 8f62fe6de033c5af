//! Work whose bits are the same on every device, and its hash.

use sha2::{Digest, Sha256};
use zerostride::{AnyExpr, Device, Expr, Math};

/// Rows and columns of the zoom.
pub(crate) const SIZE: [usize; 2] = [40, 64];
/// Iterations of the zoom at most.
pub(crate) const MOST: u32 = 200;
/// The middle of the zoom. Four iterations from 0 lead to a fixed point there, so spirals meet.
const CENTER: [f64; 2] = [-0.101_096_363_845_622, 0.956_286_510_809_142];
/// From one pixel to the next. Neighbouring f32 lie 64 times as far apart at the middle.
pub(crate) const STEP: f32 = 1.0 / (1_u64 << 30) as f32;

/// Work: its name, an expression that reads no tensor, and how it is computed.
pub(crate) struct Work {
    pub name: &'static str,
    pub expr: AnyExpr,
    math: Math,
}

impl Work {
    /// A handle of a device that computes so.
    pub(crate) fn on(&self, device: &Device) -> Device {
        let mut handle = device.clone();
        handle.set_math(self.math);
        handle
    }
}

/// All work, the zoom first.
pub(crate) fn all() -> Vec<Work> {
    let precise = |name, expr| Work { name, expr, math: Math::Precise };
    vec![
        precise("zoom of Mandelbrot's set", zoom(SIZE, STEP).into()),
        precise("sum of 2^20 quotients", sum().into()),
        precise("standardized rows", standardized().into()),
        precise("random normal numbers", Expr::<f32>::normal([10_000], 48_u64).into()),
        precise("product of matrices", product().into()),
        precise("softmax", softmax().into()),
        precise("attention head", attention().into()),
        precise("pendulums of 500 steps", pendulums().into()),
        Work { name: "wave with subnormal tails, in total mode", expr: wave().into(), math: Math::Total },
    ]
}

/// The SHA-256 of some bytes, in hexadecimal.
pub(crate) fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A number as the sum of two floats, of which the second is at most half a unit in the last place of the first. Dekker, A
/// floating-point technique for extending the available precision, 1971. Algebra on reals would make every `low` 0.
#[derive(Clone)]
struct Double {
    high: Expr<f32>,
    low: Expr<f32>,
}

impl Double {
    fn of(value: f64) -> Double {
        let high = value as f32;
        Double { high: Expr::scalar(high), low: Expr::scalar((value - f64::from(high)) as f32) }
    }

    /// The sum of two floats, where the first is the larger one.
    fn quick(a: Expr<f32>, b: Expr<f32>) -> Double {
        let high = &a + &b;
        let low = b - (&high - a);
        Double { high, low }
    }

    /// The sum of two floats.
    fn sum(a: &Expr<f32>, b: &Expr<f32>) -> Double {
        let high = a + b;
        let of_b = &high - a;
        let low = (a - (&high - &of_b)) + (b - of_b);
        Double { high, low }
    }

    /// The product of two floats, whose halves of 12 bits have exact products.
    fn product(a: &Expr<f32>, b: &Expr<f32>) -> Double {
        let halves = |x: &Expr<f32>| {
            let scaled = x * 4097.0;
            let high = &scaled - (&scaled - x);
            let low = x - &high;
            (high, low)
        };
        let ((a0, a1), (b0, b1)) = (halves(a), halves(b));
        let high = a * b;
        let low = ((&a0 * &b0 - &high) + &a0 * &b1 + &a1 * &b0) + a1 * b1;
        Double { high, low }
    }

    fn plus(&self, other: &Double) -> Double {
        let Double { high, low } = Double::sum(&self.high, &other.high);
        Double::quick(high, low + (&self.low + &other.low))
    }

    fn minus(&self, other: &Double) -> Double {
        self.plus(&Double { high: -&other.high, low: -&other.low })
    }

    fn times(&self, other: &Double) -> Double {
        let Double { high, low } = Double::product(&self.high, &other.high);
        Double::quick(high, low + (&self.high * &other.low + &self.low * &other.high))
    }
}

/// The number of iterations of `z * z + c` that stay near, for pixels whose coordinates are the same f32.
pub(crate) fn zoom(size: [usize; 2], step: f32) -> Expr<u32> {
    let axis = |axis: usize| (Expr::iota(size, axis) - size[axis] as i32 / 2).cast::<f32>() * step;
    let along =
        |center: f64, way: Expr<f32>| Double::of(center).plus(&Double { high: way, low: Expr::scalar(0.0) });
    let (x, y) = (along(CENTER[0], axis(1)), along(CENTER[1], axis(0)));
    let zero = || &x.high * 0.0;
    let start = (zero(), zero(), zero(), zero(), Expr::scalar(0_u32));
    let (.., n) = Expr::repeat_while(MOST, start, |(a, a_low, b, b_low, n)| {
        let (a, b) = (Double { high: a, low: a_low }, Double { high: b, low: b_low });
        let (aa, bb, ab) = (a.times(&a), b.times(&b), a.times(&b));
        let goes_on = (&aa.high + &bb.high).le(4.0);
        let (a, b) = (aa.minus(&bb).plus(&x), ab.plus(&ab).plus(&y));
        (goes_on, (a.high, a.low, b.high, b.low, n + 1))
    });
    n
}

/// The sum of `1 / n` for n from 1 to 2^20.
fn sum() -> Expr<f32> {
    (1.0 / (Expr::iota([1 << 20], 0) + 1).cast::<f32>()).sum(0)
}

/// Rows of random numbers, with mean 0 and deviation 1.
fn standardized() -> Expr<f32> {
    let x = Expr::<f32>::uniform([64, 1000], 1_u64) * 10.0;
    (&x - x.mean_keepdim(1)) / x.std_keepdim(1, 0)
}

/// Random numbers from -1/2 to 1/2.
fn random(shape: [usize; 2], key: u64) -> Expr<f32> {
    Expr::<f32>::uniform(shape, key) - 0.5
}

fn product() -> Expr<f32> {
    random([96, 300], 2).matmul(random([300, 80], 3))
}

fn softmax() -> Expr<f32> {
    (random([64, 1000], 4) * 20.0).softmax(1)
}

/// A head of 128 tokens with 64 channels.
fn attention() -> Expr<f32> {
    let [q, k, v] = [5, 6, 7].map(|key| random([128, 64], key) * 6.0);
    (q.matmul(k.permute([1, 0])) / 8.0).softmax(1).matmul(v)
}

/// The angles of pendulums that begin at different angles, by 500 steps of a tenth.
fn pendulums() -> Expr<f32> {
    let start = random([1, 1000], 8) * 6.0;
    let rest = || &start * 0.0;
    let (angle, _) = Expr::repeat(500, (start.clone(), rest()), |(angle, speed)| {
        let speed = speed - angle.sin() * 0.1;
        (angle + &speed * 0.1, speed)
    });
    angle
}

/// A wave after 60 steps of a ring of 512 places. It begins as Gaussian, whose tails pass through all small numbers to 0, and
/// which numbers are 0 is for the adapter to say, unless it computes in total mode.
fn wave() -> Expr<f32> {
    let x = (Expr::iota([512], 0).cast::<f32>() - 256.0) / 16.0;
    let start = (&x * &x * -0.5).exp();
    let (mut before, mut now) = (start.clone(), start);
    for _ in 0..60 {
        let stretch = now.roll([1], [0]) - &now * 2.0 + now.roll([-1], [0]);
        let next = (&now * 2.0 - &before + stretch * 0.25).shared();
        (before, now) = (now, next);
    }
    now
}
