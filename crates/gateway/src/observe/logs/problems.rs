//! What was found in documents, as lines of the log. Each problem is told, up to a bound that no file reaches by accident.

use super::EVERY;
use std::collections::BTreeMap;
use std::path::Path;
use tollgate_model::{Level, Problem};

/// Fields without effect that a line names. A document with more was made by a program that writes every field there is.
const IGNORED_NAMED_MAX: usize = 20;

/// Problems of a start or a reload that are logged one by one: what a file can have is not for a log.
const LINES_MAX: usize = 10_000;

/// Logs what was found in documents: each problem by itself, but fields without effect in one line for each file.
pub(crate) fn problems(problems: &[Problem]) {
    let mut ignored: BTreeMap<Option<&Path>, Vec<&str>> = BTreeMap::new();
    let (said, unsaid) = problems.split_at(problems.len().min(LINES_MAX));
    if !unsaid.is_empty() {
        tracing::warn!(unsaid = unsaid.len(), "there are more problems than are logged; tollgate check names all of them");
    }
    for problem in said {
        match problem.level {
            Level::Error => tracing::error!(target: EVERY, "{problem}"),
            Level::Warning => tracing::warn!(target: EVERY, "{problem}"),
            Level::Note => tracing::info!(target: EVERY, "{problem}"),
            Level::Ignored => {
                tracing::debug!("{problem}");
                ignored.entry(problem.file.as_deref()).or_default().push(problem.path.trim_start_matches("$."));
            }
        }
    }
    for (file, fields) in ignored {
        let file = file.map(|file| format!("{}: ", file.display())).unwrap_or_default();
        tracing::warn!(target: EVERY, "{file}without effect: {}", listed(&fields));
    }
}

/// The first names, and how many there are beyond.
fn listed(names: &[&str]) -> String {
    let named = names.get(..IGNORED_NAMED_MAX).unwrap_or(names);
    let more = names.len() - named.len();
    if more == 0 { named.join(", ") } else { format!("{} and {more} more", named.join(", ")) }
}
