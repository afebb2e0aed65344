//! Patterns that consist only of text and `{name}` segments, such as `^/p/([^/]+)/sub$`: compared directly, without an engine.

use super::literal::{Literal, Requirement};
use std::borrow::Cow;

/// Expressions of `{name}` and `/*/`.
const SEGMENTS: [&str; 2] = ["([^/]+)", "[^/]+"];
/// Expressions that have no effect at an unanchored end.
const ANYTHING: [&str; 2] = ["(.*)", ".*"];

/// Literal texts; between each two there is a part of a segment, at least one character. Only the first and the last may be empty.
#[derive(Debug)]
pub(super) struct PathTemplate {
    texts: Box<[Box<str>]>,
    /// Whether the path must start with the first text.
    starts: bool,
    /// Whether the path must end with the last text.
    ends: bool,
    ignores_case: bool,
}

impl PathTemplate {
    /// Parses an expression as a template; `None` when it needs an engine, or is invalid.
    pub(super) fn parse(expression: &str) -> Option<Self> {
        let stripped = expression.strip_prefix("(?i)");
        let ignores_case = stripped.is_some();
        let rest = stripped.unwrap_or(expression);
        let stripped = rest.strip_prefix('^');
        let starts = stripped.is_some();
        let rest = stripped.unwrap_or(rest);
        // In `\$` the dollar belongs to the text; the loop below rejects the remaining backslash.
        let stripped = rest.strip_suffix('$');
        let ends = stripped.is_some();
        let mut rest = stripped.unwrap_or(rest);
        if !ends && let Some(open) = ANYTHING.iter().find_map(|anything| rest.strip_suffix(anything)) {
            rest = open;
        }
        if !starts && let Some(open) = ANYTHING.iter().find_map(|anything| rest.strip_prefix(anything)) {
            rest = open;
        }
        let mut texts = Vec::new();
        let mut text = String::new();
        while let Some(c) = rest.chars().next() {
            if let Some(after) = SEGMENTS.iter().find_map(|segment| rest.strip_prefix(segment)) {
                if text.is_empty() && !texts.is_empty() {
                    return None;
                }
                texts.push(std::mem::take(&mut text).into_boxed_str());
                rest = after;
                continue;
            }
            let c = match c {
                '\\' => rest.chars().nth(1).filter(|escaped| matches!(escaped, '.' | '-' | '/'))?,
                '.' | '+' | '*' | '?' | '(' | ')' | '|' | '[' | ']' | '{' | '}' | '^' | '$' => return None,
                // Letters outside ASCII have case forms that only the engine knows.
                c if ignores_case && !c.is_ascii() => return None,
                c => c,
            };
            text.push(if ignores_case { c.to_ascii_lowercase() } else { c });
            rest = rest.get(usize::from(rest.starts_with('\\')) + c.len_utf8()..)?;
        }
        texts.push(text.into_boxed_str());
        Some(PathTemplate { texts: texts.into(), starts, ends, ignores_case })
    }

    /// Whether the template matches a path.
    pub(super) fn is_match(&self, path: &str) -> bool {
        if !self.ignores_case {
            return self.is_found_in(path.as_bytes());
        }
        self.is_found_in(folded(path).as_bytes())
    }

    /// The texts that every matching path contains.
    pub(super) fn requirements(&self) -> Vec<Requirement> {
        let literals = self.texts.iter().flat_map(|text| Literal::of_text(text, self.ignores_case));
        literals.map(Requirement::one).collect()
    }

    pub(super) fn bytes(&self) -> usize {
        self.texts.iter().map(|text| text.len() + size_of::<Box<str>>()).sum()
    }

    fn is_found_in(&self, path: &[u8]) -> bool {
        let Some((first, others)) = self.texts.split_first() else { return false };
        let first = first.as_bytes();
        let Some((last, between)) = others.split_last() else {
            return match (self.starts, self.ends) {
                (true, true) => path == first,
                (true, false) => path.starts_with(first),
                (false, true) => path.ends_with(first),
                (false, false) => find(path, first).is_some(),
            };
        };
        if self.starts {
            return path.strip_prefix(first).is_some_and(|rest| self.fits(rest, between, last.as_bytes()));
        }
        let has_slash = first.contains(&b'/');
        let mut path = path;
        while let Some(at) = find(path, first) {
            let Some(rest) = path.get(at + first.len()..) else { return false };
            if self.fits(rest, between, last.as_bytes()) {
                return true;
            }
            // If a text without a slash occurs again in the same segment, it cannot help: the first occurrence's segment reaches further.
            let skipped = if has_slash { Some(at) } else { slash(path, at) };
            let Some(next) = skipped.and_then(|at| path.get(at + 1..)) else { return false };
            path = next;
        }
        false
    }

    /// Whether `rest` starts with segments and the texts after them. The first occurrence of each text is always right: a segment follows,
    /// and it may start earlier than necessary.
    fn fits(&self, mut rest: &[u8], between: &[Box<str>], last: &[u8]) -> bool {
        for text in between {
            match behind_segment(rest, text.as_bytes()) {
                Some(behind) => rest = behind,
                None => return false,
            }
        }
        if !self.ends {
            return behind_segment(rest, last).is_some();
        }
        rest.strip_suffix(last).is_some_and(|segment| !segment.is_empty() && !segment.contains(&b'/'))
    }
}

/// The rest of the path after a part of a segment and a text.
fn behind_segment<'p>(rest: &'p [u8], text: &[u8]) -> Option<&'p [u8]> {
    let end = slash(rest, 0).unwrap_or(rest.len());
    let at = match text.iter().position(|byte| *byte == b'/') {
        // The slash in the text is the one that ends the segment.
        Some(before) => end.checked_sub(before)?,
        None => 1 + find(rest.get(1..end)?, text)?,
    };
    let found = at > 0 && rest.get(at..)?.starts_with(text);
    if found { rest.get(at + text.len()..) } else { None }
}

fn slash(path: &[u8], from: usize) -> Option<usize> {
    path.get(from..)?.iter().position(|byte| *byte == b'/').map(|at| from + at)
}

/// Position of a text's first occurrence. Texts are short and their first bytes rare, so a prepared search would gain nothing.
fn find(path: &[u8], text: &[u8]) -> Option<usize> {
    match text.len() {
        0 => Some(0),
        length => path.windows(length).position(|part| part == text),
    }
}

/// A path in lower case, for letters with an ASCII form.
fn folded(path: &str) -> Cow<'_, str> {
    if path.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
        return Cow::Borrowed(path);
    }
    let fold = |c: char| match c {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        c => c.to_ascii_lowercase(),
    };
    Cow::Owned(path.chars().map(fold).collect())
}
