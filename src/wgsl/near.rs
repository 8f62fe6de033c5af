//! The loads that neighbouring operands share.

use super::emitter::Emitter;
use super::gather::array_of;
use super::text::line;
use super::types::{part, raw_lanes, select_all, unpack};
use crate::dtype::DType;
use crate::plan::{Access, LANES, Operand, Role, Stride};

/// Four neighbouring elements of two vectors, from the element with the number of the lowest two bits of `rest`. Returns a
/// line for a value named `half`, which is shifted by two elements or none, and the result.
pub(super) fn taken(dtype: DType, [low, high]: [&str; 2], half: &str, rest: &str) -> [String; 2] {
    let lanes = raw_lanes(dtype);
    let moved = |parts: [String; 2]| format!("{lanes}({})", parts.join(", "));
    let [one, two] = [1, 2].map(|bit| format!("({rest} & {bit}u) != 0u"));
    let last = format!("select({high}.x, {high}.z, {two})");
    let by_two = moved([part(dtype, low, "zw"), part(dtype, high, "xy")]);
    let by_one = moved([part(dtype, half, "yzw"), last]);
    [
        format!("let {half} = {};", select_all(dtype, low, &by_two, &two)),
        select_all(dtype, half, &by_one, &one),
    ]
}

/// Four elements, `step` apart from element `first` on, of vectors. Their names are `prefix` and a number.
pub(super) fn every(dtype: DType, prefix: &str, step: u32, first: u32) -> String {
    let element = |lane: u32| {
        let at = first + lane * step;
        format!("{prefix}{}.{}", at / LANES as u32, ["x", "y", "z", "w"][at as usize % LANES])
    };
    format!("{}({})", raw_lanes(dtype), [0, 1, 2, 3].map(element).join(", "))
}

impl Emitter<'_> {
    /// Loads all rows that a leader and its neighbours read: `w0_1_2` is the third load of the second row of leader 0. Loads
    /// are aligned if rows are whole loads apart. Else they begin where the leader's row begins.
    pub(super) fn near_rows(&mut self, i: usize, operand: &Operand) {
        let Access::Near { step, whole, .. } = operand.access else { return };
        let step = u32::from(step);
        let code = self.code;
        let (of, rows, axis) = (Role::In(i), code.rows_near(i), code.rank - 2);
        let spread = (rows.end() - rows.start()) as u32;
        let name = self.path_name(of);
        for row in 0..=spread {
            let taken_of = self.taken_of_row(i, row);
            let (Some(&first), Some(&last)) = (taken_of.first(), taken_of.last()) else { continue };
            let row_near = match row as i32 + rows.start() {
                0 => format!("c{axis}"),
                down if down > 0 => format!("(c{axis} + {down}u)"),
                up => format!("(c{axis} - {}u)", -up),
            };
            let follows = code.stride(of, axis) != Stride::Zero;
            let term = follows.then(|| format!("{row_near} * p.{name}_stride{axis}"));
            let place = if whole { "id.x" } else { "first" };
            let along = if step == 1 { place.to_string() } else { format!("{place} * {step}u") };
            let outer = (0..axis).filter_map(|axis| self.term(of, axis, 0));
            let base = self.sum(&name, outer.chain(term).chain([along]));
            let at = format!("at_w{i}_{row}");
            line!(self.text, "    let {at} = {base};");
            // The last load of a row may lie past the end of memory, where no lane needs it.
            let load = |k: u32| {
                let at = if whole { at.clone() } else { format!("({at} >> {}u)", LANES.ilog2()) };
                let at = if k == 0 { at } else { format!("min({at} + {k}u, p.{name}_last)") };
                unpack(operand.dtype, format!("{}[{at}]", array_of(operand)))
            };
            if whole {
                for k in taken_of {
                    line!(self.text, "    let w{i}_{row}_{k} = {};", load(k));
                }
                continue;
            }
            for k in first..=last + 1 {
                line!(self.text, "    let t{i}_{row}_{k} = {};", load(k));
            }
            for k in first..=last {
                let [low, high] = [k, k + 1].map(|k| format!("t{i}_{row}_{k}"));
                let own = format!("w{i}_{row}_{k}");
                let [half, all] = taken(operand.dtype, [&low, &high], &format!("h{i}_{row}_{k}"), &at);
                line!(self.text, "    {half}");
                line!(self.text, "    let {own} = {all};");
            }
        }
    }

    /// The loads of a row that hold elements of an operand.
    fn taken_of_row(&self, i: usize, row: u32) -> Vec<u32> {
        let start = *self.code.rows_near(i).start();
        let mut loads = Vec::new();
        for other in &self.code.operands {
            if let Access::Near { leader, step, first, down, .. } = other.access
                && usize::from(leader) == i
                && row as i32 == i32::from(down) - start
            {
                let lanes = LANES as u32;
                loads.extend((0..lanes).map(|lane| (u32::from(first) + lane * u32::from(step)) / lanes));
            }
        }
        loads.sort_unstable();
        loads.dedup();
        loads
    }

    /// The vector of an operand, from these loads.
    pub(super) fn near(&self, dtype: DType, access: Access) -> String {
        let Access::Near { leader, step, first, down, .. } = access else { return String::new() };
        let row = i32::from(down) - self.code.rows_near(leader.into()).start();
        every(dtype, &format!("w{leader}_{row}_"), step.into(), first.into())
    }
}
