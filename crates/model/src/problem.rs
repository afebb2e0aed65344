//! What is wrong in a document, and where. Problems are collected, never first-fail, so that one run of a check
//! shows an operator everything there is to mend.

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::decode::Decoded;
use crate::json_path::JsonPath;

/// One finding about one place of one document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// How much it matters.
    pub level: Level,
    /// The file as it was named by the caller, `None` for a document that came from elsewhere.
    pub file: Option<PathBuf>,
    /// The place inside the document (`$.proxy.target_url`), the name of an environment variable, or empty when the
    /// finding is about the whole file.
    pub path: String,
    /// What is wrong and, where that is not obvious, what happens because of it.
    pub message: String,
}

/// How much a [`Problem`] matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// The document cannot be used.
    Error,
    /// The document is used, but probably does not do what its author meant.
    Warning,
    /// The document does what its author meant, in a way that its author should know of.
    Note,
    /// A field that was read and has no effect.
    Ignored,
}

impl Problem {
    /// A problem without a file; see [`Problem::within`].
    pub fn new(level: Level, path: impl Into<String>, message: impl Into<String>) -> Problem {
        Problem { level, file: None, path: path.into(), message: message.into() }
    }

    /// The same problem, said of `file`.
    pub fn within(mut self, file: Option<&Path>) -> Problem {
        self.file = file.map(Path::to_path_buf);
        self
    }

    /// Whether the document cannot be used because of it.
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

    /// What decoding found, apart from unknown fields, which each kind of document judges by its own table.
    pub(crate) fn decoded<T>(&mut self, decoded: &Decoded<T>) {
        for (path, message) in &decoded.mistakes {
            self.error(path, message);
        }
        for path in &decoded.repeated {
            self.warning(path, "given more than once, in different letter case");
        }
    }

    /// Names the environment variable wherever a finding is about a value that came from one.
    pub(crate) fn attribute(&mut self, path: &JsonPath, variable: &str) {
        let path = path.to_string();
        for problem in &mut self.problems {
            if is_within(&problem.path, &path) {
                problem.message.push_str(&format!(" (set by {variable})"));
            }
        }
    }

    /// The same findings, of a document that is a part of another one.
    pub(crate) fn below(self, place: &JsonPath) -> Vec<Problem> {
        let place = place.to_string();
        let moved = |p: Problem| Problem { path: p.path.replacen('$', &place, 1), ..p };
        self.problems.into_iter().map(moved).collect()
    }

    /// The same findings, said of `file`.
    pub(crate) fn within(self, file: Option<&Path>) -> Findings {
        Findings { problems: self.problems.into_iter().map(|p| p.within(file)).collect(), bad: self.bad }
    }

    /// Splits on whether the document can be used: the value with its lesser problems, or all problems.
    pub(crate) fn conclude<T>(self, value: Option<T>) -> Result<(T, Vec<Problem>), Vec<Problem>> {
        match value {
            Some(value) if !self.problems.iter().any(Problem::is_error) => Ok((value, self.problems)),
            _ => Err(self.problems),
        }
    }

    /// An error takes the place of all later findings at the same place and below: they would be about the value that
    /// stands in for the wrong one.
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
