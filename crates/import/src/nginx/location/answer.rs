//! Who answers at a location: an upstream, nginx itself, or nobody we know.

use super::super::Shared;
use super::super::directive::Directive;
use super::super::scope::Scope;
use super::super::value::{Surroundings, substituted};
use super::{LocationKind, headers};
use crate::authority::is_authority;
use crate::pattern;
use crate::plan::{
    AuthWay, PathChange, PlannedAction, PlannedCache, PlannedRedirect, PlannedRetries, PlannedRoute, PlannedTarget, PlannedUpstream,
};
use crate::report::{ImportReport, Place};

/// What is known of the answer, and then what it is.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub uri: String,
    kind: LocationKind,
    pass: Option<Directive>,
    returns: Option<Directive>,
    rewrites: Vec<Directive>,
    found: Found,
}

#[derive(Clone, Debug)]
enum Found {
    /// Files, or another protocol.
    Nothing,
    Status(u16),
    /// A redirect to this path.
    Path(String),
    /// What `return` says; its location may depend on the socket.
    Returns {
        status: u16,
        text: String,
    },
    Upstream(Box<FoundUpstream>),
}

/// An upstream with what belongs to it.
#[derive(Clone, Debug)]
struct FoundUpstream {
    upstream: PlannedUpstream,
    host: String,
    change: Option<PathChange>,
    asks: Option<(AuthWay, Place)>,
    /// What nginx makes of the upstream's own URLs in `Location` unless it is told otherwise.
    own_location: Option<(String, String)>,
}

impl Answer {
    pub(super) fn new(kind: LocationKind, uri: &str) -> Self {
        Answer { uri: uri.to_owned(), kind, pass: None, returns: None, rewrites: Vec::new(), found: Found::Nothing }
    }

    pub(super) fn status(status: u16) -> Self {
        Answer { found: Found::Status(status), ..Answer::new(LocationKind::Exact, "") }
    }

    /// A permanent redirect to a path of the same server.
    pub(super) fn redirect(path: &str) -> Self {
        Answer { found: Found::Path(path.to_owned()), ..Answer::new(LocationKind::Exact, "") }
    }

    pub(super) fn is_upstream(&self) -> bool {
        matches!(self.found, Found::Upstream(_))
    }

    pub(super) fn pass(&mut self, directive: &Directive) {
        self.pass = Some(directive.clone());
    }

    pub(super) fn set_return(&mut self, directive: &Directive) {
        // The first one answers.
        self.returns.get_or_insert_with(|| directive.clone());
    }

    pub(super) fn rewrite(&mut self, directive: &Directive, kind: LocationKind) {
        self.kind = kind;
        self.rewrites.push(directive.clone());
    }

    /// Whether nothing behind it is reached.
    pub(super) fn is_final(&self) -> bool {
        matches!(self.found, Found::Returns { .. })
    }

    /// Finds out who answers.
    pub(super) fn resolve(&mut self, scope: &Scope, shared: &Shared, locations: &[&Directive], report: &mut ImportReport) {
        let mut change = None;
        for rewrite in std::mem::take(&mut self.rewrites) {
            self.take_rewrite(&rewrite, &mut change, report);
        }
        if let Some(directive) = &self.returns {
            let (status, text) = match directive.words.as_slice() {
                [url] if url.contains("://") || url.starts_with('/') => (302, url.clone()),
                [status] => (status.parse().unwrap_or(404), String::new()),
                [status, text, ..] => (status.parse().unwrap_or(302), text.clone()),
                [] => (404, String::new()),
            };
            self.found = Found::Returns { status, text };
            if let Some(pass) = &self.pass {
                report.approximated(&pass.place, pass.name.clone(), "return answers first");
            }
            return;
        }
        let Some(directive) = self.pass.clone() else { return };
        let place = &directive.place;
        let Some((upstream, host, path)) = upstream(&directive, scope, shared, report) else {
            self.found = Found::Status(502);
            return;
        };
        if !path.is_empty() && change.is_none() {
            change = match self.kind {
                LocationKind::Prefix | LocationKind::FirmPrefix => Some(PathChange::Beginning { from: self.uri.clone(), to: path }),
                LocationKind::Exact => Some(PathChange::Whole(path)),
                _ => {
                    report.not_carried(place, "proxy_pass", "a path of the upstream has no meaning in a location of this kind");
                    None
                }
            };
        }
        let asks = scope.asks.as_ref().map(|(uri, place)| (asks(uri, scope, locations, shared), place.clone()));
        let asks = match asks {
            Some((Some(way), place)) => Some((way, place)),
            Some((None, place)) => {
                Some((AuthWay::Asks { url: String::new(), request_headers: Vec::new(), response_headers: Vec::new() }, place))
            }
            None => None,
        };
        let is_prefix = matches!(self.kind, LocationKind::Prefix | LocationKind::FirmPrefix | LocationKind::Exact);
        let own_location = (is_prefix && !directive.word(0).contains('$') && directive.name == "proxy_pass")
            .then(|| (directive.word(0).to_owned(), self.uri.clone()));
        self.found = Found::Upstream(Box::new(FoundUpstream { upstream, host, change, asks, own_location }));
    }

