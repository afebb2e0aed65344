//! Edits to the header lines of one message: removed lines and added lines. The buffers are reused from message to message.

use crate::append::append;
use crate::headers::{Headers, KnownHeader};
use memchr::memchr;

/// Lines to remove and lines to add. Later edits see earlier ones: a removed line stays removed, and an added line can be removed
/// again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeaderEdits {
    pub(crate) dropped: u128,
    /// Whole lines, each ending in CRLF.
    pub(crate) added: Vec<u8>,
}

impl HeaderEdits {
    /// Clears all edits and keeps the buffer.
    #[inline]
    pub fn clear(&mut self) {
        self.dropped = 0;
        self.added.clear();
    }

    /// Removes every line with this name, in any letter case.
    pub fn remove(&mut self, headers: &Headers<'_>, name: &str) {
        self.dropped |= headers.lines_called(name);
        self.remove_added(name);
    }

    /// Removes the lines of the message whose names do not pass; what was added stays.
    pub fn retain_received(&mut self, headers: &Headers<'_>, passes: impl Fn(&str) -> bool) {
        for (index, _) in headers.iter().enumerate().filter(|(_, (name, _))| !passes(name)) {
            self.dropped |= 1 << index;
        }
    }

    /// Removes every line with a known name.
    #[inline]
    pub fn remove_known(&mut self, headers: &Headers<'_>, kind: KnownHeader) {
        self.dropped |= headers.lines_of(kind);
    }

    /// Removes every line with this name, which is the only name of `kind`. Costs nothing if there is none.
    #[inline]
    pub fn remove_named(&mut self, headers: &Headers<'_>, kind: KnownHeader, name: &str) {
        self.remove_known(headers, kind);
        if !self.added.is_empty() {
            self.remove_added(name);
        }
    }

    /// Replaces every line with this name by `name: value`. The caller has checked both with `is_token` and `is_value`.
    pub fn set(&mut self, headers: &Headers<'_>, name: &str, value: &[u8]) {
        self.remove(headers, name);
        self.add(name, value);
    }

    /// Replaces every added line with this name by `name: value`: for a reply, whose lines are all added.
    pub fn set_added(&mut self, name: &str, value: &[u8]) {
        self.remove_added(name);
        self.add(name, value);
    }

    /// Adds `name: value`; existing lines stay.
    #[inline]
    pub fn add(&mut self, name: &str, value: &[u8]) {
        self.added.extend_from_slice(name.as_bytes());
        self.added.extend_from_slice(b": ");
        self.added.extend_from_slice(value);
        self.added.extend_from_slice(b"\r\n");
    }

    /// Adds a line of pieces whose lengths are known at compile time. `write` writes the whole line with its CRLF.
    #[inline]
    pub fn add_line(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.added);
    }

    /// Adds whole lines that were built when the configuration was loaded; each ends in CRLF.
    #[inline]
    pub fn add_lines(&mut self, lines: &[u8]) {
        append(lines, &mut self.added);
    }

    /// The current value of `name`: that of an added line, otherwise of a line of the message that stays. Hop-by-hop lines do not stay, also
    /// those that the message's Connection names.
    pub fn current<'s>(&'s self, headers: &Headers<'s>, name: &str) -> Option<&'s [u8]> {
        if let Some(added) = self.added(name) {
            return Some(added);
        }
        let is_it = |(index, (own, _)): &(usize, (&str, &[u8]))| {
            own.eq_ignore_ascii_case(name) && (self.dropped | headers.hop) >> index & 1 == 0
        };
        headers.iter().enumerate().find(is_it).map(|(_, (_, value))| value)
    }

    /// The value of the first added line with this name.
    pub fn added(&self, name: &str) -> Option<&[u8]> {
        self.added.get(self.find_added(name)?)?.splitn(2, |byte| *byte == b':').nth(1).map(<[u8]>::trim_ascii)
    }

    /// Calls `visit` with name and value of each line that a message with these headers has after the edits, without hop-by-hop lines.
    pub fn each_line(&self, headers: &Headers<'_>, visit: &mut dyn FnMut(&str, &[u8])) {
        self.each_line_without(headers, self.dropped | headers.hop, visit);
    }

    /// The same without these lines of the message.
    pub(crate) fn each_line_without(&self, headers: &Headers<'_>, dropped: u128, visit: &mut dyn FnMut(&str, &[u8])) {
        let lines = headers.iter().enumerate();
        lines.filter(|(index, _)| dropped >> index & 1 == 0).for_each(|(_, (name, value))| visit(name, value));
        self.added_lines().for_each(|(name, value)| visit(name, value));
    }

    /// Name and value of each added line.
    pub(crate) fn added_lines(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.added.split(|byte| *byte == b'\n').filter_map(|line| {
            let colon = line.iter().position(|byte| *byte == b':')?;
            let (name, value) = line.split_at_checked(colon)?;
            Some((std::str::from_utf8(name).ok()?, value.get(1..)?.trim_ascii()))
        })
    }

    /// Appends the header lines that a message with these headers has after the edits, each with its CRLF: those of the message that were not
    /// removed, hop-by-hop lines too, then the added ones.
    pub fn write_lines(&self, headers: &Headers<'_>, out: &mut Vec<u8>) {
        let lines = headers.iter().enumerate();
        for (_, (name, value)) in lines.filter(|(index, _)| self.dropped >> index & 1 == 0) {
            [name.as_bytes(), b": ", value, b"\r\n"].iter().for_each(|part| out.extend_from_slice(part));
        }
        out.extend_from_slice(&self.added);
    }

    /// Whether a line with this name is added.
    pub(crate) fn adds(&self, name: &str) -> bool {
        self.find_added(name).is_some()
    }

    /// Removes every added line with this name, in any letter case.
    pub fn remove_added(&mut self, name: &str) {
        while let Some(range) = self.find_added(name) {
            self.added.drain(range);
        }
    }

    /// The range of the first added line with this name, including its CRLF.
    fn find_added(&self, name: &str) -> Option<std::ops::Range<usize>> {
        let mut start = 0;
        while start < self.added.len() {
            let rest = self.added.get(start..)?;
            // No other added line has this name.
            let end = start + memchr(b'\n', rest)? + 1;
            // Most names differ in their length.
            let is_so_long = rest.get(name.len()) == Some(&b':');
            if is_so_long && rest.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name.as_bytes())) {
                return Some(start..end);
            }
            start = end;
        }
        None
    }
}

#[cfg(test)]
mod tests;
