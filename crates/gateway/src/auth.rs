//! Who may call, and how often: keys and their limits, tokens and those who issue them, passwords, certificates. It is used by both planes
//! and knows no request.

pub mod certificates;
pub mod identity;
pub mod jwt;
pub mod keys;
pub mod oauth;
pub mod passwords;
