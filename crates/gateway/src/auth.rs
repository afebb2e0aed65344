//! Who may call, and how often: keys and their limits, tokens and those who issue them, passwords, certificates. It is used by both planes
//! and knows no request.

pub(crate) mod certificates;
pub(crate) mod identity;
pub(crate) mod jwt;
pub(crate) mod keys;
pub(crate) mod oauth;
pub(crate) mod passwords;