    fn take_rewrite(&mut self, rewrite: &Directive, change: &mut Option<PathChange>, report: &mut ImportReport) {
        let place = &rewrite.place;
        let (from, to, flag) = (rewrite.word(0), rewrite.word(1), rewrite.word(2));
        let is_redirect = matches!(flag, "permanent" | "redirect") || to.contains("://");
        if is_redirect {
            let is_everything =
                matches!(from, "^" | "^(.*)$" | "^/(.*)$" | "^(.*)" | "^/(.*)" | "^/?(.*)$" | ".*" | "^.*$" | "(.*)");
            let status = if flag == "permanent" { "301" } else { "302" };
            let target = to.trim_end_matches('?').replace("$1", "$request_uri").replace("/$request_uri", "$request_uri");
            let keeps_path = target.ends_with("$request_uri") || !target.contains("$request_uri");
            if is_everything && keeps_path && self.returns.is_none() {
                let words = vec![status.to_owned(), target];
                self.returns =
                    Some(Directive { name: "return".to_owned(), words, block: None, place: place.clone(), number: rewrite.number });
                return;
            }
            return report.not_carried(place, "rewrite", "redirects keep the path or have one for all");
        }
        if matches!(self.kind, LocationKind::Rest) {
            return report.not_carried(place, "rewrite", "a location is chosen by the path as it came: rewrite within one");
        }
        if to.contains(['$']) && to.split('$').skip(1).any(|rest| !rest.starts_with(|first: char| first.is_ascii_digit())) {
            return report.not_carried(place, "rewrite", "the new path has groups of the expression, and no variables");
        }
        if change.is_some() {
            return report.not_carried(place, "rewrite", "a path is changed once");
        }
        match pattern::rewrite(from, to) {
            Ok((pattern, to)) => {
                *change = Some(PathChange::Pattern { pattern, to });
                match flag {
                    "last" | "" => report.approximated(
                        place,
                        "rewrite",
                        "the new path goes to this location's upstream; locations are not searched again",
                    ),
                    _ => report.carried(place, "rewrite"),
                }
            }
            Err(why) => report.not_carried(place, "rewrite", why),
        }
    }

    /// Fills a route.
    pub(super) fn apply(&self, scope: &Scope, around: Surroundings, route: &mut PlannedRoute, report: &mut ImportReport) {
        route.closed = scope.closed.clone();
        route.compression = scope.compression.planned();
        match &self.found {
            Found::Nothing if scope.denies_all() => route.action = status(403),
            Found::Nothing => route.action = status(404),
            Found::Status(code) => route.action = status(*code),
            Found::Path(path) => {
                route.action = PlannedAction::Redirect(PlannedRedirect {
                    status: 301,
                    path: Some(path.clone()),
                    ..PlannedRedirect::default()
                });
            }
            Found::Returns { status, text } => {
                let place = self.returns.as_ref().map(|directive| directive.place.clone()).unwrap_or_default();
                route.action = returned(*status, text, around, &place, report);
            }
            Found::Upstream(found) => {
                let FoundUpstream { upstream, host, change, asks, own_location } = found.as_ref();
                route.action = PlannedAction::Forward(upstream.clone());
                route.path_change = change.clone();
                route.upstream_host = Some(host.clone());
                guard(scope, asks.as_ref(), route, report);
                route.body_bytes_max = scope.body_bytes_max.filter(|most| *most > 0);
                if route.body_bytes_max.is_some() {
                    route.refusal_statuses.push((400, "BTL", 413));
                }
                route.timeout_ms = scope.timeout_ms;
                route.rate = scope.rate;
                route.address_rates.clone_from(&scope.address_rates);
                if route.rate.is_some() || !route.address_rates.is_empty() {
                    route.refuse_over_limits_with(scope.limit_status.unwrap_or(503));
                }
                route.cache = scope.cache.as_ref().map(|cache| PlannedCache {
                    time_s: scope.cache_time_s,
                    statuses: if scope.cache_time_s.is_some() { vec![200] } else { Vec::new() },
                    ..cache.clone()
                });
                let several = upstream.targets.len() > 1;
                let usual = several.then(|| PlannedRetries { tries: upstream.targets.len().min(10) as u32, statuses: Vec::new() });
                route.retries = scope.retries.clone().or(usual);
                headers::for_upstreams(scope, around, route, report);
                route.locations = match &scope.locations {
                    Some(written) => written.clone(),
                    None => own_location.iter().cloned().collect(),
                };
                route.cookie_paths.clone_from(&scope.cookie_paths);
                route.cookie_domains.clone_from(&scope.cookie_domains);
            }
        }
        headers::for_clients(scope, around, matches!(self.found, Found::Nothing) && !scope.denies_all(), route, report);
        if let PlannedAction::Answer { body, headers, .. } = &mut route.action {
            let has_type = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
            if !body.is_empty() && !has_type {
                headers.push(("Content-Type".to_owned(), scope.default_type.clone().unwrap_or_else(|| "text/plain".to_owned())));
            }
        }
    }
}

