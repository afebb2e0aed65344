//! Validators and the conditions that compare them (RFC 9110 §8.8, §13): entity tags and dates.

use crate::syntax::{http_date, split_unquoted, trim};

/// An entity tag, including its quotes, without `W/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntityTag {
    opaque: Box<[u8]>,
    is_weak: bool,
}

impl EntityTag {
    /// Parses one entity tag; `None` when `value` is anything else.
    pub fn parse(value: &[u8]) -> Option<Self> {
        let (opaque, is_weak) = match value.strip_prefix(b"W/") {
            Some(opaque) => (opaque, true),
            None => (value, false),
        };
        is_opaque_tag(opaque).then(|| EntityTag { opaque: opaque.into(), is_weak })
    }

    /// The tag as in a header field.
    pub fn to_bytes(&self) -> Vec<u8> {
        let prefix: &[u8] = if self.is_weak { b"W/" } else { b"" };
        [prefix, &self.opaque].concat()
    }

    /// Whether it changes with every byte of the representation.
    pub fn is_strong(&self) -> bool {
        !self.is_weak
    }

    /// Whether both are equal and strong (RFC 9110 §8.8.3.2).
    pub fn matches_strongly(&self, other: &Self) -> bool {
        !self.is_weak && !other.is_weak && self.opaque == other.opaque
    }

    /// Whether both are equal, weak or not.
    pub fn matches_weakly(&self, other: &Self) -> bool {
        self.opaque == other.opaque
    }

    pub(crate) fn len(&self) -> usize {
        self.opaque.len()
    }
}

fn is_opaque_tag(tag: &[u8]) -> bool {
    match tag {
        [b'"', inner @ .., b'"'] => inner.iter().all(|byte| matches!(byte, 0x21 | 0x23..=0x7e | 0x80..)),
        _ => false,
    }
}

/// The versions that a client has already: If-None-Match and If-Modified-Since.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ClientHas {
    /// The request has no condition that a cache can evaluate.
    #[default]
    Nothing,
    /// `If-None-Match: *`.
    Any,
    /// If-None-Match with tags; If-Modified-Since is ignored then (RFC 9110 §13.1.3).
    Tags(Vec<EntityTag>),
    /// If-Modified-Since with a valid date.
    Since(u64),
}

/// Most tags of one request. Browsers send one; caches before us send one for each variant.
const TAGS_MAX: usize = 64;

impl ClientHas {
    /// Adds an If-None-Match line. An invalid tag matches nothing.
    pub fn add_none_match(&mut self, value: &[u8]) {
        if trim(value) == b"*" {
            *self = ClientHas::Any;
            return;
        }
        if !matches!(self, ClientHas::Any | ClientHas::Tags(_)) {
            *self = ClientHas::Tags(Vec::new());
        }
        if let ClientHas::Tags(tags) = self {
            let room = TAGS_MAX.saturating_sub(tags.len());
            tags.extend(split_unquoted(value, b',').filter_map(|tag| EntityTag::parse(trim(tag))).take(room));
        }
    }

    /// Adds an If-Modified-Since line; an invalid date is ignored.
    pub fn add_modified_since(&mut self, value: &[u8]) {
        if let (ClientHas::Nothing, Some(date)) = (&self, http_date(trim(value))) {
            *self = ClientHas::Since(date);
        }
    }

    /// Whether the client has this representation, so that the answer is 304. `date` replaces a missing Last-Modified (RFC 9111 §4.3.2).
    pub fn has(&self, tag: Option<&EntityTag>, last_modified: Option<u64>, date: u64) -> bool {
        match self {
            ClientHas::Nothing => false,
            ClientHas::Any => true,
            ClientHas::Tags(tags) => tag.is_some_and(|tag| tags.iter().any(|theirs| theirs.matches_weakly(tag))),
            ClientHas::Since(since) => last_modified.unwrap_or(date) <= *since,
        }
    }
}

/// The condition of a range request: If-Range (RFC 9110 §13.1.5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IfRange {
    /// The version with this tag.
    Tag(EntityTag),
    /// The version with exactly this Last-Modified.
    Date(u64),
    /// The condition is invalid: the answer is the complete representation.
    Unreadable,
}

impl IfRange {
    /// Reads an If-Range line.
    pub fn parse(value: &[u8]) -> Self {
        match (EntityTag::parse(value), http_date(value)) {
            (Some(tag), _) => IfRange::Tag(tag),
            (None, Some(date)) => IfRange::Date(date),
            (None, None) => IfRange::Unreadable,
        }
    }

    /// Whether the stored representation is the one of which the client has a part. A date proves that only if it is a strong validator: a
    /// minute older than the response (RFC 9110 §8.8.2.2).
    pub fn holds(&self, tag: Option<&EntityTag>, last_modified: Option<u64>, date: u64) -> bool {
        const STRONG_AFTER_S: u64 = 60;
        match self {
            IfRange::Tag(theirs) => tag.is_some_and(|tag| tag.matches_strongly(theirs)),
            IfRange::Date(theirs) => {
                last_modified.is_some_and(|modified| modified == *theirs && modified.saturating_add(STRONG_AFTER_S) <= date)
            }
            IfRange::Unreadable => false,
        }
    }
}

#[cfg(test)]
mod tests;
