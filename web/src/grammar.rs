//! The language of the playground: expressions as Python writes them, and operands such as `a = f32[2, 3]`.
//!
//! ```text
//! expression  comparison of sums, products, powers: == != < <= > >= | ^ & << >> + - * / // % **
//! before      - ~ ! +
//! behind      .T  [1:, ::-1, None]
//! and         numbers  names  name(expression, ...)  (expression)
//! ```
//!
//! The grammar knows no operations: an operator is a call of its op, and names are resolved when the expression is
//! built.

use std::ops::Range;

/// A mistake in a text, with its columns in characters, counted from 0.
#[derive(Debug)]
pub(crate) struct Mistake {
    pub text: String,
    pub at: Range<usize>,
}

pub(crate) type Result<T> = std::result::Result<T, Mistake>;

/// A part of an expression, with its columns.
#[derive(Clone, Debug)]
pub(crate) struct Term {
    pub what: What,
    pub at: Range<usize>,
}

#[derive(Clone, Debug)]
pub(crate) enum What {
    /// A number, whole if it is written so.
    Whole(i64),
    Number(f64),
    Name(String),
    /// An operation over operands, with the columns of an operator.
    Call(String, Vec<Term>),
    /// A view with the last two axes exchanged.
    Transposed(Box<Term>),
    Sliced(Box<Term>, Vec<Index>),
}

/// The index of an axis between brackets.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Index {
    At(i64),
    Steps(Option<i64>, Option<i64>, i64),
    /// A new axis, written `None`.
    New,
}

/// The longest text, and the deepest nesting: a page's stack is small.
const LONGEST: usize = 1000;
const DEEPEST: usize = 60;

/// Binary operators and their ops, from the weakest binding on.
const LEVELS: [&[(&str, &str)]; 7] = [
    &[("==", "eq"), ("!=", "ne"), ("<=", "le"), (">=", "ge"), ("<", "lt"), (">", "gt")],
    &[("|", "or")],
    &[("^", "xor")],
    &[("&", "and")],
    &[("<<", "shl"), (">>", "shr")],
    &[("+", "add"), ("-", "sub")],
    &[("//", "div_floor"), ("*", "mul"), ("/", "div"), ("%", "rem")],
];

const BEFORE: [(char, &str); 4] = [('-', "neg"), ('~', "not"), ('!', "not"), ('+', "positive")];

/// Reads an expression.
pub(crate) fn expression(text: &str) -> Result<Term> {
    let mut reader = Reader::new(text)?;
    let term = reader.level(0)?;
    reader.ends()?;
    Ok(term)
}

/// An operand's declaration: its name, the name of its type, and its shape.
pub(crate) struct Declared {
    pub name: String,
    pub dtype: String,
    pub shape: Vec<usize>,
}

/// Reads operands such as `a = f32[2, 3]`, separated by lines or semicolons. The default type is f32.
pub(crate) fn operands(text: &str) -> Result<Vec<Declared>> {
    let mut reader = Reader::new(text)?;
    let mut all: Vec<Declared> = Vec::new();
    loop {
        while reader.takes(";") {}
        if reader.is_done() {
            return Ok(all);
        }
        let start = reader.at;
        let name = reader.word().ok_or_else(|| reader.wants("a name, as in a = f32[2, 3]"))?;
        if all.iter().any(|other| other.name == name) {
            return Err(Mistake { text: format!("{name} is declared twice"), at: start..reader.at });
        }
        if !reader.takes("=") {
            return Err(reader.wants(&format!("= behind {name}")));
        }
        let dtype = reader.word().unwrap_or("f32".into());
        if !reader.takes("[") {
            return Err(reader.wants("a shape, as [2, 3]"));
        }
        let mut shape = Vec::new();
        while !reader.takes("]") {
            reader.spaces();
            let start = reader.at;
            let Some(length) = reader.whole()? else { return Err(reader.wants("a length or ]")) };
            let at = start..reader.at;
            // A page's lengths have 32 bits.
            let wrong = |_| {
                let text = format!("{length} is no length: lengths are from 0 to {}", usize::MAX);
                Mistake { text, at }
            };
            shape.push(usize::try_from(length).map_err(wrong)?);
            if !reader.takes(",") && reader.next() != Some(']') {
                return Err(reader.wants(", or ]"));
            }
        }
        all.push(Declared { name, dtype, shape });
        reader.blanks();
        if !reader.is_done() && !matches!(reader.text.get(reader.at), Some(';' | '\n')) {
            return Err(reader.wants("; or a new line"));
        }
    }
}

