//! The addresses of a kernel's lanes, and the loads and lookups from them.

use super::emitter::Emitter;
use super::gather::{address, binding, by_lanes, gather};
use super::near::{every, taken};
use super::text::{line, role};
use super::types::{constant, decode, joined_part, lanes, packed, unpack};
use crate::error::{Result, bail};
use crate::ir::{Step, Value};
use crate::plan::{Access, LANES, Makes, Operand, Origin, Role, Stride, Walk};

/// The array that an operand is read from.
fn array_of(origin: Origin) -> String {
    match origin {
        Origin::Binding(binding) => format!("in{binding}"),
        _ => "result".into(),
    }
}

impl Emitter<'_> {
    /// The loads that serve several rows or vectors, of an operand with a binding.
    pub(super) fn load_rows(&mut self, i: usize, operand: &Operand) -> Result<()> {
        match (operand.origin, operand.access) {
            (Origin::Binding(binding), Access::Interleaved) => self.interleaved(i, operand, binding),
            (Origin::Binding(_) | Origin::Output, Access::Joined { .. }) => {
                let word = format!("{}[{}]", array_of(operand.origin), self.vector(Role::In(i), 0));
                line!(self.text, "    let t{i} = {word};");
            }
            (origin, access) => bail!(Kernel, "{access:?} of {origin:?} serves no rows"),
        }
        Ok(())
    }

    /// Loads of four pixels for all of their channels: `t0_0` has the first four elements.
    fn interleaved(&mut self, i: usize, operand: &Operand, binding: usize) {
        let kernel = self.kernel;
        let name = self.path_name(Role::In(i));
        let outer = (0..kernel.rank - 2).filter_map(|axis| self.term(Role::In(i), axis, 0));
        let base = self.sum(&name, outer);
        for k in 0..kernel.vectors {
            let word = format!("in{binding}[{base} + id.x * {}u + {k}u]", kernel.vectors);
            let vector = unpack(operand.dtype, word);
            line!(self.text, "    let t{i}_{k} = {vector};");
        }
    }

    /// The coordinate of a vector on an axis, which vectors may share.
    fn coordinate(&self, axis: usize, vector: u32) -> String {
        let inner = self.kernel.rank - 1;
        match self.kernel.walk {
            Walk::Rows if axis == inner => "lane".into(),
            Walk::Rows if axis + 1 < inner => format!("c{axis}"),
            _ if self.kernel.rows() == 1 && self.kernel.makes != Makes::Elements => format!("c{axis}"),
            Walk::Bands if axis == inner => format!("c{axis}"),
            _ => format!("c{axis}{}", self.suffix(vector)),
        }
    }

    /// The term of an axis in the addresses of a tensor.
    pub(super) fn term(&self, of: Role, axis: usize, vector: u32) -> Option<String> {
        let coordinate = self.coordinate(axis, vector);
        match self.kernel.stride(of, axis) {
            Stride::Zero => None,
            Stride::One => Some(coordinate),
            Stride::Any => Some(format!("{coordinate} * p.{}_stride{axis}", self.path_name(of))),
        }
    }

    /// The prefix of a path's words.
    pub(super) fn path_name(&self, of: Role) -> String {
        match of {
            Role::In(i) => role(self.kernel.operands[i].walks_as),
            Role::Out => role(of),
        }
    }

    /// A sum of terms after an offset, unless the offset is known to be 0.
    pub(super) fn sum(&self, name: &str, terms: impl Iterator<Item = String>) -> String {
        let offset = (name != "out" || !self.kernel.fresh).then(|| format!("p.{name}_offset"));
        let terms: Vec<String> = offset.into_iter().chain(terms).collect();
        if terms.is_empty() { "0u".into() } else { terms.join(" + ") }
    }

    /// The address at the begin of a vector's row, and the term to add.
    pub(super) fn base(&self, of: Role, vector: u32, more: Option<String>) -> String {
        let name = self.path_name(of);
        let rows = if self.kernel.walk == Walk::Rows { self.kernel.rank - 1 } else { 0 };
        self.sum(&name, (0..rows).filter_map(|axis| self.term(of, axis, vector)).chain(more))
    }

    /// The number of a vector along its walk.
    fn index(&self, vector: u32) -> String {
        match self.kernel.walk {
            Walk::Rows if self.kernel.makes != Makes::Elements => "x".into(),
            Walk::Rows => "id.x".into(),
            _ => format!("i{}", self.suffix(vector)),
        }
    }

    /// The address of a vector, for accesses whose words count vectors.
    pub(super) fn vector(&self, of: Role, vector: u32) -> String {
        if matches!(self.kernel.walk, Walk::Words { .. }) {
            return "first >> 2u".into();
        }
        let i = self.index(vector);
        match of {
            Role::In(operand) if self.kernel.operands[operand].access == Access::Backward => {
                format!("{} - {i}", self.base(of, vector, None))
            }
            _ => self.base(of, vector, Some(i)),
        }
    }

    /// The addresses of all lanes.
    pub(super) fn addresses(&self, of: Role, vector: u32) -> String {
        match self.kernel.walk {
            Walk::Rows => {
                let inner = self.term(of, self.kernel.rank - 1, vector).unwrap_or("vec4<u32>(0u)".into());
                format!("({}) + {inner}", self.base(of, vector, None))
            }
            _ => {
                let terms = (0..self.kernel.rank).filter_map(|axis| self.term(of, axis, vector));
                self.sum(&self.path_name(of), terms)
            }
        }
    }

    /// Loads the two vectors around the elements of a shifted operand, and takes these.
    fn shifted(&mut self, i: usize, operand: &Operand, binding: usize) -> String {
        let name = self.path_name(Role::In(i));
        for (k, next) in ["", " + 1u"].into_iter().enumerate() {
            let word = format!("in{binding}[p.{name}_offset + i{next}]");
            line!(self.text, "    let w{i}_{k} = {};", unpack(operand.dtype, word));
        }
        let [low, high] = [format!("w{i}_0"), format!("w{i}_1")];
        let [half, all] = taken(operand.dtype, [&low, &high], &format!("h{i}_0"), &format!("p.{name}_rest"));
        line!(self.text, "    {half}");
        all
    }

    /// Loads the vectors around the elements of a stepped operand, and takes these.
    fn stepped(
        &mut self,
        i: usize,
        operand: &Operand,
        binding: usize,
        vector: u32,
        (step, first): (u32, u32),
    ) -> String {
        let own = self.value(Value::Input(i as u32), vector);
        let more = format!("{} * {step}u", self.index(vector));
        let base = self.base(Role::In(i), vector, Some(more));
        line!(self.text, "    let at_{own} = {base};");
        for k in 0..operand.access.loads() {
            let word = format!("in{binding}[at_{own} + {k}u]");
            line!(self.text, "    let w_{own}_{k} = {};", unpack(operand.dtype, word));
        }
        every(operand.dtype, &format!("w_{own}_"), step, first)
    }

    /// Loads an operand for a vector. A table is loaded by its lookups.
    pub(super) fn load(&mut self, i: usize, operand: &Operand, vector: u32) -> Result<()> {
        if !operand.computed.is_empty() {
            return Ok(());
        }
        let of = Role::In(i);
        let dtype = operand.dtype;
        let own = self.value(Value::Input(i as u32), vector);
        let value = match (operand.origin, operand.access) {
            (Origin::Scalar, _) => constant(dtype, &format!("p.scalar{i}")),
            (Origin::Row(_), _) => bail!(Kernel, "what a reduction gives is no load"),
            (Origin::Index, Access::Strided) => format!("vec4<i32>({})", self.addresses(of, vector)),
            (Origin::Index, Access::Vector) => {
                format!("vec4<i32>(({}) * {LANES}u + vec4<u32>(0u, 1u, 2u, 3u))", self.vector(of, vector))
            }
            (Origin::Index, _) => format!("vec4<i32>(i32({}))", self.base(of, vector, None)),
            (_, Access::Joined { .. }) => {
                let word = format!("t{i}.{}", joined_part(dtype, vector));
                decode(dtype, unpack(dtype, word))
            }
            (_, Access::Interleaved) => {
                decode(dtype, every(dtype, &format!("t{i}_"), self.kernel.vectors, vector))
            }
            (Origin::Binding(binding), Access::Stepped { step, first, .. }) => {
                decode(dtype, self.stepped(i, operand, binding, vector, (step.into(), first.into())))
            }
            (Origin::Binding(_), Access::Near { .. }) => decode(dtype, self.near(dtype, operand.access)),
            (Origin::Binding(binding), Access::Shifted) => decode(dtype, self.shifted(i, operand, binding)),
            (Origin::Output, Access::Stepped { .. } | Access::Shifted) => {
                bail!(Kernel, "{:?} of the output's own binding", operand.access)
            }
            (place, access) => {
                let array = array_of(place);
                let word = |at: &str| format!("{array}[{at}]");
                let at = format!("at_{own}");
                let raw = match (access, packed(dtype)) {
                    (Access::Vector | Access::Backward, _) => {
                        let vector = unpack(dtype, word(&self.vector(of, vector)));
                        if access == Access::Backward { format!("{vector}.wzyx") } else { vector }
                    }
                    (Access::Splat, None) => {
                        format!("{}({})", lanes(dtype), word(&self.base(of, vector, None)))
                    }
                    (Access::Splat, Some((suffix, shift))) => {
                        line!(self.text, "    let {at} = {};", self.base(of, vector, None));
                        let word = word(&format!("{at} >> {shift}u"));
                        format!("vec4<u32>(part_{suffix}({word}, {at}))")
                    }
                    (_, _) => {
                        line!(self.text, "    let {at} = {};", self.addresses(of, vector));
                        gather(dtype, &array, &at)
                    }
                };
                decode(dtype, raw)
            }
        };
        line!(self.text, "    let {own} = {value};");
        Ok(())
    }

    /// The elements of a table at computed indices, all of which are inside of it.
    pub(super) fn lookup(&mut self, value: Value, step: &Step, vector: u32) -> Result<String> {
        let Some((&Value::Input(table), indices)) = step.args.split_first() else {
            bail!(Kernel, "a lookup without a table")
        };
        let (i, of) = (table as usize, Role::In(table as usize));
        let operand = &self.kernel.operands[i];
        let indices = indices.iter().map(|&index| self.value(index, vector));
        let at = format!("at_{}", self.value(value, vector));
        let (address, found) = match operand.access {
            Access::LookupRow => {
                let indices = indices.map(|index| format!("{index}.x"));
                let word = format!("{}[{at}]", binding(self.kernel, i)?);
                let found = decode(operand.dtype, unpack(operand.dtype, word));
                (address(i, operand, self.vector(of, vector), "u32", indices), found)
            }
            _ => by_lanes(self.kernel, i, (self.addresses(of, vector), &at), indices)?,
        };
        line!(self.text, "    let {at} = {address};");
        Ok(found)
    }
}