fn status(status: u16) -> PlannedAction {
    PlannedAction::Answer { status, body: String::new(), headers: Vec::new() }
}

/// The upstream of a `proxy_pass`, the host that it is asked for, and its path.
fn upstream(
    directive: &Directive,
    scope: &Scope,
    shared: &Shared,
    report: &mut ImportReport,
) -> Option<(PlannedUpstream, String, String)> {
    let place = &directive.place;
    let name = directive.name.as_str();
    let mut url = substituted(directive.word(0), &scope.variables);
    let kept = ["$request_uri", "$uri$is_args$args", "$uri"].iter().find_map(|end| url.strip_suffix(end));
    if let Some(kept) = kept {
        url = kept.to_owned();
    }
    let Some((scheme, rest)) = url.split_once("://").filter(|_| !url.contains('$')) else {
        report.not_carried(
            place,
            name,
            format!("where {} leads is not known before a request comes; the location answers 502", directive.word(0)),
        );
        return None;
    };
    let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    if authority.starts_with("unix") {
        report.not_carried(
            place,
            name,
            "upstreams are reached over TCP, not over sockets of the file system; the location answers 502",
        );
        return None;
    }
    let scheme = match scheme {
        "http" => "http",
        "https" | "grpcs" => "https",
        "grpc" => "h2c",
        _ => {
            report.not_carried(place, name, format!("{scheme} is not spoken; the location answers 502"));
            return None;
        }
    };
    let accepts_any_certificate = scheme == "https" && !scope.verifies_upstream;
    let checks = scope.checks.clone();
    let mut planned = PlannedUpstream { accepts_any_certificate, checks, ..PlannedUpstream::default() };
    match shared.upstreams.get(authority) {
        Some(named) => {
            let target =
                |target: &PlannedTarget| PlannedTarget { url: format!("{scheme}://{}", target.url), weight: target.weight };
            planned.targets = named.targets.iter().map(target).collect();
            planned.balance = named.balance.clone();
            planned.health = named.health;
            planned.sticky_cookie = named.sticky_cookie.clone();
        }
        None => planned.targets.push(PlannedTarget { url: format!("{scheme}://{authority}"), weight: 1 }),
    }
    planned.targets.retain(|target| is_target(&target.url));
    if planned.targets.is_empty() {
        report.not_carried(place, name, "has no server that can be reached; the location answers 502");
        return None;
    }
    report.carried(place, name);
    Some((planned, authority.to_owned(), path.to_owned()))
}

fn is_target(url: &str) -> bool {
    let host = url.split_once("://").map_or("", |(_, rest)| rest);
    is_authority(host)
}

/// The service that an `auth_request` asks.
fn asks(uri: &str, scope: &Scope, locations: &[&Directive], shared: &Shared) -> Option<AuthWay> {
    let location = locations.iter().find(|location| location.words.last().is_some_and(|last| last == uri))?;
    let pass = location.inner().iter().find(|directive| directive.name == "proxy_pass")?;
    let mut unheard = ImportReport::default();
    let (upstream, _, path) = upstream(pass, scope, shared, &mut unheard)?;
    let target = upstream.targets.first()?;
    let path = if path.is_empty() { uri } else { path.as_str() };
    let response_headers = scope
        .asked_headers
        .iter()
        .filter_map(|(_, value)| Some(value.strip_prefix("$upstream_http_")?.replace('_', "-")))
        .collect();
    let request_headers = ["Authorization", "Cookie"].map(str::to_owned).to_vec();
    Some(AuthWay::Asks { url: format!("{}{path}", target.url), request_headers, response_headers })
}

