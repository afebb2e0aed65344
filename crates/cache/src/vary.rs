//! The Vary field (RFC 9110 §12.5.5): the request headers that selected a response, and their values in a request.

use crate::key::{CacheKey, KeyHasher};
use crate::lines::HeaderLines;
use crate::syntax::{is_token, list};

/// Most names that one response can vary by. With more, a variant would hardly be requested twice.
const NAMES_MAX: usize = 16;

/// The names of the request headers that selected a response: lower case, sorted, unique.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VaryNames(Box<[Box<str>]>);

/// Meaning of the Vary lines of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Vary {
    /// There is no Vary line, or an empty one.
    Nothing,
    /// These headers selected the response.
    By(VaryNames),
    /// `*`, an invalid name, or too many names: the response can't answer another request.
    Everything,
}

impl Vary {
    /// Reads all Vary lines of a response.
    pub fn read<'a>(values: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut names: Vec<Box<str>> = Vec::new();
        for name in values.flat_map(list) {
            // `*` is a valid token.
            let text = std::str::from_utf8(name).unwrap_or("*");
            if text == "*" || !is_token(name) {
                return Vary::Everything;
            }
            let text = text.to_ascii_lowercase().into_boxed_str();
            if !names.contains(&text) {
                if names.len() == NAMES_MAX {
                    return Vary::Everything;
                }
                names.push(text);
            }
        }
        if names.is_empty() {
            return Vary::Nothing;
        }
        names.sort();
        Vary::By(VaryNames(names.into()))
    }
}

impl VaryNames {
    /// The names of both; `None` when there are too many.
    pub fn union(&self, other: &Self) -> Option<Self> {
        let mut names: Vec<Box<str>> = self.0.iter().chain(&other.0).cloned().collect();
        names.sort();
        names.dedup();
        (names.len() <= NAMES_MAX).then(|| VaryNames(names.into()))
    }

    /// The key of the variant for these request headers. RFC 9111 §4.1 allows joining lines and removing spaces; we compare line by line
    /// and byte by byte, because the upstream may treat the spellings differently. An absent header differs from an empty one.
    pub fn key_of(&self, primary: &CacheKey, request: &dyn HeaderLines) -> CacheKey {
        let mut values: Vec<Vec<u8>> = vec![Vec::new(); self.0.len()];
        request.each(&mut |name, value| {
            // At most 16 names, in one pass over the lines.
            let place = self.0.iter().position(|known| known.eq_ignore_ascii_case(name));
            if let Some(lines) = place.and_then(|place| values.get_mut(place)) {
                lines.extend_from_slice(&(value.len() as u64).to_le_bytes());
                lines.extend_from_slice(value);
            }
        });
        let mut hasher = KeyHasher::new("variant");
        hasher.add(primary.as_bytes());
        for (name, lines) in self.0.iter().zip(&values) {
            hasher.add(name.as_bytes());
            hasher.add(lines);
        }
        hasher.finish()
    }

    /// Memory of the names, in bytes.
    pub(crate) fn len_bytes(&self) -> u64 {
        self.0.iter().map(|name| name.len() as u64 + size_of::<Box<str>>() as u64).sum()
    }
}

#[cfg(test)]
mod tests;
