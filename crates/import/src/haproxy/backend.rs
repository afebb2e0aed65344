//! `backend`: its servers, and what it changes.

use super::{Line, Section, answer_of, own};
use crate::pattern;
use crate::plan::{PathChange, PlannedAction, PlannedBalance, PlannedChecks, PlannedRoute, PlannedTarget, PlannedUpstream};
use crate::report::ImportReport;

/// A backend as parts of a route.
#[derive(Clone, Debug, Default)]
pub(super) struct Backend {
    upstream: PlannedUpstream,
    changes: PlannedRoute,
    /// It answers itself.
    answers: bool,
}

pub(super) fn read(section: &Section, report: &mut ImportReport) -> Backend {
    let mut backend = Backend::default();
    let is_listen = section.head.word(0) == "listen";
    if !is_listen {
        report.carried(&section.head.place, "backend");
    }
    let mut checks: Option<PlannedChecks> = None;
    for line in &section.lines {
        let place = &line.place;
        match (line.word(0), line.word(1)) {
            ("server", _) => {
                if let Some(target) = server(line, &mut backend.upstream, report) {
                    backend.upstream.targets.push(target);
                }
                if line.words.iter().any(|word| word == "check") {
                    checks.get_or_insert_with(|| usual(""));
                }
            }
            ("balance", kind) => {
                let (balance, how) = match kind {
                    "leastconn" => (PlannedBalance::LeastRequests, "the better of two random servers"),
                    "source" => (PlannedBalance::HashAddress, ""),
                    "uri" => (PlannedBalance::HashPath, ""),
                    "random" => (PlannedBalance::Random, ""),
                    kind if kind.starts_with("hdr(") => {
                        (PlannedBalance::HashHeader(kind.trim_start_matches("hdr(").trim_end_matches(')').to_owned()), "")
                    }
                    "roundrobin" | "static-rr" => (PlannedBalance::RoundRobin, ""),
                    _ => (PlannedBalance::RoundRobin, "in turn"),
                };
                backend.upstream.balance = balance;
                if how.is_empty() { report.carried(place, "balance") } else { report.approximated(place, "balance", how) }
            }
            ("option", "httpchk") => {
                let path = line.words.iter().skip(2).find(|word| word.starts_with('/')).map_or("/", String::as_str);
                checks = Some(usual(path));
                report.approximated(place, "option httpchk", "checks are GET requests");
            }
            ("http-check", _) => report.approximated(place, "http-check", "good are statuses from 200 to 399"),
            ("cookie", name) => {
                backend.upstream.sticky_cookie = Some(name.to_owned());
                report.approximated(place, "cookie", "a cookie of the gateway's own form");
            }
            ("timeout", "server") => {
                backend.changes.timeout_ms = milliseconds(line.word(2));
                report.carried(place, "timeout server");
            }
            ("http-request" | "http-response", "set-header" | "add-header" | "del-header" | "replace-header") if !is_listen => {
                header(line, &mut backend.changes, report);
            }
            ("http-request", "set-path" | "replace-path" | "replace-uri") if !is_listen => {
                self::path(line, &mut backend.changes, report)
            }
            ("http-request", "return" | "deny")
                if !is_listen && !line.words.iter().any(|word| word == "if" || word == "unless") =>
            {
                let words: Vec<&str> = line.words.iter().map(String::as_str).collect();
                backend.changes.action = answer_of(line.word(1), &words);
                backend.answers = true;
                report.carried(place, format!("backend {} {}", line.word(0), line.word(1)));
            }
            ("http-request" | "redirect" | "acl" | "tcp-request" | "stick-table" | "stick", _) if !is_listen => {
                let title = format!("backend {} {}", line.word(0), line.word(1));
                report.unprotected(place, title.clone(), "conditions are those of frontends");
                if matches!(line.word(1), "deny" | "auth" | "tarpit") {
                    backend.changes.closed.push(format!("{title} at line {}", place.line));
                }
            }
            _ if is_listen => {}
            _ => own(line, report),
        }
    }
    backend.upstream.checks = checks;
    backend
}

fn usual(path: &str) -> PlannedChecks {
    PlannedChecks { path: path.to_owned(), interval_ms: 2_000, timeout_ms: 2_000, rise: 2, fall: 3, statuses: Vec::new() }
}

