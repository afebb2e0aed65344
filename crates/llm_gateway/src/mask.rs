//! Keeps a provider's key out of what passes to a client: a provider that is asked with a wrong key may quote it, also in the middle of a stream.

use crate::terms::ProviderTerms;
use hyper::body::Bytes;
use memchr::{memchr_iter, memmem};
use tollgate_llm::ProviderCredential;

/// Shorter keys are in any text.
const SECRET_BYTES_MIN: usize = 6;
const STAR: u8 = b'*';

/// Puts stars in the place of secrets in bytes that come in pieces. It holds back what may be the beginning of one.
#[derive(Default)]
pub(crate) struct Mask {
    secrets: Vec<Vec<u8>>,
    held: Vec<u8>,
}

impl Mask {
    /// A mask for the secrets of a provider.
    pub(crate) fn new(provider: &ProviderTerms) -> Self {
        let key = match &provider.provider.credential {
            ProviderCredential::Key(key) | ProviderCredential::Bearer(key) => Some(key),
            ProviderCredential::None => None,
        };
        let keys = provider.aws.as_ref().map(|aws| &aws.keys);
        let all = key.into_iter().chain(keys.map(|keys| &keys.secret_access_key));
        let all = all.chain(keys.and_then(|keys| keys.session_token.as_ref()));
        let secrets = all.filter(|secret| secret.len() >= SECRET_BYTES_MIN).map(|secret| secret.clone().into_bytes());
        Mask { secrets: secrets.collect(), held: Vec::new() }
    }

    /// Whether a text has a secret in it.
    pub(crate) fn finds(&self, text: &[u8]) -> bool {
        self.secrets.iter().any(|secret| memmem::find(text, secret).is_some())
    }

    /// What may pass of more bytes.
    pub(crate) fn push(&mut self, bytes: Bytes) -> Bytes {
        if self.secrets.is_empty() || self.held.is_empty() && !self.finds(&bytes) && self.beginning(&bytes).is_none() {
            return bytes;
        }
        let mut text = [&std::mem::take(&mut self.held)[..], &bytes].concat();
        self.hide(&mut text);
        if let Some(at) = self.beginning(&text) {
            self.held = text.split_off(at);
        }
        text.into()
    }

    /// What is left at the end.
    pub(crate) fn end(&mut self) -> Bytes {
        std::mem::take(&mut self.held).into()
    }

    fn hide(&self, text: &mut [u8]) {
        for secret in &self.secrets {
            let places: Vec<usize> = memmem::find_iter(text, secret).collect();
            for at in places {
                text.iter_mut().skip(at).take(secret.len()).for_each(|byte| *byte = STAR);
            }
        }
    }

    /// Where at the end of a text there is the beginning of a secret: the first place, which may have the longest.
    fn beginning(&self, text: &[u8]) -> Option<usize> {
        let of = |secret: &Vec<u8>| {
            let from = (text.len() + 1).saturating_sub(secret.len());
            let (end, first) = (text.get(from..)?, *secret.first()?);
            memchr_iter(first, end).map(|at| from + at).find(|at| text.get(*at..).is_some_and(|rest| secret.starts_with(rest)))
        };
        self.secrets.iter().filter_map(of).min()
    }
}

#[cfg(test)]
mod tests;
