//! JSON Web Tokens: the compact form (RFC 7515), signatures (RFC 7518, 8037), the claims that Tollgate checks (RFC 7519), and key sets (RFC
//! 7517). Independent of requests and sessions.

mod algorithm;
mod claim_checks;
mod claim_texts;
mod claims;
mod key;
mod key_set;
mod source;
mod token;

pub(crate) use algorithm::{AlgorithmFamily, SigningAlgorithm};
pub(crate) use claim_checks::{ClaimChecks, GrantedScopes};
pub(crate) use claim_texts::{CLAIM, ClaimNames, ClaimTexts, value_text};
pub(crate) use claims::{Claims, TimeChecks, TimeFault, Validity};
pub(crate) use key::VerifyKey;
pub(crate) use key_set::{FETCH_TIME_MAX, KeySet, SetRules};
pub(crate) use source::{Checked, KeySource};
pub(crate) use token::JwtToken;

#[cfg(test)]
mod tests;
