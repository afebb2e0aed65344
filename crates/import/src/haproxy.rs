//! HAProxy's configuration: frontends with conditions, and the backends that they choose.

mod backend;
mod condition;

use crate::files::{ImportFailure, NamedFiles};
use crate::plan::{Plan, PlannedAction, PlannedCertificate, PlannedListener, PlannedMatch, PlannedRedirect, PlannedRoute};
use crate::report::{ImportReport, Place};
use backend::Backend;
use condition::{Conditions, Fit};
use std::collections::BTreeMap;

/// Most lines of a file.
const LINES_MAX: usize = 100_000;

/// A line with its words, without comment.
#[derive(Clone, Debug)]
struct Line {
    place: Place,
    words: Vec<String>,
}

impl Line {
    fn word(&self, index: usize) -> &str {
        self.words.get(index).map_or("", String::as_str)
    }

    fn from(&self, index: usize) -> &[String] {
        self.words.get(index..).unwrap_or_default()
    }
}

/// `frontend`, `backend` and so on, with its lines.
struct Section {
    head: Line,
    lines: Vec<Line>,
}

/// What the gateway does by itself, by the first word.
const OWN: &[&str] = &[
    "log",
    "maxconn",
    "option",
    "timeout",
    "retries",
    "nbthread",
    "nbproc",
    "cpu-map",
    "chroot",
    "user",
    "group",
    "daemon",
    "stats",
    "pidfile",
    "ca-base",
    "crt-base",
    "tune.ssl.default-dh-param",
    "ssl-default-bind-ciphers",
    "ssl-default-bind-options",
    "ssl-default-bind-ciphersuites",
    "ssl-default-server-options",
    "ssl-default-server-ciphers",
    "ssl-dh-param-file",
    "mode",
    "log-format",
    "errorfile",
    "description",
    "unique-id-format",
    "unique-id-header",
    "hash-type",
    "default-server",
    "fullconn",
    "http-reuse",
    "balance",
    "cookie",
    "http-check",
    "email-alert",
    "load-server-state-from-file",
    "server-state-file",
    "log-tag",
    "capture",
    "compression",
    "monitor-uri",
    "ulimit-n",
    "master-worker",
    "hard-stop-after",
    "bind-process",
    "no",
    "log-send-hostname",
    "lua-load",
];

/// Reads the file into the plan.
pub(crate) fn read(text: &str, files: &NamedFiles, plan: &mut Plan, report: &mut ImportReport) -> Result<(), ImportFailure> {
    let sections = sections(text, files)?;
    let mut backends = BTreeMap::new();
    for section in sections.iter().filter(|section| matches!(section.head.word(0), "backend" | "listen")) {
        backends.insert(section.head.word(1).to_owned(), backend::read(section, report));
    }
    for section in &sections {
        match section.head.word(0) {
            "frontend" | "listen" => {
                report.carried(&section.head.place, section.head.word(0));
                frontend(section, &backends, plan, report);
            }
            "backend" => {}
            "global" | "defaults" => {
                report.carried(&section.head.place, section.head.word(0));
                section.lines.iter().for_each(|line| own(line, report));
            }
            name => report.not_carried(&section.head.place, name, "sections of this kind have no counterpart"),
        }
    }
    if plan.routes.is_empty() {
        return Err(files.failure("has no frontend that answers HTTP"));
    }
    Ok(())
}

fn own(line: &Line, report: &mut ImportReport) {
    let name = line.word(0);
    match OWN.contains(&name) {
        true => report.approximated(&line.place, name, "the gateway's own settings of logs, limits, time and TLS"),
        false => report.not_carried(&line.place, name, "is not known to the importer"),
    }
}

