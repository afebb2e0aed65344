//! What all settings of a provider of OpenID Connect must be like, whoever signs in there.

use crate::json_path::JsonPath;
use crate::problem::Findings;

/// Algorithms that a provider may list: every one has a public key.
const KNOWN_ALGORITHMS: [&str; 9] = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"];

/// The members of a provider that are checked.
pub(super) struct ProviderMembers<'p> {
    pub name: &'p str,
    pub issuer: &'p str,
    pub client_id: &'p str,
    pub algorithms: &'p [String],
}

impl ProviderMembers<'_> {
    /// Checks the provider at this place; `earlier` are those before it in the list.
    pub(super) fn check<'o>(&self, at: &JsonPath, earlier: impl Iterator<Item = ProviderMembers<'o>>, findings: &mut Findings) {
        let is_name = !self.name.is_empty() && self.name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if !is_name {
            findings.error(&at.key("name"), "must consist of letters, digits and '-'");
        }
        if !is_url(self.issuer) {
            findings.error(&at.key("issuer"), "must be a URL without a query");
        }
        if self.client_id.is_empty() {
            findings.error(&at.key("client_id"), "must not be empty");
        }
        for (index, algorithm) in self.algorithms.iter().enumerate() {
            if !KNOWN_ALGORITHMS.contains(&algorithm.as_str()) {
                let known = KNOWN_ALGORITHMS.join(", ");
                findings.error(&at.key("algorithms").index(index), format!("must be one of {known}: they have public keys"));
            }
        }
        let (mut has_name, mut has_issuer) = (false, false);
        for other in earlier {
            has_name |= other.name == self.name;
            has_issuer |= other.issuer == self.issuer;
        }
        if has_name {
            findings.error(&at.key("name"), "another provider has this name");
        }
        if has_issuer {
            findings.error(&at.key("issuer"), "another provider has this issuer");
        }
    }
}

/// Whether a text is an absolute URL of a web server, without a query.
pub(super) fn is_url(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| {
        !rest.is_empty()
            && !rest.starts_with('/')
            && rest.bytes().all(|byte| byte.is_ascii_graphic() && !b"?#@\"\\".contains(&byte))
    })
}
