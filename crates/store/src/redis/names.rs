//! Names in Redis: Tyk's names wherever Tyk has one, so that both can share a Redis.

use crate::question::DocumentSpace;

/// Prefix of counters that Tyk has too; they keep their names.
const QUOTA: &str = "quota-";
/// Prefix of all other counters.
const COUNTER: &str = "tollgate.counter.";

/// Prefix of the documents of a kind.
pub(super) fn prefix(kind: DocumentSpace) -> &'static str {
    match kind {
        DocumentSpace::Session => "apikey-",
        DocumentSpace::OrgSession => "orgkey.",
        DocumentSpace::Policy => "tollgate.policy.",
        DocumentSpace::Api => "tollgate.api.",
        DocumentSpace::Certificate => "cert-raw-",
        DocumentSpace::OAuth => "oauth-data.",
        DocumentSpace::Console => "tollgate.console.",
        DocumentSpace::Acme => "tollgate.acme.",
        DocumentSpace::Portal => "tollgate.portal.",
    }
}

/// The name of a document.
pub(super) fn document(kind: DocumentSpace, id: &str) -> String {
    format!("{}{id}", prefix(kind))
}

/// What precedes the id of a certificate in lists.
const LISTED_CERTIFICATE: &str = "raw-";

/// The list of an organisation's certificates.
pub(super) fn certificate_index(org: &str) -> String {
    format!("cert-{org}-index")
}

/// The entry of a certificate in that list.
pub(super) fn listed_certificate(id: &str) -> String {
    format!("{LISTED_CERTIFICATE}{id}")
}

/// The name of a counter.
pub(super) fn counter(name: &str) -> String {
    if name.starts_with(QUOTA) { name.to_owned() } else { format!("{COUNTER}{name}") }
}

/// The inverse of [`counter`].
pub(super) fn counter_name(key: &str) -> Option<&str> {
    if key.starts_with(QUOTA) { Some(key) } else { key.strip_prefix(COUNTER) }
}

/// Patterns that match all counters with this `prefix`, and perhaps others.
pub(super) fn counter_patterns(prefix: &str) -> Vec<String> {
    let mut patterns = vec![format!("{COUNTER}{}*", literal(prefix))];
    if prefix.starts_with(QUOTA) {
        patterns = vec![format!("{}*", literal(prefix))];
    } else if QUOTA.starts_with(prefix) {
        patterns.push(format!("{QUOTA}*"));
    }
    patterns
}

/// A pattern that matches only this text.
pub(super) fn literal(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '\\' | '^' | '-') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

#[cfg(test)]
mod tests;
