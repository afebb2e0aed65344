//! Caddyfiles: sites with their directives. A directive that is not read is reported, and closes the site where it protects.

use crate::files::{ImportFailure, NamedFiles};
use crate::pattern::escaped;
use crate::plan::{
    PathChange, Plan, PlannedAction, PlannedListener, PlannedMatch, PlannedPath, PlannedRedirect, PlannedRoute, PlannedTarget,
    PlannedUpstream,
};
use crate::report::{ImportReport, Place};

/// Deepest nesting of blocks.
const DEPTH_MAX: usize = 16;

/// A line, and the block that it opens.
struct CaddyLine {
    place: Place,
    words: Vec<String>,
    block: Vec<CaddyLine>,
}

impl CaddyLine {
    fn word(&self, index: usize) -> &str {
        self.words.get(index).map_or("", String::as_str)
    }
}

/// Reads the file into the plan.
pub(crate) fn read(text: &str, files: &NamedFiles, plan: &mut Plan, report: &mut ImportReport) -> Result<(), ImportFailure> {
    if text.trim_start().starts_with('{') && text.contains("\"apps\"") {
        return Err(files.failure("is Caddy's JSON: give the Caddyfile"));
    }
    let mut lines = text.lines().enumerate();
    for site in block(&mut lines, files, 0)? {
        if site.words.is_empty() {
            site.block.iter().for_each(|line| report.approximated(&line.place, line.word(0), "the gateway's own configuration"));
        } else if site.word(0).starts_with('(') {
            report.unprotected(
                &site.place,
                site.word(0),
                "snippets are not put in their places: give what `caddy adapt` shows as a Caddyfile",
            );
        } else {
            read_site(&site, plan, report);
        }
    }
    if plan.routes.is_empty() {
        return Err(files.failure("has no site that answers anything"));
    }
    plan.routes.iter_mut().enumerate().for_each(|(order, route)| route.precedence = order);
    Ok(())
}

fn block<'t>(
    lines: &mut impl Iterator<Item = (usize, &'t str)>,
    files: &NamedFiles,
    depth: usize,
) -> Result<Vec<CaddyLine>, ImportFailure> {
    let mut list = Vec::new();
    while let Some((number, line)) = lines.next() {
        if depth > DEPTH_MAX {
            return Err(ImportFailure::new(files.first(), number + 1, format!("is nested deeper than {DEPTH_MAX} levels")));
        }
        let mut words: Vec<String> = line
            .split_whitespace()
            .take_while(|word| !word.starts_with('#'))
            .map(|word| word.trim_matches(['"', '`']).to_owned())
            .collect();
        if words.is_empty() {
            continue;
        }
        if words == ["}"] {
            return if depth > 0 { Ok(list) } else { Err(ImportFailure::new(files.first(), number + 1, "} closes nothing")) };
        }
        let opens = words.last().is_some_and(|word| word == "{");
        if opens {
            words.pop();
        }
        let inner = if opens { block(lines, files, depth + 1)? } else { Vec::new() };
        list.push(CaddyLine { place: Place::new(files.first(), number + 1), words, block: inner });
    }
    if depth > 0 { Err(files.failure("ends within a block: } is missing")) } else { Ok(list) }
}

fn read_site(site: &CaddyLine, plan: &mut Plan, report: &mut ImportReport) {
    report.carried(&site.place, "site");
    let mut base = PlannedRoute { name: site.word(0).to_owned(), place: site.place.clone(), ..PlannedRoute::default() };
    for address in site.words.iter().flat_map(|word| word.split(',')).filter(|word| !word.is_empty()) {
        let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
        let (host, port) = rest.split_once(':').map_or((rest, None), |(host, port)| (host, port.parse::<u16>().ok()));
        if !host.is_empty() {
            base.hosts.push(host.to_lowercase());
        }
        if scheme != "http" && port.is_none() {
            report.approximated(&site.place, "site.tls", "certificates are not obtained: the site is served without TLS");
        }
        let port = port.unwrap_or(80);
        let name = format!("port-{port}");
        if !plan.listeners.iter().any(|listener| listener.name == name) {
            plan.listeners.push(PlannedListener { name: name.clone(), port, ..PlannedListener::default() });
        }
        base.listeners.push(name);
    }
    let mut routes = Vec::new();
    level(&site.block, &base, &mut routes, report);
    // What holds for the site holds for all of its routes.
    routes.sort_by_key(|route| std::cmp::Reverse(length(route)));
    plan.routes.extend(routes);
}

fn length(route: &PlannedRoute) -> usize {
    route.matches.first().map_or(0, |matched| match &matched.path {
        PlannedPath::Begins(path) | PlannedPath::Exact(path) | PlannedPath::Pattern(path) => path.len(),
        PlannedPath::Any => 0,
    })
}

