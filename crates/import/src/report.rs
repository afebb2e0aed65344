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
    /// The gateway does by itself what it asks for: the text says how. Clients and upstreams see no difference.
    BuiltIn(String),
    /// It acts, but otherwise: the text says how.
    Approximated(String),
    /// It does not act: the text says why.
    NotCarried(String),
    /// It is not about requests that are passed on, but about a web server's own files or an application server's protocol: the text says what.
    OtherWork(String),
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

/// How many items had which outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutcomeCounts {
    /// Carried over.
    pub carried: usize,
    /// Need no setting.
    pub built_in: usize,
    /// Act otherwise.
    pub approximated: usize,
    /// Do not act.
    pub not_carried: usize,
    /// Are no work of a gateway.
    pub other_work: usize,
}

impl OutcomeCounts {
    /// Counts one more.
    pub fn count(&mut self, outcome: &MovedOutcome) {
        *match outcome {
            MovedOutcome::Carried => &mut self.carried,
            MovedOutcome::BuiltIn(_) => &mut self.built_in,
            MovedOutcome::Approximated(_) => &mut self.approximated,
            MovedOutcome::NotCarried(_) => &mut self.not_carried,
            MovedOutcome::OtherWork(_) => &mut self.other_work,
        } += 1;
    }

    /// All in the order of the members.
    pub fn in_order(&self) -> [usize; 5] {
        [self.carried, self.built_in, self.approximated, self.not_carried, self.other_work]
    }

    /// Items that have to do with requests that are passed on.
    pub fn of_proxies(&self) -> usize {
        self.in_order().iter().sum::<usize>() - self.other_work
    }

    /// The share in percent of those that act as before, among `all`.
    pub fn percent_alike(&self, all: usize) -> f64 {
        (self.carried + self.built_in) as f64 * 100.0 / all.max(1) as f64
    }
}

impl std::fmt::Display for OutcomeCounts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let all: usize = self.in_order().iter().sum();
        write!(
            f,
            "{all} items: {} carried over, {} need no setting, {} approximated, {} not carried over",
            self.carried, self.built_in, self.approximated, self.not_carried
        )?;
        if self.other_work > 0 {
            write!(f, ", {} no work of a gateway", self.other_work)?;
        }
        write!(f, "; {:.1} % act as before", self.percent_alike(all))?;
        if self.other_work > 0 {
            write!(f, ", {:.1} % of those that a gateway can have", self.percent_alike(self.of_proxies()))?;
        }
        Ok(())
    }
}

/// The report of an import.
#[derive(Debug, Default)]
pub struct ImportReport {
    items: Vec<ReportedItem>,
    /// Routes that refuse every request, and why.
    closed: Vec<(Place, String, String)>,
    /// Indices of items that several routes report, by the number of the directive.
    shared: BTreeMap<usize, usize>,
}

impl ImportReport {
    pub(crate) fn carried(&mut self, place: &Place, name: impl Into<String>) {
        self.add(place, name.into(), MovedOutcome::Carried, false);
    }

    pub(crate) fn built_in(&mut self, place: &Place, name: impl Into<String>, how: impl Into<String>) {
        self.add(place, name.into(), MovedOutcome::BuiltIn(how.into()), false);
    }

    pub(crate) fn other_work(&mut self, place: &Place, name: impl Into<String>, what: impl Into<String>) {
        self.add(place, name.into(), MovedOutcome::OtherWork(what.into()), false);
    }

    pub(crate) fn approximated(&mut self, place: &Place, name: impl Into<String>, how: impl Into<String>) {
        self.add(place, name.into(), MovedOutcome::Approximated(how.into()), false);
    }

    pub(crate) fn not_carried(&mut self, place: &Place, name: impl Into<String>, why: impl Into<String>) {
        self.add(place, name.into(), MovedOutcome::NotCarried(why.into()), false);
    }

    /// What becomes at one of several routes of a directive that they share. The worst outcome stays.
    pub(crate) fn at_route(&mut self, number: usize, place: &Place, name: &str, outcome: MovedOutcome) {
        let index = *self.shared.entry(number).or_insert(self.items.len());
        match self.items.get_mut(index) {
            Some(item) if item.outcome.severity() < outcome.severity() => item.outcome = outcome,
            Some(_) => {}
            None => self.add(place, name.to_owned(), outcome, false),
        }
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

    /// How many items had which outcome.
    pub fn counts(&self) -> OutcomeCounts {
        let mut counts = OutcomeCounts::default();
        self.items.iter().for_each(|item| counts.count(&item.outcome));
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
        let _ = writeln!(text, "\n{}", self.counts());
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
        let mut by_name: BTreeMap<&str, OutcomeCounts> = BTreeMap::new();
        for item in &self.items {
            by_name.entry(&item.name).or_default().count(&item.outcome);
        }
        let by_name: BTreeMap<&str, [usize; 5]> = by_name.into_iter().map(|(name, counts)| (name, counts.in_order())).collect();
        let counts = self.counts();
        let closed: Vec<Value> = self
            .closed
            .iter()
            .map(|(place, api, why)| json!({"file": place.file, "line": place.line, "api": api, "why": why}))
            .collect();
        json!({
            "closed": closed,
            "summary": {
                "carried": counts.carried, "built_in": counts.built_in, "approximated": counts.approximated,
                "not_carried": counts.not_carried, "other_work": counts.other_work,
            },
            "by_name": by_name,
            "items": items,
        })
    }
}

impl MovedOutcome {
    /// What counts where a directive has several outcomes: the largest.
    fn severity(&self) -> u8 {
        match self {
            MovedOutcome::OtherWork(_) => 0,
            MovedOutcome::BuiltIn(_) => 1,
            MovedOutcome::Carried => 2,
            MovedOutcome::Approximated(_) => 3,
            MovedOutcome::NotCarried(_) => 4,
        }
    }

    fn parts(&self) -> (&'static str, &str) {
        match self {
            MovedOutcome::Carried => ("carried", ""),
            MovedOutcome::BuiltIn(how) => ("built_in", how),
            MovedOutcome::Approximated(how) => ("approximated", how),
            MovedOutcome::NotCarried(why) => ("not_carried", why),
            MovedOutcome::OtherWork(what) => ("other_work", what),
        }
    }

    fn words(&self) -> String {
        match self {
            MovedOutcome::Carried => "carried over".to_owned(),
            MovedOutcome::BuiltIn(how) => format!("needs no setting: {how}"),
            MovedOutcome::Approximated(how) => format!("approximated: {how}"),
            MovedOutcome::NotCarried(why) => format!("not carried over: {why}"),
            MovedOutcome::OtherWork(what) => format!("no work of a gateway: {what}"),
        }
    }
}
