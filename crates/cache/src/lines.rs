//! Header lines for the cache: a source of lines, and lines stored in one piece of memory.

use crate::syntax::trim;

/// The header lines of one message, as they are sent to the upstream or received from it. A gateway that edits heads must provide the
/// edited lines: the cache must see what the upstream sees.
pub trait HeaderLines {
    /// Calls `visit` with name and value of each line, in order.
    fn each(&self, visit: &mut dyn FnMut(&str, &[u8]));
}

impl HeaderLines for tollgate_http::Headers<'_> {
    fn each(&self, visit: &mut dyn FnMut(&str, &[u8])) {
        for (name, value) in self.iter() {
            visit(name, value);
        }
    }
}

impl HeaderLines for &[(&str, &str)] {
    fn each(&self, visit: &mut dyn FnMut(&str, &[u8])) {
        for (name, value) in *self {
            visit(name, value.as_bytes());
        }
    }
}

impl HeaderLines for &[(String, Vec<u8>)] {
    fn each(&self, visit: &mut dyn FnMut(&str, &[u8])) {
        for (name, value) in *self {
            visit(name, value);
        }
    }
}

impl<const N: usize> HeaderLines for [(&str, &str); N] {
    fn each(&self, visit: &mut dyn FnMut(&str, &[u8])) {
        self.as_slice().each(visit);
    }
}

/// Header lines in one piece of memory, each `Name: value\r\n`.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct LineBlock(Vec<u8>);

impl std::fmt::Debug for LineBlock {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&String::from_utf8_lossy(&self.0))
    }
}

impl LineBlock {
    /// Copies all lines.
    pub fn copy(lines: &dyn HeaderLines) -> Self {
        let mut block = LineBlock::default();
        lines.each(&mut |name, value| block.push(name, value));
        block
    }

    /// Appends a line. Line breaks are removed, so that no value can become two lines.
    pub fn push(&mut self, name: &str, value: &[u8]) {
        self.0.extend_from_slice(name.as_bytes());
        self.0.extend_from_slice(b": ");
        self.0.extend(value.iter().filter(|byte| !matches!(byte, b'\r' | b'\n')));
        self.0.extend_from_slice(b"\r\n");
    }

    /// The bytes as in a message, including the last line's end and without the empty line.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Frees unused memory.
    pub(crate) fn shrink(&mut self) {
        self.0.shrink_to_fit();
    }

    /// The value of the first line with this name, in any letter case.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.iter().find(|(called, _)| called.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Name and value of each line.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.split(|&byte| byte == b'\n').filter_map(|line| {
            let colon = line.iter().position(|&byte| byte == b':')?;
            let name = std::str::from_utf8(line.get(..colon)?).ok()?;
            Some((name, trim(line.get(colon + 1..)?.strip_suffix(b"\r")?)))
        })
    }
}

impl HeaderLines for LineBlock {
    fn each(&self, visit: &mut dyn FnMut(&str, &[u8])) {
        for (name, value) in self.iter() {
            visit(name, value);
        }
    }
}

#[cfg(test)]
mod tests;
