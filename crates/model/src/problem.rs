//! Problems of a document and their places. All of them are collected, so that one check shows an operator everything to fix.

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::decode::Decoded;
use crate::json_path::JsonPath;

/// One finding about one place of one document.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Problem {
    /// Its severity.
    pub level: Level,
    /// The file as it was named by the caller, `None` for a document that came from elsewhere.
    pub file: Option<PathBuf>,
    /// The place inside the document (`$.proxy.target_url`), the name of an environment variable, or empty if the finding concerns
    /// the whole file.
    pub path: String,
    /// The problem and, if not obvious, its consequence.
    pub message: String,
}

/// The severity of a [`Problem`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// The document cannot be used.
    Error,
    /// The document is used, but probably does not do what its author intended.
    Warning,
    /// The document does what its author intended, in a way that the author should know about.
    Note,
    /// A field without effect.
    Ignored,
}

impl Problem {
    /// A problem without a file; see [`Problem::within`].
    pub fn new(level: Level, path: impl Into<String>, message: impl Into<String>) -> Problem {
        Problem { level, file: None, path: path.into(), message: message.into() }
    }

    /// The same problem, with the name of a file.
    pub fn within(mut self, file: Option<&Path>) -> Problem {
        self.file = file.map(Path::to_path_buf);
        self
    }

    /// Whether it makes the document unusable.
    pub fn is_error(&self) -> bool {
        self.level == Level::Error
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}: ", file.display())?;
        }
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        write!(f, "{}: {}", self.level, self.message)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "note",
            Level::Ignored => "ignored",
        })
    }
}

/// The problems found so far in one document.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    problems: Vec<Problem>,
    /// The places of the errors among them.
    bad: HashSet<String>,
}

impl Findings {
    pub(crate) fn error(&mut self, path: &JsonPath, message: impl Into<String>) {
        self.add(Level::Error, path, message);
    }

    pub(crate) fn warning(&mut self, path: &JsonPath, message: impl Into<String>) {
        self.add(Level::Warning, path, message);
    }

    pub(crate) fn note(&mut self, path: &JsonPath, message: impl Into<String>) {
        self.add(Level::Note, path, message);
    }

    pub(crate) fn ignored(&mut self, path: &JsonPath, message: impl Into<String>) {
        self.add(Level::Ignored, path, message);
    }

    pub(crate) fn extend(&mut self, problems: impl IntoIterator<Item = Problem>) {
        for problem in problems {
            self.push(problem);
        }
    }

    /// The problems that decoding found. Unknown fields are not among them: each kind of document has its own table for them.
    pub(crate) fn decoded<T>(&mut self, decoded: &Decoded<T>) {
        for (path, message) in &decoded.mistakes {
            self.error(path, message);
        }
        for path in &decoded.repeated {
            self.warning(path, "given more than once, in different letter case");
        }
    }

    /// Names the environment variable in findings about a value that came from one.
    pub(crate) fn attribute(&mut self, path: &JsonPath, variable: &str) {
        let path = path.to_string();
        for problem in &mut self.problems {
            if is_within(&problem.path, &path) {
                problem.message.push_str(&format!(" (set by {variable})"));
            }
        }
    }

    /// The same findings for a part that the document can do without: errors become warnings that also tell the consequence.
    pub(crate) fn without(self, consequence: &str) -> Vec<Problem> {
        let lesser = |problem: Problem| match problem.level {
            Level::Error => {
                let message = format!("{}: {consequence}", problem.message);
                Problem { level: Level::Warning, message, ..problem }
            }
            _ => problem,
        };
        self.problems.into_iter().map(lesser).collect()
    }

    /// Whether there is an error among them.
    pub(crate) fn has_error(&self) -> bool {
        self.problems.iter().any(Problem::is_error)
    }

    /// The same findings, for a document inside another one.
    pub(crate) fn below(self, place: &JsonPath) -> Vec<Problem> {
        let place = place.to_string();
        let moved = |p: Problem| Problem { path: p.path.replacen('$', &place, 1), ..p };
        self.problems.into_iter().map(moved).collect()
    }

    /// The same findings, with the name of a file.
    pub(crate) fn within(self, file: Option<&Path>) -> Findings {
        Findings { problems: self.problems.into_iter().map(|p| p.within(file)).collect(), bad: self.bad }
    }

    /// The value with its lesser problems if the document is usable, otherwise all problems.
    pub(crate) fn conclude<T>(self, value: Option<T>) -> Result<(T, Vec<Problem>), Vec<Problem>> {
        match value {
            Some(value) if !self.problems.iter().any(Problem::is_error) => Ok((value, self.problems)),
            _ => Err(self.problems),
        }
    }

    /// An error suppresses all later findings at the same place and below: they would concern the value that replaces the wrong
    /// one.
    fn add(&mut self, level: Level, path: &JsonPath, message: impl Into<String>) {
        // Looked up step by step: a comparison with each finding before would take the square of their number.
        if self.bad.is_empty() || !path.places().any(|place| self.bad.contains(&place)) {
            self.push(Problem::new(level, path.to_string(), message));
        }
    }

    fn push(&mut self, problem: Problem) {
        if problem.is_error() {
            self.bad.insert(problem.path.clone());
        }
        self.problems.push(problem);
    }
}

/// Whether `path` is `place` or a part of it.
fn is_within(path: &str, place: &str) -> bool {
    path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}
