//! `backend`: its servers, and what it changes.

use super::answer::{DENY, RETURN, answer_of, words_left};
use super::compression::CompressionLines;
use super::lines::is_name;
use super::{Line, Section, keywords, own};
use crate::authority::{is_authority, is_port};
use crate::pattern;
use crate::plan::{PathChange, PlannedAction, PlannedBalance, PlannedChecks, PlannedRoute, PlannedTarget, PlannedUpstream};
use crate::report::ImportReport;

/// A backend as parts of a route.
#[derive(Clone, Debug, Default)]
pub(super) struct Backend {
    upstream: PlannedUpstream,
    changes: PlannedRoute,
    pub compression: CompressionLines,
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
                    let checks = checks.get_or_insert_with(|| usual(""));
                    times(line, checks);
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
                let before = checks.take().unwrap_or_else(|| usual(""));
                checks = Some(PlannedChecks { path: path.to_owned(), ..before });
                report.approximated(place, "option httpchk", "checks are GET requests");
            }
            ("http-check", _) => report.approximated(place, "http-check", "good are statuses from 200 to 399"),
            ("cookie", name) => {
                backend.upstream.sticky_cookie = Some(name.to_owned());
                report.approximated(place, "cookie", "a cookie of the gateway's own form");
            }
            ("timeout", "server") => match (milliseconds(line.word(2)), line.from(3)) {
                (Some(time), []) => {
                    backend.changes.timeout_ms = time;
                    report.carried(place, "timeout server");
                }
                _ => report.not_carried(place, "timeout server", "is no time"),
            },
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
                let title = format!("backend {} {}", line.word(0), line.word(1));
                let known = if line.word(1) == "return" { RETURN } else { DENY };
                let answer = words_left(&words, 2, known).map_or_else(|| answer_of(line.word(1), &words), Err);
                match answer {
                    Ok(action) => {
                        backend.changes.action = action;
                        backend.answers = true;
                        report.carried(place, title);
                    }
                    Err(why) => report.closes(place, &title, &why, &mut backend.changes.closed),
                }
            }
            ("http-request" | "redirect" | "acl" | "tcp-request" | "stick-table" | "stick", _) if !is_listen => {
                let title = format!("backend {} {}", line.word(0), line.word(1));
                report.unprotected(place, title.clone(), "conditions are those of frontends");
                if matches!(line.word(1), "deny" | "auth" | "tarpit") {
                    backend.changes.closed.push(format!("{title} at line {}", place.line));
                }
            }
            _ if is_listen => {}
            ("compression", _) => backend.compression.take(line, report),
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
    let without = match keywords::read(line, 3, keywords::SERVER, keywords::SERVER_ACTING) {
        Ok(without) => without,
        Err(why) => {
            report.not_carried(place, "server", format!("{why}; the server is left out"));
            return None;
        }
    };
    let is_tls = line.words.iter().any(|word| word == "ssl");
    let after = |name: &str| line.words.iter().position(|word| word == name).map(|at| line.word(at + 1));
    upstream.accepts_any_certificate |= is_tls && after("verify") == Some("none");
    let has_port = address.rsplit_once(':').is_some_and(|(_, port)| is_port(port));
    if !is_authority(address) || !has_port || !is_name(line.word(1)) {
        let why = match address {
            "" => "has no address".to_owned(),
            _ if !is_name(line.word(1)) => format!("{} is no name", line.word(1)),
            _ => format!("{address} is no address with a port"),
        };
        report.not_carried(place, "server", why);
        return None;
    }
    let wrong = ["weight", "fall", "rise"].into_iter().find(|name| after(name).is_some_and(|text| text.parse::<u8>().is_err()));
    let wrong = wrong.or_else(|| after("inter").filter(|text| milliseconds(text).is_none()).map(|_| "inter"));
    if let Some(name) = wrong {
        report.not_carried(place, "server", format!("{name} {} is no number that it can have", after(name).unwrap_or_default()));
        return None;
    }
    if line.words.iter().any(|word| word == "disabled") {
        report.carried(place, "server");
        return None;
    }
    match without.is_empty() {
        true => report.carried(place, "server"),
        false => report.approximated(place, "server", format!("no effect here: {}", without.join(", "))),
    }
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
    let wanted = match line.word(1) {
        "del-header" => 3..=3,
        "replace-header" => 5..=5,
        _ => 4..=4,
    };
    if !wanted.contains(&end) {
        return report.not_carried(place, title, "has not the words that it needs");
    }
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
    let words = if line.word(1) == "set-path" { 3 } else { 4 };
    if line.words.len() != words {
        return report.not_carried(place, title, "has not the words that it needs");
    }
    // `\1` there is `$1` here.
    let to = line.word(3).replace('\\', "$");
    if to.contains('%') {
        return report.not_carried(place, title, "paths that are computed have no counterpart");
    }
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
fn milliseconds(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let factor = match text.get(digits.len()..)? {
        "" | "ms" => 1,
        // Microseconds.
        "us" => return digits.parse::<u64>().ok().map(|number| number / 1_000),
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

/// How often a server is checked, and how many results count.
fn times(line: &Line, checks: &mut PlannedChecks) {
    let after = |name: &str| line.words.iter().position(|word| word == name).map(|at| line.word(at + 1));
    let number = |name: &str| after(name).and_then(|text| text.parse().ok()).filter(|number| *number > 0);
    checks.rise = number("rise").unwrap_or(checks.rise);
    checks.fall = number("fall").unwrap_or(checks.fall);
    checks.interval_ms = after("inter").and_then(milliseconds).filter(|time| *time > 0).unwrap_or(checks.interval_ms);
}