fn guard(scope: &Scope, asks: Option<&(AuthWay, Place)>, route: &mut PlannedRoute, report: &mut ImportReport) {
    match scope.lists() {
        Ok((allowed, blocked)) => (route.allowed_ips, route.blocked_ips) = (allowed, blocked),
        Err(why) => route.closed.push(format!("allow and deny: {why}")),
    }
    if scope.basic {
        route.auth.ways.push(AuthWay::Basic);
    }
    match asks {
        Some((AuthWay::Asks { url, .. }, place)) if url.is_empty() => {
            report.closes(place, "auth_request", "the service that decides is not found", &mut route.closed);
        }
        Some((way, _)) => route.auth.ways.push(way.clone()),
        None => {}
    }
}

/// What `return` answers.
fn returned(status_code: u16, text: &str, around: Surroundings, place: &Place, report: &mut ImportReport) -> PlannedAction {
    if [301, 302, 303, 307, 308].contains(&status_code) && !text.is_empty() {
        return match redirect(status_code, text, around) {
            Some(redirect) => {
                report.carried(place, "return");
                PlannedAction::Redirect(redirect)
            }
            None => {
                report.not_carried(place, "return", format!("a redirect to {text} has no counterpart; the answer is 404"));
                status(404)
            }
        };
    }
    let code = if status_code == 444 { 403 } else { status_code };
    if !(200..=599).contains(&code) {
        report.not_carried(place, "return", format!("{status_code} is no status"));
        return status(404);
    }
    match status_code {
        444 => report.approximated(place, "return", "403 in place of a closed connection"),
        _ if text.contains('$') => report.approximated(place, "return", "variables in the text stay as they are written"),
        _ => report.carried(place, "return"),
    }
    let body = text.replace("\\n", "\n").replace("\\r", "\r").replace("\\t", "\t");
    PlannedAction::Answer { status: code, body, headers: Vec::new() }
}

/// A location of a redirect.
fn redirect(status: u16, text: &str, around: Surroundings) -> Option<PlannedRedirect> {
    let mut to = PlannedRedirect { status, ..PlannedRedirect::default() };
    let path = match text.split_once("://") {
        Some((scheme, rest)) => {
            to.scheme = match scheme {
                "$scheme" => if around.is_tls { "https" } else { "http" }.to_owned(),
                "http" | "https" => scheme.to_owned(),
                _ => return None,
            };
            let at = rest.find(['/', '$']).unwrap_or(rest.len());
            let known = ["$host", "$http_host", "$server_name"].iter().find_map(|name| rest.strip_prefix(name));
            match known {
                Some(path) => match path.strip_prefix(':') {
                    Some(behind) => {
                        let end = behind.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(behind.len());
                        to.port = behind.get(..end)?.parse().ok()?;
                        behind.get(end..)?
                    }
                    None => path,
                },
                None => {
                    let (authority, path) = rest.split_at(at);
                    let (host, port) = authority.split_once(':').unwrap_or((authority, ""));
                    if host.is_empty() || !host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte)) {
                        return None;
                    }
                    to.host = host.to_owned();
                    to.port = if port.is_empty() { 0 } else { port.parse().ok()? };
                    path
                }
            }
        }
        None => text,
    };
    to.path = match path {
        "$request_uri" | "$uri" | "$uri$is_args$args" | "/$request_uri" | "$document_uri" => None,
        "" => Some("/".to_owned()),
        path if path.contains('$') || !path.starts_with('/') || path.contains('?') => return None,
        path => Some(path.to_owned()),
    };
    // nginx adds no query to a path that is written.
    if let Some(path) = to.path.take_if(|path| !path.contains(['{', '}']) && (to.port == 0 || !to.host.is_empty())) {
        let scheme = if to.scheme.is_empty() { "{scheme}" } else { &to.scheme };
        let host = if to.host.is_empty() { "{host}" } else { &to.host };
        let port = if to.port == 0 { String::new() } else { format!(":{}", to.port) };
        return Some(PlannedRedirect {
            status,
            location: Some(format!("{scheme}://{host}{port}{path}")),
            ..PlannedRedirect::default()
        });
    }
    Some(to)
}
