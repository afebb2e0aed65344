//! Routes with what they refer to: services, upstreams, plugin configurations.

use super::{ApisixReader, plugins};
use crate::pattern::escaped;
use crate::plan::{
    Plan, PlannedAction, PlannedBalance, PlannedCertificate, PlannedChecks, PlannedListener, PlannedMatch, PlannedPath,
    PlannedRetries, PlannedRoute, PlannedTarget, PlannedUpstream, PlannedValue,
};
use crate::tree::{Member, Node};

/// The order of plugins that change each other's work is APISIX's own; this many at most are applied to a route.
const PLUGINS_MAX: usize = 200;

pub(super) fn read(node: &Node, plan: &mut Plan, reader: &mut ApisixReader<'_>) {
    let name = [node.get("name").text(), node.get("id").text(), node.get("uri").text()].into_iter().find(|name| !name.is_empty());
    let mut route =
        PlannedRoute { name: name.unwrap_or("route").to_owned(), place: reader.place(node.line), ..PlannedRoute::default() };
    let service = find(&reader.services, node.get("service_id").text());
    let mut paths = node.get("uris").texts();
    paths.extend(node.get("uri").texts());
    route.matches = paths.iter().map(|path| PlannedMatch { path: path_match(path), ..PlannedMatch::default() }).collect();
    if route.matches.is_empty() {
        route.matches.push(PlannedMatch::default());
    }
    let methods = node.get("methods").texts();
    if !methods.is_empty() {
        let with = |matched: &PlannedMatch| {
            methods.iter().map(|method| PlannedMatch { method: method.to_uppercase(), ..matched.clone() }).collect::<Vec<_>>()
        };
        route.matches = route.matches.iter().flat_map(with).collect();
    }
    route.hosts = [node.get("hosts").texts(), node.get("host").texts()].concat();
    if route.hosts.is_empty() {
        route.hosts =
            service.iter().flat_map(|service| [service.get("hosts").texts(), service.get("host").texts()].concat()).collect();
    }
    route.precedence = 100_000_usize.saturating_sub(node.get("priority").whole().unwrap_or_default() as usize);
    report_members(node, "routes", reader);
    conditions(node, &mut route, reader);
    // An upstream of the route counts before that of its service.
    let sources = [Some(node), service.as_ref()];
    let upstream = sources.iter().flatten().find_map(|source| {
        let own = source.find("upstream").filter(|upstream| upstream.is_map()).cloned();
        own.or_else(|| find(&reader.upstreams, source.get("upstream_id").text()))
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
    let config = find(&reader.plugin_configs, node.get("plugin_config_id").text());
    let all = [Some(node), config.as_ref(), service.as_ref()]
        .into_iter()
        .flatten()
        .chain(&reader.global)
        .flat_map(|source| source.get("plugins").members());
    for plugin in all.take(PLUGINS_MAX) {
        if !acting.iter().any(|known| known.key == plugin.key) {
            acting.push(plugin.clone());
        }
    }
    // Rates of consumers need to know whether there are any.
    acting.sort_by_key(|plugin| plugin.key.starts_with("limit-"));
    for plugin in &acting {
        plugins::apply(plugin, &mut route, reader);
    }
    // A route that is off is not served: requests get what they would without it.
    if node.get("status").text() != "0" {
        plan.add(route);
    }
}

fn find(list: &[Node], id: &str) -> Option<Node> {
    list.iter().find(|node| !id.is_empty() && node.get("id").text() == id).cloned()
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
            _ => reader.closes(
                route,
                "routes.vars",
                &format!("the condition {} has no counterpart", parts.join(" ")),
                condition.line,
            ),
        }
    }
    let addresses = [node.get("remote_addrs").texts(), node.get("remote_addr").texts()].concat();
    route.allowed_ips.extend(addresses);
    for key in ["filter_func", "script", "script_id"] {
        if let Some(code) = node.find(key) {
            reader.closes(route, &format!("routes.{key}"), "programs are not carried over", code.line);
        }
    }
}

