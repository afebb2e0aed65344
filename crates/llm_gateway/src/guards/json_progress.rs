//! Follows a JSON text that comes in pieces, and says when a member of its object is complete. It does not check what a reader of the member or of
//! the whole finds out.

use std::ops::Range;

/// Deepest nesting: readers take no more.
const DEPTH_MAX: usize = 128;

/// A member that is complete: where its name is, with quotes, and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DoneMember {
    pub name: Range<usize>,
    pub value: Range<usize>,
}

/// How far a text is.
#[derive(Debug, Default)]
pub(crate) struct JsonProgress {
    at: usize,
    brackets: Vec<u8>,
    in_string: bool,
    is_escaped: bool,
    /// The name of the outer object's member, and where its value begins.
    name: Option<Range<usize>>,
    value: Option<usize>,
    is_over: bool,
}

/// The text can become no JSON any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoJson;

impl JsonProgress {
    /// Reads more of a text.
    ///
    /// # Errors
    /// It cannot become JSON.
    pub(crate) fn push(&mut self, more: &str) -> Result<Vec<DoneMember>, NoJson> {
        let mut done = Vec::new();
        for byte in more.bytes() {
            done.extend(self.step(byte)?);
            self.at += 1;
        }
        Ok(done)
    }

    fn is_in_outer(&self) -> bool {
        self.brackets.as_slice() == b"{"
    }

    fn step(&mut self, byte: u8) -> Result<Option<DoneMember>, NoJson> {
        if self.in_string {
            if self.is_escaped {
                self.is_escaped = false;
            } else if byte == b'\\' {
                self.is_escaped = true;
            } else if byte == b'"' {
                self.in_string = false;
                if let Some(name) = self.name.as_mut().filter(|name| name.end == usize::MAX) {
                    name.end = self.at + 1;
                }
            }
            return Ok(None);
        }
        if byte.is_ascii_whitespace() {
            return Ok(None);
        }
        if self.is_over {
            return Err(NoJson);
        }
        let mut done = None;
        match byte {
            b'"' => {
                self.in_string = true;
                if self.is_in_outer() && self.value.is_none() && self.name.is_none() {
                    self.name = Some(self.at..usize::MAX);
                }
            }
            b'{' | b'[' => {
                if self.brackets.len() >= DEPTH_MAX {
                    return Err(NoJson);
                }
                self.brackets.push(byte);
            }
            b'}' | b']' => {
                let opening = if byte == b'}' { b'{' } else { b'[' };
                if self.is_in_outer() {
                    done = self.end_member();
                }
                if self.brackets.pop() != Some(opening) {
                    return Err(NoJson);
                }
                self.is_over = self.brackets.is_empty();
            }
            b':' if self.is_in_outer() => self.value = Some(self.at + 1),
            b',' if self.is_in_outer() => done = self.end_member(),
            _ if self.brackets.is_empty() && !(byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.')) => {
                return Err(NoJson);
            }
            _ => {}
        }
        Ok(done)
    }

    fn end_member(&mut self) -> Option<DoneMember> {
        let (name, start) = (self.name.take()?, self.value.take()?);
        Some(DoneMember { name, value: start..self.at })
    }
}

#[cfg(test)]
mod tests;
