//! The Vary field (RFC 9110 §12.5.5): the request headers that selected a response, and their values in a request.

use crate::key::{CacheKey, KeyHasher};
use crate::lines::HeaderLines;
use crate::request::ANSWERED_HERE;
use crate::syntax::{is_token, list, split_unquoted, trim};

/// What may be normalised in the values of a request header without a change of meaning (RFC 9111 §4.1).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Normal {
    /// Nothing: it is no list, so commas and spaces belong to its text.
    Verbatim,
    /// A list of unknown members: its lines may be joined, and spaces around commas do not count.
    List,
    /// The same, and empty members do not count.
    PlainList,
    /// The same, of members in any letter case, without spaces inside them.
    Tokens,
}

impl Normal {
    /// `name` is in lower case.
    fn of(name: &str) -> Self {
        match name {
            "authorization" | "cookie" | "from" | "host" | "origin" | "proxy-authorization" | "referer" | "user-agent" => {
                Normal::Verbatim
            }
            "accept" => Normal::PlainList,
            // Their order may be a preference, so it counts.
            "accept-charset" | "accept-encoding" | "accept-language" => Normal::Tokens,
            _ => Normal::List,
        }
    }

    /// Adds the value of one line to those of the lines before.
    fn add(self, value: &[u8], values: &mut Option<Vec<u8>>) {
        let is_first = values.is_none();
        let values = values.get_or_insert_default();
        if self == Normal::Verbatim {
            values.extend_from_slice(&(value.len() as u64).to_le_bytes());
            return values.extend_from_slice(value);
        }
        let mut follows = if self == Normal::List { !is_first } else { !values.is_empty() };
        for member in split_unquoted(value, b',').map(trim).filter(|member| self == Normal::List || !member.is_empty()) {
            if std::mem::replace(&mut follows, true) {
                values.push(b',');
            }
            match self {
                Normal::Tokens => {
                    values.extend(member.iter().filter(|byte| !byte.is_ascii_whitespace()).map(u8::to_ascii_lowercase))
                }
                _ => values.extend_from_slice(member),
            }
        }
    }
}

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
            // The upstream did not see these, so they selected nothing.
            if ANSWERED_HERE.iter().any(|own| own.eq_ignore_ascii_case(&text)) {
                continue;
            }
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

    /// The key of the variant for these request headers. Values that mean the same share one (RFC 9111 §4.1); where that is not certain, such as
    /// the order of languages, they do not, because the upstream may tell them apart. An absent header differs from an empty one.
    pub fn key_of(&self, primary: &CacheKey, request: &dyn HeaderLines) -> CacheKey {
        let mut values: Vec<Option<Vec<u8>>> = vec![None; self.0.len()];
        request.each(&mut |name, value| {
            // At most 16 names, in one pass over the lines.
            let named = self.0.iter().zip(&mut values).find(|(known, _)| known.eq_ignore_ascii_case(name));
            if let Some((name, values)) = named {
                Normal::of(name).add(value, values);
            }
        });
        let mut hasher = KeyHasher::new("variant");
        hasher.add(primary.as_bytes());
        for (name, lines) in self.0.iter().zip(&values) {
            hasher.add(name.as_bytes());
            hasher.add_optional(lines.as_deref());
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
