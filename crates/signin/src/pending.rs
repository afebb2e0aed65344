//! A sign-in that is under way at a provider, and what the browser brings back from there.

use percent_encoding::percent_decode_str;
use std::io;
use tollgate_access::secret::random_text;

/// Between the parts of a kept sign-in.
const SEPARATOR: char = '.';

/// What must be known when the browser comes back. It is of one provider: an answer of another one does not fit (a mix-up).
#[derive(Clone, PartialEq, Eq)]
pub struct PendingSignIn {
    pub(crate) provider: String,
    pub(crate) state: String,
    pub(crate) nonce: String,
    /// Of PKCE: 64 characters.
    pub(crate) verifier: String,
}

impl PendingSignIn {
    /// A new sign-in.
    ///
    /// # Errors
    /// The system gives no random numbers.
    pub(crate) fn new(provider: &str) -> io::Result<Self> {
        let verifier = random_text()? + &random_text()?;
        Ok(PendingSignIn { provider: provider.to_owned(), state: random_text()?, nonce: random_text()?, verifier })
    }

    /// The value of a cookie.
    pub fn kept(&self) -> String {
        [&*self.provider, &*self.state, &*self.nonce, &*self.verifier].join(&SEPARATOR.to_string())
    }

    /// Reads the value of a cookie; `None` for one that was never given.
    pub fn of_kept(text: &str) -> Option<Self> {
        let mut parts = text.split(SEPARATOR).map(str::to_owned);
        let [provider, state, nonce, verifier] = std::array::from_fn(|_| parts.next().filter(|part| !part.is_empty()));
        let pending = PendingSignIn { provider: provider?, state: state?, nonce: nonce?, verifier: verifier? };
        parts.next().is_none().then_some(pending)
    }

    /// A random text that is this sign-in's alone.
    pub fn state(&self) -> &str {
        &self.state
    }
}

/// The members of the query with which a provider sends a browser back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReturnedAnswer {
    /// `state`.
    pub state: Option<String>,
    /// `code`.
    pub code: Option<String>,
    /// `iss`, which few providers send.
    pub issuer: Option<String>,
    /// `error`: the provider let nobody in.
    pub error: Option<String>,
    /// `error_description`: what it says of that.
    pub description: Option<String>,
}

impl ReturnedAnswer {
    /// Reads a query.
    pub fn of_query(query: &str) -> Self {
        let [state, code, issuer, error, description] =
            ["state", "code", "iss", "error", "error_description"].map(|name| form_value(query, name));
        ReturnedAnswer { state, code, issuer, error, description }
    }
}

/// The value of a member of a form or a query. One that is there twice could be read in two ways, and is missing.
pub fn form_value(form: &str, name: &str) -> Option<String> {
    let mut values = form.split('&').filter_map(|pair| pair.split_once('=')).filter(|(own, _)| *own == name);
    let (_, value) = values.next().filter(|_| values.next().is_none())?;
    percent_decode_str(&value.replace('+', " ")).decode_utf8().ok().map(String::from)
}

#[cfg(test)]
mod tests;