struct Reader {
    text: Vec<char>,
    at: usize,
    depth: usize,
}

impl Reader {
    fn new(text: &str) -> Result<Reader> {
        let text: Vec<char> = text.chars().collect();
        match text.len() {
            0..=LONGEST => Ok(Reader { text, at: 0, depth: 0 }),
            n => {
                let text = format!("{n} characters, and {LONGEST} are read at most");
                Err(Mistake { text, at: LONGEST..n })
            }
        }
    }

    /// Skips blanks on a line.
    fn blanks(&mut self) {
        while self.text.get(self.at).is_some_and(|c| *c != '\n' && c.is_whitespace()) {
            self.at += 1;
        }
    }

    fn spaces(&mut self) {
        while self.text.get(self.at).is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
    }

    fn is_done(&mut self) -> bool {
        self.spaces();
        self.at == self.text.len()
    }

    fn next(&mut self) -> Option<char> {
        self.spaces();
        self.text.get(self.at).copied()
    }

    fn takes(&mut self, sign: &str) -> bool {
        self.spaces();
        let is_here = self.text[self.at..].iter().copied().take(sign.len()).eq(sign.chars());
        if is_here {
            self.at += sign.len();
        }
        is_here
    }

    fn wants(&mut self, what: &str) -> Mistake {
        self.spaces();
        let (found, end) = match self.text.get(self.at) {
            Some(c) => (format!("'{c}'"), self.at + 1),
            None => ("the end".into(), self.at),
        };
        Mistake { text: format!("{found} stands where {what} is needed"), at: self.at..end }
    }

    fn ends(&mut self) -> Result<()> {
        if self.is_done() { Ok(()) } else { Err(self.wants("an operator or the end")) }
    }

    fn word(&mut self) -> Option<String> {
        self.next().filter(|c| c.is_alphabetic() || *c == '_')?;
        let start = self.at;
        while self.text.get(self.at).is_some_and(|c| c.is_alphanumeric() || *c == '_') {
            self.at += 1;
        }
        Some(self.text[start..self.at].iter().collect())
    }

