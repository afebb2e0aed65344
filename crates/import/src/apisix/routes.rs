//! Routes with what they refer to: services, upstreams, plugin configurations.

use super::{ApisixReader, plugins};
use crate::authority::is_authority;
use crate::node::{Member, Node};
use crate::pattern::escaped;
use crate::plan::{
    Plan, PlannedAction, PlannedBalance, PlannedCertificate, PlannedChecks, PlannedListener, PlannedMatch, PlannedPath,
    PlannedRetries, PlannedRoute, PlannedTarget, PlannedUpstream, PlannedValue,
};

/// How APISIX chooses among nodes.
const KINDS: [&str; 4] = ["roundrobin", "chash", "ewma", "least_conn"];

/// The order of plugins that change each other's work is APISIX's own; this many at most are applied to a route.
const PLUGINS_MAX: usize = 200;

pub(super) fn read(node: &Node, plan: &mut Plan, reader: &mut ApisixReader<'_>) {
    let name = [node.get("name").text(), node.get("id").text(), node.get("uri").text()].into_iter().find(|name| !name.is_empty());
    let mut route =
        PlannedRoute { name: name.unwrap_or("route").to_owned(), place: reader.place(node.line), ..PlannedRoute::default() };
    let service = find(&reader.services, node.get("service_id"));
    let (mut paths, are_paths) = node.get("uris").paths();
    paths.extend(node.get("uri").path().map(str::to_owned));
    if paths.is_empty() && (!are_paths || !node.get("uri").is_empty()) {
        route.closed.push("routes.uri: is no path".to_owned());
    }
    route.matches = paths.iter().map(|path| PlannedMatch { path: path_match(path), ..PlannedMatch::default() }).collect();
    if route.matches.is_empty() {
        route.matches.push(PlannedMatch::default());
    }
    match node.get("methods").methods() {
        Ok(methods) if methods.is_empty() => {}
        Ok(methods) => {
            let with = |matched: &PlannedMatch| {
                methods.iter().map(|method| PlannedMatch { method: method.clone(), ..matched.clone() }).collect::<Vec<_>>()
            };
            route.matches = route.matches.iter().flat_map(with).collect();
        }
        Err(why) => route.closed.push(format!("routes.methods: {why}")),
    }
    for source in [Some(node), service.as_ref()].into_iter().flatten().filter(|_| route.hosts.is_empty()).collect::<Vec<_>>() {
        if !route.hosts.is_empty() {
            break;
        }
        for key in ["hosts", "host"] {
            let (hosts, are_all) = source.get(key).hosts();
            route.hosts.extend(hosts);
            // Without its hosts it would answer for all.
            if !are_all && route.hosts.is_empty() {
                route.hosts.push("nowhere.invalid".to_owned());
            }
        }
    }
    route.precedence = 100_000_usize.saturating_sub(node.get("priority").up_to(u32::MAX).unwrap_or_default() as usize);
    report_members(node, "routes", reader);
    conditions(node, &mut route, reader);
    // An upstream of the route counts before that of its service.
    let sources = [Some(node), service.as_ref()];
    let upstream = sources.iter().flatten().find_map(|source| {
        let own = source.find("upstream").filter(|upstream| upstream.is_map()).cloned();
        own.or_else(|| find(&reader.upstreams, source.get("upstream_id")))
    });
    let timeout = [Some(node), upstream.as_ref()].iter().flatten().find_map(|source| source.get("timeout").get("read").number());
    route.timeout_ms = timeout.map_or(60_000, |seconds| (seconds * 1_000.0) as u64);
    match upstream.as_ref().map(|node| read_upstream(node, reader)) {
        Some(Ok((planned, host, retries))) => {
            route.upstream_host = host;
            let targets = planned.targets.len();
            let retries = retries.unwrap_or(targets as u64 - 1);
            route.retries = Some(PlannedRetries { tries: retries.saturating_add(1).min(10) as u32, statuses: Vec::new() });
            route.action = PlannedAction::Forward(planned);
        }
        Some(Err((line, why))) => {
            let place = reader.place(line);
            reader.report.not_carried(&place, "upstream", format!("{why}; the route answers 503"));
            route.action = PlannedAction::Answer { status: 503, body: String::new(), headers: Vec::new() };
        }
        None => route.action = PlannedAction::Answer { status: 503, body: String::new(), headers: Vec::new() },
    }
    let mut acting: Vec<Member> = Vec::new();
    let config = find(&reader.plugin_configs, node.get("plugin_config_id"));
    let all = [Some(node), config.as_ref(), service.as_ref()]
        .into_iter()
        .flatten()
        .chain(&reader.global)
        .flat_map(|source| source.get("plugins").members());
    for plugin in all.take(PLUGINS_MAX) {
        match acting.iter().any(|known| known.key == plugin.key) {
            true => plugin.node.settle(),
            false => acting.push(plugin.clone()),
        }
    }
    // Rates of consumers need to know whether there are any.
    acting.sort_by_key(|plugin| plugin.key.starts_with("limit-"));
    for plugin in &acting {
        plugins::apply(plugin, &mut route, reader);
    }
    // A route that is off is not served: requests get what they would without it.
    if node.get("status").up_to(1) != Some(0) {
        plan.add(route);
    }
}

