//! Boids on a torus, each of which turns towards the mean direction around it: rotations, `atan2`, sums by cell, lookups, and a
//! random kick by boid and frame.

use std::f32::consts::{PI, TAU};

use zerostride::{Device, EvalAll, Expr, Key, Result, Tensor};

/// Cells along a side of the world, which is a torus of size 1. A boid sees its cell and the eight around it.
const CELLS: usize = 64;
/// How far a boid flies in a frame.
const SPEED: f32 = 0.002;
/// The largest turn of a frame, and of a random kick, in radians.
const TURN: f32 = 0.2;
const KICK: f32 = 0.5;
const SEED: u64 = 2026;

/// All boids: the coordinates and the heading of each.
#[derive(Clone)]
pub(crate) struct Flock {
    pub x: Tensor<f32>,
    pub y: Tensor<f32>,
    pub heading: Tensor<f32>,
}

impl Flock {
    /// Random boids.
    pub(crate) fn new(device: &Device, boids: usize) -> Result<Flock> {
        let [x, y, heading] = Key::new(SEED).split().map(|key| Expr::<f32>::uniform([boids], key));
        let (x, y, heading) = (x, y, heading * TAU - PI).eval_all_on(device)?;
        Ok(Flock { x, y, heading })
    }

    /// The flock a frame later. The kick of each boid depends on its number and the frame alone.
    pub(crate) fn step(&self, frame: usize) -> Result<Flock> {
        let Flock { x, y, heading } = self;
        let index = |place: &Tensor<f32>| (place * CELLS as f32).cast::<i32>().minimum(CELLS as i32 - 1);
        let cell = (index(y) * CELLS as i32 + index(x)).eval()?;

        // The sum of the directions of each cell and its neighbours.
        let directions = Expr::stack([heading.cos(), heading.sin()], 1);
        let of_cell = directions.segment_sum(&cell, CELLS * CELLS).reshape([CELLS, CELLS, 2]).eval()?;
        let rows = of_cell.roll([1], [0]) + &of_cell + of_cell.roll([-1], [0]);
        let around =
            (rows.roll([1], [1]) + &rows + rows.roll([-1], [1])).reshape([CELLS * CELLS, 2]).eval()?;
        let seen = around.take(&cell, 0);
        let (east, north) = (seen.slice(1, 0..1).squeeze(1), seen.slice(1, 1..2).squeeze(1));

        // That direction in the boid's own frame: the angle to turn by.
        let (cos, sin) = (heading.cos(), heading.sin());
        let angle = (&cos * &north - &sin * &east).atan2(&cos * east + sin * north);
        let kick = Expr::<f32>::uniform(heading.shape(), Key::new(SEED).fold_in(frame as u64)) - 0.5;
        let heading = heading + angle.clamp(-TURN, TURN) + kick * KICK;
        // As an angle from -pi to pi.
        let heading = &heading - (&heading / TAU).round() * TAU;
        let (x, y) = ((x + heading.cos() * SPEED).fract(), (y + heading.sin() * SPEED).fract());
        let (x, y, heading) = (x, y, heading).eval_all()?;
        Ok(Flock { x, y, heading })
    }

    /// A number that depends on every bit of the flock.
    pub(crate) fn checksum(&self) -> Result<Tensor<u32>> {
        Expr::stack([self.x.expr(), self.y.expr(), self.heading.expr()], 0).checksum().eval()
    }
}