    /// A whole number, with its sign.
    fn whole(&mut self) -> Result<Option<i64>> {
        self.spaces();
        let start = self.at;
        self.takes("-");
        while self.text.get(self.at).is_some_and(char::is_ascii_digit) {
            self.at += 1;
        }
        let digits: String = self.text[start..self.at].iter().filter(|c| !c.is_whitespace()).collect();
        match digits.parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) if digits.len() > 1 => {
                Err(Mistake { text: format!("{digits} is too large"), at: start..self.at })
            }
            Err(_) => {
                self.at = start;
                Ok(None)
            }
        }
    }

    /// One level deeper.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == DEEPEST {
            let text = format!("parts lie more than {DEEPEST} deep in each other");
            return Err(Mistake { text, at: self.at..self.at + 1 });
        }
        self.depth += 1;
        let read = read(self)?;
        self.depth -= 1;
        Ok(read)
    }

    /// Operators of a level and of stronger ones.
    fn level(&mut self, level: usize) -> Result<Term> {
        let Some(operators) = LEVELS.get(level) else { return self.before() };
        let mut left = self.level(level + 1)?;
        loop {
            self.spaces();
            let start = self.at;
            let Some((_, name)) = operators.iter().find(|(sign, _)| self.operator(sign)) else {
                return Ok(left);
            };
            let at = start..self.at;
            let right = self.level(level + 1)?;
            left = Term { what: What::Call(name.to_string(), vec![left, right]), at };
        }
    }

    /// An operator, and not the begin of a longer one.
    fn operator(&mut self, sign: &str) -> bool {
        let start = self.at;
        if !self.takes(sign) {
            return false;
        }
        let next = self.text.get(self.at);
        let is_longer = matches!((sign, next), ("*", Some('*')) | ("<", Some('<')) | (">", Some('>')));
        if is_longer {
            self.at = start;
        }
        !is_longer
    }

    fn before(&mut self) -> Result<Term> {
        let Some(sign) = self.next() else { return self.power() };
        let Some((_, name)) = BEFORE.iter().find(|(own, _)| *own == sign) else { return self.power() };
        let start = self.at;
        self.at += 1;
        let operand = self.deeper(Self::before)?;
        let what = match (sign, operand.what) {
            ('-', What::Whole(number)) => What::Whole(-number),
            ('-', What::Number(number)) => What::Number(-number),
            (_, what) => What::Call(name.to_string(), vec![Term { what, at: operand.at }]),
        };
        Ok(Term { what, at: start..start + 1 })
    }

    fn power(&mut self) -> Result<Term> {
        let base = self.behind()?;
        self.spaces();
        let start = self.at;
        if !self.takes("**") {
            return Ok(base);
        }
        // Right-associative: 2 ** 3 ** 2 is 2 ** 9.
        let exponent = self.deeper(Self::before)?;
        Ok(Term { what: What::Call("pow".into(), vec![base, exponent]), at: start..start + 2 })
    }

    /// Views behind a part.
    fn behind(&mut self) -> Result<Term> {
        let mut term = self.deeper(Self::part)?;
        loop {
            self.spaces();
            let start = self.at;
            if self.takes(".") {
                match self.word().as_deref() {
                    Some("T") => term = Term { what: What::Transposed(term.into()), at: start..self.at },
                    _ => {
                        return Err(Mistake {
                            text: "behind a dot only T is known".into(),
                            at: start..self.at,
                        });
                    }
                }
            } else if self.takes("[") {
                let indexes = self.indexes()?;
                term = Term { what: What::Sliced(term.into(), indexes), at: start..self.at };
            } else {
                return Ok(term);
            }
        }
    }

    fn indexes(&mut self) -> Result<Vec<Index>> {
        let mut all = Vec::new();
        loop {
            let first = self.whole()?;
            let index = if self.takes(":") {
                let end = self.whole()?;
                let step = if self.takes(":") { self.whole()? } else { None };
                Index::Steps(first, end, step.unwrap_or(1))
            } else if let Some(at) = first {
                Index::At(at)
            } else if self.word().is_some_and(|word| word == "None") {
                Index::New
            } else {
                return Err(self.wants("an index, as 1, 1:3, ::2 or None,"));
            };
            all.push(index);
            if self.takes("]") {
                return Ok(all);
            }
            if !self.takes(",") {
                return Err(self.wants(", or ]"));
            }
        }
    }

    fn part(&mut self) -> Result<Term> {
        let next = self.next();
        let start = self.at;
        if self.takes("(") {
            let inner = self.level(0)?;
            if !self.takes(")") {
                return Err(self.wants(")"));
            }
            return Ok(inner);
        }
        if next.is_some_and(|c| c.is_ascii_digit() || c == '.') {
            return self.number();
        }
        let Some(name) = self.word() else { return Err(self.wants("a name, a number or (")) };
        let end = self.at;
        if !self.takes("(") {
            return Ok(Term { what: What::Name(name), at: start..end });
        }
        let mut operands = Vec::new();
        while !self.takes(")") {
            operands.push(self.level(0)?);
            if !self.takes(",") && self.next() != Some(')') {
                return Err(self.wants(", or )"));
            }
        }
        Ok(Term { what: What::Call(name, operands), at: start..end })
    }

    fn number(&mut self) -> Result<Term> {
        let start = self.at;
        let mut digits = String::new();
        while let Some(&c) = self.text.get(self.at) {
            let is_sign = matches!(c, '+' | '-') && digits.ends_with(['e', 'E']);
            if !(c.is_ascii_digit() || c == '.' || matches!(c, 'e' | 'E') || is_sign) {
                break;
            }
            digits.push(c);
            self.at += 1;
        }
        let what = match (digits.parse(), digits.parse()) {
            (Ok(whole), _) => What::Whole(whole),
            (_, Ok(number)) => What::Number(number),
            _ => return Err(Mistake { text: format!("{digits} is no number"), at: start..self.at }),
        };
        Ok(Term { what, at: start..self.at })
    }
}
