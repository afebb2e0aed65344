//! Cache directives: of requests and of responses (RFC 9111 §5.2), of RFC 5861, and of fields for one kind of cache (RFC 9213).

use crate::structured::{self, BareItem};
use crate::syntax::{delta_seconds, split_unquoted, token_or_quoted, trim};

/// A directive with a number of seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeltaSeconds {
    /// The directive is absent.
    #[default]
    Absent,
    /// The directive is present once, or several times with the same number.
    Of(u64),
    /// The directive has no valid number, or two different ones. Such a response counts as stale (RFC 9111 §4.2.1).
    Invalid,
}

impl DeltaSeconds {
    /// The number; 0 when it is invalid.
    pub fn strict(self) -> Option<u64> {
        match self {
            DeltaSeconds::Absent => None,
            DeltaSeconds::Of(seconds) => Some(seconds),
            DeltaSeconds::Invalid => Some(0),
        }
    }

    fn add(&mut self, seconds: Option<u64>) {
        *self = match (*self, seconds) {
            (DeltaSeconds::Absent, Some(seconds)) => DeltaSeconds::Of(seconds),
            (DeltaSeconds::Of(before), Some(seconds)) if before == seconds => *self,
            _ => DeltaSeconds::Invalid,
        };
    }
}

/// The directives of a response.
///
/// `no-cache` and `private` with field names are treated as without: storing or reusing less than allowed is always correct.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)] // the names of the directives are the documentation
pub struct ResponseDirectives {
    pub max_age: DeltaSeconds,
    pub s_maxage: DeltaSeconds,
    pub stale_while_revalidate: DeltaSeconds,
    pub stale_if_error: DeltaSeconds,
    pub no_cache: bool,
    pub no_store: bool,
    pub private: bool,
    pub public: bool,
    pub must_revalidate: bool,
    pub proxy_revalidate: bool,
    pub must_understand: bool,
    pub no_transform: bool,
}

impl ResponseDirectives {
    /// Adds the directives of one Cache-Control line.
    pub fn add_line(&mut self, value: &[u8]) {
        for_each(value, |name, argument| self.add(name, argument));
    }

    /// Reads the directives of a field for one kind of cache (RFC 9213 §2.1); `value` is all its lines joined with commas. `None` when it
    /// is empty or not a valid structured field: then Cache-Control is used.
    pub fn targeted(value: &[u8]) -> Option<Self> {
        let members = structured::dictionary(value)?;
        if members.is_empty() {
            return None;
        }
        let mut directives = ResponseDirectives::default();
        for (name, item) in &members {
            match item {
                BareItem::Integer(seconds) => {
                    let seconds = u64::try_from(*seconds).ok().map(|seconds| seconds.to_string());
                    directives.add(name.as_bytes(), Some(seconds.as_ref().map_or(b"-", |seconds| seconds.as_bytes())));
                }
                BareItem::Boolean(true) => directives.add(name.as_bytes(), None),
                // `no-cache` and `private` may name fields.
                BareItem::String if matches!(name.as_str(), "no-cache" | "private") => directives.add(name.as_bytes(), None),
                // A value of the wrong type makes the directive invalid, and it is ignored.
                _ => {}
            }
        }
        Some(directives)
    }

    fn add(&mut self, name: &[u8], argument: Option<&[u8]>) {
        let seconds = || argument.and_then(delta_seconds);
        match name.to_ascii_lowercase().as_slice() {
            b"max-age" => self.max_age.add(seconds()),
            b"s-maxage" => self.s_maxage.add(seconds()),
            b"stale-while-revalidate" => self.stale_while_revalidate.add(seconds()),
            b"stale-if-error" => self.stale_if_error.add(seconds()),
            b"no-cache" => self.no_cache = true,
            b"no-store" => self.no_store = true,
            b"private" => self.private = true,
            b"public" => self.public = true,
            b"must-revalidate" => self.must_revalidate = true,
            b"proxy-revalidate" => self.proxy_revalidate = true,
            b"must-understand" => self.must_understand = true,
            b"no-transform" => self.no_transform = true,
            _ => {}
        }
    }
}

/// The directives of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)] // the names of the directives are the documentation
pub struct RequestDirectives {
    pub max_age: Option<u64>,
    pub min_fresh: Option<u64>,
    /// `max-stale` without a number is stored as the largest number.
    pub max_stale: Option<u64>,
    pub stale_if_error: Option<u64>,
    pub no_cache: bool,
    pub no_store: bool,
    pub only_if_cached: bool,
}

impl RequestDirectives {
    /// Adds the directives of one Cache-Control line. Of two different values the stricter one counts; an invalid number is the strictest.
    pub fn add_line(&mut self, value: &[u8]) {
        for_each(value, |name, argument| {
            let seconds = argument.and_then(delta_seconds);
            let smaller = |before: Option<u64>| Some(before.unwrap_or(u64::MAX).min(seconds.unwrap_or(0)));
            match name.to_ascii_lowercase().as_slice() {
                b"max-age" => self.max_age = smaller(self.max_age),
                b"min-fresh" => self.min_fresh = Some(self.min_fresh.unwrap_or(0).max(seconds.unwrap_or(u64::MAX))),
                b"max-stale" if argument.is_none() => self.max_stale = Some(self.max_stale.unwrap_or(u64::MAX)),
                b"max-stale" => self.max_stale = smaller(self.max_stale),
                b"stale-if-error" => self.stale_if_error = smaller(self.stale_if_error),
                b"no-cache" => self.no_cache = true,
                b"no-store" => self.no_store = true,
                b"only-if-cached" => self.only_if_cached = true,
                _ => {}
            }
        });
    }
}

/// Calls `visit` with name and argument of each directive. An argument that is neither a token nor a quoted string is passed as `-`, which
/// is not a number for any directive.
fn for_each(value: &[u8], mut visit: impl FnMut(&[u8], Option<&[u8]>)) {
    for directive in split_unquoted(value, b',') {
        let directive = trim(directive);
        match directive.iter().position(|&byte| byte == b'=') {
            None => visit(directive, None),
            Some(at) => {
                let (name, argument) = directive.split_at_checked(at).unwrap_or_default();
                // Spaces around the sign are invalid syntax, but a name that a lenient reader would accept must not be missed.
                let argument = argument.get(1..).unwrap_or_default();
                visit(trim(name), Some(token_or_quoted(argument).unwrap_or(b"-")));
            }
        }
    }
}

#[cfg(test)]
mod tests;
