//! Endpoints and their backends.

use super::{KrakendReader, WHOLE_SECONDS, extra, settings};
use crate::files::ImportFailure;
use crate::node::{Node, is_origin_url};
use crate::pattern::escaped;
use crate::plan::{
    BodyShape, PathChange, Plan, PlannedAction, PlannedMatch, PlannedMerge, PlannedPart, PlannedPath, PlannedRate, PlannedRoute,
    PlannedStatusHeader, PlannedTarget, PlannedUpstream,
};

/// What `method` of a backend may be.
const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/// What becomes of several backends.
const MERGED: &str =
    "a script merges the responses; while one is late, there is no answer, and after the longest timeout of all endpoints 500";

/// Statuses of backends that KrakenD answers with 200; all others are errors, which have no headers of the endpoint.
const SUCCESS: [u16; 2] = [200, 201];

/// # Errors
/// It has no path or method: it would answer for none, or for all.
pub(super) fn read(node: &Node, plan: &mut Plan, reader: &mut KrakendReader<'_>) -> Result<(), ImportFailure> {
    let failure = |key: &str, why: &str| {
        let line = node.find(key).map_or(node.line, |value| value.line);
        ImportFailure::new(&reader.file, line, format!("endpoints.{key} {why}"))
    };
    let path = node.get("endpoint").path().ok_or_else(|| failure("endpoint", "is no path"))?;
    let method = node.get("method").methods().ok().and_then(|methods| methods.first().cloned());
    let method = match method {
        Some(method) => method,
        None if node.get("method").is_empty() => "GET".to_owned(),
        None => return Err(failure("method", "is no method")),
    };
    let mut route = PlannedRoute { name: format!("{method} {path}"), place: reader.place(node.line), ..PlannedRoute::default() };
    let (planned, names, groups) = path_of(path);
    route.matches = vec![PlannedMatch { path: planned, method: method.clone(), ..PlannedMatch::default() }];
    // Routes with parameters come behind those without.
    route.precedence = names.len() * 1_000 + plan.routes.len().min(900);
    route.timeout_ms = node.get("timeout").duration_ms().unwrap_or(reader.timeout_ms);
    let queries = [node.get("input_query_strings").texts(), node.get("querystring_params").texts()].concat();
    let headers = [node.get("input_headers").header_names(), node.get("headers_to_pass").header_names()].concat();
    let with_type = if headers.is_empty() { vec!["Content-Type".to_owned()] } else { headers.clone() };
    route.passed_headers = Some(with_type.clone()).filter(|names| !names.iter().any(|name| name == "*"));
    route.passed_query = Some(queries.clone()).filter(|names| !names.iter().any(|name| name == "*"));
    let cache_s = node.get("cache_ttl").duration_ms().unwrap_or(reader.cache_ms) / 1_000;
    if cache_s > 0 {
        let is_as_sent = node.get("output_encoding").text() == "no-op";
        route.status_headers.push(PlannedStatusHeader {
            statuses: if is_as_sent { Vec::new() } else { SUCCESS.to_vec() },
            name: "Cache-Control".to_owned(),
            value: format!("public, max-age={cache_s}"),
            replaces: !is_as_sent,
        });
    }
    let backends = node.get("backend").objects();
    for member in node.members() {
        let place = reader.place(member.line);
        let name = format!("endpoints.{}", member.key);
        match member.key.as_str() {
            "timeout" if !route.timeout_ms.is_multiple_of(1_000) => reader.report.approximated(&place, name, WHOLE_SECONDS),
            "endpoint" | "method" | "timeout" | "extra_config" | "backend" => reader.report.carried(&place, name),
            "input_headers" | "headers_to_pass" | "input_query_strings" | "querystring_params" | "cache_ttl" => {
                reader.report.carried(&place, name)
            }
            "output_encoding" if matches!(member.node.text(), "json" | "json-collection" | "no-op") => {
                reader.report.carried(&place, name)
            }
            _ if reader.is_own(member, "endpoints.") => {}
            _ => reader.report.not_carried(&place, name, "is not known to the importer"),
        }
    }
    let known = (path, names.as_slice(), groups.as_str());
    let (shadows, answering): (Vec<&Node>, Vec<&Node>) = backends.iter().partition(|backend| settings::is_shadow(backend));
    for shadow in shadows {
        shadow.settle();
        let place = reader.place(shadow.line);
        reader.report.not_carried(
            &place,
            "endpoints.backend",
            "copies of requests are not sent: set `mirrors` of the route's rule",
        );
    }
    match answering.as_slice() {
        [] => {}
        [backend] => read_backend(backend, known, !queries.is_empty(), &method, &mut route, reader),
        several => {
            let proxy = node.get("extra_config").find("proxy");
            let merge = PlannedMerge {
                path: format!("^{groups}$"),
                names: names.clone(),
                headers: with_type,
                query: queries.clone(),
                is_sequential: proxy.is_some_and(|proxy| proxy.get("sequential").is_true()),
                parts: Vec::new(),
            };
            // The script passes on what is listed.
            (route.passed_headers, route.passed_query) = (None, None);
            read_merged(several, known, merge, &method, &mut route, reader);
        }
    }
    let output = Some(node.get("output_encoding").text()).filter(|output| !output.is_empty());
    let output = output.unwrap_or(&reader.output_encoding).to_owned();
    if output == "json-collection" {
        route.shape.get_or_insert_with(BodyShape::default).is_bare = true;
    }
    extra::of_endpoint(node.get("extra_config"), &mut route, reader);
    if output == "no-op" {
        route.shape = None;
    }
    plan.add(route);
    Ok(())
}

