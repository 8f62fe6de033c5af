//! Workgroup memory: where each invocation holds what turns give, and where those of a team meet.

use std::collections::BTreeMap;

use super::emitter::Emitter;
use super::text::line;
use super::values::Values;
use crate::plan::Turns;

impl Emitter<'_> {
    /// Workgroup memory in which turns are held: in each array an invocation has as many places as any of these takes.
    /// How many; `own_place` is where the invocation is among the others in each of them.
    pub(super) fn declare_held<'v>(&mut self, all: impl IntoIterator<Item = (&'v Values, Turns)>) -> u32 {
        let (mut arrays, mut places) = (BTreeMap::new(), 0);
        for (values, turns) in all.into_iter().filter(|(_, turns)| turns.places() > 0) {
            arrays.extend(values.held());
            places = turns.places().max(places);
        }
        if places > 0 {
            let size = places * self.kernel.workgroup[0];
            for (array, vector) in arrays {
                line!(self.text, "var<workgroup> {array}: array<{vector}, {size}>;");
            }
            line!(self.text, "var<private> own_place: u32;\n");
        }
        places
    }

    /// The entry point of a workgroup that lies along a line, and the number `i` of the invocation in the grid.
    /// Invocations know their place in the workgroup where they meet others there or hold turns in so many places.
    pub(super) fn entry(&mut self, meets: bool, places: u32) {
        line!(self.text, "@compute @workgroup_size({})", self.kernel.workgroup[0]);
        let is_placed = meets || places > 0;
        let local = if is_placed { ", @builtin(local_invocation_index) local: u32" } else { "" };
        line!(self.text, "fn main(@builtin(global_invocation_id) id: vec3<u32>{local}) {{");
        if places > 0 {
            line!(self.text, "    own_place = local;");
        }
        line!(self.text, "    let i = id.y * p.pitch + id.x;");
    }

    /// Workgroup memory, a place for each invocation.
    pub(super) fn declare_shared(&mut self, values: &Values) {
        let (shared, all, size) = (values.shared(), values.name(), self.kernel.workgroup[0]);
        line!(self.text, "var<workgroup> {shared}: array<{all}, {size}>;\n");
    }

    /// Invocations of a workgroup make one value `v` of theirs, which the first of them has then: four meet at a
    /// time, so that barriers are few.
    pub(super) fn meet(&mut self, values: &Values, team: u32, v: &str) {
        let shared = values.shared();
        line!(self.text, "    {shared}[local] = {v};");
        let mut left = team / 4;
        while left > 0 {
            line!(self.text, "    workgroupBarrier();");
            line!(self.text, "    if (member < {left}u) {{");
            let own = |k: u32| format!("{shared}[local + {}u]", k * left);
            let halves = [values.combined(v, &own(2)), values.combined(&own(1), &own(3))];
            line!(self.text, "        {v} = {};", values.combined(&halves[0], &halves[1]));
            if left > 1 {
                line!(self.text, "        {shared}[local] = {v};");
            }
            line!(self.text, "    }}");
            left /= 4;
        }
    }

    /// All invocations of a team have what the first of them has.
    pub(super) fn share(&mut self, values: &Values, v: &str) {
        let shared = values.shared();
        line!(self.text, "    if (member == 0u) {{ {shared}[local] = {v}; }}");
        line!(self.text, "    workgroupBarrier();");
        line!(self.text, "    {v} = {shared}[local - member];");
    }
}
