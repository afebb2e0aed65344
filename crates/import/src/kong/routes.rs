//! Services, routes and upstreams.

use super::{KongReader, plugins};
use crate::authority::is_authority;
use crate::node::{Member, Node};
use crate::pattern::{beginning, escaped};
use crate::plan::{
    PathChange, Plan, PlannedAction, PlannedBalance, PlannedChecks, PlannedMatch, PlannedPath, PlannedRetries, PlannedRoute,
    PlannedTarget, PlannedUpstream, PlannedValue,
};

/// What a service speaks.
const PROTOCOLS: [&str; 10] = ["http", "https", "grpc", "grpcs", "tcp", "tls", "tls_passthrough", "udp", "ws", "wss"];

/// Largest weight of a target.
const WEIGHT_MAX: u32 = 65_535;

/// Of a service: where its routes lead.
struct Service {
    name: String,
    upstream: Result<PlannedUpstream, String>,
    host: String,
    path: String,
    timeout_ms: u64,
    retries: u32,
    is_enabled: bool,
}

pub(super) fn upstream(node: &Node, reader: &mut KongReader<'_>) {
    let mut upstream = PlannedUpstream::default();
    for member in node.members() {
        let place = reader.place(member.line);
        let name = format!("upstreams.{}", member.key);
        match member.key.as_str() {
            "targets" => {
                for target in member.node.items() {
                    let place = reader.place(target.line);
                    let address = target.names(&["target"]).first().copied().unwrap_or_default();
                    let whole = if address.contains(':') { address.to_owned() } else { format!("{address}:8000") };
                    let weight = if target.is_map() { target.get("weight").up_to(WEIGHT_MAX).unwrap_or(100) } else { 100 };
                    if target.is_map() {
                        ["id", "tags", "created_at", "upstream"].iter().for_each(|key| target.get(key).settle());
                    }
                    if !is_authority(&whole) {
                        let why = format!("{address} is no address");
                        reader.report.not_carried(&place, "upstreams.targets.target", why);
                        continue;
                    }
                    upstream.targets.push(PlannedTarget { url: whole, weight });
                    reader.report.carried(&place, "upstreams.targets.target");
                }
            }
            "algorithm" => {
                let known = ["round-robin", "least-connections", "latency", "consistent-hashing", "sticky-sessions"];
                upstream.balance = match member.node.word(&known) {
                    "least-connections" => PlannedBalance::LeastRequests,
                    "latency" => PlannedBalance::Latency,
                    "consistent-hashing" => hash(node),
                    _ => PlannedBalance::RoundRobin,
                };
                reader.report.carried(&place, name);
            }
            "hash_on" => {
                if node.get("algorithm").is_empty() {
                    upstream.balance = hash(node);
                }
                reader.report.carried(&place, name);
            }
            "hash_on_header" | "hash_on_cookie" | "slots" | "hash_fallback" | "hash_on_cookie_path" => {
                reader.report.approximated(&place, name, "a request without the value goes to a random target");
            }
            "healthchecks" => healthchecks(&member.node, &mut upstream, reader),
            "host_header" => reader.report.not_carried(&place, name, "`rewrite.host` of a route says the host"),
            _ if reader.describes(member, "upstreams") => {}
            _ => reader.unknown(member, "upstreams"),
        }
    }
    reader.upstreams.insert(node.get("name").text().to_owned(), upstream);
}

fn hash(node: &Node) -> PlannedBalance {
    match node.get("hash_on").word(&["none", "header", "cookie", "ip", "consumer", "path", "query_arg", "uri_capture"]) {
        "header" => PlannedBalance::HashHeader(node.get("hash_on_header").text().to_owned()),
        "cookie" => PlannedBalance::HashCookie(node.get("hash_on_cookie").text().to_owned()),
        "ip" | "consumer" => PlannedBalance::HashAddress,
        "path" => PlannedBalance::HashPath,
        _ => PlannedBalance::RoundRobin,
    }
}

