//! Matchers: paths beside directives, and sets with names.

use super::lines::CaddyLine;
use crate::pattern::{escaped, searched};
use crate::plan::{PlannedMatch, PlannedPath, PlannedRoute, PlannedValue};
use crate::report::ImportReport;
use std::collections::BTreeMap;

/// Most ways to fit.
const WAYS_MAX: usize = 64;
/// What is said of more.
const TOO_MANY: &str = "has too many alternatives";

/// One way to fit.
#[derive(Clone, Debug, Default)]
pub(super) struct CaddyFit {
    pub matched: PlannedMatch,
    hosts: Vec<String>,
    addresses: Vec<String>,
}

impl CaddyFit {
    pub(super) fn has_addresses(&self) -> bool {
        !self.addresses.is_empty()
    }
}

/// The ways to fit each name; the error says what has no counterpart.
#[derive(Clone, Debug, Default)]
pub(super) struct Matchers(BTreeMap<String, Result<Vec<CaddyFit>, String>>);

impl Matchers {
    /// `@name` with a condition or a block of them.
    pub(super) fn define(&mut self, line: &CaddyLine, report: &mut ImportReport) {
        let mut fits = Ok(vec![CaddyFit::default()]);
        let in_line = CaddyLine { words: line.from(1).to_vec(), place: line.place.clone(), block: None };
        let conditions = if line.block.is_some() { line.inner() } else { std::slice::from_ref(&in_line) };
        if line.block.is_some() && line.words.len() > 1 {
            fits = Err("has words before its block".to_owned());
        }
        for condition in conditions {
            let own = condition_of(condition);
            match &own {
                _ if line.block.is_none() => {}
                Ok(_) => report.carried(&condition.place, "matcher.condition"),
                Err(why) => report.not_carried(&condition.place, "matcher.condition", why.clone()),
            }
            fits = fits.and_then(|fits| both(&fits, &own?));
        }
        match &fits {
            Ok(_) => report.carried(&line.place, "matcher"),
            Err(why) => report.not_carried(&line.place, "matcher", why.clone()),
        }
        self.0.insert(line.word(0).to_owned(), fits);
    }

    /// The ways to fit a matcher beside a directive, which is a path or a name.
    pub(super) fn of(&self, word: &str) -> Result<Vec<CaddyFit>, String> {
        match word {
            "" | "*" => Ok(vec![CaddyFit::default()]),
            path if path.starts_with('/') => Ok(vec![of_path(path)]),
            name => self.0.get(name).cloned().unwrap_or_else(|| Err(format!("there is no matcher {name}"))),
        }
    }
}

/// What fits one of each.
fn both(these: &[CaddyFit], those: &[CaddyFit]) -> Result<Vec<CaddyFit>, String> {
    let mut list = Vec::new();
    for one in these {
        for other in those {
            let mut fit = one.clone();
            let clash = |a: &[String], b: &[String]| !a.is_empty() && !b.is_empty() && a != b;
            if clash(&fit.hosts, &other.hosts) || clash(&fit.addresses, &other.addresses) {
                return Err("two conditions for the host or the address".to_owned());
            }
            fit.hosts.extend(other.hosts.iter().filter(|_| one.hosts.is_empty()).cloned());
            fit.addresses.extend(other.addresses.iter().filter(|_| one.addresses.is_empty()).cloned());
            if fit.matched.narrow(&other.matched)? {
                list.push(fit);
            }
        }
    }
    if list.len() > WAYS_MAX { Err(TOO_MANY.to_owned()) } else { Ok(list) }
}

