//! What became of each line of a configuration.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// Where something stands in the configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub file: String,
    /// From 1.
    pub line: usize,
}

impl Place {
    pub(crate) fn new(file: &Path, line: usize) -> Self {
        Place { file: file.display().to_string(), line }
    }
}

/// What became of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MovedOutcome {
    /// It acts here as it did there.
    Carried,
    /// It acts, but otherwise: the text says how.
    Approximated(String),
    /// It does not act: the text says why.
    NotCarried(String),
}

/// A directive, plugin or field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedItem {
    /// File of the configuration.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Name, such as `limit_req` or `plugins.key-auth`.
    pub name: String,
    /// What became of it.
    pub outcome: MovedOutcome,
    /// Whether it kept somebody out, or something small, and does not act as it did.
    pub protects: bool,
}

/// The report of an import.
#[derive(Debug, Default)]
pub struct ImportReport {
    items: Vec<ReportedItem>,
    /// Routes that refuse every request, and why.
    closed: Vec<(Place, String, String)>,
}

impl ImportReport {
    pub(crate) fn carried(&mut self, place: &Place, name: impl Into<String>) {
        self.add(place, name.into(), MovedOutcome::Carried, false);
    }

    pub(crate) fn approximated(&mut self, place: &Place, name: impl Into<String>, how: impl Into<String>) {
        self.add(place, name.into(), MovedOutcome::Approximated(how.into()), false);
    }

    pub(crate) fn not_carried(&mut self, place: &Place, name: impl Into<String>, why: impl Into<String>) {
        self.add(place, name.into(), MovedOutcome::NotCarried(why.into()), false);
    }

    /// It protects, and acts otherwise.
    pub(crate) fn weakened(&mut self, place: &Place, name: impl Into<String>, how: impl Into<String>) {
        self.add(place, name.into(), MovedOutcome::Approximated(how.into()), true);
    }

    /// It protects, and does not act.
    pub(crate) fn unprotected(&mut self, place: &Place, name: impl Into<String>, why: impl Into<String>) {
        self.add(place, name.into(), MovedOutcome::NotCarried(why.into()), true);
    }

    /// The same, of a route or of what becomes part of routes: `closed` says why these refuse requests.
    pub(crate) fn closes(&mut self, place: &Place, title: &str, why: &str, closed: &mut Vec<String>) {
        self.unprotected(place, title, why);
        closed.push(format!("{title} at line {}: {why}", place.line));
    }

    /// A route that refuses every request.
    pub(crate) fn close(&mut self, place: &Place, api: &str, why: &str) {
        self.closed.push((place.clone(), api.to_owned(), why.to_owned()));
    }

    /// The items so far, in the order in which they were reported.
    pub(crate) fn all_mut(&mut self) -> &mut [ReportedItem] {
        &mut self.items
    }

    fn add(&mut self, place: &Place, name: String, outcome: MovedOutcome, protects: bool) {
        self.items.push(ReportedItem { file: place.file.clone(), line: place.line, name, outcome, protects });
    }

    /// The items, in the order of the lines.
    pub fn items(&self) -> Vec<&ReportedItem> {
        let mut items: Vec<&ReportedItem> = self.items.iter().collect();
        items.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
        items
    }

    /// How many items were carried over, approximated, not carried over.
    pub fn counts(&self) -> [usize; 3] {
        let mut counts = [0; 3];
        for item in &self.items {
            let [carried, approximated, not] = &mut counts;
            *match item.outcome {
                MovedOutcome::Carried => carried,
                MovedOutcome::Approximated(_) => approximated,
                MovedOutcome::NotCarried(_) => not,
            } += 1;
        }
        counts
    }

    /// Whether something that protects acts otherwise, or a route refuses every request because of that.
    pub fn is_less_protected(&self) -> bool {
        !self.closed.is_empty() || self.items.iter().any(|item| item.protects)
    }

    /// Lines for people: what is less protected first, then each line, then the shares.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        let weaker: Vec<&ReportedItem> = self.items().into_iter().filter(|item| item.protects).collect();
        if !weaker.is_empty() || !self.closed.is_empty() {
            text.push_str("What protects and acts otherwise:\n");
            for item in weaker {
                let _ = writeln!(text, "  {}:{}: {}: {}", item.file, item.line, item.name, item.outcome.words());
            }
            for (place, api, why) in &self.closed {
                let _ = writeln!(text, "  {}:{}: API {api} refuses every request: {why}", place.file, place.line);
            }
            text.push('\n');
        }
        for item in self.items() {
            let _ = writeln!(text, "{}:{}: {}: {}", item.file, item.line, item.name, item.outcome.words());
        }
        let [carried, approximated, not] = self.counts();
        let all = (carried + approximated + not).max(1);
        let share = |count: usize| count * 100 / all;
        let _ = writeln!(
            text,
            "\n{} items: {carried} carried over ({} %), {approximated} approximated ({} %), {not} not carried over ({} %)",
            carried + approximated + not,
            share(carried),
            share(approximated),
            share(not)
        );
        text
    }

    /// The same as an object: `closed`, `items`, `summary` with counts, and `by_name`.
    pub fn to_json(&self) -> Value {
        let items: Vec<Value> = self
            .items()
            .into_iter()
            .map(|item| {
                let (outcome, text) = item.outcome.parts();
                json!({"file": item.file, "line": item.line, "name": item.name, "outcome": outcome, "text": text, "protects": item.protects})
            })
            .collect();
        let mut by_name: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
        for item in &self.items {
            let [carried, approximated, not] = by_name.entry(&item.name).or_default();
            *match item.outcome {
                MovedOutcome::Carried => carried,
                MovedOutcome::Approximated(_) => approximated,
                MovedOutcome::NotCarried(_) => not,
            } += 1;
        }
        let [carried, approximated, not] = self.counts();
        let closed: Vec<Value> = self
            .closed
            .iter()
            .map(|(place, api, why)| json!({"file": place.file, "line": place.line, "api": api, "why": why}))
            .collect();
        json!({
            "closed": closed,
            "summary": {"carried": carried, "approximated": approximated, "not_carried": not},
            "by_name": by_name,
            "items": items,
        })
    }
}

impl MovedOutcome {
    fn parts(&self) -> (&'static str, &str) {
        match self {
            MovedOutcome::Carried => ("carried", ""),
            MovedOutcome::Approximated(how) => ("approximated", how),
            MovedOutcome::NotCarried(why) => ("not_carried", why),
        }
    }

    fn words(&self) -> String {
        match self {
            MovedOutcome::Carried => "carried over".to_owned(),
            MovedOutcome::Approximated(how) => format!("approximated: {how}"),
            MovedOutcome::NotCarried(why) => format!("not carried over: {why}"),
        }
    }
}