fn healthchecks(node: &Node, upstream: &mut PlannedUpstream, reader: &mut KongReader<'_>) {
    let active = node.get("active");
    let interval = active.get("healthy").get("interval").number().unwrap_or(0.0);
    let kinds = ["http", "https", "tcp", "grpc", "grpcs"];
    let count =
        |node: &Node, keys: &[&str]| keys.iter().find_map(|key| node.get(key).up_to(255).filter(|count| *count > 0)).unwrap_or(2);
    for member in node.members() {
        let place = reader.place(member.line);
        let name = format!("upstreams.healthchecks.{}", member.key);
        match member.key.as_str() {
            "active" if interval > 0.0 => {
                let path = if active.get("type").word(&kinds) == "tcp" {
                    String::new()
                } else {
                    active.get("http_path").path().unwrap_or("/").to_owned()
                };
                upstream.checks = Some(PlannedChecks {
                    path,
                    interval_ms: (interval * 1000.0) as u64,
                    timeout_ms: (active.get("timeout").number().unwrap_or(1.0) * 1000.0) as u64,
                    rise: count(active.get("healthy"), &["successes"]),
                    fall: count(active.get("unhealthy"), &["http_failures", "tcp_failures", "timeouts"]),
                    statuses: active.get("healthy").get("http_statuses").statuses(),
                });
                reader.report.approximated(&place, name, "one interval for targets that are up and down");
            }
            // Without an interval nobody is asked.
            "active" => {
                member.node.settle();
                reader.report.carried(&place, name);
            }
            "passive" => {
                let failures = member.node.get("unhealthy").get("http_failures").up_to(255).unwrap_or(0);
                if failures > 0 {
                    upstream.health = Some((failures, 10));
                }
                reader.report.approximated(&place, name, "targets return by themselves, after ten seconds");
            }
            _ => reader.report.not_carried(&place, name, "each target counts for itself"),
        }
    }
}

fn or(text: &str, usual: &str) -> String {
    if text.is_empty() { usual.to_owned() } else { text.to_owned() }
}

pub(super) fn service(node: &Node, root: &Node, plan: &mut Plan, reader: &mut KongReader<'_>) {
    let service = read_service(node, reader);
    let mut own = node.get("plugins").objects().to_vec();
    // The flat form: plugins and routes name the service.
    let is_mine = |other: &Node| {
        let named = other.get("service").names(&["name", "id"]);
        named.iter().any(|name| *name == service.name || *name == node.get("id").text())
    };
    own.extend(reader.global.iter().filter(|plugin| is_mine(plugin)).cloned());
    let nested = node.get("routes").objects().iter();
    let named = root.get("routes").objects().iter().filter(|route| is_mine(route));
    for route in nested.chain(named) {
        read_route(route, &service, &own, plan, reader);
    }
}

pub(super) fn without_service(node: &Node, plan: &mut Plan, reader: &mut KongReader<'_>) {
    let service = Service {
        name: String::new(),
        upstream: Err("the route has no service".to_owned()),
        host: String::new(),
        path: String::new(),
        timeout_ms: 0,
        retries: 0,
        is_enabled: true,
    };
    read_route(node, &service, &[], plan, reader);
}

