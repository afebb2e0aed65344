//! Keeps a provider's key out of what passes to a client: a provider that is asked with a wrong key may quote it, also in the middle of a stream.

use crate::terms::ProviderTerms;
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
        (0..text.len()).any(|at| self.at(text, at).is_some())
    }

    /// What may pass of more bytes.
    pub(crate) fn push(&mut self, bytes: Vec<u8>) -> Vec<u8> {
        if self.secrets.is_empty() {
            return bytes;
        }
        let mut text = if self.held.is_empty() { bytes } else { [std::mem::take(&mut self.held), bytes].concat() };
        self.hide(&mut text);
        let mut ends = text.len().saturating_sub(self.longest())..text.len();
        let begins = ends.find(|at| self.begins(text.get(*at..).unwrap_or_default()));
        if let Some(at) = begins {
            self.held = text.split_off(at);
        }
        text
    }

    /// What is left at the end.
    pub(crate) fn end(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }

    fn hide(&self, text: &mut [u8]) {
        let mut at = 0;
        while at < text.len() {
            let length = self.at(text, at).unwrap_or(0);
            text.iter_mut().skip(at).take(length).for_each(|byte| *byte = STAR);
            at += length.max(1);
        }
    }

    /// The length of the secret that is here.
    fn at(&self, text: &[u8], at: usize) -> Option<usize> {
        let rest = text.get(at..)?;
        self.secrets.iter().find(|secret| rest.starts_with(secret)).map(Vec::len)
    }

    /// Whether the end of a text is the beginning of a secret.
    fn begins(&self, end: &[u8]) -> bool {
        self.secrets.iter().any(|secret| secret.starts_with(end))
    }

    fn longest(&self) -> usize {
        self.secrets.iter().map(Vec::len).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests;
