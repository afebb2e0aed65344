//! A site, and what answers in it.

use super::lines::CaddyLine;
use super::matcher::{CaddyFit, Matchers, narrowed};
use super::{directive, proxy};
use crate::authority::{is_authority, is_port};
use crate::plan::{PathChange, Plan, PlannedAction, PlannedListener, PlannedRedirect, PlannedRoute};
use crate::report::ImportReport;

/// What answers, in the order in which Caddy asks.
const ANSWERS: [&str; 8] = ["redir", "handle", "handle_path", "route", "abort", "error", "respond", "reverse_proxy"];

pub(super) fn read(site: &CaddyLine, plan: &mut Plan, report: &mut ImportReport) {
    let mut base =
        PlannedRoute { name: site.word(0).trim_end_matches(',').to_owned(), place: site.place.clone(), ..PlannedRoute::default() };
    let mut addresses = site.words.iter().flat_map(|word| word.split(',')).filter(|word| !word.is_empty());
    let ends_open = site.words.last().is_some_and(|word| word.ends_with(','));
    let wrong = addresses.find(|address| !listen(address, site, &mut base, plan, report));
    match (wrong, ends_open) {
        // Without the address, the site would answer for others.
        (Some(address), _) => report.closes(&site.place, "site", &format!("{address} is no address of a site"), &mut base.closed),
        (None, true) => report.closes(&site.place, "site", "an address is missing after the comma", &mut base.closed),
        (None, false) => report.carried(&site.place, "site"),
    }
    level(&in_order(site.inner()), &base, &Matchers::default(), plan, report);
}

/// Whether the address is one.
fn listen(address: &str, site: &CaddyLine, base: &mut PlannedRoute, plan: &mut Plan, report: &mut ImportReport) -> bool {
    let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
    let rest = rest.trim_end_matches('/');
    let (host, port) = rest.split_once(':').map_or((rest, None), |(host, port)| (host, Some(port)));
    let is_host = host.is_empty() || is_authority(host.strip_prefix("*.").unwrap_or(host));
    if !is_host || port.is_some_and(|port| !is_port(port)) || !["", "http", "https"].contains(&scheme) {
        return false;
    }
    let port = port.and_then(|port| port.parse::<u16>().ok());
    if !host.is_empty() {
        base.hosts.push(host.to_lowercase());
    }
    if scheme != "http" && port.is_none() {
        report.approximated(&site.place, "site.tls", "served without TLS: `tollgate.acme` gets certificates");
    }
    let port = port.unwrap_or(80);
    let name = format!("port-{port}");
    if !plan.listeners.iter().any(|listener| listener.name == name) {
        plan.listeners.push(PlannedListener { name: name.clone(), port, ..PlannedListener::default() });
    }
    if !base.listeners.contains(&name) {
        base.listeners.push(name);
    }
    true
}

/// Lines in the order in which Caddy runs them: the kind decides, then the length of the path.
fn in_order(lines: &[CaddyLine]) -> Vec<&CaddyLine> {
    let mut ordered: Vec<&CaddyLine> = lines.iter().collect();
    ordered.sort_by_key(|line| {
        let rank = ANSWERS.iter().position(|name| *name == line.word(0)).unwrap_or_default();
        // One `handle` excludes the others.
        let rank = if (1..=2).contains(&rank) { 1 } else { rank };
        (rank, std::cmp::Reverse(matcher(line).trim_end_matches('*').len()))
    });
    ordered
}

/// A site or a `handle`: its routes.
fn level(lines: &[&CaddyLine], outer: &PlannedRoute, known: &Matchers, plan: &mut Plan, report: &mut ImportReport) {
    let mut matchers = known.clone();
    lines.iter().filter(|line| line.word(0).starts_with('@')).for_each(|line| matchers.define(line, report));
    let mut base = outer.clone();
    let mut answers: Vec<&CaddyLine> = Vec::new();
    for line in lines.iter().filter(|line| !line.word(0).starts_with('@')) {
        match ANSWERS.contains(&line.word(0)) {
            true => answers.push(line),
            false => directive::apply(line, &mut base, plan, report),
        }
    }
    for line in answers {
        let title = line.word(0).to_owned();
        let fits = match matchers.of(matcher(line)) {
            Ok(fits) => fits,
            // Its requests go to other routes, which may be less protected.
            Err(why) => {
                report.closes(&line.place, &title, &why, &mut base.closed);
                continue;
            }
        };
        if fits.iter().any(CaddyFit::has_addresses) {
            report.weakened(&line.place, title.clone(), "stricter: other addresses are refused, and not served by what follows");
        }
        match narrowed(&base, &fits) {
            Ok(Some(route)) => answer(line, route, &matchers, plan, report),
            Ok(None) => report.not_carried(&line.place, title, "no request fits"),
            Err(why) => report.closes(&line.place, &title, &why, &mut base.closed),
        }
    }
}

