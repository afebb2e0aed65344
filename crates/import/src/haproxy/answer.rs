//! What rules answer, and the words with which they say it.

use crate::plan::PlannedAction;

/// Words of rules with the number of their arguments.
pub(super) const REDIRECT: &[(&str, usize)] = &[
    ("location", 1),
    ("prefix", 1),
    ("scheme", 1),
    ("code", 1),
    ("drop-query", 0),
    ("append-slash", 0),
    ("ignore-empty", 0),
    ("set-cookie", 1),
    ("clear-cookie", 1),
    ("keep-query", 0),
];
pub(super) const DENY: &[(&str, usize)] =
    &[("deny_status", 1), ("status", 1), ("content-type", 1), ("string", 1), ("lf-string", 1), ("hdr", 2)];
pub(super) const RETURN: &[(&str, usize)] = &[("status", 1), ("content-type", 1), ("string", 1), ("lf-string", 1), ("hdr", 2)];

/// Why the words of a rule are not those that it has.
pub(super) fn words_left(words: &[&str], from: usize, known: &[(&str, usize)]) -> Option<String> {
    let mut words = words.iter().skip(from);
    while let Some(word) = words.next() {
        let Some((_, arguments)) = known.iter().find(|(name, _)| name == word) else {
            return Some(format!("{word} has no counterpart"));
        };
        for _ in 0..*arguments {
            if words.next().is_none() {
                return Some(format!("{word} has no argument"));
            }
        }
    }
    None
}

/// What `return` and the kinds of `deny` answer.
pub(super) fn answer_of(action: &str, words: &[&str]) -> Result<PlannedAction, String> {
    let at = |name: &str| words.iter().position(|word| *word == name).and_then(|at| words.get(at + 1)).copied();
    let status = |name: &str, usual: u16| {
        let Some(text) = at(name) else { return Ok(usual) };
        text.parse().ok().filter(|status| (200..=599).contains(status)).ok_or_else(|| format!("{text} is no status"))
    };
    if action != "return" {
        let status = status("deny_status", status("status", 403)?)?;
        return Ok(PlannedAction::Answer { status, body: String::new(), headers: Vec::new() });
    }
    let headers = at("content-type").map(|kind| ("Content-Type".to_owned(), kind.to_owned())).into_iter().collect();
    let body = at("string").or(at("lf-string")).unwrap_or_default().to_owned();
    Ok(PlannedAction::Answer { status: status("status", 200)?, body, headers })
}
