//! What holds for all routes of a site: headers, paths, users, sizes.

use super::address::target;
use super::lines::{CaddyLine, bytes};
use crate::plan::{AuthWay, ConsumerCredential, HeaderEdits, PathChange, Plan, PlannedConsumer, PlannedRoute};
use crate::report::{ImportReport, Place};

/// Directives without a counterpart that protect nothing.
const HARMLESS: [&str; 19] = [
    "log",
    "tls",
    "bind",
    "file_server",
    "root",
    "php_fastcgi",
    "try_files",
    "templates",
    "metrics",
    "handle_errors",
    "push",
    "tracing",
    "log_skip",
    "skip_log",
    "log_append",
    "log_name",
    "vars",
    "map",
    "acme_server",
];

/// Changes the route by a directive that answers nothing.
pub(super) fn apply(line: &CaddyLine, route: &mut PlannedRoute, plan: &mut Plan, report: &mut ImportReport) {
    let place = &line.place;
    let name = line.word(0);
    let has_matcher = line.word(1).starts_with(['/', '@']);
    match name {
        "header" | "request_header" | "uri" | "rewrite" if has_matcher && line.words.len() > 2 => {
            report.not_carried(place, name, "it changes all requests of a route, or none");
        }
        "encode" if has_matcher => report.not_carried(place, name, "it compresses all responses of a route, or none"),
        "encode" => super::encode::read(line, route, report),
        "header" => headers(line, &mut route.response_headers, report),
        "request_header" => headers(line, &mut route.request_headers, report),
        "uri" if line.word(1) == "strip_prefix" && line.words.len() == 3 => {
            route.path_change = Some(PathChange::Beginning { from: line.word(2).to_owned(), to: String::new() });
            report.carried(place, name);
        }
        "rewrite" if line.words.last().is_some_and(|to| to.starts_with('/') && !to.contains(['{', '?'])) => {
            route.path_change = line.words.last().map(|to| PathChange::Whole(to.clone()));
            report.carried(place, name);
        }
        "basic_auth" | "basicauth" if !has_matcher => users(line, route, plan, report),
        "forward_auth" if !has_matcher => asks(line, route, report),
        "request_body" if !has_matcher => {
            for inner in line.inner() {
                match inner.word(0) == "max_size" && inner.words.len() == 2 && bytes(inner.word(1)).is_some() {
                    true => report.carried(&inner.place, "request_body.max_size"),
                    false => {
                        report.not_carried(&inner.place, format!("request_body.{}", inner.word(0)), "is no size, or not known")
                    }
                }
            }
            let size = line
                .inner()
                .iter()
                .find(|inner| inner.word(0) == "max_size" && inner.words.len() == 2)
                .and_then(|inner| bytes(inner.word(1)));
            match size {
                Some(size) if line.words.len() == 1 => {
                    route.body_bytes_max = Some(size);
                    report.carried(place, name);
                }
                _ => report.closes(place, name, "it has no size that is understood", &mut route.closed),
            }
        }
        "uri" | "rewrite" | "method" => report.not_carried(place, name, "paths are stripped or replaced as a whole"),
        name if HARMLESS.contains(&name) => {
            report.not_carried(place, name, "has no counterpart, or is the gateway's own setting");
        }
        name => report.closes(place, name, "is not read, and may protect", &mut route.closed),
    }
}

fn headers(line: &CaddyLine, edits: &mut HeaderEdits, report: &mut ImportReport) {
    let in_line = line.from(1);
    let in_line = if in_line.first().is_some_and(|word| word == "*") { in_line.get(1..).unwrap_or_default() } else { in_line };
    if !in_line.is_empty() {
        edit(in_line, line.word(0), &line.place, edits, report);
    }
    for inner in line.inner() {
        if inner.word(0) == "defer" {
            report.carried(&inner.place, format!("{}.defer", line.word(0)));
        } else {
            edit(&inner.words, &format!("{}.name", line.word(0)), &inner.place, edits, report);
        }
    }
    if in_line.is_empty() {
        report.carried(&line.place, line.word(0));
    }
}

