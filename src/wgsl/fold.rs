//! What kernels that fold have in common: coordinates, and how results are stored.

use super::emitter::Emitter;
use super::text::{EACH, line, result};
use super::types::{encode, pack};
use super::values::Values;
use crate::dtype::DType;
use crate::plan::{Folder, LANES, Lanes, Role, Store, Stored};

impl Emitter<'_> {
    /// The types of coordinates.
    pub(super) fn place(&self, folder: &Folder) -> &'static str {
        if folder.lanes == Lanes::Anywhere { "vec4<u32>" } else { "u32" }
    }

    /// The coordinates that a body takes beside the place in the run.
    pub(super) fn kept(&self, folder: &Folder) -> Vec<String> {
        let lane = |axis: usize| folder.lanes == Lanes::Kept && axis + 1 == self.kernel.rank;
        let kept = (0..self.kernel.rank).filter(|&axis| folder.keeps(axis));
        kept.map(|axis| if lane(axis) { "x".to_string() } else { format!("c{axis}") }).collect()
    }

    /// Elements at a place where lanes lie along what is walked.
    pub(super) fn pitch(&self) -> u32 {
        LANES as u32 * self.kernel.vectors
    }

    /// Where a vector is that is stored by itself, counted in vectors, of those that belong together at `place`.
    pub(super) fn place_of_vector(&self, place: &str, vector: u32) -> String {
        match self.kernel.vectors {
            1 => place.into(),
            n => format!("{place} * {n}u + {vector}u"),
        }
    }

    /// The lines that say which lanes of what is loaded at `at`, a place of this type, are in the run.
    pub(super) fn exists(&mut self, lanes: Lanes, place: &str) {
        let pitch = self.pitch();
        for vector in 0..self.kernel.vectors {
            let exists = match (lanes, vector * LANES as u32) {
                (Lanes::Run, 0) => format!("(at * {pitch}u + {EACH}) < vec4<u32>(p.run)"),
                (Lanes::Run, lane) => format!("(at * {pitch}u + {lane}u + {EACH}) < vec4<u32>(p.run)"),
                _ if place == "u32" => "vec4<bool>(at < p.run)".to_string(),
                _ => format!("at < {place}(p.run)"),
            };
            line!(self.text, "    let exists{} = {exists};", self.suffix(vector));
        }
    }

    /// What is stored of the values of a vector, in the type in which it is.
    pub(super) fn stored(&self, values: &Values, stored: Stored, value: &str, vector: u32) -> String {
        match stored {
            Stored::Index(i) => format!("{value}.at{i}"),
            Stored::Value(i) => {
                let i = values.number(i, vector, self.kernel.vectors);
                let part = &values.parts()[i];
                let own = part.given(format!("{value}.v{i}"));
                if part.element == DType::Bool { encode(DType::Bool, &own) } else { own }
            }
        }
    }

    /// The sum of an address, of the coordinates that are kept and of `more`.
    fn stored_address(&self, folder: &Folder, axes: usize, more: &str) -> String {
        let kept = (0..axes).filter(|&axis| folder.keeps(axis));
        let terms = kept.filter_map(|axis| self.term(Role::Out, axis, 0));
        terms.chain([more.to_string()]).collect::<Vec<_>>().join(" + ")
    }

    /// Stores values whose lanes lie along a kept axis.
    pub(super) fn store_values(&mut self, folder: &Folder, values: &Values, value: &str, more: &str) {
        let kernel = self.kernel;
        let (inner, indent) = (kernel.rank - 1, "    ");
        for (k, &stored) in folder.stored.iter().enumerate() {
            let array = result(k);
            if kernel.store == Store::Vector {
                let at = self.stored_address(folder, inner, more);
                for vector in 0..kernel.vectors {
                    let x = self.place_of_vector("x", vector);
                    let text = self.stored(values, stored, value, vector);
                    let packed = pack(folder.stored_type(stored), kernel.wide_words, text);
                    line!(self.text, "{indent}{array}[{at} + {x}] = {packed};");
                }
                continue;
            }
            let text = self.stored(values, stored, value, 0);
            let at = self.stored_address(folder, kernel.rank, more);
            line!(self.text, "{indent}let place{k} = vec4<u32>({at});");
            line!(self.text, "{indent}let value{k} = {text};");
            line!(self.text, "{indent}{array}[place{k}.x] = value{k}.x;");
            for (n, c) in "xyzw".chars().enumerate().skip(1) {
                let store = format!("{array}[place{k}.{c}] = value{k}.{c};");
                line!(self.text, "{indent}if (first + {n}u < p.len{inner}) {{ {store} }}");
            }
        }
    }
}