/// The object that a reference names.
fn find(list: &[Node], reference: &Node) -> Option<Node> {
    let id = Some(reference.text()).filter(|id| !id.is_empty())?;
    let found = list.iter().find(|node| node.get("id").text() == id).cloned();
    if found.is_none() {
        reference.names_nothing();
    }
    found
}

/// `/a`, `/a/*`, and `/a/:name` of the router with parameters.
fn path_match(path: &str) -> PlannedPath {
    match path.strip_suffix('*') {
        Some(beginning) if !beginning.contains([':', '*']) => PlannedPath::Begins(beginning.to_owned()),
        None if !path.contains(['*', ':']) => PlannedPath::Exact(path.to_owned()),
        _ => {
            let segment = |segment: &str| match segment.chars().next() {
                Some(':') => "[^/]+".to_owned(),
                Some('*') => ".*".to_owned(),
                _ => escaped(segment),
            };
            PlannedPath::Pattern(path.split('/').map(segment).collect::<Vec<_>>().join("/"))
        }
    }
}

/// Reports what a route, service or upstream has.
pub(super) fn report_members(node: &Node, kind: &str, reader: &mut ApisixReader<'_>) {
    for member in node.members() {
        let place = reader.place(member.line);
        let name = format!("{kind}.{}", member.key);
        match member.key.as_str() {
            "uri" | "uris" | "host" | "hosts" | "methods" | "priority" | "upstream_id" | "service_id" | "plugin_config_id"
            | "plugins" | "upstream" | "status" | "nodes" | "type" | "scheme" | "pass_host" | "upstream_host" | "retries"
            | "hash_on" | "vars" | "remote_addr" | "remote_addrs" => {
                reader.report.carried(&place, name);
                if member.key == "upstream" {
                    report_members(&member.node, "upstream", reader);
                }
            }
            "key" if kind.starts_with("upstream") => reader.report.carried(&place, name),
            "enable_websocket" if member.node.is_true() => reader.report.built_in(&place, name, "WebSockets pass without settings"),
            "enable_websocket" => reader.report.approximated(&place, name, "WebSockets pass without settings"),
            "timeout" => reader.report.approximated(&place, name, "the time to read, until the response begins"),
            "keepalive_pool" | "retry_timeout" | "tls" => {
                reader.report.approximated(&place, name, "connections are kept and reused by themselves")
            }
            "checks" => reader.report.approximated(&place, name, "one interval for targets that are up and down"),
            "discovery_type" | "service_name" | "discovery_args" => {
                reader.report.not_carried(&place, name, "targets come from `proxy.service_discovery` or SRV records")
            }
            "filter_func" | "script" | "script_id" => {}
            _ if reader.describes(member, kind) => {}
            _ => reader.report.not_carried(&place, name, "is not known to the importer"),
        }
    }
}