/// A site or a `handle`: its routes.
fn level(lines: &[CaddyLine], outer: &PlannedRoute, routes: &mut Vec<PlannedRoute>, report: &mut ImportReport) {
    let mut base = outer.clone();
    let mut answers = Vec::new();
    for line in lines {
        let place = &line.place;
        let name = line.word(0);
        match name {
            "reverse_proxy" | "respond" | "redir" | "handle" | "handle_path" | "route" => answers.push(line),
            "header" if line.words.len() == 3 && !line.word(1).starts_with(['/', '@']) => {
                let header = line.word(1);
                match header.strip_prefix('-') {
                    Some(header) => base.response_headers.remove.push(header.to_owned()),
                    None => {
                        base.response_headers.set.push((header.trim_start_matches(['+', '?']).to_owned(), line.word(2).to_owned()))
                    }
                }
                report.carried(place, name);
            }
            "header" if line.words.len() == 1 => {
                for inner in &line.block {
                    match inner.word(0).strip_prefix('-') {
                        Some(header) => base.response_headers.remove.push(header.to_owned()),
                        None => base.response_headers.set.push((
                            inner.word(0).trim_start_matches(['+', '?']).to_owned(),
                            inner.words.get(1..).unwrap_or_default().join(" "),
                        )),
                    }
                    report.carried(&inner.place, "header.name");
                }
                report.carried(place, name);
            }
            "uri" if line.word(1) == "strip_prefix" => {
                base.path_change = Some(PathChange::Beginning { from: line.word(2).to_owned(), to: String::new() });
                report.carried(place, name);
            }
            "log" | "tls" | "bind" | "encode" | "file_server" | "root" | "php_fastcgi" | "try_files" | "templates" | "metrics"
            | "header" | "handle_errors" | "uri" | "rewrite" | "request_header" => {
                report.not_carried(place, name, "has no counterpart, or is the gateway's own setting")
            }
            name => {
                report.unprotected(place, name, "is not read, and may protect");
                base.closed.push(format!("{name} at line {}", place.line));
            }
        }
    }
    for line in answers {
        answer(line, &base, routes, report);
    }
}

fn answer(line: &CaddyLine, base: &PlannedRoute, routes: &mut Vec<PlannedRoute>, report: &mut ImportReport) {
    let place = &line.place;
    let name = line.word(0);
    let matcher = line.word(1);
    let mut route = base.clone();
    let mut rest = line.words.get(1..).unwrap_or_default();
    if matcher == "*" || matcher.starts_with('/') && !(name == "redir" && line.words.len() == 2) {
        rest = line.words.get(2..).unwrap_or_default();
        if matcher != "*" {
            let path = matcher
                .strip_suffix('*')
                .map_or_else(|| PlannedPath::Pattern(escaped(matcher)), |beginning| PlannedPath::Begins(beginning.to_owned()));
            route.matches = vec![PlannedMatch { path, ..PlannedMatch::default() }];
            route.name = format!("{} {matcher}", route.name);
        }
    } else if matcher.starts_with('@') {
        // Its requests go to other routes, which may be less protected.
        return report.unprotected(place, name, "matchers with names are not read");
    }
    match name {
        "handle" | "route" | "handle_path" => {
            if name == "handle_path" {
                let from = matcher.trim_end_matches('*').trim_end_matches('/').to_owned();
                route.path_change = Some(PathChange::Beginning { from, to: String::new() });
            }
            report.carried(place, name);
            return level(&line.block, &route, routes, report);
        }
        "reverse_proxy" => {
            let inner: Vec<&CaddyLine> = line.block.iter().filter(|line| line.word(0) != "to").collect();
            let to = line.block.iter().filter(|line| line.word(0) == "to").flat_map(|line| line.words.get(1..).unwrap_or_default());
            let targets: Vec<PlannedTarget> = rest.iter().chain(to).filter_map(|address| target(address)).collect();
            for inner in inner {
                report.not_carried(&inner.place, format!("reverse_proxy.{}", inner.word(0)), "has no counterpart, or is not read");
            }
            if targets.is_empty() {
                report.not_carried(place, name, "has no upstream over TCP; the route answers 502");
                route.action = PlannedAction::Answer { status: 502, body: String::new(), headers: Vec::new() };
            } else {
                report.carried(place, name);
                route.action = PlannedAction::Forward(PlannedUpstream { targets, ..PlannedUpstream::default() });
            }
        }
        "respond" => {
            let status =
                rest.iter().find_map(|word| word.parse::<u16>().ok()).filter(|status| (200..600).contains(status)).unwrap_or(200);
            let body: Vec<&str> = rest.iter().map(String::as_str).filter(|word| word.parse::<u16>().is_err()).collect();
            report.carried(place, name);
            route.action = PlannedAction::Answer { status, body: body.join(" "), headers: Vec::new() };
        }
        _ => match redirect(rest) {
            Some(redirect) => {
                report.carried(place, name);
                route.action = PlannedAction::Redirect(redirect);
            }
            None => return report.not_carried(place, name, "redirects keep the path or have one for all"),
        },
    }
    routes.push(route);
}

fn target(address: &str) -> Option<PlannedTarget> {
    let (scheme, host) = address.split_once("://").unwrap_or(("http", address));
    let host = if host.starts_with(':') { format!("localhost{host}") } else { host.to_owned() };
    let is_host = host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte)) && !host.is_empty();
    (is_host && ["http", "https", "h2c"].contains(&scheme)).then(|| PlannedTarget { url: format!("{scheme}://{host}"), weight: 1 })
}

fn redirect(words: &[String]) -> Option<PlannedRedirect> {
    let text = words.first()?;
    let status = match words.get(1).map(String::as_str) {
        Some("permanent") => 301,
        Some(code) => code.parse().ok().filter(|code| [301, 302, 303, 307, 308].contains(code)).unwrap_or(302),
        None => 302,
    };
    let (kept, keeps) = text.strip_suffix("{uri}").map_or((text.as_str(), false), |kept| (kept, true));
    let (scheme, rest) = kept.split_once("://").unwrap_or(("", kept));
    let (host, path) = if scheme.is_empty() { ("", rest) } else { rest.find('/').map_or((rest, ""), |at| rest.split_at(at)) };
    let host = if host == "{host}" { "" } else { host };
    if kept.contains("{") && !host.is_empty()
        || host.contains([':', '{'])
        || path.contains(['{', '?'])
        || (scheme.is_empty() && !path.starts_with('/') && !keeps)
    {
        return None;
    }
    let path = (!keeps).then(|| if path.is_empty() { "/".to_owned() } else { path.to_owned() });
    Some(PlannedRedirect { status, scheme: scheme.to_owned(), host: host.to_owned(), port: 0, path })
}
