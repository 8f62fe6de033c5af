//! Texts of kernels that are files (`shaders/kernels`). A file is WGSL with directives, each on a line of its own, and holes:
//!
//! - `#if name`, `#if !name`, `#else`, `#endif`: the lines between are written if a fact holds.
//! - `{name}`: a number or a text. A hole that has a line of its own takes any number of lines, each as far from the margin.
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

    /// With lines.
    pub(super) fn with_lines(self, name: &'static str, lines: impl IntoIterator<Item = String>) -> Self {
        self.with(name, lines.into_iter().collect::<Vec<_>>().join("\n"))
    }

    fn holds(&self, name: &str) -> Result<bool> {
        let (own, is) = name.strip_prefix('!').map_or((name, true), |own| (own, false));
        match self.facts.iter().find(|(known, _)| *known == own) {
            Some((_, holds)) => Ok(*holds == is),
            None => bail!(Kernel, "a template asks for {own:?}, which nothing says"),
        }
    }

    fn value(&self, name: &str) -> Result<&str> {
        match self.holes.iter().find(|(known, _)| *known == name) {
            Some((_, value)) => Ok(value),
            None => bail!(Kernel, "a template has a hole {name:?}, which nothing fills"),
        }
    }

    /// Writes a file's lines.
    pub(super) fn fill(&self, text: &mut String, file: &str) -> Result<()> {
        let mut conditions: Vec<bool> = Vec::new();
        let is_code = |line: &&str| !line.trim_start().starts_with("//");
        for line in file.lines().filter(is_code).skip_while(|line| line.is_empty()) {
            let Some(directive) = line.strip_prefix('#') else {
                if !conditions.contains(&false) {
                    self.line(text, line)?;
                }
                continue;
            };
            match (directive.strip_prefix("if "), directive, conditions.last_mut()) {
                (Some(name), ..) => conditions.push(self.holds(name)?),
                (_, "else", Some(holds)) => *holds = !*holds,
                (_, "endif", Some(_)) => conditions.truncate(conditions.len() - 1),
                _ => bail!(Kernel, "a template has the directive {line:?} out of place"),
            }
        }
        match conditions.is_empty() {
            true => Ok(()),
            false => bail!(Kernel, "a template ends within a condition"),
        }
    }

    /// Writes a line with its holes filled.
    fn line(&self, text: &mut String, line: &str) -> Result<()> {
        let own = line.trim_start();
        let alone = own.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        if let Some(name) = alone.filter(|name| is_name(name)) {
            let margin = &line[..line.len() - own.len()];
            self.value(name)?.lines().for_each(|own| text.extend([margin, own, "\n"]));
            return Ok(());
        }
        let mut rest = line;
        while let Some((before, after)) = rest.split_once('{') {
            text.push_str(before);
            rest = match after.split_once('}').filter(|(name, _)| is_name(name)) {
                Some((name, behind)) => {
                    text.push_str(self.value(name)?);
                    behind
                }
                None => {
                    text.push('{');
                    after
                }
            };
        }
        text.extend([rest, "\n"]);
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
        let file = "// A comment.\n\n#if a\nif (x) { y({n}u); }\n#if !b\n    {own}\n    {none}\n#else\nno\n#endif\n#else\nno\n#endif\n";
        let filling = Filling::default().when("a", true).when("b", false).with("n", 3).with("none", "");
        let filling = filling.with_lines("own", ["1;", "2;"].map(String::from));
        let mut text = String::new();
        filling.fill(&mut text, file).unwrap();
        assert_eq!(text, "if (x) { y(3u); }\n    1;\n    2;\n");
        for (wrong, why) in [
            ("#if c\n#endif", "\"c\""),
            ("{n}", "\"n\""),
            ("#endif", "out of place"),
            ("#else", "out of place"),
            ("#elif a", "out of place"),
        ] {
            let error = Filling::default().fill(&mut text, wrong).unwrap_err();
            assert!(error.message().contains(why), "{error}");
        }
        assert!(filling.fill(&mut text, "#if a").unwrap_err().message().contains("within a condition"));
    }
}
