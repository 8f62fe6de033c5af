//! The table of routines: what moves elements and what makes tensors, called by name with arguments beside operands, as
//! bindings and files of expressions do.

use std::panic::Location;

use super::{AnyExpr, Expr, Outside, Pad, Scalar};
use crate::dtype::{DType, bf16, f16};
use crate::error::{Error, ErrorKind, Result, bail};
use crate::layout::Shape;

/// What a routine takes beside its operands.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Argument {
    /// A number, a truth value or an axis.
    Number(Scalar),
    /// Whole numbers: a shape, axes, one for each axis.
    Numbers(Vec<i64>),
    /// One of several words, or the name of a type.
    Word(String),
    /// A type of elements.
    Type(DType),
}

macro_rules! numbers {
    ($($t:ident)*) => {$(
        impl From<$t> for Argument {
            fn from(value: $t) -> Argument {
                Argument::Number(value.into())
            }
        }
    )*};
}
numbers!(Scalar bool i8 i16 i32 i64 i128 u8 u16 u32 u64 f16 bf16 f32 f64);

impl From<Vec<i64>> for Argument {
    fn from(values: Vec<i64>) -> Argument {
        Argument::Numbers(values)
    }
}

impl<const N: usize> From<[i64; N]> for Argument {
    fn from(values: [i64; N]) -> Argument {
        Argument::Numbers(values.into())
    }
}

impl From<&str> for Argument {
    fn from(word: &str) -> Argument {
        Argument::Word(word.into())
    }
}

impl From<DType> for Argument {
    fn from(dtype: DType) -> Argument {
        Argument::Type(dtype)
    }
}

/// What moves elements or makes tensors: lookups, joins, borders, coordinates and random numbers.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Routine {
    /// The name of the method on [`AnyExpr`].
    pub name: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// How many operands it takes at least and at most.
    pub operands: (usize, usize),
    /// The names of its arguments.
    pub arguments: &'static [&'static str],
    /// The names of those that may be left out.
    pub optional: &'static [&'static str],
}

/// Every routine.
///
/// ```
/// let pad = zerostride::routines().find(|routine| routine.name == "pad").unwrap();
/// assert_eq!((pad.operands, pad.arguments, pad.optional), ((1, 1), &["widths"][..], &["border"][..]));
/// ```
pub fn routines() -> impl Iterator<Item = Routine> {
    ROUTINES.iter().copied()
}

impl AnyExpr {
    /// The routine called `name` of some operands, with arguments by their names.
    ///
    /// A wrong name, number of operands or argument is kept as the expression's mistake.
    ///
    /// ```
    /// use zerostride::{AnyExpr, Device};
    ///
    /// let x = AnyExpr::from(Device::cpu().upload(&[1, 2, 3], [3])?);
    /// let padded = AnyExpr::routine("pad", &[x.clone()], &[("widths", [1, 2].into()), ("border", "edge".into())]);
    /// assert_eq!(padded.to_vec::<i32>()?, [1, 1, 2, 3, 3, 3]);
    ///
    /// let index = AnyExpr::routine("arange", &[], &[("type", "i32".into()), ("end", 5.into())]);
    /// let found = AnyExpr::routine("at", &[x.clone(), index], &[("outside", (-1).into())]);
    /// assert_eq!(found.to_vec::<i32>()?, [1, 2, 3, -1, -1]);
    ///
    /// let error = AnyExpr::routine("roll", &[x], &[("shifts", [1].into())]).eval().unwrap_err();
    /// assert_eq!(error.message(), "roll takes shifts and axes, and got no axes");
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn routine(name: &str, operands: &[AnyExpr], arguments: &[(&str, Argument)]) -> AnyExpr {
        let at = Location::caller();
        let made = match routines().find(|routine| routine.name == name) {
            None => Err(Error::new(ErrorKind::Operation, format!("no routine is called '{name}'"))),
            Some(routine) => {
                let given = Given { routine, arguments };
                given.check(operands).and_then(|()| made(&given, operands))
            }
        };
        let mistake = match made {
            Ok(made) => match made.node() {
                Ok(_) => return made,
                Err(error) => error,
            },
            Err(error) => error,
        };
        let first = operands.iter().find_map(|operand| operand.node().err());
        AnyExpr::mistake(first.unwrap_or_else(|| mistake.of_call(at)))
    }
}

/// As many operands as there are.
const MANY: usize = usize::MAX;