fn read_service(node: &Node, reader: &mut KongReader<'_>) -> Service {
    let mut url = node.get("url").text().to_owned();
    if url.is_empty() {
        let protocol = or(node.get("protocol").word(&PROTOCOLS), "http");
        let host = node.get("host").authority().unwrap_or_default();
        let usual = if protocol == "https" || protocol == "grpcs" { 443 } else { 80 };
        let port = node.get("port").up_to(65_535).unwrap_or(usual);
        url = format!("{protocol}://{host}:{port}{}", node.get("path").path().unwrap_or_default());
    }
    let (scheme, rest) = url.split_once("://").unwrap_or(("http", url.as_str()));
    let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    let host = authority.split(':').next().unwrap_or_default().to_owned();
    let usual = if scheme == "https" { ":443" } else { ":80" };
    let bare = authority.strip_suffix(usual).unwrap_or(authority);
    let scheme = match scheme {
        "http" => Ok("http"),
        "https" | "grpcs" => Ok("https"),
        "grpc" => Ok("h2c"),
        other => Err(format!("{other} is not spoken")),
    };
    let verifies = node.get("tls_verify").is_true();
    let known = reader.upstreams.get(&host).cloned();
    let upstream = scheme.and_then(|scheme| {
        let is_host = !host.is_empty() && is_authority(authority);
        let mut upstream = match known {
            Some(mut upstream) => {
                for target in &mut upstream.targets {
                    target.url = format!("{scheme}://{}", target.url);
                }
                upstream
            }
            None if is_host => {
                let targets = vec![PlannedTarget { url: format!("{scheme}://{authority}"), weight: 1 }];
                PlannedUpstream { targets, ..PlannedUpstream::default() }
            }
            None => return Err(format!("{url} is no address")),
        };
        upstream.accepts_any_certificate = scheme == "https" && !verifies;
        Ok(upstream)
    });
    for member in node.members() {
        let place = reader.place(member.line);
        let name = format!("services.{}", member.key);
        match member.key.as_str() {
            "url" | "host" => match &upstream {
                Ok(_) => reader.report.carried(&place, name),
                Err(why) => reader.report.not_carried(&place, name, why.clone()),
            },
            "protocol" | "port" | "path" | "routes" | "plugins" | "enabled" | "retries" | "tls_verify" | "read_timeout" => {
                reader.report.carried(&place, name)
            }
            "connect_timeout" if member.node.whole().is_some_and(|time| time > 0) => match reader.connect_ms.len() {
                1 => reader.report.carried(&place, name),
                _ => reader.report.approximated(&place, name, "the longest of all times, for the whole gateway"),
            },
            "connect_timeout" | "write_timeout" => reader.report.approximated(&place, name, "the gateway's own time limit"),
            "client_certificate" | "ca_certificates" => {
                reader.report.not_carried(&place, name, "`upstream_certificates` names certificates for upstreams")
            }
            "tls_verify_depth" => reader.report.approximated(&place, name, "chains are verified whole"),
            _ if reader.describes(member, "services") => {}
            _ => reader.unknown(member, "services"),
        }
    }
    Service {
        name: node.get("name").text().to_owned(),
        upstream,
        host: bare.to_owned(),
        path: path.to_owned(),
        timeout_ms: node.get("read_timeout").whole().unwrap_or(60_000),
        retries: node.get("retries").up_to(32_767).unwrap_or(5),
        is_enabled: !node.get("enabled").is_false(),
    }
}

