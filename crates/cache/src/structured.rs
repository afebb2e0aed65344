//! Dictionaries of structured fields (RFC 9651 §3.2), as far as cache directives need them: the complete syntax is checked, and the bare
//! item of each member is kept. An invalid byte makes the whole field invalid.

/// Most members of one dictionary; there are a dozen known directives.
const MEMBERS_MAX: usize = 64;

/// A bare item (RFC 9651 §3.3). Texts are checked but not stored, because no directive needs them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BareItem {
    Integer(i64),
    Decimal,
    String,
    Token,
    Bytes,
    Boolean(bool),
    Date,
    DisplayString,
    InnerList,
}

/// Parses a dictionary; of members with the same name, the last one counts. `None` when `value` is not a dictionary.
pub(crate) fn dictionary(value: &[u8]) -> Option<Vec<(String, BareItem)>> {
    let mut input = Input(value);
    let mut members: Vec<(String, BareItem)> = Vec::new();
    input.skip(|byte| byte == b' ');
    while !input.0.is_empty() {
        let name = input.key()?;
        let item = match input.take(b'=') {
            true => input.item_or_inner_list()?,
            false => BareItem::Boolean(true),
        };
        input.parameters()?;
        members.retain(|(known, _)| *known != name);
        if members.len() == MEMBERS_MAX {
            return None;
        }
        members.push((name, item));
        input.skip(|byte| matches!(byte, b' ' | b'\t'));
        if input.0.is_empty() {
            break;
        }
        if !input.take(b',') {
            return None;
        }
        input.skip(|byte| matches!(byte, b' ' | b'\t'));
        // A comma at the end is invalid.
        input.0.first()?;
    }
    Some(members)
}

/// The rest of the input.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn take(&mut self, byte: u8) -> bool {
        match self.0.strip_prefix(&[byte]) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    /// Takes the longest prefix of matching bytes.
    fn skip(&mut self, fits: impl Fn(u8) -> bool) -> &'a [u8] {
        let end = self.0.iter().position(|&byte| !fits(byte)).unwrap_or(self.0.len());
        let (taken, rest) = self.0.split_at_checked(end).unwrap_or_default();
        self.0 = rest;
        taken
    }

    fn key(&mut self) -> Option<String> {
        if !matches!(self.0.first()?, b'a'..=b'z' | b'*') {
            return None;
        }
        let key = self.skip(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'.' | b'*'));
        String::from_utf8(key.to_vec()).ok()
    }

    fn parameters(&mut self) -> Option<()> {
        while self.take(b';') {
            self.skip(|byte| byte == b' ');
            self.key()?;
            if self.take(b'=') {
                self.item()?;
            }
        }
        Some(())
    }

    fn item_or_inner_list(&mut self) -> Option<BareItem> {
        if !self.take(b'(') {
            return self.item();
        }
        loop {
            self.skip(|byte| byte == b' ');
            if self.take(b')') {
                return Some(BareItem::InnerList);
            }
            self.item()?;
            self.parameters()?;
            // An item must be followed by a space or the list's end.
            if !matches!(self.0.first()?, b' ' | b')') {
                return None;
            }
        }
    }

    fn item(&mut self) -> Option<BareItem> {
        match self.0.first()? {
            b'-' | b'0'..=b'9' => self.number(),
            b'"' => self.string(),
            b'a'..=b'z' | b'A'..=b'Z' | b'*' => {
                self.skip(|byte| byte.is_ascii_alphanumeric() || b":/!#$%&'*+-.^_`|~".contains(&byte));
                Some(BareItem::Token)
            }
            b':' => {
                self.next();
                self.skip(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='));
                self.take(b':').then_some(BareItem::Bytes)
            }
            b'?' => {
                self.next();
                match self.next()? {
                    b'0' => Some(BareItem::Boolean(false)),
                    b'1' => Some(BareItem::Boolean(true)),
                    _ => None,
                }
            }
            b'@' => {
                self.next();
                matches!(self.number()?, BareItem::Integer(_)).then_some(BareItem::Date)
            }
            b'%' => self.display_string(),
            _ => None,
        }
    }

    fn number(&mut self) -> Option<BareItem> {
        let negative = self.take(b'-');
        let whole = self.skip(|byte| byte.is_ascii_digit());
        if self.take(b'.') {
            let fraction = self.skip(|byte| byte.is_ascii_digit());
            let fits = (1..=12).contains(&whole.len()) && (1..=3).contains(&fraction.len());
            return fits.then_some(BareItem::Decimal);
        }
        if !(1..=15).contains(&whole.len()) {
            return None;
        }
        let number = whole.iter().fold(0, |number: i64, digit| number * 10 + i64::from(digit - b'0'));
        Some(BareItem::Integer(if negative { -number } else { number }))
    }

    fn string(&mut self) -> Option<BareItem> {
        self.next();
        loop {
            match self.next()? {
                b'"' => return Some(BareItem::String),
                b'\\' if !matches!(self.next()?, b'"' | b'\\') => return None,
                0..=0x1f | 0x7f.. => return None,
                _ => {}
            }
        }
    }

    fn display_string(&mut self) -> Option<BareItem> {
        self.next();
        if !self.take(b'"') {
            return None;
        }
        loop {
            match self.next()? {
                b'"' => return Some(BareItem::DisplayString),
                b'%' => {
                    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
                    if !is_digit(self.next()?) || !is_digit(self.next()?) {
                        return None;
                    }
                }
                0..=0x1f | 0x7f.. => return None,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests;