macro_rules! routines {
    ($($(#[doc = $doc:literal])+ $name:ident($least:expr, $most:expr; $($argument:literal)*; $($optional:literal)*),
        |$x:ident, $given:ident| $body:expr;)*) => {
        const ROUTINES: &[Routine] = &[$(Routine {
            name: stringify!($name),
            doc: concat!($($doc),+).trim_ascii(),
            operands: ($least, $most),
            arguments: &[$($argument),*],
            optional: &[$($optional),*],
        }),*];

        /// A routine of operands, which are as many as it takes.
        #[track_caller]
        fn made(given: &Given<'_>, operands: &[AnyExpr]) -> Result<AnyExpr> {
            match given.routine.name {
                $(stringify!($name) => {
                    #[allow(unused_variables)] // by what takes no operands
                    let ($x, $given) = (operands, given);
                    Ok($body)
                })*
                name => bail!(Operation, "no routine is called '{name}'"),
            }
        }
    };
}

routines! {
    /// Elements of the first operand at indices, the others: one for each axis, which broadcast together.
    at(1, MANY; ; "outside"), |x, given| x[0].at_with(x[1..].iter().cloned(), given.outside()?);
    /// What lies at indices along an axis, in place of which their axes stand.
    take(2, 2; "axis"; "outside"), |x, given| x[0].take_with(&x[1], given.axis("axis")?, given.outside()?);
    /// Tensors next to each other along an axis.
    concat(1, MANY; "axis"; ), |x, given| AnyExpr::concat(x, given.axis("axis")?);
    /// Tensors of one shape along a new axis.
    stack(1, MANY; "axis"; ), |x, given| AnyExpr::stack(x, given.axis("axis")?);
    /// Borders before and after each axis, `widths` of both for one after the other: of a constant, 0 if none is
    /// given, or of elements by `edge`, `reflect` or `wrap`.
    pad(1, 1; "widths"; "border"), |x, given| x[0].pad(given.pairs("widths")?, given.border(x[0].dtype()?)?);
    /// Elements moved along axes, around the end.
    roll(1, 1; "shifts" "axes"; ), |x, given| x[0].roll(given.numbers("shifts")?, given.numbers("axes")?);
    /// All of it again and again, `times` along each axis.
    tile(1, 1; "times"; ), |x, given| x[0].tile(given.sizes("times")?);
    /// Each element so many times along an axis.
    repeat_interleave(1, 1; "times" "axis"; ),
        |x, given| x[0].repeat_interleave(given.size("times")?, given.axis("axis")?);
    /// Numbers in steps from a start, 0 if none is given, to before an end.
    arange(0, 0; "type" "end"; "start" "step"), |x, given| {
        let or = |name: &str, value: i32| given.number(name).map(|found| found.unwrap_or(value.into()));
        AnyExpr::arange(given.dtype()?, or("start", 0)?, or("end", 0)?, or("step", 1)?)
    };
    /// Floats equally far apart, the end included.
    linspace(0, 0; "type" "start" "end" "count"; ), |x, given| {
        let number = |name: &str| given.number(name).map(|found| found.unwrap_or(0.into()));
        AnyExpr::linspace(given.dtype()?, number("start")?, number("end")?, given.size("count")?)
    };
    /// Ones where both coordinates are the same, and zeros.
    eye(0, 0; "type" "rows" "columns"; ),
        |x, given| AnyExpr::eye(given.dtype()?, given.size("rows")?, given.size("columns")?);
    /// The coordinates along an axis of a shape, i32.
    coordinate(0, 0; "shape" "axis"; ), |x, given| AnyExpr::coordinate(given.shape()?, given.axis("axis")?);
    /// Random words of a key, u32: Philox4x32-10.
    random_bits(0, 0; "shape" "key"; ), |x, given| AnyExpr::random_bits(given.shape()?, given.key()?);
    /// Random floats from 0 to below 1.
    uniform(0, 0; "type" "shape" "key"; ),
        |x, given| AnyExpr::uniform(given.dtype()?, given.shape()?, given.key()?);
    /// Random numbers of the normal distribution, f32.
    normal(0, 0; "shape" "key"; ), |x, given| Expr::<f32>::normal(given.shape()?, given.key()?).into();
}

/// The arguments that a routine was given.
struct Given<'a> {
    routine: Routine,
    arguments: &'a [(&'a str, Argument)],
}