/// `name value`, `+name value`, `-name`.
pub(super) fn edit(words: &[String], title: &str, place: &Place, edits: &mut HeaderEdits, report: &mut ImportReport) {
    let Some((name, values)) = words.split_first() else { return report.not_carried(place, title, "names no header") };
    if let Some(name) = name.strip_prefix('-').filter(|name| !name.contains('*')) {
        edits.remove.push(name.to_owned());
        return report.carried(place, title);
    }
    let [value] = values else { return report.not_carried(place, title, "values of headers are not replaced in part") };
    if name.starts_with(['-', '>']) && name.starts_with('-') {
        return report.not_carried(place, title, "headers are removed by their whole names");
    }
    let Some(value) = with_variables(value) else {
        return report.not_carried(place, title, format!("{value} has no counterpart"));
    };
    match name.chars().next() {
        Some('+') => edits.add.push((name.trim_start_matches('+').to_owned(), value)),
        Some('?') => {
            edits.set.push((name.trim_start_matches('?').to_owned(), value));
            return report.approximated(place, title, "also where the upstream has set it");
        }
        _ => edits.set.push((name.trim_start_matches('>').to_owned(), value)),
    }
    report.carried(place, title);
}

/// A value with the plan's variables; `None` if one has no counterpart.
fn with_variables(value: &str) -> Option<String> {
    let mut text = value.to_owned();
    for name in ["{remote_host}", "{http.request.remote.host}", "{client_ip}"] {
        text = text.replace(name, "{client_ip}");
    }
    text = text.replace("{http.request.header.", "{header:").replace("{header.", "{header:").replace("{uuid}", "{request_id}");
    let mut rest = text.as_str();
    while let Some((_, behind)) = rest.split_once('{') {
        let (variable, after) = behind.split_once('}')?;
        if variable != "client_ip" && variable != "request_id" && !variable.starts_with("header:") {
            return None;
        }
        rest = after;
    }
    Some(text)
}

fn users(line: &CaddyLine, route: &mut PlannedRoute, plan: &mut Plan, report: &mut ImportReport) {
    let group = format!("users at line {}", line.place.line);
    for inner in line.inner() {
        let (user, hash) = (inner.word(0), inner.word(1));
        if !hash.starts_with("$2") {
            report.not_carried(
                &inner.place,
                "basic_auth.user",
                format!("the hash of {user} is of a kind that is not checked here"),
            );
            continue;
        }
        report.carried(&inner.place, "basic_auth.user");
        match plan.consumers.iter_mut().find(|consumer| consumer.name == user) {
            Some(known) => known.groups.push(group.clone()),
            None => plan.consumers.push(PlannedConsumer {
                name: user.to_owned(),
                place: inner.place.clone(),
                groups: vec![group.clone()],
                credentials: vec![ConsumerCredential::Basic {
                    user: user.to_owned(),
                    password: hash.to_owned(),
                    hash_type: "bcrypt".to_owned(),
                }],
                ..PlannedConsumer::default()
            }),
        }
    }
    route.auth.ways.push(AuthWay::Basic);
    route.auth.allowed_groups.push(group);
    report.carried(&line.place, "basic_auth");
}

fn asks(line: &CaddyLine, route: &mut PlannedRoute, report: &mut ImportReport) {
    let mut path = "/".to_owned();
    let mut copied = Vec::new();
    for inner in line.inner() {
        match inner.word(0) {
            "uri" => path = inner.word(1).to_owned(),
            "copy_headers" => {
                copied.extend(inner.from(1).iter().chain(inner.inner().iter().flat_map(|line| line.words.first())).cloned());
            }
            _ => {
                return report.closes(&inner.place, "forward_auth", "an option of it has no counterpart", &mut route.closed);
            }
        }
    }
    let Some(target) = target(line.word(1)) else {
        return report.closes(&line.place, "forward_auth", "its upstream is not understood", &mut route.closed);
    };
    let url = format!("{}{path}", target.url);
    route.auth.ways.push(AuthWay::Asks { url, request_headers: Vec::new(), response_headers: copied });
    report.carried(&line.place, "forward_auth");
}
