//! What composition has to say about the subgraphs, with the place where that is.

use apollo_compiler::diagnostic::ToCliReport;
use apollo_compiler::parser::{SourceMap, SourceSpan};
use apollo_compiler::validation::DiagnosticList;

/// Most errors, and most notes, of one composition: a person reads no more, and a broken document could have thousands.
const FINDINGS_MAX: usize = 50;

/// An error or a note about the subgraphs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompositionFinding {
    /// The subgraph, if only one is concerned.
    pub subgraph: Option<String>,
    /// What is wrong.
    pub message: String,
    /// Line in the subgraph's SDL, from 1.
    pub line: Option<usize>,
    /// Column in that line, from 1, in characters.
    pub column: Option<usize>,
}

impl std::fmt::Display for CompositionFinding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(subgraph) = &self.subgraph {
            write!(f, "subgraph `{subgraph}`")?;
            if let (Some(line), Some(column)) = (self.line, self.column) {
                write!(f, ", line {line}, column {column}")?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.message)
    }
}

/// What was found until now. The file names of places are names of subgraphs.
#[derive(Default)]
pub(crate) struct FindingList {
    pub(crate) errors: Vec<CompositionFinding>,
    pub(crate) notes: Vec<CompositionFinding>,
    /// The texts of all subgraphs.
    pub(crate) texts: SourceMap,
}

impl FindingList {
    /// Adds an error. A place gives the subgraph, too.
    pub(crate) fn error(&mut self, place: Option<SourceSpan>, message: impl Into<String>) {
        let finding = self.finding(None, place, message.into());
        add(&mut self.errors, finding);
    }

    /// Adds an error of a subgraph whether or not its place is known.
    pub(crate) fn error_of(&mut self, subgraph: &str, place: Option<SourceSpan>, message: impl Into<String>) {
        let finding = self.finding(Some(subgraph), place, message.into());
        add(&mut self.errors, finding);
    }

    /// Adds a note: nothing is wrong, but something may differ from what the author expects.
    pub(crate) fn note(&mut self, place: Option<SourceSpan>, message: impl Into<String>) {
        let finding = self.finding(None, place, message.into());
        add(&mut self.notes, finding);
    }

    /// Makes notes of the errors that were added since there were so many.
    pub(crate) fn take_back(&mut self, before: usize) {
        for finding in self.errors.split_off(before.min(self.errors.len())) {
            add(&mut self.notes, finding);
        }
    }

    /// Adds what a parser or validator says, except what `is_note` sends to the notes.
    pub(crate) fn diagnostics(
        &mut self,
        subgraph: Option<&str>,
        list: &DiagnosticList,
        prefix: &str,
        is_note: impl Fn(&str) -> bool,
    ) {
        for diagnostic in list.iter().take(FINDINGS_MAX) {
            let message = diagnostic.error.to_string();
            let to_notes = is_note(&message);
            let finding = self.finding(subgraph, diagnostic.error.location(), format!("{prefix}{message}"));
            add(if to_notes { &mut self.notes } else { &mut self.errors }, finding);
        }
    }

    fn finding(&self, subgraph: Option<&str>, place: Option<SourceSpan>, message: String) -> CompositionFinding {
        let file = place.and_then(|place| self.texts.get(&place.file_id()));
        let found = place.and_then(|place| place.line_column(&self.texts));
        let named = file.map(|file| file.path().to_string_lossy().into_owned());
        CompositionFinding {
            subgraph: named.or_else(|| subgraph.map(str::to_owned)),
            message,
            line: found.map(|found| found.line),
            column: found.map(|found| found.column),
        }
    }
}

fn add(list: &mut Vec<CompositionFinding>, finding: CompositionFinding) {
    if list.len() < FINDINGS_MAX && !list.contains(&finding) {
        list.push(finding);
    }
}