impl Given<'_> {
    /// Whether there are as many operands as the routine takes, and all of its arguments, and no others.
    fn check(&self, operands: &[AnyExpr]) -> Result<()> {
        let Routine { name, operands: (least, most), arguments, optional, .. } = self.routine;
        if !(least..=most).contains(&operands.len()) {
            let so_many = if most == MANY { format!("{least} or more") } else { least.to_string() };
            bail!(Operation, "{name} takes {so_many} operands and got {}", operands.len());
        }
        let all = || arguments.iter().chain(optional).copied();
        let list = all().collect::<Vec<_>>().join(" and ");
        if let Some(missing) = arguments.iter().find(|&&argument| self.find(argument).is_none()) {
            bail!(Operation, "{name} takes {list}, and got no {missing}");
        }
        if let Some((other, _)) = self.arguments.iter().find(|(other, _)| !all().any(|own| own == *other)) {
            bail!(Operation, "{name} takes {list}, and got '{other}'");
        }
        Ok(())
    }

    fn find(&self, name: &str) -> Option<&Argument> {
        self.arguments.iter().find(|(own, _)| *own == name).map(|(_, argument)| argument)
    }

    /// That an argument is none that the routine takes.
    fn mistake<T>(&self, name: &str, takes: &str) -> Result<T> {
        let got = match self.find(name) {
            Some(Argument::Number(Scalar::Bool(value))) => value.to_string(),
            Some(Argument::Number(Scalar::Int(value))) => value.to_string(),
            Some(Argument::Number(Scalar::Float(value))) => format!("{value:?}"),
            Some(Argument::Numbers(values)) => format!("{values:?}"),
            Some(Argument::Word(word)) => format!("'{word}'"),
            Some(Argument::Type(dtype)) => dtype.to_string(),
            None => "nothing".into(),
        };
        bail!(Operation, "{} of {} is {takes}, and was given as {got}", name, self.routine.name)
    }

    fn number(&self, name: &str) -> Result<Option<Scalar>> {
        match self.find(name) {
            None => Ok(None),
            Some(Argument::Number(value)) => Ok(Some(*value)),
            Some(_) => self.mistake(name, "a number"),
        }
    }

    fn whole<T: TryFrom<i128>>(&self, name: &str, takes: &str) -> Result<T> {
        let Some(Argument::Number(Scalar::Int(value))) = self.find(name) else {
            return self.mistake(name, takes);
        };
        T::try_from(*value).or_else(|_| self.mistake(name, takes))
    }

    fn axis(&self, name: &str) -> Result<isize> {
        self.whole(name, "the number of an axis")
    }

    fn size(&self, name: &str) -> Result<usize> {
        self.whole(name, "a whole number that is not negative")
    }

    fn key(&self) -> Result<u64> {
        self.whole("key", "a whole number of 64 bits")
    }

    /// Whole numbers; one alone may be given as it is.
    fn all<T: TryFrom<i64>>(&self, name: &str, takes: &str) -> Result<Vec<T>> {
        let one = |value: i128| i64::try_from(value).ok().map(|value| vec![value]);
        let values = match self.find(name) {
            Some(Argument::Numbers(values)) => Some(values.clone()),
            Some(Argument::Number(Scalar::Int(value))) => one(*value),
            _ => None,
        };
        let values = values.and_then(|values| values.into_iter().map(|n| T::try_from(n).ok()).collect());
        values.map_or_else(|| self.mistake(name, takes), Ok)
    }

    fn numbers(&self, name: &str) -> Result<Vec<isize>> {
        self.all(name, "a list of whole numbers")
    }

    fn sizes(&self, name: &str) -> Result<Vec<usize>> {
        self.all(name, "a list of whole numbers that are not negative")
    }

    fn shape(&self) -> Result<Shape> {
        Ok(Shape::from(self.sizes("shape")?))
    }

    fn pairs(&self, name: &str) -> Result<Vec<(usize, usize)>> {
        match self.sizes(name)?.as_chunks() {
            (pairs, []) => Ok(pairs.iter().map(|&[before, after]| (before, after)).collect()),
            _ => self.mistake(name, "two numbers for each axis"),
        }
    }

    fn dtype(&self) -> Result<DType> {
        let known = match self.find("type") {
            Some(Argument::Type(dtype)) => Some(*dtype),
            Some(Argument::Word(word)) => DType::ALL.into_iter().find(|dtype| dtype.name() == word),
            _ => None,
        };
        known.map_or_else(|| self.mistake("type", "a type of elements"), Ok)
    }

    fn outside(&self) -> Result<Outside> {
        match self.find("outside") {
            None => Ok(Outside::Nearest),
            Some(Argument::Number(value)) => Ok(Outside::Fill(*value)),
            Some(Argument::Word(word)) if word == "nearest" => Ok(Outside::Nearest),
            Some(Argument::Word(word)) if word == "wrapped" => Ok(Outside::Wrapped),
            Some(_) => self.mistake("outside", "'nearest', 'wrapped' or a value"),
        }
    }

    fn border(&self, of: DType) -> Result<Pad> {
        match self.find("border") {
            None if of == DType::Bool => Ok(Pad::constant(false)),
            None => Ok(Pad::constant(0)),
            Some(Argument::Number(value)) => Ok(Pad::Constant(*value)),
            Some(Argument::Word(word)) if word == "edge" => Ok(Pad::Edge),
            Some(Argument::Word(word)) if word == "reflect" => Ok(Pad::Reflect),
            Some(Argument::Word(word)) if word == "wrap" => Ok(Pad::Wrap),
            Some(_) => self.mistake("border", "'edge', 'reflect', 'wrap' or a value"),
        }
    }
}
