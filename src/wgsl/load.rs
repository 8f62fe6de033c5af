//! The addresses of a kernel's lanes, and the loads and lookups from them.

use super::emitter::Emitter;
use super::gather::{address, array_of, by_lanes, gather};
use super::near::{every, taken};
use super::text::{EACH, line, role};
use super::types::{constant, decode, joined_part, packed, splat, turned, unpack};
use crate::error::{Result, bail};
use crate::ir::{Step, Value};
use crate::plan::{Access, LANES, Operand, Origin, Role, Stride, Walk};

impl Emitter<'_> {
    /// The loads that serve several rows or vectors: of all vectors at once, or of four pixels for all of their channels,
    /// where `t0_0` has the first four elements.
    pub(super) fn load_rows(&mut self, i: usize, operand: &Operand) {
        let (array, of) = (array_of(operand), Role::In(i));
        if operand.access != Access::Interleaved {
            line!(self.text, "    let t{i} = {array}[{}];", self.vector(of, 0));
            return;
        }
        let outer = (0..self.code.rank - 2).filter_map(|axis| self.term(of, axis, 0));
        let base = self.sum(&self.path_name(of), outer);
        for k in 0..self.vectors {
            let word = format!("{array}[{base} + id.x * {}u + {k}u]", self.vectors);
            line!(self.text, "    let t{i}_{k} = {};", unpack(operand.dtype, word));
        }
    }

    /// The coordinate of a vector on an axis, which vectors may share.
    fn coordinate(&self, axis: usize, vector: u32) -> String {
        let inner = self.code.rank - 1;
        match self.code.walk {
            Walk::Rows if axis == inner => "lane".into(),
            Walk::Rows if axis + 1 < inner => format!("c{axis}"),
            Walk::Bands if axis == inner => format!("c{axis}"),
            _ => format!("c{axis}{}", self.suffix(vector)),
        }
    }

    /// The term of an axis in the addresses of a tensor.
    pub(super) fn term(&self, of: Role, axis: usize, vector: u32) -> Option<String> {
        let coordinate = self.coordinate(axis, vector);
        match self.code.stride(of, axis) {
            Stride::Zero => None,
            Stride::One => Some(coordinate),
            Stride::Any => Some(format!("{coordinate} * p.{}_stride{axis}", self.path_name(of))),
        }
    }

    /// The prefix of a path's words.
    pub(super) fn path_name(&self, of: Role) -> String {
        match of {
            Role::In(i) => role(self.code.operands[i].walks_as),
            Role::Out => role(of),
        }
    }

    /// A sum of terms after an offset, unless the offset is known to be 0.
    pub(super) fn sum(&self, name: &str, terms: impl Iterator<Item = String>) -> String {
        let offset = (name != "out" || !self.fresh).then(|| format!("p.{name}_offset"));
        let terms: Vec<String> = offset.into_iter().chain(terms).collect();
        if terms.is_empty() { "0u".into() } else { terms.join(" + ") }
    }

    /// The address at the begin of a vector's row, and the term to add.
    pub(super) fn base(&self, of: Role, vector: u32, more: Option<String>) -> String {
        let name = self.path_name(of);
        let rows = if self.code.walk == Walk::Rows { self.code.rank - 1 } else { 0 };
        self.sum(&name, (0..rows).filter_map(|axis| self.term(of, axis, vector)).chain(more))
    }

    /// The number of a vector along its walk.
    fn index(&self, vector: u32) -> String {
        match self.code.walk {
            Walk::Rows => self.column.into(),
            _ => format!("i{}", self.suffix(vector)),
        }
    }

    /// The address of a vector, for accesses whose words count vectors.
    pub(super) fn vector(&self, of: Role, vector: u32) -> String {
        if matches!(self.code.walk, Walk::Words { .. }) {
            return "first >> 2u".into();
        }
        let i = self.index(vector);
        match of {
            Role::In(operand) if self.code.operands[operand].access == Access::Backward => {
                format!("{} - {i}", self.base(of, vector, None))
            }
            _ => self.base(of, vector, Some(i)),
        }
    }

    /// The addresses of all lanes.
    pub(super) fn addresses(&self, of: Role, vector: u32) -> String {
        match self.code.walk {
            Walk::Rows => {
                let inner = self.term(of, self.code.rank - 1, vector).unwrap_or("vec4<u32>(0u)".into());
                format!("({}) + {inner}", self.base(of, vector, None))
            }
            _ => {
                let terms = (0..self.code.rank).filter_map(|axis| self.term(of, axis, vector));
                self.sum(&self.path_name(of), terms)
            }
        }
    }

    /// Loads the two vectors around the elements of a shifted operand, and takes these.
    fn shifted(&mut self, i: usize, operand: &Operand) -> String {
        let (array, name) = (array_of(operand), self.path_name(Role::In(i)));
        for (k, next) in ["", " + 1u"].into_iter().enumerate() {
            let word = format!("{array}[p.{name}_offset + i{next}]");
            line!(self.text, "    let w{i}_{k} = {};", unpack(operand.dtype, word));
        }
        let [low, high] = [format!("w{i}_0"), format!("w{i}_1")];
        let [half, all] = taken(operand.dtype, [&low, &high], &format!("h{i}_0"), &format!("p.{name}_rest"));
        line!(self.text, "    {half}");
        all
    }

    /// Loads the vectors around elements of an operand, `step` apart, and takes these.
    fn stepped(&mut self, i: usize, operand: &Operand, vector: u32, (step, first): (u32, u32)) -> String {
        let (array, own) = (array_of(operand), self.value(Value::Input(i as u32), vector));
        let more = format!("{} * {step}u", self.index(vector));
        let base = self.base(Role::In(i), vector, Some(more));
        line!(self.text, "    let at_{own} = {base};");
        for k in 0..operand.access.loads() {
            let word = format!("{array}[at_{own} + {k}u]");
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
        let value = match (operand.origin, operand.access) {
            (Origin::Scalar, _) => constant(operand.dtype, &format!("p.scalar{i}")),
            (Origin::Row(_), _) => bail!(Kernel, "what a reduction gives is no load"),
            (Origin::Index, Access::Strided) => format!("vec4<i32>({})", self.addresses(of, vector)),
            (Origin::Index, Access::Vector) => {
                format!("vec4<i32>(({}) * {LANES}u + {EACH})", self.vector(of, vector))
            }
            (Origin::Index, _) => format!("vec4<i32>(i32({}))", self.base(of, vector, None)),
            _ => decode(operand.dtype, self.elements_of(i, operand, vector)),
        };
        line!(self.text, "    let {} = {value};", self.value(Value::Input(i as u32), vector));
        Ok(())
    }

    /// The elements of an operand for a vector, as they lie in memory.
    fn elements_of(&mut self, i: usize, operand: &Operand, vector: u32) -> String {
        let (of, dtype, array) = (Role::In(i), operand.dtype, array_of(operand));
        let word = |at: &str| format!("{array}[{at}]");
        let at = format!("at_{}", self.value(Value::Input(i as u32), vector));
        match (operand.access, packed(dtype)) {
            (Access::Joined { .. }, _) => unpack(dtype, format!("t{i}.{}", joined_part(dtype, vector))),
            (Access::Interleaved, _) => every(dtype, &format!("t{i}_"), self.vectors, vector),
            (Access::Stepped { step, first, .. }, _) => {
                self.stepped(i, operand, vector, (step.into(), first.into()))
            }
            (Access::Near { .. }, _) => self.near(dtype, operand.access),
            (Access::Shifted, _) => self.shifted(i, operand),
            (Access::Vector, _) => unpack(dtype, word(&self.vector(of, vector))),
            (Access::Backward, _) => turned(dtype, &unpack(dtype, word(&self.vector(of, vector))), "wzyx"),
            (Access::Splat, None) => splat(dtype, &word(&self.base(of, vector, None))),
            (Access::Splat, Some((suffix, shift))) => {
                line!(self.text, "    let {at} = {};", self.base(of, vector, None));
                format!("vec4<u32>(part_{suffix}({}, {at}))", word(&format!("{at} >> {shift}u")))
            }
            _ => {
                line!(self.text, "    let {at} = {};", self.addresses(of, vector));
                gather(dtype, &array, &at)
            }
        }
    }

    /// The elements of a table at computed indices, all of which are inside of it.
    pub(super) fn lookup(&mut self, value: Value, step: &Step, vector: u32) -> Result<String> {
        let Some((&Value::Input(table), indices)) = step.args.split_first() else {
            bail!(Kernel, "a lookup without a table")
        };
        let (i, of) = (table as usize, Role::In(table as usize));
        let operand = &self.code.operands[i];
        let indices = indices.iter().map(|&index| self.value(index, vector));
        let at = format!("at_{}", self.value(value, vector));
        let (address, found) = match operand.access {
            Access::LookupRow => {
                let indices = indices.map(|index| format!("{index}.x"));
                let word = format!("{}[{at}]", array_of(operand));
                let found = decode(operand.dtype, unpack(operand.dtype, word));
                (address(i, operand, self.vector(of, vector), "u32", indices), found)
            }
            _ => by_lanes(i, operand, (self.addresses(of, vector), &at), indices),
        };
        line!(self.text, "    let {at} = {address};");
        Ok(found)
    }
}