fn condition_of(line: &CaddyLine) -> Result<Vec<CaddyFit>, String> {
    let values = line.from(1);
    let of_match = |matched: PlannedMatch| CaddyFit { matched, ..CaddyFit::default() };
    Ok(match line.word(0) {
        "path" => values.iter().map(|path| of_path(path)).collect(),
        "path_regexp" => {
            let expression = values.last().ok_or("path_regexp has no expression")?;
            vec![of_match(PlannedMatch { path: PlannedPath::Pattern(searched(expression, false)?), ..PlannedMatch::default() })]
        }
        "method" => values
            .iter()
            .map(|method| of_match(PlannedMatch { method: method.to_uppercase(), ..PlannedMatch::default() }))
            .collect(),
        "host" => vec![CaddyFit { hosts: values.iter().map(|host| host.to_lowercase()).collect(), ..CaddyFit::default() }],
        "remote_ip" | "client_ip" => {
            let private = ["192.168.0.0/16", "172.16.0.0/12", "10.0.0.0/8", "127.0.0.0/8", "fd00::/8", "::1"];
            let ranges = values.iter().filter(|value| *value != "forwarded").flat_map(|value| match value.as_str() {
                "private_ranges" => private.map(str::to_owned).to_vec(),
                other => vec![other.to_owned()],
            });
            vec![CaddyFit { addresses: ranges.collect(), ..CaddyFit::default() }]
        }
        "header" => {
            let name = line.word(1).to_owned();
            let value = |text: &String| {
                let parts: Vec<String> = text.split('*').map(escaped).collect();
                let header = PlannedValue { name: name.clone(), value: parts.join(".*"), is_pattern: true };
                of_match(PlannedMatch { headers: vec![header], ..PlannedMatch::default() })
            };
            match line.from(2) {
                [] => vec![value(&"*".to_owned())],
                values => values.iter().map(value).collect(),
            }
        }
        "query" => {
            let mut fits = Vec::new();
            for pair in values {
                let (name, value) = pair.split_once('=').ok_or("query has no value")?;
                let is_pattern = value == "*";
                let value = if is_pattern { ".*" } else { value }.to_owned();
                let query = vec![PlannedValue { name: name.to_owned(), value, is_pattern }];
                fits.push(of_match(PlannedMatch { query, ..PlannedMatch::default() }));
            }
            fits
        }
        "protocol" if matches!(line.word(1), "http" | "https") => vec![CaddyFit::default()],
        "not" => return Err("what must not be has no counterpart".to_owned()),
        other => return Err(format!("{other} has no counterpart")),
    })
}

/// Paths are compared without regard to case; `*` stands for anything.
fn of_path(path: &str) -> CaddyFit {
    let parts: Vec<String> = path.split('*').map(escaped).collect();
    let path = match path {
        "*" | "/*" => PlannedPath::Any,
        _ => PlannedPath::Pattern(format!("(?i){}", parts.join(".*"))),
    };
    CaddyFit { matched: PlannedMatch { path, ..PlannedMatch::default() }, ..CaddyFit::default() }
}

/// The route for requests that also fit in one of these ways, which differ in no hosts and addresses. `None` if no request does; the error says
/// what has no counterpart.
pub(super) fn narrowed(route: &PlannedRoute, fits: &[CaddyFit]) -> Result<Option<PlannedRoute>, String> {
    let mut route = route.clone();
    for fit in fits.iter().take(1) {
        if !fit.hosts.is_empty() {
            route.hosts.retain(|host| fit.hosts.contains(host));
            if route.hosts.is_empty() {
                return Ok(None);
            }
        }
        route.admit_only(fit.addresses.clone());
    }
    if route.matches.is_empty() {
        route.matches.push(PlannedMatch::default());
    }
    // Ways to fit multiply from level to level.
    if route.matches.len() * fits.len() > WAYS_MAX {
        return Err(TOO_MANY.to_owned());
    }
    let mut matches = Vec::new();
    for outer in &route.matches {
        for fit in fits {
            matches.extend(within(outer, &fit.matched)?);
        }
    }
    route.matches = matches;
    Ok(Some(route).filter(|route| !route.matches.is_empty()))
}

/// What fits both; of two paths the inner one is narrower, or fits nothing that the outer one does.
fn within(outer: &PlannedMatch, inner: &PlannedMatch) -> Result<Option<PlannedMatch>, String> {
    let mut matched = outer.clone();
    if let (PlannedPath::Pattern(before), PlannedPath::Pattern(path)) = (&outer.path, &inner.path) {
        if !before.strip_suffix(".*").is_some_and(|beginning| path.starts_with(beginning)) {
            return Err("two conditions for the path".to_owned());
        }
        matched.path = PlannedPath::Any;
    }
    Ok(matched.narrow(inner)?.then_some(matched))
}
