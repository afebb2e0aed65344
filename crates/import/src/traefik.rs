//! Dynamic files of Traefik: routers with their rules, middlewares and services, in YAML or TOML.

mod middleware;
mod rule;

use crate::authority::is_authority;
use crate::files::{ImportFailure, NamedFiles};
use crate::node::{Member, Node};
use crate::plan::{
    Plan, PlannedAction, PlannedChecks, PlannedListener, PlannedMatch, PlannedPath, PlannedRoute, PlannedTarget, PlannedUpstream,
};
use crate::report::{ImportReport, Place};
use crate::tree::{read_toml, read_yaml};
use crate::unread;
use std::path::PathBuf;

/// The file, and what routers refer to.
struct TraefikReader<'r> {
    file: PathBuf,
    report: &'r mut ImportReport,
    middlewares: Vec<Member>,
    services: Vec<Member>,
}

impl TraefikReader<'_> {
    fn place(&self, line: usize) -> Place {
        Place::new(&self.file, line)
    }

    fn closes(&mut self, route: &mut PlannedRoute, title: &str, why: &str, line: usize) {
        self.report.closes(&Place::new(&self.file, line), title, why, &mut route.closed);
    }
}

/// Reads the file into the plan.
pub(crate) fn read(text: &str, files: &NamedFiles, plan: &mut Plan, report: &mut ImportReport) -> Result<(), ImportFailure> {
    let is_toml = files.first().extension().is_some_and(|extension| extension == "toml");
    let root = if is_toml { read_toml(text, files)? } else { read_yaml(text, files)? };
    let http = root.get("http");
    plan.listeners.push(PlannedListener { name: "web".to_owned(), port: 80, ..PlannedListener::default() });
    let mut reader = TraefikReader {
        file: files.first().to_owned(),
        report,
        middlewares: http.get("middlewares").members().to_vec(),
        services: http.get("services").members().to_vec(),
    };
    for member in root.members() {
        let place = reader.place(member.line);
        match member.key.as_str() {
            "http" => reader.report.carried(&place, "http"),
            "tls" => reader.report.not_carried(
                &place,
                "tls",
                "certificates of listeners are in the routing file: add a listener with them",
            ),
            "tcp" | "udp" => reader.report.not_carried(&place, member.key.clone(), "write routes of the kind `stream`"),
            _ => reader.report.not_carried(&place, member.key.clone(), "is not of a dynamic file"),
        }
    }
    for member in http.members() {
        let place = reader.place(member.line);
        match member.key.as_str() {
            "routers" | "middlewares" | "services" => reader.report.carried(&place, format!("http.{}", member.key)),
            _ => reader.report.not_carried(&place, format!("http.{}", member.key), "has no counterpart"),
        }
    }
    for service in reader.services.clone() {
        report_service(&service, &mut reader);
    }
    for router in http.get("routers").members() {
        read_router(router, plan, &mut reader);
    }
    unread::complete(&root, files, report)?;
    if plan.routes.is_empty() {
        return Err(files.failure("has no routers"));
    }
    plan.routes.sort_by_key(|route| route.precedence);
    plan.routes.iter_mut().enumerate().for_each(|(order, route)| route.precedence = order);
    Ok(())
}

/// The name of an object of this file, without its provider.
fn bare(name: &str) -> &str {
    name.split('@').next().unwrap_or_default()
}

fn read_router(router: &Member, plan: &mut Plan, reader: &mut TraefikReader<'_>) {
    let node = &router.node;
    let text = node.get("rule").text();
    let priority = node.get("priority").whole().filter(|priority| *priority > 0).unwrap_or(text.len() as u64);
    let base = PlannedRoute { name: router.key.clone(), place: reader.place(router.line), ..PlannedRoute::default() };
    let mut base = PlannedRoute { precedence: 1_000_000_usize.saturating_sub(priority as usize), ..base };
    let rule = rule::read(text);
    for member in node.members() {
        let place = reader.place(member.line);
        let name = format!("http.routers.{}", member.key);
        match member.key.as_str() {
            "rule" => match &rule {
                Ok(_) => reader.report.carried(&place, name),
                // Its requests would reach routers that are less special.
                Err(why) => reader.report.unprotected(&place, name, why.clone()),
            },
            "service" | "middlewares" | "priority" => reader.report.carried(&place, name),
            "entryPoints" | "entrypoints" => {
                reader.report.approximated(&place, name, "the gateway's own port: what entry points are is in Traefik's other file")
            }
            "tls" if member.node.get("options").is_empty() => reader.report.approximated(&place, name, "add a listener with TLS"),
            "tls" => reader.closes(&mut base, &name, "options of TLS may ask clients for certificates", member.line),
            "ruleSyntax" | "observability" => reader.report.approximated(&place, name, "rules are read in both forms"),
            _ => reader.report.not_carried(&place, name, "is not known to the importer"),
        }
    }
    let Ok(alternatives) = rule else {
        for key in ["service", "middlewares"] {
            node.get(key).settle();
        }
        return;
    };
    service(node.get("service"), &mut base, reader);
    for name in node.get("middlewares").items() {
        middleware::apply(name, &mut base, plan, reader, 0);
    }
    if let Some(prefix) = base.name.strip_suffix("@internal") {
        base.name = prefix.to_owned();
    }
    for (hosts, matches, addresses) in alternatives {
        let mut route = PlannedRoute { hosts, matches, ..base.clone() };
        route.admit_only(addresses);
        plan.add(route);
    }
}