fn read_route(node: &Node, service: &Service, of_service: &[Node], plan: &mut Plan, reader: &mut KongReader<'_>) {
    let name = [node.get("name").text(), node.get("id").text(), service.name.as_str()].into_iter().find(|name| !name.is_empty());
    let mut route =
        PlannedRoute { name: name.unwrap_or("route").to_owned(), place: reader.place(node.line), ..PlannedRoute::default() };
    let strips = !node.get("strip_path").is_false();
    let mut matches = Vec::new();
    let paths = node.get("paths").texts();
    let mut kept = Vec::new();
    for path in &paths {
        let planned = match path.strip_prefix('~') {
            Some(expression) => beginning(expression).map(PlannedPath::Pattern),
            None if is_expression(path) => beginning(path).map(PlannedPath::Pattern),
            None if path.starts_with('/') => Ok(PlannedPath::Begins(path.clone())),
            None => Err(format!("{path} does not begin with a slash")),
        };
        match planned {
            Ok(path_match) => {
                matches.push(PlannedMatch { path: path_match, ..PlannedMatch::default() });
                kept.push(path.as_str());
            }
            Err(why) => reader.report.not_carried(&reader.place(node.get("paths").line), "routes.paths.path", why),
        }
    }
    if matches.is_empty() && paths.is_empty() {
        matches.push(PlannedMatch::default());
    }
    match node.get("methods").methods() {
        Ok(methods) if methods.is_empty() => {}
        Ok(methods) => {
            matches = matches
                .iter()
                .flat_map(|matched| methods.iter().map(|method| PlannedMatch { method: method.clone(), ..matched.clone() }))
                .collect();
        }
        Err(why) => route.closed.push(format!("routes.methods: {why}")),
    }
    for member in node.get("headers").members() {
        let values = member.node.texts();
        let list: Vec<String> = values.iter().map(|value| escaped(value)).collect();
        let value = match values.as_slice() {
            [one] if !one.starts_with("~*") => PlannedValue { name: member.key.clone(), value: one.clone(), is_pattern: false },
            [one] => PlannedValue { name: member.key.clone(), value: one.trim_start_matches("~*").to_owned(), is_pattern: true },
            _ => PlannedValue { name: member.key.clone(), value: list.join("|"), is_pattern: true },
        };
        matches.iter_mut().for_each(|matched| matched.headers.push(value.clone()));
    }
    route.matches = matches;
    let is_for_tls = node.get("protocols").texts() == ["https"];
    for member in node.members() {
        if member.key == "https_redirect_status_code" && !is_for_tls && member.node.whole().is_some() {
            let place = reader.place(member.line);
            reader.report.built_in(
                &place,
                "routes.https_redirect_status_code",
                "no request is redirected: it may come without TLS",
            );
            continue;
        }
        route_member(member, service, &mut route, reader);
    }
    match &service.upstream {
        Ok(upstream) if service.is_enabled => {
            route.action = PlannedAction::Forward(upstream.clone());
            route.upstream_host = (!node.get("preserve_host").is_true()).then(|| service.host.clone());
            route.path_change = path_change(strips, &kept, &service.path);
            route.timeout_ms = service.timeout_ms;
            route.retries = Some(PlannedRetries { tries: service.retries.saturating_add(1).min(10), statuses: Vec::new() });
        }
        Ok(_) => route.action = PlannedAction::Answer { status: 404, body: String::new(), headers: Vec::new() },
        Err(_) => route.action = PlannedAction::Answer { status: 503, body: String::new(), headers: Vec::new() },
    }
    // The plugin that is nearest counts.
    let own = node.get("plugins").objects().to_vec();
    let is_mine = |plugin: &&Node| {
        let named = plugin.get("route").names(&["name", "id"]);
        named.iter().any(|text| *text == route.name || *text == node.get("id").text())
    };
    let flat: Vec<Node> = reader.global.iter().filter(is_mine).cloned().collect();
    let everywhere: Vec<Node> = reader
        .global
        .iter()
        .filter(|plugin| ["service", "route", "consumer"].iter().all(|scope| plugin.get(scope).is_empty()))
        .cloned()
        .collect();
    let mut acting: Vec<&Node> = Vec::new();
    for plugin in own.iter().chain(&flat).chain(of_service).chain(&everywhere) {
        if !acting.iter().any(|known| known.get("name").text() == plugin.get("name").text()) {
            acting.push(plugin);
        } else {
            plugin.settle();
        }
    }
    // Rates of consumers need to know whether there are any.
    acting.sort_by_key(|plugin| plugin.get("name").text().starts_with("rate-limiting"));
    for plugin in acting {
        plugins::apply(plugin, &mut route, reader);
    }
    plan.add(route);
}

