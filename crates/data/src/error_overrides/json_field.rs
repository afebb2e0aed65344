//! One field of a JSON document of which only the beginning may be known. Reads no further than the field, and needs no memory for the rest.

use tollgate_text::byte_order_mark;

/// The way to a field: names of members and positions in lists.
#[derive(Debug)]
pub(super) struct JsonField(Vec<String>);

impl JsonField {
    /// Parses `error.details.0.code`; `\.` is a dot in a name. Searches (`#`), wildcards (`*`, `?`) and modifiers (`@`, `|`) are not supported.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut names = vec![String::new()];
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            let Some(name) = names.last_mut() else { break };
            match c {
                '.' => names.push(String::new()),
                '\\' => name.extend(chars.next()),
                '#' | '*' | '?' | '@' | '|' | '!' | '{' | '[' | '(' => {
                    return Err(format!(
                        "{c:?} is not supported: names and positions with dots between, such as error.details.0.code"
                    ));
                }
                c => name.push(c),
            }
        }
        if names.iter().any(String::is_empty) { Err("has an empty name".to_owned()) } else { Ok(JsonField(names)) }
    }

    /// The field's value as a text: what a text says, a number without exponent, a list or an object as it is written.
    pub(super) fn value(&self, json: &[u8]) -> Option<String> {
        let mut reader = JsonReader { json: byte_order_mark::without(json), at: 0 };
        self.0.iter().try_for_each(|name| reader.enter(name))?;
        reader.text()
    }
}

struct JsonReader<'j> {
    json: &'j [u8],
    at: usize,
}

impl JsonReader<'_> {
    /// The next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        let rest = self.json.get(self.at..)?;
        self.at += rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
        self.json.get(self.at).copied()
    }

    fn take(&mut self, wanted: u8) -> Option<()> {
        (self.peek()? == wanted).then(|| self.at += 1)
    }

    /// Goes to a member of the value that comes next.
    fn enter(&mut self, name: &str) -> Option<()> {
        match self.peek()? {
            b'{' => self.at += 1,
            b'[' => {
                self.at += 1;
                return self.enter_item(name.parse().ok()?);
            }
            _ => return None,
        }
        loop {
            let key = self.string()?;
            self.take(b':')?;
            if key == name {
                return Some(());
            }
            self.skip()?;
            self.take(b',')?;
        }
    }

    fn enter_item(&mut self, index: usize) -> Option<()> {
        for _ in 0..index {
            self.skip()?;
            self.take(b',')?;
        }
        (self.peek()? != b']').then_some(())
    }

    fn string(&mut self) -> Option<String> {
        (self.peek()? == b'"').then_some(())?;
        let start = self.at;
        self.skip_string()?;
        serde_json::from_slice(self.json.get(start..self.at)?).ok()
    }

    /// Goes behind the string that begins here.
    fn skip_string(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            match self.json.get(self.at)? {
                b'"' => break,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        Some(())
    }

    /// Goes behind the next value.
    fn skip(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.peek()? {
                b'"' => self.skip_string()?,
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                    continue;
                }
                b'}' | b']' => {
                    depth = depth.checked_sub(1)?;
                    self.at += 1;
                }
                b',' | b':' => {
                    self.at += 1;
                    // Between the members of what is skipped.
                    if depth == 0 {
                        return None;
                    }
                    continue;
                }
                _ => self.skip_word(),
            }
            if depth == 0 {
                return Some(());
            }
        }
    }

    fn skip_word(&mut self) {
        let rest = self.json.get(self.at..).unwrap_or_default();
        let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b':' | b'}' | b']' | b'"' | b'{' | b'[');
        self.at += rest.iter().position(ends).unwrap_or(rest.len()).max(1);
    }

    /// The next value as a text.
    fn text(&mut self) -> Option<String> {
        let first = self.peek()?;
        if first == b'"' {
            return self.string();
        }
        let start = self.at;
        self.skip()?;
        let written = std::str::from_utf8(self.json.get(start..self.at)?).ok()?;
        match first {
            b'{' | b'[' | b't' | b'f' => Some(written.to_owned()),
            b'n' => Some(String::new()),
            _ if written.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit()) => Some(written.to_owned()),
            _ => written.parse::<f64>().ok().map(|number| number.to_string()),
        }
    }
}

#[cfg(test)]
mod tests;