fn report_service(service: &Member, reader: &mut TraefikReader<'_>) {
    for kind in service.node.members() {
        let place = reader.place(kind.line);
        let title = format!("http.services.{}", kind.key);
        match kind.key.as_str() {
            "loadBalancer" => {
                reader.report.carried(&place, title.clone());
                for member in kind.node.members() {
                    let place = reader.place(member.line);
                    let name = format!("{title}.{}", member.key);
                    match member.key.as_str() {
                        "servers" | "passHostHeader" | "strategy" => reader.report.carried(&place, name),
                        "healthCheck" => reader.report.approximated(&place, name, "with the gateway's own thresholds"),
                        "sticky" => reader.report.approximated(&place, name, "with a cookie of the gateway's own form"),
                        "responseForwarding" => reader.report.approximated(&place, name, "the gateway streams bodies"),
                        _ => reader.report.not_carried(&place, name, "has no counterpart"),
                    }
                }
            }
            "weighted" => reader.report.approximated(&place, title, "all servers of the services, by the services' weights"),
            "mirroring" => reader.report.carried(&place, title),
            "failover" => reader.report.not_carried(&place, title, "the main service answers alone"),
            _ => reader.report.not_carried(&place, title, "is not known to the importer"),
        }
    }
}

fn service(name: &Node, route: &mut PlannedRoute, reader: &mut TraefikReader<'_>) {
    let mut upstream = PlannedUpstream::default();
    let mut host = None;
    let mut mirror = None;
    collect(name, 1, 0, &mut upstream, &mut host, &mut mirror, reader);
    let name = name.text();
    if upstream.targets.is_empty() {
        let place = reader.place(route.place.line);
        reader.report.not_carried(
            &place,
            "http.routers.service.target",
            format!("{name} has no server in this file; the route answers 503"),
        );
        route.action = PlannedAction::Answer { status: 503, body: String::new(), headers: Vec::new() };
        return;
    }
    route.upstream_host = host;
    route.mirror = mirror;
    route.action = PlannedAction::Forward(upstream);
}

#[allow(clippy::too_many_arguments, reason = "what is collected is in several places of a route")]
fn collect(
    name: &Node,
    weight: u32,
    depth: usize,
    upstream: &mut PlannedUpstream,
    host: &mut Option<String>,
    mirror: &mut Option<(String, u32)>,
    reader: &mut TraefikReader<'_>,
) {
    let found = reader.services.iter().find(|service| service.key == bare(name.text())).cloned();
    let Some(service) = found.filter(|_| depth < 8) else { return name.names_nothing() };
    let balancer = service.node.get("loadBalancer");
    for server in balancer.get("servers").objects() {
        let url = server.get("url").text();
        let (scheme, rest) = url.split_once("://").unwrap_or_default();
        let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
        if path.len() > 1 {
            let place = reader.place(server.line);
            reader.report.not_carried(
                &place,
                "http.services.loadBalancer.servers.path",
                "servers have no path: rewrite it in the route",
            );
        }
        if !["http", "https", "h2c"].contains(&scheme) || !is_authority(authority) {
            let place = reader.place(server.get("url").line);
            reader.report.not_carried(&place, "http.services.loadBalancer.servers.url", format!("{url} is no address"));
            continue;
        }
        let own = server.get("weight").up_to(u32::MAX).unwrap_or(1);
        upstream.targets.push(PlannedTarget { url: format!("{scheme}://{authority}"), weight: own.saturating_mul(weight) });
        if balancer.get("passHostHeader").is_false() {
            *host = Some(authority.to_owned());
        }
    }
    let check = balancer.get("healthCheck");
    if check.is_map() {
        let time = |key: &str, usual: u64| check.get(key).duration_ms().unwrap_or(usual);
        let path = check.get("path").path().unwrap_or_default().to_owned();
        upstream.checks = Some(PlannedChecks {
            path,
            interval_ms: time("interval", 30_000),
            timeout_ms: time("timeout", 5_000),
            rise: 1,
            fall: 1,
            statuses: Vec::new(),
        });
    }
    if let Some(cookie) = balancer.get("sticky").find("cookie") {
        let name = cookie.get("name").token().unwrap_or_default();
        upstream.sticky_cookie = Some(if name.is_empty() { "tollgate-target" } else { name }.to_owned());
    }
    for part in service.node.get("weighted").get("services").objects() {
        let weight = part.get("weight").up_to(u32::MAX).unwrap_or(1);
        collect(part.get("name"), weight, depth + 1, upstream, host, mirror, reader);
    }
    let mirroring = service.node.get("mirroring");
    if mirroring.is_map() {
        collect(mirroring.get("service"), weight, depth + 1, upstream, host, mirror, reader);
        if let Some(first) = mirroring.get("mirrors").objects().first() {
            let mut copy = PlannedUpstream::default();
            collect(first.get("name"), 1, depth + 1, &mut copy, &mut None, &mut None, reader);
            let percent = first.get("percent").up_to(100).unwrap_or(0);
            *mirror = copy.targets.first().map(|target| (target.url.clone(), percent));
        }
    }
}

/// A match of a path alone.
fn of_path(path: PlannedPath) -> PlannedMatch {
    PlannedMatch { path, ..PlannedMatch::default() }
}