/// The path, its parameters, and the expression with a group for each.
fn path_of(path: &str) -> (PlannedPath, Vec<String>, String) {
    let mut names = Vec::new();
    let mut groups = Vec::new();
    let mut plain = Vec::new();
    for segment in path.split('/') {
        match segment.strip_prefix('{').and_then(|inner| inner.strip_suffix('}')) {
            Some(name) => {
                names.push(name.to_owned());
                groups.push("([^/?]+)".to_owned());
                plain.push("[^/]+".to_owned());
            }
            None if segment == "*" => {
                groups.push(".*".to_owned());
                plain.push(".*".to_owned());
            }
            None => {
                groups.push(escaped(segment));
                plain.push(escaped(segment));
            }
        }
    }
    let planned = match names.is_empty() && !path.contains('*') {
        true => PlannedPath::Exact(path.to_owned()),
        false => PlannedPath::Pattern(plain.join("/")),
    };
    (planned, names, groups.join("/"))
}

/// Several backends, whose responses become one.
fn read_merged(
    backends: &[&Node],
    known: (&str, &[String], &str),
    mut merge: PlannedMerge,
    method: &str,
    route: &mut PlannedRoute,
    reader: &mut KrakendReader<'_>,
) {
    for (index, backend) in backends.iter().enumerate() {
        let mut one = PlannedRoute { merge: Some(PlannedMerge::default()), ..PlannedRoute::default() };
        read_backend(backend, known, !merge.query.is_empty(), method, &mut one, reader);
        route.closed.append(&mut one.closed);
        let is_slower = |rate: &PlannedRate| route.rate.is_none_or(|own| rate.per_second() < own.per_second());
        if let Some(rate) = one.rate.filter(is_slower) {
            route.rate = Some(rate);
        }
        let place = reader.place(backend.line);
        if index > 0 {
            reader.report.approximated(&place, "endpoints.backend", MERGED);
        }
        if one.cache.is_some() {
            reader.report.not_carried(&place, "endpoints.backend.http-cache", "what is merged is not kept");
        }
        if !matches!(backend.get("encoding").text(), "" | "json" | "safejson") {
            reader.report.not_carried(&place, "endpoints.backend.encoding", "the script reads JSON alone, and leaves others out");
        }
        let shape = one.shape.unwrap_or_default();
        if !shape.edits.is_empty() {
            reader.report.unprotected(&place, "endpoints.backend.flatmap_filter", "is not applied where several backends answer");
        }
        if let PlannedAction::Forward(upstream) = one.action {
            let hosts = upstream.targets.into_iter().map(|target| target.url).collect();
            let method = one.upstream_method.unwrap_or_else(|| method.to_owned());
            merge.parts.push(PlannedPart { hosts, method, path: rooted(backend.get("url_pattern").text()), shape });
        }
    }
    if merge.parts.len() < backends.len() {
        route.action = PlannedAction::Answer { status: 502, body: String::new(), headers: Vec::new() };
        return;
    }
    let first = merge.parts.first().and_then(|part| part.hosts.first()).cloned().unwrap_or_default();
    let targets = vec![PlannedTarget { url: first, weight: 1 }];
    route.action = PlannedAction::Forward(PlannedUpstream { targets, ..PlannedUpstream::default() });
    route.request_headers.set.push(("X-Forwarded-For".to_owned(), "{client_ip}".to_owned()));
    route.merge = Some(merge);
}

/// The path of a backend, which may lack its first slash.
fn rooted(url: &str) -> String {
    if url.starts_with('/') { url.to_owned() } else { format!("/{url}") }
}