fn sections(text: &str, files: &NamedFiles) -> Result<Vec<Section>, ImportFailure> {
    let mut sections: Vec<Section> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if number >= LINES_MAX {
            return Err(files.failure(format!("has more than {LINES_MAX} lines")));
        }
        let words = words(line);
        let Some(first) = words.first() else { continue };
        let is_head = !line.starts_with([' ', '\t'])
            && [
                "global",
                "defaults",
                "frontend",
                "backend",
                "listen",
                "userlist",
                "peers",
                "resolvers",
                "cache",
                "program",
                "mailers",
                "ring",
                "http-errors",
            ]
            .contains(&first.as_str());
        let line = Line { place: Place::new(files.first(), number + 1), words };
        match (is_head, sections.last_mut()) {
            (true, _) => sections.push(Section { head: line, lines: Vec::new() }),
            (false, Some(section)) => section.lines.push(line),
            (false, None) => return Err(ImportFailure::new(files.first(), number + 1, "stands before the first section")),
        }
    }
    Ok(sections)
}

/// Words of a line, with quotation marks and backslashes.
fn words(line: &str) -> Vec<String> {
    let mut list = Vec::new();
    let mut word = String::new();
    let (mut quote, mut is_word) = (None, false);
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            (letter, Some(open)) if letter == open => quote = None,
            ('"' | '\'', None) => {
                quote = Some(letter);
                is_word = true;
            }
            // What it does not escape, it stays before.
            ('\\', None | Some('"')) => {
                is_word = true;
                match letters.clone().next() {
                    Some(next) if " \"#'\\".contains(next) => word.extend(letters.next()),
                    _ => word.push('\\'),
                }
            }
            ('#', None) => break,
            (letter, None) if letter.is_whitespace() => {
                if is_word {
                    list.push(std::mem::take(&mut word));
                    is_word = false;
                }
            }
            (letter, _) => {
                word.push(letter);
                is_word = true;
            }
        }
    }
    if is_word {
        list.push(word);
    }
    list
}

fn frontend(section: &Section, backends: &BTreeMap<String, Backend>, plan: &mut Plan, report: &mut ImportReport) {
    let name = section.head.word(1).to_owned();
    let is_tcp = section.lines.iter().any(|line| line.word(0) == "mode" && line.word(1) == "tcp");
    if is_tcp {
        return report.not_carried(&section.head.place, "mode", "streams of bytes: write a route of the kind `stream`");
    }
    let mut listeners = Vec::new();
    let mut conditions = Conditions::default();
    for line in section.lines.iter().filter(|line| line.word(0) == "acl") {
        conditions.define(line, report);
    }
    let mut order = plan.routes.len();
    let mut base = PlannedRoute { place: section.head.place.clone(), ..PlannedRoute::default() };
    let mut early: Vec<PlannedRoute> = Vec::new();
    let mut chosen: Vec<(Line, String, Vec<Fit>)> = Vec::new();
    // Choices that are not carried over: how many came before, and the line.
    let mut left_out: Vec<(usize, usize)> = Vec::new();
    for line in &section.lines {
        let place = &line.place;
        match line.word(0) {
            "bind" => listeners.extend(bind(line, &name, plan, report)),
            "acl" | "server" => {}
            "default_backend" => {
                report.carried(place, "default_backend");
                chosen.push((line.clone(), line.word(1).to_owned(), vec![Fit::default()]));
            }
            "use_backend" => match conditions.of(line.from(2)) {
                Ok(fits) if !line.word(1).contains('%') => {
                    report.carried(place, "use_backend");
                    chosen.push((line.clone(), line.word(1).to_owned(), fits));
                }
                // Its requests would go to other backends, which may be less protected.
                Ok(_) => {
                    report.unprotected(place, "use_backend", "a backend that is computed has no counterpart");
                    left_out.push((chosen.len(), place.line));
                }
                Err(why) => {
                    report.unprotected(place, "use_backend", why);
                    left_out.push((chosen.len(), place.line));
                }
            },
            "http-request" | "redirect" | "http-response" | "block" | "reqadd" | "rspadd" | "tcp-request" => {
                rule(line, &conditions, &mut base, &mut early, report);
            }
            "option" if matches!(line.word(1), "forwardfor" | "http-server-close" | "httplog" | "httpclose") => {
                report.carried(place, "option")
            }
            _ => own(line, report),
        }
    }
    if section.head.word(0) == "listen" {
        chosen.push((section.head.clone(), name.clone(), vec![Fit::default()]));
    }
    let mut add = |mut route: PlannedRoute, fit: &Fit, plan: &mut Plan| {
        route.listeners = listeners.iter().map(|listener: &PlannedListener| listener.name.clone()).collect();
        route.hosts.clone_from(&fit.hosts);
        route.matches = vec![fit.matched.clone()];
        route.admit_only(fit.addresses.clone());
        route.precedence = order;
        order += 1;
        plan.add(route);
    };
    for route in early {
        let matches = route.matches.clone();
        for matched in matches {
            let fit = Fit { matched, hosts: route.hosts.clone(), ..Fit::default() };
            add(route.clone(), &fit, plan);
        }
    }
    for (index, (line, target, fits)) in chosen.iter().enumerate() {
        let is_last = line.word(0) != "use_backend";
        let before: Vec<String> = left_out
            .iter()
            .filter(|(at, _)| is_last || *at <= index)
            .map(|(_, left)| format!("use_backend at line {left} is not carried over, and its requests would come here"))
            .collect();
        for fit in fits {
            let mut route = PlannedRoute { name: format!("{name} {target}"), place: line.place.clone(), ..base.clone() };
            match backends.get(target) {
                Some(backend) => backend.apply(&mut route),
                None => report.not_carried(&line.place, "use_backend.name", format!("there is no backend {target}")),
            }
            route.closed.extend(before.iter().cloned());
            add(route, fit, plan);
        }
    }
}

