//! Texts of kernels that are files (`shaders/kernels`). A file is WGSL with directives, each on a line of its own, and holes:
//!
//! - `#if name`, `#if !name`, `#else`, `#endif`: the lines between, if a fact holds.
//! - `{name}`: a number, or text of the program's own.
//!
//! Comments of a file are left out of kernels.

use crate::error::{Result, bail};

/// What a file's directives and holes stand for.
#[derive(Default)]
pub(super) struct Filling {
    facts: Vec<(&'static str, bool)>,
    holes: Vec<(&'static str, String)>,
}

impl Filling {
    /// With a fact.
    pub(super) fn when(mut self, name: &'static str, holds: bool) -> Self {
        self.facts.push((name, holds));
        self
    }

    /// With a number or a text.
    pub(super) fn with(mut self, name: &'static str, value: impl ToString) -> Self {
        self.holes.push((name, value.to_string()));
        self
    }

    fn holds(&self, name: &str) -> Result<bool> {
        let (own, is) = name.strip_prefix('!').map_or((name, true), |own| (own, false));
        match self.facts.iter().find(|(known, _)| *known == own) {
            Some((_, holds)) => Ok(*holds == is),
            None => bail!(Kernel, "a template asks for {own:?}, which nothing says"),
        }
    }

    /// Writes a file's lines.
    pub(super) fn fill(&self, text: &mut String, file: &str) -> Result<()> {
        let mut conditions: Vec<bool> = Vec::new();
        let is_code = |line: &&str| !line.trim_start().starts_with("//");
        for line in file.lines().filter(is_code).skip_while(|line| line.is_empty()) {
            match (line.strip_prefix("#if "), line) {
                (Some(name), _) => conditions.push(self.holds(name)?),
                (_, "#else") => conditions.last_mut().into_iter().for_each(|holds| *holds = !*holds),
                (_, "#endif") => conditions.truncate(conditions.len().saturating_sub(1)),
                _ if conditions.contains(&false) => {}
                _ => self.line(text, line)?,
            }
        }
        Ok(())
    }

    /// Writes a line with its holes filled. A line that is a hole alone takes any number of lines.
    fn line(&self, text: &mut String, line: &str) -> Result<()> {
        // A line that is an empty hole is none.
        let is_empty = |(name, value): &(&str, String)| {
            value.is_empty() && line.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) == Some(name)
        };
        if self.holes.iter().any(is_empty) {
            return Ok(());
        }
        let mut rest = line;
        while let Some((before, after)) = rest.split_once('{') {
            text.push_str(before);
            let name = after.split_once('}').filter(|(name, _)| is_name(name));
            let Some((name, behind)) = name else {
                text.push('{');
                rest = after;
                continue;
            };
            match self.holes.iter().find(|(known, _)| *known == name) {
                Some((_, value)) => text.push_str(value),
                None => bail!(Kernel, "a template has a hole {name:?}, which nothing fills"),
            }
            rest = behind;
        }
        text.push_str(rest);
        text.push('\n');
        Ok(())
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::Filling;

    #[test]
    fn conditions_and_holes() {
        let file = "// A comment.\n\n#if a\nif (x) { y({n}u); }\n#if !b\n{own}\n#else\nno\n#endif\n#else\nno\n#endif\n";
        let filling = Filling::default().when("a", true).when("b", false).with("n", 3).with("own", "1;\n2;");
        let mut text = String::new();
        filling.fill(&mut text, file).unwrap();
        assert_eq!(text, "if (x) { y(3u); }\n1;\n2;\n");
        let error = Filling::default().fill(&mut text, "#if c").unwrap_err();
        assert!(error.message().contains("\"c\""), "{error}");
        assert!(Filling::default().fill(&mut text, "{n}").unwrap_err().message().contains("\"n\""));
    }
}