fn read_backend(
    node: &Node,
    (path, names, groups): (&str, &[String], &str),
    passes_query: bool,
    method: &str,
    route: &mut PlannedRoute,
    reader: &mut KrakendReader<'_>,
) {
    let hosts = match node.get("host").hosts_of_backends() {
        hosts if hosts.is_empty() => reader.hosts.clone(),
        hosts => hosts,
    };
    let mut shape = BodyShape::default();
    for member in node.members() {
        let place = reader.place(member.line);
        let name = format!("endpoints.backend.{}", member.key);
        match member.key.as_str() {
            "host" | "url_pattern" | "extra_config" => reader.report.carried(&place, name),
            "method" if member.node.text().eq_ignore_ascii_case(method) || member.node.is_empty() => {
                reader.report.carried(&place, name)
            }
            "method" if METHODS.contains(&member.node.text().to_uppercase().as_str()) => {
                route.upstream_method = Some(member.node.text().to_uppercase());
                reader.report.carried(&place, name);
            }
            "method" => reader.report.not_carried(&place, name, "is no method that KrakenD sends"),
            "encoding" if matches!(member.node.text(), "" | "json" | "no-op") => reader.report.carried(&place, name),
            "encoding" if member.node.text() == "safejson" => {
                shape.is_any = true;
                reader.report.carried(&place, name);
            }
            "allow" | "whitelist" => {
                shape.allowed = member.node.texts();
                reader.report.carried(&place, name);
            }
            "deny" | "blacklist" => {
                shape.denied = member.node.texts();
                reader.report.carried(&place, name);
            }
            "mapping" => {
                shape.renamed = member.node.members().iter().map(|pair| (pair.key.clone(), pair.node.text().to_owned())).collect();
                reader.report.carried(&place, name);
            }
            "group" => {
                shape.group = member.node.text().to_owned();
                reader.report.carried(&place, name);
            }
            "target" => {
                shape.target = member.node.text().to_owned();
                reader.report.carried(&place, name);
            }
            "is_collection" => {
                shape.is_list = member.node.is_true();
                reader.report.carried(&place, name);
            }
            "sd" if matches!(member.node.text(), "static" | "") => reader.report.carried(&place, name),
            "sd" => reader.report.not_carried(&place, name, "targets come from SRV records: `tollgate.upstream.srv`"),
            "input_headers" | "input_query_strings" => {
                reader.report.approximated(&place, name, "what the endpoint passes goes to the backend")
            }
            _ if reader.is_own(member, "endpoints.backend.") => {}
            _ => reader.report.not_carried(&place, name, "is not known to the importer"),
        }
    }
    let passes_unchanged = [node.get("encoding").text()].contains(&"no-op");
    if shape != BodyShape::default() && !passes_unchanged {
        route.shape = Some(shape);
    }
    let targets: Vec<PlannedTarget> = hosts
        .iter()
        .map(|host| {
            if host.contains("://") {
                host.trim_end_matches('/').to_owned()
            } else {
                format!("http://{}", host.trim_end_matches('/'))
            }
        })
        .filter(|url| is_origin_url(url))
        .map(|url| PlannedTarget { url, weight: 1 })
        .collect();
    let foreign = extra::foreign_backend(node.get("extra_config"));
    if targets.is_empty() || foreign.is_some() {
        let why = foreign.map_or_else(|| "has no host that can be reached".to_owned(), |name| format!("{name} is not spoken"));
        let place = reader.place(node.line);
        reader.report.not_carried(&place, "endpoints.backend.host", format!("{why}; the endpoint answers 502"));
        route.action = PlannedAction::Answer { status: 502, body: String::new(), headers: Vec::new() };
        ["extra_config", "url_pattern"].iter().for_each(|key| node.get(key).settle());
        return;
    }
    route.upstream_host = targets.first().and_then(|target| target.url.split_once("://")).map(|(_, host)| host.to_owned());
    route.action = PlannedAction::Forward(PlannedUpstream { targets, ..PlannedUpstream::default() });
    let url = rooted(node.get("url_pattern").text());
    let mut to = url.replace('$', "%24");
    for (index, name) in names.iter().enumerate() {
        to = to.replace(&format!("{{{name}}}"), &format!("${}", index + 1));
    }
    if to.contains('{') && route.merge.is_none() {
        let place = reader.place(node.get("url_pattern").line);
        reader.report.not_carried(
            &place,
            "endpoints.backend.url_pattern.parameter",
            "only parameters of the path are put into the new one",
        );
    }
    let is_same = url == path && passes_query;
    if !is_same && !path.contains('*') {
        // Parameters of the pattern come before those of the request.
        let has_own = to.contains('?');
        if passes_query {
            to = format!("{to}{}${}", if has_own { "&" } else { "" }, names.len() + 1);
        }
        let query = if has_own { "(?:\\?(.*))?" } else { "(\\?.*)?" };
        route.path_change = Some(PathChange::Pattern { pattern: format!("^{groups}{query}$"), to });
    }
    extra::of_backend(node.get("extra_config"), route, reader);
}
