//! Regular expressions of definitions, in the syntax that they are written for: Go's RE2. There `\w`, `\d`, `\s` and `\b` mean ASCII, a brace
//! that is no repetition is a text, and classes have no operators. The engine reads all of that differently, which would let more through
//! an allow list, or less be refused by a block list.

use regex::{Regex, bytes};
use std::borrow::Cow;

/// Compiles an expression.
pub(crate) fn compile(expression: &str) -> Result<Regex, regex::Error> {
    Regex::new(&in_engine_syntax(expression))
}

/// Compiles an expression that matches arbitrary bytes.
pub(crate) fn compile_for_bytes(expression: &str) -> Result<bytes::Regex, regex::Error> {
    bytes::Regex::new(&in_engine_syntax(expression))
}

/// The expression in the engine's syntax. POSIX classes are ASCII already.
pub(crate) fn in_engine_syntax(expression: &str) -> Cow<'_, str> {
    if !expression.contains(['\\', '[', '{']) {
        return Cow::Borrowed(expression);
    }
    let mut reader = Reader { rest: expression, written: String::with_capacity(expression.len() + 16) };
    while let Some(c) = reader.next() {
        match c {
            '\\' => reader.escape(),
            '[' => reader.class(),
            '{' if !reader.is_in_repetition() => reader.written.push_str("\\{"),
            c => reader.written.push(c),
        }
    }
    if reader.written == expression { Cow::Borrowed(expression) } else { Cow::Owned(reader.written) }
}

/// The expression that is still to be read, and what has been written for the rest.
struct Reader<'e> {
    rest: &'e str,
    written: String,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let c = chars.next()?;
        self.rest = chars.as_str();
        Some(c)
    }

    /// Takes a text if it comes next.
    fn takes(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Whether the brace that was read starts a repetition, such as `{2}`, `{2,}` or `{2,3}`.
    fn is_in_repetition(&self) -> bool {
        let Some((inside, _)) = self.rest.split_once('}') else { return false };
        let (least, most) = inside.split_once(',').unwrap_or((inside, ""));
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()) && !(text.len() > 1 && text.starts_with('0'));
        !least.is_empty() && is_number(least) && is_number(most)
    }

    /// Writes what follows a backslash outside of classes.
    fn escape(&mut self) {
        if self.takes("Q") {
            let (text, rest) = self.rest.split_once("\\E").unwrap_or((self.rest, ""));
            self.written.push_str(&regex::escape(text));
            self.rest = rest;
            return;
        }
        match self.next() {
            None => self.written.push('\\'),
            Some('b') => self.written.push_str(r"(?-u:\b)"),
            Some('B') => self.written.push_str(r"(?-u:\B)"),
            // The engine reads these as the edges of a word.
            Some(c @ ('<' | '>')) => self.written.push(c),
            Some(c) => self.escaped(c),
        }
    }

    /// Writes an escaped character, and the braces that belong to it.
    fn escaped(&mut self, c: char) {
        if let Some(class) = perl_class(c) {
            return self.written.push_str(class);
        }
        self.written.extend(['\\', c]);
        if matches!(c, 'p' | 'P' | 'x')
            && self.rest.starts_with('{')
            && let Some((name, rest)) = self.rest.split_once('}')
        {
            self.written.push_str(name);
            self.written.push('}');
            self.rest = rest;
        }
    }

    /// Writes a class, whose opening bracket was read. In the engine's classes, brackets nest, and `&&`, `--` and `~~` are operators.
    fn class(&mut self) {
        self.written.push('[');
        if self.takes("^") {
            self.written.push('^');
        }
        if self.takes("]") {
            self.written.push_str("\\]");
        }
        while let Some(c) = self.next() {
            if c == ']' {
                return self.written.push(']');
            }
            let is_character = self.class_item(c);
            let ends_range = |rest: &str| rest.strip_prefix('-').is_some_and(|end| !end.is_empty() && !end.starts_with(']'));
            if is_character && ends_range(self.rest) && self.takes("-") {
                self.written.push('-');
                if let Some(end) = self.next() {
                    self.class_item(end);
                }
            }
        }
    }

    /// Writes one item of a class, which starts with `c`. Whether it is a character, which can start a range.
    fn class_item(&mut self, c: char) -> bool {
        match c {
            '[' if self.rest.strip_prefix(':').is_some_and(|name| name.contains(":]")) => {
                self.posix_name();
                return false;
            }
            '[' | '&' | '~' | '-' => self.written.extend(['\\', c]),
            '\\' => {
                let Some(c) = self.next() else {
                    self.written.push('\\');
                    return false;
                };
                self.escaped(c);
                return !matches!(c, 'd' | 'D' | 'w' | 'W' | 's' | 'S' | 'p' | 'P');
            }
            c => self.written.push(c),
        }
        true
    }

    /// Writes a POSIX class, such as `[:alpha:]`, whose opening bracket was read.
    fn posix_name(&mut self) {
        self.written.push('[');
        if let Some((name, rest)) = self.rest.split_once(":]") {
            self.written.push_str(name);
            self.written.push_str(":]");
            self.rest = rest;
        }
    }
}

/// The class of a letter after a backslash. Classes can be nested, so this works within brackets as well.
fn perl_class(letter: char) -> Option<&'static str> {
    Some(match letter {
        'd' => "[0-9]",
        'D' => "[^0-9]",
        'w' => "[0-9A-Za-z_]",
        'W' => "[^0-9A-Za-z_]",
        // Excludes the vertical tab, which `[[:space:]]` includes.
        's' => r"[\t\n\x0C\r\x20]",
        'S' => r"[^\t\n\x0C\r\x20]",
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
