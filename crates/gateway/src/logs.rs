//! The log: text or JSON on standard error.

use crate::cli::LogFormat;
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::Path;
use tollgate_model::{Level, Problem};
use tracing_subscriber::EnvFilter;

/// Fields without effect that a line names. A document with more was made by a program that writes every field there is.
const IGNORED_NAMED_MAX: usize = 20;

/// Starts logging. `RUST_LOG`-style directives in `level` are understood; an unknown level means `info`.
pub fn start(format: LogFormat, level: &str) {
    let filter = EnvFilter::try_new(directives(level)).unwrap_or_else(|_| EnvFilter::new(directives("info")));
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false);
    let started = match format {
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
        LogFormat::Text => {
            let colours = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
            builder.with_ansi(colours).try_init()
        }
    };
    if let Err(error) = started {
        eprintln!("tollgate: cannot start the log: {error}");
    }
}

/// Problems of a start or a reload that are logged one by one: what a file can have is not for a log.
const LINES_MAX: usize = 10_000;

/// Logs what was found in documents: each problem by itself, but fields without effect in one line for each file.
pub fn problems(problems: &[Problem]) {
    let mut ignored: BTreeMap<Option<&Path>, Vec<&str>> = BTreeMap::new();
    let (said, unsaid) = problems.split_at(problems.len().min(LINES_MAX));
    if !unsaid.is_empty() {
        tracing::warn!(unsaid = unsaid.len(), "there are more problems than are logged; tollgate check names all of them");
    }
    for problem in said {
        match problem.level {
            Level::Error => tracing::error!("{problem}"),
            Level::Warning => tracing::warn!("{problem}"),
            Level::Note => tracing::info!("{problem}"),
            Level::Ignored => {
                tracing::debug!("{problem}");
                ignored.entry(problem.file.as_deref()).or_default().push(problem.path.trim_start_matches("$."));
            }
        }
    }
    for (file, fields) in ignored {
        let file = file.map(|file| format!("{}: ", file.display())).unwrap_or_default();
        tracing::warn!("{file}without effect: {}", listed(&fields));
    }
}

/// The first names, and how many there are beyond.
fn listed(names: &[&str]) -> String {
    let named = names.get(..IGNORED_NAMED_MAX).unwrap_or(names);
    let more = names.len() - named.len();
    if more == 0 { named.join(", ") } else { format!("{} and {more} more", named.join(", ")) }
}

/// With the h2 crate told to be quiet unless `level` names it: it warns of single frames of clients, and so as often as they like.
fn directives(level: &str) -> String {
    format!("h2=error,{}", if level.is_empty() { "info" } else { level })
}
