//! The header lines of a message as edits have made them, read in the same way as those of the message itself.

use crate::edits::HeaderEdits;
use crate::headers::{Headers, KnownHeader, classify, is_called};

/// The lines of a message, with the edits that were shown to its readers. Hop-by-hop lines are among them.
#[derive(Clone, Copy)]
pub struct HeadView<'a> {
    headers: &'a Headers<'a>,
    edits: Option<&'a HeaderEdits>,
}

impl<'a> HeadView<'a> {
    /// The lines as they were received.
    #[inline]
    pub fn new(headers: &'a Headers<'a>) -> Self {
        HeadView { headers, edits: None }
    }

    /// The same message with these edits.
    pub fn edited(self, edits: &'a HeaderEdits) -> Self {
        HeadView { edits: Some(edits), ..self }
    }

    /// The same message without edits.
    pub fn as_received(self) -> Self {
        HeadView { edits: None, ..self }
    }

    /// The edits, if there are any.
    pub fn edits(self) -> Option<&'a HeaderEdits> {
        self.edits
    }

    /// The value of the first line with this name, in any letter case.
    #[inline]
    pub fn get(self, name: &str) -> Option<&'a [u8]> {
        match self.edits {
            None => self.headers.get(name),
            Some(_) => self.all(name).next(),
        }
    }

    /// The value of the first line with a known name.
    #[inline]
    pub fn known(self, known: KnownHeader) -> Option<&'a [u8]> {
        match self.edits {
            None => self.headers.known(known),
            Some(_) => self.all_known(known).next(),
        }
    }

    /// The value of the only line with this name, in any letter case and with underscores for dashes; `None` if there are more. Servers that turn
    /// headers into variables take both names for one, and may read another line than the first.
    pub fn sole(self, name: &str) -> Option<&'a [u8]> {
        if self.edits.is_none() {
            return self.headers.sole(name);
        }
        let mut lines = self.iter().filter(|(own, _)| is_called(own.as_bytes(), name.as_bytes()));
        let (_, value) = lines.next()?;
        lines.next().is_none().then_some(value)
    }

    /// The values of all lines with this name, in any letter case.
    pub fn all<'s>(self, name: &'s str) -> impl Iterator<Item = &'a [u8]> + 's
    where
        'a: 's,
    {
        self.iter().filter(move |(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// The values of all lines with a known name.
    pub fn all_known(self, known: KnownHeader) -> impl Iterator<Item = &'a [u8]> {
        let received = self.edits.is_none().then(|| self.headers.all_known(known));
        let edited = self.edits.map(|_| self.iter().filter(move |(name, _)| classify(name.as_bytes()) == Some(known)));
        received.into_iter().flatten().chain(edited.into_iter().flatten().map(|(_, value)| value))
    }

    /// Name and value of each line: those of the message that were not removed, then the added ones.
    pub fn iter(self) -> impl Iterator<Item = (&'a str, &'a [u8])> {
        let dropped = self.edits.map_or(0, |edits| edits.dropped);
        let own = self.headers.iter().enumerate().filter(move |(index, _)| dropped >> index & 1 == 0).map(|(_, line)| line);
        own.chain(self.edits.into_iter().flat_map(HeaderEdits::added_lines))
    }
}

#[cfg(test)]
mod tests;
