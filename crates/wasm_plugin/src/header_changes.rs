//! What a call changes of a list of header lines. The list itself stays as it is, so that a call can start again.

use crate::limits::CHANGED_BYTES_MAX;

/// Most lines in a list that a plugin sets. Servers accept some hundred.
const LINES_MAX: usize = 1_000;

/// What a changed line counts beside its text, so that empty ones have a maximum too.
const LINE_BYTES: usize = 32;

/// Header lines: names and values.
pub(crate) type Lines = Vec<(String, String)>;

/// Changes of some headers; all others are as in the list.
#[derive(Default)]
pub(crate) struct HeaderChanges {
    changed: Vec<ChangedHeader>,
    bytes: usize,
}

/// A header with all its lines as they are now; without any it is removed.
pub(crate) struct ChangedHeader {
    pub name: String,
    pub values: Vec<String>,
}

/// A call that changes more than is allowed.
#[derive(Debug)]
pub(crate) struct TooManyHeaders;

impl HeaderChanges {
    /// The first value of a header.
    pub(crate) fn first<'a>(&'a self, lines: &'a [(String, String)], name: &str) -> Option<&'a str> {
        match self.find(name) {
            Some(header) => header.values.first().map(String::as_str),
            None => lines.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str()),
        }
    }

    /// All lines as they are now.
    pub(crate) fn current<'a>(&'a self, lines: &'a [(String, String)]) -> impl Iterator<Item = (&'a str, &'a str)> {
        let kept =
            lines.iter().filter(move |(name, _)| self.find(name).is_none()).map(|(name, value)| (name.as_str(), value.as_str()));
        let each = |header: &'a ChangedHeader| header.values.iter().map(|value| (header.name.as_str(), value.as_str()));
        kept.chain(self.changed.iter().flat_map(each))
    }

    /// Adds a line.
    pub(crate) fn add(&mut self, lines: &[(String, String)], name: &str, value: &str) -> Result<(), TooManyHeaders> {
        self.count(name, value)?;
        self.change(lines, name, |values| values.push(value.to_owned()));
        Ok(())
    }

    /// Sets a header, in place of all its lines.
    pub(crate) fn set(&mut self, lines: &[(String, String)], name: &str, value: &str) -> Result<(), TooManyHeaders> {
        self.count(name, value)?;
        self.change(lines, name, |values| *values = vec![value.to_owned()]);
        Ok(())
    }

    /// Removes a header.
    pub(crate) fn remove(&mut self, lines: &[(String, String)], name: &str) -> Result<(), TooManyHeaders> {
        self.count(name, "")?;
        self.change(lines, name, Vec::clear);
        Ok(())
    }

    /// Removes all headers.
    pub(crate) fn remove_all(&mut self, lines: &[(String, String)]) -> Result<(), TooManyHeaders> {
        self.changed.iter_mut().for_each(|header| header.values.clear());
        lines.iter().try_for_each(|(name, _)| self.remove(lines, name))
    }

    /// The headers that changed.
    pub(crate) fn into_changed(self) -> Vec<ChangedHeader> {
        self.changed
    }

    /// The list with the changes.
    pub(crate) fn applied_to(self, lines: Lines) -> Lines {
        let mut result: Lines = lines.into_iter().filter(|(name, _)| self.find(name).is_none()).collect();
        for ChangedHeader { name, values } in self.changed {
            result.extend(values.into_iter().map(|value| (name.clone(), value)));
        }
        result
    }

    fn find(&self, name: &str) -> Option<&ChangedHeader> {
        self.changed.iter().find(|header| header.name.eq_ignore_ascii_case(name))
    }

    /// Changes the lines of a header: those of before, or of the list if it had none.
    fn change(&mut self, lines: &[(String, String)], name: &str, change: impl FnOnce(&mut Vec<String>)) {
        if let Some(header) = self.changed.iter_mut().find(|header| header.name.eq_ignore_ascii_case(name)) {
            return change(&mut header.values);
        }
        let of_name = lines.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        let mut values = of_name.map(|(_, value)| value.clone()).collect();
        change(&mut values);
        self.changed.push(ChangedHeader { name: canonical(name), values });
    }

    fn count(&mut self, name: &str, value: &str) -> Result<(), TooManyHeaders> {
        self.bytes = self.bytes.saturating_add(name.len()).saturating_add(value.len()).saturating_add(LINE_BYTES);
        if self.bytes > CHANGED_BYTES_MAX { Err(TooManyHeaders) } else { Ok(()) }
    }
}

/// A name as Go writes it.
fn canonical(name: &str) -> String {
    let mut begins = true;
    let each = |letter: char| {
        let written = if begins { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() };
        begins = letter == '-';
        written
    };
    name.chars().map(each).collect()
}

/// Header lines as the interface writes them: their number, all sizes, all texts with a zero after each.
pub(crate) fn written<'a>(lines: impl Iterator<Item = (&'a str, &'a str)> + Clone) -> Vec<u8> {
    let bytes: usize = lines.clone().map(|(name, value)| name.len() + value.len() + 10).sum();
    let mut out = Vec::with_capacity(bytes + 4);
    out.extend_from_slice(&size(lines.clone().count()));
    for (name, value) in lines.clone() {
        out.extend_from_slice(&size(name.len()));
        out.extend_from_slice(&size(value.len()));
    }
    for (name, value) in lines {
        // Names are in lower case, as in the SDKs' other hosts.
        out.extend(name.bytes().map(|byte| byte.to_ascii_lowercase()));
        out.push(0);
        out.extend_from_slice(value.as_bytes());
        out.push(0);
    }
    out
}

fn size(number: usize) -> [u8; 4] {
    u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes()
}

/// Header lines that a plugin has written; `None` if they are malformed.
pub(crate) fn read(bytes: &[u8]) -> Option<Lines> {
    let number = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?) as usize);
    if bytes.is_empty() {
        return Some(Lines::new());
    }
    let count = number(0).filter(|count| *count <= LINES_MAX)?;
    let mut text_at = count.checked_mul(8)?.checked_add(4)?;
    if text_at > bytes.len() {
        return None;
    }
    let mut text = |size: usize| {
        let end = text_at.checked_add(size)?;
        let text = std::str::from_utf8(bytes.get(text_at..end)?).ok()?.to_owned();
        text_at = end.checked_add(1)?;
        Some(text)
    };
    let mut lines = Lines::with_capacity(count);
    for index in 0..count {
        let at = 4 + index * 8;
        let (name, value) = (text(number(at)?)?, text(number(at + 4)?)?);
        lines.push((name, value));
    }
    Some(lines)
}

#[cfg(test)]
mod tests;