/// `vars` and addresses decide which requests a route is for.
fn conditions(node: &Node, route: &mut PlannedRoute, reader: &mut ApisixReader<'_>) {
    for condition in node.get("vars").items() {
        let parts: Vec<&str> = condition.items().iter().map(Node::text).collect();
        let (name, operator, value) = match parts.as_slice() {
            [name, operator, value] => (*name, *operator, *value),
            _ => ("", "", ""),
        };
        let is_pattern = matches!(operator, "~~" | "in");
        let text = match operator {
            "==" => Some(value.to_owned()),
            "~~" => crate::pattern::searched(value, false).ok(),
            "in" => {
                let list = condition.items().get(2).map(Node::texts).unwrap_or_default();
                Some(list.iter().map(|item| escaped(item)).collect::<Vec<_>>().join("|"))
            }
            _ => None,
        };
        let place = |name: &str, value: String| PlannedValue { name: name.replace('_', "-"), value, is_pattern };
        match (name.strip_prefix("http_"), name.strip_prefix("arg_"), text) {
            (Some(header), _, Some(text)) => {
                route.matches.iter_mut().for_each(|matched| matched.headers.push(place(header, text.clone())))
            }
            (_, Some(parameter), Some(text)) => {
                let value = PlannedValue { name: parameter.to_owned(), value: text, is_pattern };
                route.matches.iter_mut().for_each(|matched| matched.query.push(value.clone()));
            }
            (None, None, Some(text)) if name == "request_method" && operator == "==" => {
                route.matches.iter_mut().for_each(|matched| matched.method.clone_from(&text));
            }
            _ => {
                condition.items().iter().for_each(Node::is_not_understood);
                let why = format!("the condition {} has no counterpart", parts.join(" "));
                reader.closes(route, "routes.vars", &why, condition.line);
            }
        }
    }
    for key in ["remote_addrs", "remote_addr"] {
        match node.get(key).networks() {
            Ok(addresses) => route.allowed_ips.extend(addresses),
            Err(why) => reader.closes(route, &format!("routes.{key}"), &why, node.get(key).line),
        }
    }
    for key in ["filter_func", "script", "script_id"] {
        if let Some(code) = node.find(key) {
            reader.closes(route, &format!("routes.{key}"), "programs are not carried over", code.line);
        }
    }
}

type ReadUpstream = (PlannedUpstream, Option<String>, Option<u64>);

fn read_upstream(node: &Node, reader: &mut ApisixReader<'_>) -> Result<ReadUpstream, (usize, String)> {
    let scheme = match node.get("scheme").word(&["http", "https", "grpc", "grpcs", "tcp", "tls", "udp", "kafka"]) {
        "" | "http" => "http",
        "https" | "grpcs" => "https",
        "grpc" => "h2c",
        other => return Err((node.line, format!("{other} is not spoken"))),
    };
    let mut targets = Vec::new();
    let nodes = node.get("nodes");
    for member in if nodes.is_map() { nodes.members() } else { &[] } {
        targets.push((member.key.clone(), member.node.up_to(u32::MAX).unwrap_or(1), member.line));
    }
    for item in if nodes.is_map() { &[] } else { nodes.objects() } {
        let port = item.get("port").text();
        let host = item.get("host").text();
        let address = if port.is_empty() { host.to_owned() } else { format!("{host}:{port}") };
        let line = if is_authority(host) { item.get("port").line } else { item.get("host").line };
        targets.push((address, item.get("weight").up_to(u32::MAX).unwrap_or(1), line));
    }
    targets.retain(|(address, _, line)| {
        if !is_authority(address) {
            let place = reader.place(*line);
            reader.report.not_carried(&place, "upstream.nodes.node", format!("{address} is no address"));
        }
        is_authority(address)
    });
    let Some((first, ..)) = targets.first() else { return Err((node.line, "has no nodes".to_owned())) };
    let host = match node.get("pass_host").word(&["pass", "node", "rewrite"]) {
        "node" => Some(first.split(':').next().unwrap_or_default().to_owned()),
        "rewrite" => node.get("upstream_host").authority().map(str::to_owned),
        _ => None,
    };
    let balance = match (
        node.get("type").word(&KINDS),
        node.get("hash_on").word(&["vars", "header", "cookie", "consumer", "vars_combinations"]),
    ) {
        ("chash", "header") => PlannedBalance::HashHeader(node.get("key").text().trim_start_matches("http_").replace('_', "-")),
        ("chash", "cookie") => PlannedBalance::HashCookie(node.get("key").text().trim_start_matches("cookie_").to_owned()),
        ("chash", _) => match node.get("key").text() {
            "uri" | "request_uri" => PlannedBalance::HashPath,
            key if key.starts_with("http_") => PlannedBalance::HashHeader(key.trim_start_matches("http_").replace('_', "-")),
            key if key.starts_with("cookie_") => PlannedBalance::HashCookie(key.trim_start_matches("cookie_").to_owned()),
            _ => PlannedBalance::HashAddress,
        },
        ("least_conn", _) => PlannedBalance::LeastRequests,
        ("ewma", _) => PlannedBalance::Latency,
        _ => PlannedBalance::RoundRobin,
    };
    let planned = PlannedUpstream {
        targets: targets
            .iter()
            .map(|(address, weight, _)| PlannedTarget { url: format!("{scheme}://{address}"), weight: *weight })
            .collect(),
        balance,
        health: node.get("checks").get("passive").get("unhealthy").get("http_failures").up_to(254).map(|failures| (failures, 10)),
        checks: node.get("checks").find("active").map(checks),
        sticky_cookie: None,
        // APISIX checks the certificates of upstreams only if it is told to.
        accepts_any_certificate: scheme == "https" && !node.get("tls").get("verify").is_true(),
    };
    Ok((planned, host, node.get("retries").whole()))
}

