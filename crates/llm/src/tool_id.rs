//! Ids of tool calls in the form that each provider accepts. An id that fits is kept; another becomes a digest of itself, the same for the call and its
//! result and in every later request.

use aws_lc_rs::digest;
use data_encoding::HEXLOWER;
use std::borrow::Cow;

/// What a provider accepts as an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdRule {
    /// Anything.
    Any,
    /// At most 40 bytes, as OpenAI has it.
    Short,
    /// Nine letters and digits, as Mistral has it.
    Nine,
    /// Up to 64 letters, digits, hyphens and underscores, as Anthropic and Amazon have it.
    Plain,
}

impl IdRule {
    /// The id as the provider accepts it.
    pub(crate) fn fit(self, id: &str) -> Cow<'_, str> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let (fits, length) = match self {
            IdRule::Any => (true, 0),
            IdRule::Short => (id.len() <= 40, 40),
            IdRule::Nine => (id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()), 9),
            IdRule::Plain => ((1..=64).contains(&id.len()) && id.bytes().all(is_plain), 40),
        };
        if fits {
            return Cow::Borrowed(id);
        }
        let mut digest = HEXLOWER.encode(digest::digest(&digest::SHA256, id.as_bytes()).as_ref());
        digest.truncate(length);
        Cow::Owned(digest)
    }
}

#[cfg(test)]
mod tests;
