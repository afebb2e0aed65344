//! A pattern that guards look for.

use regex::Regex;
use std::ops::Range;

/// How much of a match is really one: its length in bytes, or nothing.
pub(crate) type Verify = fn(&str) -> Option<usize>;

/// A pattern, in Go's syntax. It takes linear time.
pub struct GuardPattern {
    label: String,
    regex: Regex,
    written: String,
    verify: Option<Verify>,
}

impl GuardPattern {
    /// Compiles an expression. What it finds is called by this label where it is taken out.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub fn compile(label: &str, expression: &str) -> Result<Self, String> {
        let (regex, written) = (tollgate_re2::compile(expression)?, tollgate_re2::translate(expression)?);
        if regex.is_match("") {
            return Err(format!("the regular expression {expression:?} finds empty texts"));
        }
        Ok(GuardPattern { label: label.to_owned(), regex, written, verify: None })
    }

    pub(crate) fn verified(mut self, verify: Verify) -> Self {
        self.verify = Some(verify);
        self
    }

    /// What placeholders are called.
    pub(crate) fn label(&self) -> &str {
        &self.label
    }

    /// As the crates of regular expressions read it.
    pub(crate) fn written(&self) -> &str {
        &self.written
    }

    /// What it finds in a text from a place on.
    pub(crate) fn find_from<'a>(&'a self, text: &'a str, mut at: usize) -> impl Iterator<Item = Range<usize>> + 'a {
        std::iter::from_fn(move || {
            loop {
                let found = self.regex.find_at(text, at)?;
                at = found.end();
                let Some(verify) = self.verify else { return Some(found.range()) };
                if let Some(length) = verify(found.as_str()) {
                    at = found.start() + length;
                    return Some(found.start()..at);
                }
                // Another may begin in it, as such patterns are short.
                at = text.ceil_char_boundary(found.start() + 1);
            }
        })
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.find_from(text, 0).next().is_some()
    }
}