/// The matcher beside a directive; empty for all requests.
fn matcher(line: &CaddyLine) -> &str {
    let word = line.word(1);
    let is_target = line.word(0) == "redir" && line.words.len() == 2;
    let is_matcher = word == "*" || word.starts_with('@') || (word.starts_with('/') && !is_target);
    if is_matcher { word } else { "" }
}

fn answer(line: &CaddyLine, mut route: PlannedRoute, matchers: &Matchers, plan: &mut Plan, report: &mut ImportReport) {
    let place = &line.place;
    let name = line.word(0);
    let matcher = matcher(line);
    let rest = line.from(if matcher.is_empty() { 1 } else { 2 });
    if !matcher.is_empty() && matcher != "*" {
        route.name = format!("{} {matcher}", route.name);
    }
    match name {
        "handle" | "route" | "handle_path" if !rest.is_empty() || (name == "handle_path" && !matcher.starts_with('/')) => {
            report.closes(place, name, "its words are other than one matcher", &mut route.closed);
        }
        "handle" | "route" | "handle_path" => {
            if name == "handle_path" {
                let from = matcher.trim_end_matches('*').trim_end_matches('/').to_owned();
                route.path_change = Some(PathChange::Beginning { from, to: String::new() });
            }
            report.carried(place, name);
            // `route` keeps the order in which it is written.
            let lines = if name == "route" { line.inner().iter().collect() } else { in_order(line.inner()) };
            return level(&lines, &route, matchers, plan, report);
        }
        "reverse_proxy" => proxy::reverse_proxy(line, rest, &mut route, report),
        "respond" | "error" => {
            let is_status = |word: &String| word.parse::<u16>().is_ok_and(|status| (200..600).contains(&status));
            let said = match rest {
                [only] if is_status(only) => Some(("", only.parse().unwrap_or(200))),
                [body, status] if is_status(status) => Some((body.as_str(), status.parse().unwrap_or(200))),
                [body] => Some((body.as_str(), if name == "error" { 500 } else { 200 })),
                [] if name == "error" || line.block.is_some() => Some(("", if name == "error" { 500 } else { 200 })),
                _ => None,
            };
            let (body, status) = said.unwrap_or(("", 502));
            if said.is_none() {
                report.not_carried(place, name, "has other words than a text and a status; the route answers 502");
            } else if body.contains('{') && body.contains('}') && !body.trim_start().starts_with('{') {
                report.approximated(place, name, "variables in it stay as they are written");
            } else {
                report.carried(place, name);
            }
            let body = if name == "error" { String::new() } else { body.to_owned() };
            let headers = match body.is_empty() {
                true => Vec::new(),
                false => vec![("Content-Type".to_owned(), "text/plain; charset=utf-8".to_owned())],
            };
            route.action = PlannedAction::Answer { status, body, headers };
        }
        "abort" => {
            report.approximated(place, name, "answered with 403 in place of a closed connection");
            route.action = PlannedAction::Answer { status: 403, body: String::new(), headers: Vec::new() };
        }
        _ => match redirect(rest) {
            Some(redirect) if rest.len() <= 2 => {
                report.carried(place, name);
                route.action = PlannedAction::Redirect(redirect);
            }
            _ => return report.not_carried(place, name, "its location or its status has no counterpart"),
        },
    }
    plan.add(route);
}

fn redirect(words: &[String]) -> Option<PlannedRedirect> {
    let location = words.first()?;
    let status = match words.get(1).map(String::as_str) {
        Some("permanent") => 301,
        Some("temporary") => 302,
        Some(code) => code.parse().ok().filter(|code| [301, 302, 303, 307, 308].contains(code))?,
        None => 302,
    };
    let mut rest = location.as_str();
    while let Some((_, behind)) = rest.split_once('{') {
        let (name, after) = behind.split_once('}')?;
        if !["scheme", "host", "path", "query", "uri"].contains(&name) {
            return None;
        }
        rest = after;
    }
    Some(PlannedRedirect { status, location: Some(location.clone()), ..PlannedRedirect::default() })
}