fn route_member(member: &Member, service: &Service, route: &mut PlannedRoute, reader: &mut KongReader<'_>) {
    let place = reader.place(member.line);
    let name = format!("routes.{}", member.key);
    match member.key.as_str() {
        "hosts" => {
            let (hosts, are_all) = member.node.hosts();
            route.hosts = hosts;
            match are_all {
                true => reader.report.carried(&place, name),
                false => {
                    // Without its hosts it would answer for all.
                    if route.hosts.is_empty() {
                        route.hosts.push("nowhere.invalid".to_owned());
                    }
                    reader.report.not_carried(&place, name, "hosts are names without a port, or begin with *.");
                }
            }
        }
        "paths" | "methods" | "headers" | "strip_path" | "preserve_host" | "plugins" | "service" => {
            reader.report.carried(&place, name)
        }
        "regex_priority" => {
            route.precedence = 1_000_usize.saturating_sub(member.node.up_to(u32::MAX).unwrap_or_default() as usize);
            reader.report.carried(&place, name);
        }
        "protocols" => {
            let spoken: Vec<&str> = member.node.items().iter().map(|protocol| protocol.word(&PROTOCOLS)).collect();
            let only_https = spoken == ["https"];
            match only_https {
                true => reader.report.approximated(&place, name, "requests without TLS are answered too: add a listener with TLS"),
                false => reader.report.carried(&place, name),
            }
        }
        "https_redirect_status_code" => reader.report.approximated(&place, name, "there is no listener with TLS to redirect to"),
        "path_handling" if service.path.trim_matches('/').is_empty() && !member.node.word(&["v0", "v1"]).is_empty() => {
            reader.report.carried(&place, name)
        }
        "path_handling" => reader.report.approximated(
            &place,
            name,
            "the path of the service and the rest of the request's are joined with one slash",
        ),
        "request_buffering" | "response_buffering" if member.node.is_true() || member.node.is_false() => {
            reader.report.built_in(&place, name, "bodies pass as they come, whatever their size")
        }
        "request_buffering" | "response_buffering" => reader.report.approximated(&place, name, "the gateway streams bodies"),
        "snis" | "sources" | "destinations" | "expression" | "priority" => {
            reader.report.unprotected(&place, name.clone(), "routes are told apart by host, path, method and headers");
            route.closed.push(format!("{name} at line {} decides which requests it is for", place.line));
        }
        _ if reader.describes(member, "routes") => {}
        _ => reader.unknown(member, "routes"),
    }
}

/// Before version 3, paths with signs of an expression were expressions.
fn is_expression(path: &str) -> bool {
    path.contains(['(', '[', '\\', '*', '^', '$', '|', '+'])
}

fn path_change(strips: bool, paths: &[&str], to: &str) -> Option<PathChange> {
    let to = to.trim_end_matches('/');
    if !strips || paths.is_empty() {
        return (!to.is_empty()).then(|| PathChange::Beginning { from: String::new(), to: to.to_owned() });
    }
    match paths {
        [one] if !one.starts_with('~') && !is_expression(one) => match (one.trim_end_matches('/'), to) {
            ("", "") => None,
            (from, to) => Some(PathChange::Beginning { from: from.to_owned(), to: to.to_owned() }),
        },
        several => {
            let mut several: Vec<String> = several
                .iter()
                .map(|path| match path.strip_prefix('~') {
                    Some(expression) => expression.trim_start_matches('^').trim_end_matches('$').to_owned(),
                    None if is_expression(path) => path.trim_end_matches('$').to_owned(),
                    None => escaped(path.trim_end_matches('/')),
                })
                .collect();
            several.sort_by_key(|path| std::cmp::Reverse(path.len()));
            // Groups of the paths count before the one that is kept.
            let list = several.join("|");
            let pattern = format!("^(?:{list})/?(.*)$");
            let groups = tollgate_re2::compile(&pattern).ok()?.captures_len() - 1;
            Some(PathChange::Pattern { pattern, to: format!("{to}/${groups}") })
        }
    }
}

/// Routes with expressions come first, then those with longer paths.
pub(super) fn order(plan: &mut Plan) {
    let longest = |route: &PlannedRoute| {
        let length = |matched: &PlannedMatch| match &matched.path {
            PlannedPath::Begins(path) | PlannedPath::Exact(path) => path.len(),
            PlannedPath::Pattern(_) => 10_000,
            PlannedPath::Any => 0,
        };
        route.matches.iter().map(length).max().unwrap_or_default()
    };
    plan.routes.sort_by_key(|route| (std::cmp::Reverse(longest(route)), route.precedence));
    for (order, route) in plan.routes.iter_mut().enumerate() {
        route.precedence = order;
    }
}
