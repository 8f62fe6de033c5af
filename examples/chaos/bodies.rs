//! Systems of three bodies that attract each other, side by side.

use zerostride::{AnyExpr, AnyTensor, Device, Expr, Result};

/// How many systems there are, side by side. Each begins a little apart from the one before.
pub(crate) const SYSTEMS: usize = 64;
/// Steps from one look at the systems to the next.
pub(crate) const LOOK: usize = 100;
const MASSES: [f32; 3] = [3.0, 4.0, 5.0];
const PLACES: [[f32; 2]; 3] = [[1.0, 3.0], [-2.0, -1.0], [1.0, -1.0]];
/// The time of a step, and what is added to squared distances.
const TIME: f32 = 1.0 / 1024.0;
const SOFT: f32 = 0.09;
/// The values of a system: x and y of each body, then its speed along both.
const VALUES: usize = 12;

/// All values, system by system within each.
pub(crate) type Values = Vec<f32>;

/// The values in the beginning.
pub(crate) fn beginning() -> Values {
    let value = |value: usize, system: usize| match value {
        0 => PLACES[0][0] + system as f32 / 4096.0,
        1..6 => PLACES[value / 2][value % 2],
        _ => 0.0,
    };
    (0..VALUES * SYSTEMS).map(|i| value(i / SYSTEMS, i % SYSTEMS)).collect()
}

/// The values of systems a step later.
fn step(values: &[AnyExpr]) -> Result<Vec<AnyExpr>> {
    let mut values = values.iter().map(AnyExpr::typed).collect::<Result<Vec<Expr<f32>>>>()?;
    let places = values[..6].to_vec();
    for i in 0..3 {
        let mut pull = [Expr::scalar(0.0), Expr::scalar(0.0)];
        for j in (0..3).filter(|&j| j != i) {
            let [dx, dy] = [0, 1].map(|way| &places[2 * j + way] - &places[2 * i + way]);
            let w = (&dx * &dx + &dy * &dy + SOFT).rsqrt();
            let w = &w * &w * &w * MASSES[j];
            pull = [&pull[0] + dx * &w, &pull[1] + dy * &w];
        }
        for (way, pull) in pull.iter().enumerate() {
            let at = 2 * i + way;
            values[6 + at] = &values[6 + at] + pull * TIME;
            values[at] = &places[at] + &values[6 + at] * TIME;
        }
    }
    Ok(values.into_iter().map(AnyExpr::from).collect())
}

/// All systems on a device.
pub(crate) struct Bodies(Vec<AnyTensor>);

impl Bodies {
    pub(crate) fn new(device: &Device) -> Result<Bodies> {
        let start = AnyExpr::from(device.upload(&beginning(), [VALUES, SYSTEMS])?);
        Ok(Bodies(AnyExpr::eval_all(&start.unbind(0)?)?))
    }

    /// The systems a hundred steps later, by one kernel.
    pub(crate) fn later(&self) -> Result<Bodies> {
        let state: Vec<AnyExpr> = self.0.iter().map(AnyExpr::from).collect();
        let mut stepped = Ok(());
        let next = AnyExpr::repeat(LOOK as u32, &state, |values| {
            step(values).unwrap_or_else(|error| {
                stepped = Err(error);
                values.to_vec()
            })
        });
        stepped?;
        Ok(Bodies(AnyExpr::eval_all(&next)?))
    }

    /// All values, of shape `[VALUES, SYSTEMS]`.
    pub(crate) fn values(&self) -> Result<Expr<f32>> {
        AnyExpr::stack(&self.0.iter().map(AnyExpr::from).collect::<Vec<_>>(), 0).typed()
    }
}