type ReadUpstream = (PlannedUpstream, Option<String>, Option<u64>);

fn read_upstream(node: &Node, reader: &mut ApisixReader<'_>) -> Result<ReadUpstream, (usize, String)> {
    let scheme = match node.get("scheme").text() {
        "" | "http" => "http",
        "https" | "grpcs" => "https",
        "grpc" => "h2c",
        other => return Err((node.line, format!("{other} is not spoken"))),
    };
    let mut targets = Vec::new();
    let nodes = node.get("nodes");
    for member in nodes.members() {
        targets.push((member.key.clone(), member.node.whole().unwrap_or(1)));
    }
    for item in if nodes.is_map() { &[] } else { nodes.items() } {
        let port = item.get("port").text();
        let host = item.get("host").text();
        let address = if port.is_empty() { host.to_owned() } else { format!("{host}:{port}") };
        targets.push((address, item.get("weight").whole().unwrap_or(1)));
    }
    targets.retain(|(address, _)| {
        let is_host = !address.is_empty() && address.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte));
        if !is_host {
            let place = reader.place(nodes.line);
            reader.report.not_carried(&place, "upstream.nodes.node", format!("{address} is no address"));
        }
        is_host
    });
    let Some((first, _)) = targets.first() else { return Err((node.line, "has no nodes".to_owned())) };
    let host = match node.get("pass_host").text() {
        "node" => Some(first.split(':').next().unwrap_or_default().to_owned()),
        "rewrite" => Some(node.get("upstream_host").text().to_owned()),
        _ => None,
    };
    let balance = match (node.get("type").text(), node.get("hash_on").text()) {
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
            .map(|(address, weight)| PlannedTarget { url: format!("{scheme}://{address}"), weight: *weight as u32 })
            .collect(),
        balance,
        health: node
            .get("checks")
            .get("passive")
            .get("unhealthy")
            .get("http_failures")
            .whole()
            .map(|failures| (failures as u32, 10)),
        checks: node.get("checks").find("active").map(checks),
        sticky_cookie: None,
        // APISIX checks the certificates of upstreams only if it is told to.
        accepts_any_certificate: scheme == "https" && !node.get("tls").get("verify").is_true(),
    };
    Ok((planned, host, node.get("retries").whole()))
}

fn checks(node: &Node) -> PlannedChecks {
    let path = if node.get("type").text() == "tcp" { "" } else { node.get("http_path").text() };
    PlannedChecks {
        path: if path.is_empty() && node.get("type").text() != "tcp" { "/".to_owned() } else { path.to_owned() },
        interval_ms: node.get("healthy").get("interval").whole().unwrap_or(1) * 1_000,
        timeout_ms: node.get("timeout").whole().unwrap_or(1) * 1_000,
        rise: node.get("healthy").get("successes").whole().unwrap_or(2) as u32,
        fall: node.get("unhealthy").get("http_failures").whole().unwrap_or(5) as u32,
        statuses: node
            .get("healthy")
            .get("http_statuses")
            .items()
            .iter()
            .filter_map(|status| Some(status.whole()? as u16))
            .collect(),
    }
}

pub(super) fn certificates(node: &Node, plan: &mut Plan, reader: &mut ApisixReader<'_>) {
    let mut listener = PlannedListener { name: "tls".to_owned(), port: 9443, is_tls: true, ..PlannedListener::default() };
    for entry in node.items() {
        let entry = super::value(entry);
        let place = reader.place(entry.line);
        let (chain, key) = (entry.get("cert").text(), entry.get("key").text());
        if !chain.contains("-----BEGIN") || !key.contains("-----BEGIN") {
            reader.report.not_carried(&place, "ssls.ssl", "its certificate and key are not in the file");
        } else if entry.find("client").is_some() {
            reader.report.unprotected(&place, "ssls.ssl", "certificates of clients are not asked for; the listener is left out");
        } else {
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
