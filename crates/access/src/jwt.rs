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

pub use algorithm::{AlgorithmFamily, SigningAlgorithm};
pub use claim_checks::{ClaimChecks, GrantedScopes};
pub use claim_texts::{CLAIM, ClaimNames, ClaimTexts, value_text};
pub use claims::{Claims, TimeChecks, TimeFault, Validity};
pub use key::VerifyKey;
pub use key_set::{FETCH_TIME_MAX, KeySet, SetRules};
pub use source::{Checked, KeySource};
pub use token::JwtToken;

#[cfg(test)]
mod tests;