fn checks(node: &Node) -> PlannedChecks {
    let is_tcp = node.get("type").word(&["http", "https", "tcp"]) == "tcp";
    let path = if is_tcp { "" } else { node.get("http_path").path().unwrap_or("/") };
    PlannedChecks {
        path: path.to_owned(),
        interval_ms: node.get("healthy").get("interval").whole().unwrap_or(1) * 1_000,
        timeout_ms: node.get("timeout").whole().unwrap_or(1) * 1_000,
        rise: node.get("healthy").get("successes").up_to(254).unwrap_or(2),
        fall: node.get("unhealthy").get("http_failures").up_to(254).unwrap_or(5),
        statuses: node.get("healthy").get("http_statuses").statuses(),
    }
}

pub(super) fn certificates(node: &Node, plan: &mut Plan, reader: &mut ApisixReader<'_>) {
    let mut listener = PlannedListener { name: "tls".to_owned(), port: 9443, is_tls: true, ..PlannedListener::default() };
    for entry in node.objects() {
        let entry = super::value(entry);
        let place = reader.place(entry.line);
        let (chain, key) = (entry.get("cert").text(), entry.get("key").text());
        if !chain.contains("-----BEGIN") || !key.contains("-----BEGIN") {
            entry.settle();
            reader.report.not_carried(&place, "ssls.ssl", "its certificate and key are not in the file");
        } else if entry.find("client").is_some() {
            entry.settle();
            reader.report.unprotected(&place, "ssls.ssl", "certificates of clients are not asked for; the listener is left out");
        } else {
            ["id", "snis", "sni", "type", "status", "labels", "create_time", "update_time"]
                .iter()
                .for_each(|key| entry.get(key).settle());
            listener.certificates.push(PlannedCertificate::Pem(format!("{}\n{}", chain.trim_end(), key.trim_end())));
            reader.report.carried(&place, "ssls.ssl");
        }
    }
    if !listener.certificates.is_empty() {
        plan.listeners.push(listener);
    }
}

/// Routes of one priority: longer paths first.
pub(super) fn order(plan: &mut Plan) {
    let longest = |route: &PlannedRoute| {
        let length = |matched: &PlannedMatch| match &matched.path {
            PlannedPath::Exact(path) => 10_000 + path.len(),
            PlannedPath::Begins(path) => path.len(),
            PlannedPath::Pattern(pattern) => pattern.len() / 2,
            PlannedPath::Any => 0,
        };
        route.matches.iter().map(length).max().unwrap_or_default()
    };
    plan.routes.sort_by_key(|route| (route.precedence, std::cmp::Reverse(longest(route))));
    for (order, route) in plan.routes.iter_mut().enumerate() {
        route.precedence = order;
    }
}