fn server(line: &Line, upstream: &mut PlannedUpstream, report: &mut ImportReport) -> Option<PlannedTarget> {
    let address = line.word(2);
    let place = &line.place;
    if line.words.iter().any(|word| word == "backup") {
        report.not_carried(place, "server", "a server for emergencies only has no counterpart, and is left out");
        return None;
    }
    if line.words.iter().any(|word| word == "disabled") {
        report.carried(place, "server");
        return None;
    }
    let is_tls = line.words.iter().any(|word| word == "ssl");
    let after = |name: &str| line.words.iter().position(|word| word == name).map(|at| line.word(at + 1));
    upstream.accepts_any_certificate |= is_tls && after("verify") == Some("none");
    let is_address = !address.is_empty() && address.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte));
    if !is_address || address.starts_with(':') {
        report.not_carried(place, "server", format!("{address} is no address"));
        return None;
    }
    report.carried(place, "server");
    let weight = after("weight").and_then(|weight| weight.parse().ok()).unwrap_or(1);
    Some(PlannedTarget { url: format!("{}://{address}", if is_tls { "https" } else { "http" }), weight })
}

impl Backend {
    /// Fills a route.
    pub(super) fn apply(&self, route: &mut PlannedRoute) {
        route.action = match self.upstream.targets.is_empty() {
            _ if self.answers => self.changes.action.clone(),
            true => PlannedAction::Answer { status: 503, body: String::new(), headers: Vec::new() },
            false => PlannedAction::Forward(self.upstream.clone()),
        };
        let changes = &self.changes;
        route.timeout_ms = changes.timeout_ms;
        route.closed.extend(changes.closed.iter().cloned());
        for (into, from) in
            [(&mut route.request_headers, &changes.request_headers), (&mut route.response_headers, &changes.response_headers)]
        {
            into.set.extend(from.set.iter().cloned());
            into.add.extend(from.add.iter().cloned());
            into.remove.extend(from.remove.iter().cloned());
        }
        if route.path_change.is_none() {
            route.path_change.clone_from(&changes.path_change);
        }
    }
}

pub(super) fn header(line: &Line, route: &mut PlannedRoute, report: &mut ImportReport) {
    let place = &line.place;
    let title = format!("{} {}", line.word(0), line.word(1));
    let is_request = line.word(0) == "http-request";
    let edits = if is_request { &mut route.request_headers } else { &mut route.response_headers };
    let end = line.words.iter().position(|word| word == "if" || word == "unless").unwrap_or(line.words.len());
    let is_tls_only = line.from(end).join(" ").contains("ssl_fc");
    if end < line.words.len() && !is_tls_only {
        return report.not_carried(place, title, "headers change for all requests of a route");
    }
    let name = line.word(2).to_owned();
    let value = line.words.get(3..end).unwrap_or_default().join(" ").replace("%[src]", "{client_ip}").replace("%ci", "{client_ip}");
    match line.word(1) {
        "del-header" => edits.remove.push(name),
        _ if value.contains('%') => return report.not_carried(place, title, format!("{value} has no counterpart")),
        "add-header" if !is_request => edits.add.push((name, value)),
        "set-header" | "add-header" => edits.set.push((name, value)),
        _ => return report.not_carried(place, title, "values of headers are not rewritten"),
    }
    if is_tls_only { report.approximated(place, title, "for all requests") } else { report.carried(place, title) }
}

pub(super) fn path(line: &Line, route: &mut PlannedRoute, report: &mut ImportReport) {
    let place = &line.place;
    let title = format!("{} {}", line.word(0), line.word(1));
    if line.words.iter().any(|word| word == "if" || word == "unless") {
        return report.not_carried(place, title, "paths change for all requests of a route");
    }
    // `\1` there is `$1` here.
    let to = line.word(3).replace('\\', "$");
    let rewritten = match line.word(1) {
        "replace-path" | "replace-uri" => pattern::rewrite(line.word(2), &to),
        _ if !line.word(2).contains('%') => Ok(("^[^?]*(\\?.*)?$".to_owned(), format!("{}$1", line.word(2)))),
        _ => Err("paths that are computed have no counterpart".to_owned()),
    };
    match rewritten {
        Ok((pattern, to)) => {
            route.path_change = Some(PathChange::Pattern { pattern, to });
            report.carried(place, title);
        }
        Err(why) => report.not_carried(place, title, why),
    }
}

/// Milliseconds of `30s`; a number alone is milliseconds.
fn milliseconds(text: &str) -> u64 {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let number: u64 = digits.parse().unwrap_or_default();
    let factor = match text.get(digits.len()..).unwrap_or_default() {
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => 1,
    };
    number.saturating_mul(factor)
}
