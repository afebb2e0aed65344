//! Semantic versions as Masterminds' library for Go reads them: `v1.2` is a version as well.

mod constraint;

pub(crate) use constraint::satisfies;

use std::cmp::Ordering;
use std::fmt;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SemanticVersion {
    pub major: u64,
    pub minor: u64,
    pub patch: u64,
    pub prerelease: String,
    pub metadata: String,
    /// The text that was read.
    pub original: String,
}

impl fmt::Display for SemanticVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}.{}", self.major, self.minor, self.patch)?;
        if !self.prerelease.is_empty() {
            write!(formatter, "-{}", self.prerelease)?;
        }
        if !self.metadata.is_empty() {
            write!(formatter, "+{}", self.metadata)?;
        }
        Ok(())
    }
}

impl SemanticVersion {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        SemanticVersion::read(text).ok_or_else(|| "Invalid Semantic Version".to_owned())
    }

    fn read(text: &str) -> Option<Self> {
        let body = text.strip_prefix('v').unwrap_or(text);
        let (body, metadata) = body.split_once('+').map_or((body, None), |(body, metadata)| (body, Some(metadata)));
        let (numbers, prerelease) = body.split_once('-').map_or((body, None), |(numbers, prerelease)| (numbers, Some(prerelease)));
        let mut parts = numbers.split('.').map(|part| part.parse::<u64>().ok().filter(|_| is_number(part)));
        let major = parts.next()??;
        let minor = parts.next().map_or(Some(0), |part| part)?;
        let patch = parts.next().map_or(Some(0), |part| part)?;
        let has_leading_zero = |part: &str| is_number(part) && part.len() > 1 && part.starts_with('0');
        let is_prerelease = prerelease.is_none_or(|text| identifiers(text) && !text.split('.').any(has_leading_zero));
        if parts.next().is_some() || !is_prerelease || !metadata.is_none_or(identifiers) {
            return None;
        }
        let owned = |text: Option<&str>| text.unwrap_or_default().to_owned();
        Some(SemanticVersion {
            major,
            minor,
            patch,
            prerelease: owned(prerelease),
            metadata: owned(metadata),
            original: text.to_owned(),
        })
    }

    /// The order of versions. Metadata does not count.
    pub(crate) fn order(&self, other: &SemanticVersion) -> Ordering {
        let numbers = |version: &SemanticVersion| (version.major, version.minor, version.patch);
        numbers(self).cmp(&numbers(other)).then_with(|| {
            // A release comes after its pre-releases.
            let is_release = |version: &SemanticVersion| version.prerelease.is_empty();
            match (is_release(self), is_release(other)) {
                (false, false) => order_of_prereleases(&self.prerelease, &other.prerelease),
                (left, right) => left.cmp(&right),
            }
        })
    }

    /// The same version with other numbers and nothing after them.
    fn next(&self, major: u64, minor: u64, patch: u64) -> Self {
        let mut next = SemanticVersion { major, minor, patch, ..SemanticVersion::default() };
        let v = if self.original.starts_with('v') { "v" } else { "" };
        next.original = format!("{v}{next}");
        next
    }

    pub(crate) fn next_major(&self) -> Self {
        self.next(self.major.wrapping_add(1), 0, 0)
    }

    pub(crate) fn next_minor(&self) -> Self {
        self.next(self.major, self.minor.wrapping_add(1), 0)
    }

    /// The release of a pre-release is its next patch.
    pub(crate) fn next_patch(&self) -> Self {
        self.next(self.major, self.minor, self.patch.wrapping_add(u64::from(self.prerelease.is_empty())))
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text has parts of letters, digits and hyphens, with points between them.
fn identifiers(text: &str) -> bool {
    text.split('.').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'))
}

fn order_of_prereleases(left: &str, right: &str) -> Ordering {
    let (mut left, mut right) = (left.split('.'), right.split('.'));
    loop {
        let order = match (left.next(), right.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (Some(left), Some(right)) => match (left.parse::<u64>(), right.parse::<u64>()) {
                (Ok(left), Ok(right)) => left.cmp(&right),
                // Numbers come before texts.
                (Ok(_), Err(_)) => Ordering::Less,
                (Err(_), Ok(_)) => Ordering::Greater,
                (Err(_), Err(_)) => left.cmp(right),
            },
        };
        if order.is_ne() {
            return order;
        }
    }
}