fn bind(line: &Line, frontend: &str, plan: &mut Plan, report: &mut ImportReport) -> Vec<PlannedListener> {
    let mut made = Vec::new();
    let is_tls = line.words.iter().any(|word| word == "ssl");
    let certificate = line.words.iter().position(|word| word == "crt").map(|at| line.word(at + 1).to_owned());
    if line.words.iter().any(|word| word == "verify") && !line.words.iter().any(|word| word == "none") {
        report.unprotected(&line.place, "bind", "certificates of clients are not asked for; the listener is left out");
        return made;
    }
    for address in line.word(1).split(',') {
        let (host, port) = address.rsplit_once(':').unwrap_or(("", address));
        let Ok(port) = port.parse::<u16>() else {
            report.not_carried(&line.place, "bind", format!("{address} is no port of an address"));
            continue;
        };
        let name = format!("{frontend}-{port}");
        let certificates = certificate
            .iter()
            .map(|file| PlannedCertificate::Files { certificate: file.clone(), key: file.clone(), place: line.place.clone() })
            .collect();
        let listener = PlannedListener { name, address: host.parse().ok(), port, is_tls, certificates };
        plan.listeners.push(listener.clone());
        made.push(listener);
        report.carried(&line.place, "bind");
    }
    made
}

/// A rule that answers, refuses or changes.
fn rule(line: &Line, conditions: &Conditions, base: &mut PlannedRoute, early: &mut Vec<PlannedRoute>, report: &mut ImportReport) {
    let place = &line.place;
    let (kind, action) = match line.word(0) {
        "redirect" => ("redirect", "redirect"),
        kind => (kind, line.word(1)),
    };
    let title = format!("{kind} {action}");
    let first_if = line.words.iter().position(|word| word == "if" || word == "unless");
    let condition = first_if.map(|at| line.from(at));
    let words: Vec<&str> = line.words.iter().take(first_if.unwrap_or(line.words.len())).map(String::as_str).collect();
    let answers = |action: PlannedAction,
                   early: &mut Vec<PlannedRoute>,
                   report: &mut ImportReport,
                   refuses: bool,
                   base: &mut PlannedRoute| {
        match condition.map_or(Ok(vec![Fit::default()]), |condition| conditions.of(condition)) {
            Ok(fits) if fits.iter().all(|fit| fit.addresses.is_empty()) => {
                report.carried(place, title.clone());
                for fit in fits {
                    early.push(PlannedRoute {
                        name: title.clone(),
                        place: place.clone(),
                        action: action.clone(),
                        matches: vec![PlannedMatch { ..fit.matched }],
                        hosts: fit.hosts,
                        ..PlannedRoute::default()
                    });
                }
            }
            Ok(_) | Err(_) if refuses => match condition.and_then(|condition| conditions.addresses(condition)) {
                Some((true, list)) => {
                    base.blocked_ips.extend(list);
                    report.carried(place, title.clone());
                }
                Some((false, list)) => {
                    base.admit_only(list);
                    report.carried(place, title.clone());
                }
                None => {
                    report.closes(place, &title, "its condition has no counterpart", &mut base.closed);
                }
            },
            Err(why) if why == condition::ALWAYS_TLS => report.approximated(place, title.clone(), "requests with TLS are served"),
            Ok(_) | Err(_) => {
                // Its requests would reach a backend.
                report.closes(place, &title, "its condition has no counterpart", &mut base.closed);
            }
        }
    };
    match (kind, action) {
        ("redirect", _) | ("http-request", "redirect") => {
            let at = |name: &str| words.iter().position(|word| *word == name).and_then(|at| words.get(at + 1)).copied();
            let status = at("code").and_then(|code| code.parse().ok()).unwrap_or(302);
            let mut to = PlannedRedirect { status, ..PlannedRedirect::default() };
            match (at("scheme"), at("location"), at("prefix")) {
                (Some(scheme), ..) => to.scheme = scheme.to_owned(),
                (_, Some(location), _) if !location.contains(['%', '{']) => to.location = Some(location.to_owned()),
                (_, _, Some(prefix)) if !prefix.contains(['%', '{']) => to.location = Some(format!("{prefix}{{uri}}")),
                _ => return report.not_carried(place, title, "locations have no variables"),
            }
            answers(PlannedAction::Redirect(to), early, report, false, base);
        }
        ("http-request", "deny" | "tarpit" | "silent-drop" | "return") | ("block", _) => {
            answers(answer_of(action, &words), early, report, action != "return", base);
        }
        ("http-request" | "http-response", "set-header" | "add-header" | "del-header" | "replace-header") => {
            backend::header(line, base, report);
        }
        ("http-request", "set-path" | "replace-path") => backend::path(line, base, report),
        (
            "http-request",
            "track-sc0" | "track-sc1" | "set-var" | "capture" | "set-log-level" | "add-acl" | "cache-use" | "set-src",
        )
        | ("http-response", _) => {
            report.not_carried(place, title, "has no counterpart");
        }
        ("tcp-request", _) => report.not_carried(place, title, "limits of connections: `tollgate.limits`"),
        _ => {
            report.unprotected(place, title.clone(), "has no counterpart, and may protect");
            base.closed.push(format!("{title} at line {}: has no counterpart", place.line));
        }
    }
}

/// What `return` and the kinds of `deny` answer.
fn answer_of(action: &str, words: &[&str]) -> PlannedAction {
    let at = |name: &str| words.iter().position(|word| *word == name).and_then(|at| words.get(at + 1)).copied();
    let status = |name: &str| at(name).and_then(|status| status.parse().ok());
    if action != "return" {
        return PlannedAction::Answer { status: status("deny_status").unwrap_or(403), body: String::new(), headers: Vec::new() };
    }
    let headers = at("content-type").map(|kind| ("Content-Type".to_owned(), kind.to_owned())).into_iter().collect();
    let body = at("string").or(at("lf-string")).unwrap_or_default().to_owned();
    PlannedAction::Answer { status: status("status").unwrap_or(200), body, headers }
}
