//! Lines of a kernel's text, and names in them.

use crate::plan::Role;

/// Writes a line of a kernel's text. Writing to a string cannot fail.
macro_rules! line {
    ($text:expr) => { $text.push('\n') };
    ($text:expr, $($line:tt)*) => {{
        let line = format!($($line)*);
        $text.push_str(&line);
        $text.push('\n');
    }};
}
pub(super) use line;

/// The lanes of a vector.
pub(super) const EACH: &str = "vec4<u32>(0u, 1u, 2u, 3u)";

pub(super) fn role(role: Role) -> String {
    match role {
        Role::Out => "out".into(),
        Role::In(i) => format!("x{i}"),
    }
}

/// The array of a result.
pub(super) fn result(i: usize) -> String {
    if i == 0 { "result".into() } else { format!("result{i}") }
}
