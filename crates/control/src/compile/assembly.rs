//! Combines compiled APIs to a snapshot: the routers of all ports and listeners.

use super::federated_apis;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use tollgate_data::client_tls::ListenerTlsTable;
use tollgate_data::discovery::DiscoveryPaths;
use tollgate_data::listeners::{PortListener, PortListeners};
use tollgate_data::port::{PortProtocol, PortTerms, SnapshotPort};
use tollgate_data::registry::Registry;
use tollgate_data::route::{Found, Router, RouterBuilder, listen_path_weight, normal_domain};
use tollgate_data::route_rules::{CompiledMatch, MatchOrder, PathClass, RouteAttached};
use tollgate_data::settings::Settings;
use tollgate_data::snapshot::{CompiledApi, Snapshot};
use tollgate_model::routing::{ListenerProtocol, RouteListener};
use tollgate_model::{Level, Problem};

/// Combines APIs: renames colliding listen paths and builds the routers of all ports. `apis` are in the order of their files.
pub fn assemble(apis: Vec<Arc<CompiledApi>>, settings: &Settings, registry: &Registry) -> (Snapshot, Vec<Problem>) {
    let mut problems = Vec::new();
    federated_apis::check(&apis, &mut problems);
    let own = router(&apis, 0, settings, &mut problems);
    let mut ports = listener_ports(&apis, settings, registry, &mut problems);
    let mut terms: BTreeMap<u16, PortTerms> = BTreeMap::new();
    for api in served(&apis).filter(|api| api.port.number != 0) {
        terms.entry(api.port.number).or_insert(api.port.terms);
    }
    for (number, terms) in terms {
        if ports.contains_key(&u32::from(number)) {
            let message = format!("port {number} is that of a listener: the APIs that name it are not served there");
            problems.push(Problem::new(Level::Error, "$.listen_port", message));
            continue;
        }
        for other in served(&apis).filter(|api| api.port.number == number && api.port.terms != terms) {
            let problem = format!("port {number} {}: {} is not served there", described(terms), other.id);
            problems.push(Problem::new(Level::Error, "$.listen_port", problem));
        }
        let port = match terms.protocol.is_stream() {
            true => SnapshotPort {
                terms,
                router: Router::default(),
                streams: streams(&apis, number, terms, &mut problems),
                listeners: None,
                tls: None,
            },
            false => SnapshotPort {
                terms,
                router: router(&apis, number, settings, &mut problems),
                streams: Vec::new(),
                listeners: None,
                tls: None,
            },
        };
        ports.insert(u32::from(number), port);
    }
    (Snapshot::new(apis, own, ports), problems)
}

/// The APIs that clients can reach.
fn served(apis: &[Arc<CompiledApi>]) -> impl Iterator<Item = &Arc<CompiledApi>> {
    apis.iter().filter(|api| !api.internal)
}

fn described(terms: PortTerms) -> String {
    let headers = if terms.announced { " with PROXY headers" } else { "" };
    format!("speaks {}{headers} for another API", terms.protocol.name())
}

/// The APIs of a port of streams, by host.
fn streams(apis: &[Arc<CompiledApi>], number: u16, terms: PortTerms, problems: &mut Vec<Problem>) -> Vec<(Option<String>, usize)> {
    let mut streams: Vec<(Option<String>, usize)> = Vec::new();
    for (index, api) in apis.iter().enumerate().filter(|(_, api)| !api.internal) {
        if (api.port.number, api.port.terms) != (number, terms) {
            continue;
        }
        // Only TLS clients name a host.
        let host = api.host.clone().filter(|_| terms.protocol.is_secure());
        if streams.iter().any(|(other, _)| *other == host) {
            let host = host.map_or_else(String::new, |host| format!(" and host {host}"));
            let message = format!("port {number}{host} is taken by another API: {} is not served", api.id);
            problems.push(Problem::new(Level::Error, "$.listen_port", message));
            continue;
        }
        streams.push((host, index));
    }
    streams
}

/// The router of a port.
fn router(apis: &[Arc<CompiledApi>], number: u16, settings: &Settings, problems: &mut Vec<Problem>) -> Router {
    let mut taken: HashSet<(Option<String>, String)> = HashSet::new();
    let mut listen_paths: Vec<(usize, String)> = Vec::with_capacity(apis.len());
    // APIs that speak something else are reported already.
    let terms = served(apis).find(|api| api.port.number == number).map(|api| api.port.terms);
    let is_here = |api: &CompiledApi| {
        let fits = api.port.number == number && (number == 0 || terms.is_none_or(|terms| terms == api.port.terms));
        fits && api.route.is_none()
    };
    for (index, api) in apis.iter().enumerate().filter(|(_, api)| is_here(api)) {
        let mut listen_path = api.listen_path.clone();
        if !taken.insert((api.host.clone(), listen_path.clone())) {
            listen_path = format!("{}-{}", api.listen_path, api.id);
            while !taken.insert((api.host.clone(), listen_path.clone())) {
                listen_path.push('_');
            }
            let message = format!("{} is taken by another API: {} is served at {listen_path}", api.listen_path, api.id);
            problems.push(Problem::new(Level::Warning, "$.proxy.listen_path", message));
        }
        listen_paths.push((index, listen_path));
    }
    let router = RouterBuilder::new(settings.routing.strict_routes, Some(&settings.routing.hostname)).map(|mut builder| {
        let portal = Some(settings.routing.portal_host.as_str()).filter(|host| number == 0 && !host.is_empty());
        if let Some(host) = portal {
            builder.add_host(host, Found::PORTAL);
            for api in listen_paths.iter().filter_map(|(index, _)| apis.get(*index)) {
                if api.host.as_deref().is_some_and(|own| normal_domain(own) == normal_domain(host)) {
                    let message =
                        format!("is the host of the developer portal, which gets its requests: {} is not served there", api.id);
                    problems.push(Problem::new(Level::Warning, "$.domain", message));
                }
            }
        }
        // Before all listen paths: they are whole paths.
        for (index, _) in &listen_paths {
            let Some(api) = apis.get(*index).filter(|api| !api.internal) else { continue };
            for path in api.discovery.iter().flat_map(DiscoveryPaths::at_root) {
                if let Err(error) = builder.add_path(api.host.as_deref(), path, *index) {
                    problems.push(Problem::new(Level::Error, "$.domain", format!("{path} can't be routed: {error}")));
                }
            }
        }
        let own = listen_paths.iter().map(|(index, path)| RouterEntry::of_listen_path(*index, path));
        let mut entries: Vec<RouterEntry<'_>> = own.collect();
        if number == 0 {
            let attached = attachments(apis).remove("").unwrap_or_default();
            entries.extend(rule_entries(apis, &attached));
        }
        // Stable: equal listen paths stay in the order of their files.
        entries.sort_by(|one, other| one.rank.cmp(&other.rank));
        for entry in entries {
            let Some(api) = apis.get(entry.api).filter(|api| !api.internal) else { continue };
            let listen_path = match entry.kind {
                EntryKind::Rule(host, matched) => {
                    builder.add_rule(host, &matched.path, &matched.conditions, (entry.api, matched.rule));
                    continue;
                }
                EntryKind::ListenPath(listen_path) => listen_path,
            };
            let host = api.host.as_deref();
            // Adds the listen path first: if both prefixes match, it is the one to strip.
            let added = builder.add_listen_path(host, listen_path, entry.api);
            let with_id = |()| if api.id.is_empty() { Ok(()) } else { builder.add_id(host, &api.id, entry.api) };
            if let Err(error) = added.and_then(with_id) {
                let message = format!("{listen_path} can't be routed: {error}; {} is not served", api.id);
                problems.push(Problem::new(Level::Error, "$.proxy.listen_path", message));
            }
        }
        builder.build()
    });
    router.unwrap_or_else(|error| {
        problems.push(Problem::new(Level::Error, "$.hostname", format!("not a valid host: {error}; nothing is served")));
        Default::default()
    })
}

/// A listen path, or a match of a rule for one host.
struct RouterEntry<'a> {
    api: usize,
    kind: EntryKind<'a>,
    rank: EntryRank<'a>,
}

enum EntryKind<'a> {
    ListenPath(&'a str),
    Rule(Option<&'a str>, &'a CompiledMatch),
}

/// The order of precedence: the most specific host, the match, and then what the definitions say.
type EntryRank<'a> = (Reverse<usize>, MatchOrder, &'a str, &'a str);

/// Hosts without a wildcard come before all with one.
const WHOLE_HOST: usize = usize::MAX;

impl<'a> RouterEntry<'a> {
    fn of_listen_path(api: usize, path: &'a str) -> Self {
        let weight = listen_path_weight(path);
        let class = if weight > 1 { PathClass::Prefix } else { PathClass::Any };
        let order = (class, Reverse(weight), Reverse(false), Reverse(0), Reverse(0));
        RouterEntry { api, kind: EntryKind::ListenPath(path), rank: (Reverse(WHOLE_HOST), order, "", "") }
    }
}

/// The matches of all routes that are attached to a listener; an empty name is that of the gateway's own port.
/// What is attached to each listener: the place of an API, and its attachment.
type Attachments<'a> = HashMap<&'a str, Vec<(usize, &'a RouteAttached)>>;

/// All attachments, looked for once: there may be as many listeners as APIs.
fn attachments(apis: &[Arc<CompiledApi>]) -> Attachments<'_> {
    let mut found = Attachments::new();
    for (index, api) in apis.iter().enumerate().filter(|(_, api)| !api.internal) {
        for attached in api.route.iter().flat_map(|route| &route.attached) {
            found.entry(attached.listener.as_str()).or_default().push((index, attached));
        }
    }
    found
}

fn rule_entries<'a>(apis: &'a [Arc<CompiledApi>], attached: &[(usize, &'a RouteAttached)]) -> Vec<RouterEntry<'a>> {
    let mut entries = Vec::new();
    let any = [None];
    for (index, attached) in attached {
        let Some((api, route)) = apis.get(*index).and_then(|api| Some((api, api.route.as_ref()?))) else { continue };
        for matched in &route.matches {
            let own: &[String] = if matched.hosts.is_empty() { &attached.hosts } else { &matched.hosts };
            let own: Vec<Option<&str>> = own.iter().map(|host| Some(host.as_str())).collect();
            entries.extend(if own.is_empty() { any.as_slice() } else { &own }.iter().map(|host| RouterEntry {
                api: *index,
                kind: EntryKind::Rule(*host, matched),
                rank: (Reverse(specificity(*host)), matched.order(), &route.precedence, &api.id),
            }));
        }
    }
    entries
}

/// How much a host says: the longer wildcard more, and one for a single label more than one for any number.
fn specificity(host: Option<&str>) -> usize {
    match host {
        Some(host) if host.starts_with("*.") => 2 * host.len(),
        Some(host) if host.starts_with("?.") => 2 * host.len() + 1,
        // Where it has no host, it is compared only with others that have none.
        Some(_) | None => WHOLE_HOST,
    }
}

/// The sockets of all listeners, with their routers.
fn listener_ports(
    apis: &[Arc<CompiledApi>],
    settings: &Settings,
    registry: &Registry,
    problems: &mut Vec<Problem>,
) -> BTreeMap<u32, SnapshotPort> {
    let mut ports: BTreeMap<u32, SnapshotPort> = BTreeMap::new();
    let mut tls: BTreeMap<u32, ListenerTlsTable> = BTreeMap::new();
    let attached = attachments(apis);
    let table = registry.routing.listeners();
    registry.routing.keep_tls(|name| table.contains_key(name));
    for (name, listener) in table.iter() {
        let protocol = match listener.protocol {
            ListenerProtocol::Http => PortProtocol::Http,
            ListenerProtocol::Https | ListenerProtocol::Tls => PortProtocol::Https,
            ListenerProtocol::Tcp => PortProtocol::Tcp,
            ListenerProtocol::Udp if listener.addresses.is_empty() => {
                let message = "must have an entry: a listener for datagrams names its addresses";
                problems.push(Problem::new(Level::Error, format!("$.listeners.{name}.addresses"), message));
                continue;
            }
            ListenerProtocol::Udp => PortProtocol::Udp,
        };
        let terms_of_tls = (protocol == PortProtocol::Https)
            .then(|| registry.routing.listener_tls(name, listener, &settings.routing.tls, &registry.certificates));
        let terms_of_tls = match terms_of_tls.transpose() {
            Ok(terms) => terms,
            Err(why) => {
                let message = format!("its clients cannot be served: {why}");
                problems.push(Problem::new(Level::Error, format!("$.listeners.{name}"), message));
                None
            }
        };
        for (socket, address) in sockets(listener, registry) {
            let terms = PortTerms { protocol, announced: false, address };
            let port = ports.entry(socket).or_insert_with(|| SnapshotPort {
                terms,
                router: Router::default(),
                streams: Vec::new(),
                listeners: Some(PortListeners::default()),
                tls: None,
            });
            if protocol == PortProtocol::Https {
                tls.entry(socket).or_default();
            }
            let is_taken = port.terms != terms || {
                let router = listener_router(apis, attached.get(name.as_str()).map_or(&[], Vec::as_slice));
                let entry = PortListener { name: name.clone(), protocol: listener.protocol, router };
                !port.listeners.as_mut().is_some_and(|listeners| listeners.add(&listener.host, entry))
            };
            if is_taken {
                let at = format!("$.listeners.{name}");
                let message =
                    "another listener has its address and port with another protocol, or with the same host: it is not served";
                problems.push(Problem::new(Level::Error, at, message));
            } else if let (Some(table), Some(terms)) = (tls.get_mut(&socket), &terms_of_tls) {
                table.add(&listener.host, terms.clone());
            }
        }
    }
    for (socket, table) in tls {
        if let Some(port) = ports.get_mut(&socket) {
            port.tls = Some(Arc::new(table));
        }
    }
    for api in apis {
        for attached in api.route.iter().flat_map(|route| &route.attached) {
            if !attached.listener.is_empty() && !table.contains_key(&attached.listener) {
                let message =
                    format!("{} is attached to {:?}, which is no listener: it is not served there", api.id, attached.listener);
                problems.push(Problem::new(Level::Warning, "$.tollgate.route.attached", message));
            }
        }
    }
    ports
}

fn listener_router(apis: &[Arc<CompiledApi>], attached: &[(usize, &RouteAttached)]) -> Router {
    let mut entries = rule_entries(apis, attached);
    entries.sort_by(|one, other| one.rank.cmp(&other.rank));
    let mut builder = RouterBuilder::default();
    for entry in entries {
        if let EntryKind::Rule(host, matched) = entry.kind {
            builder.add_rule(host, &matched.path, &matched.conditions, (entry.api, matched.rule));
        }
    }
    builder.build()
}

/// The most addresses of a listener: each is a socket for each core.
const ADDRESSES_MAX: usize = 64;

/// The sockets of a listener by the names that their connections have, with their addresses unless those are the gateway's.
pub(crate) fn sockets(listener: &RouteListener, registry: &Registry) -> Vec<(u32, Option<SocketAddr>)> {
    let is_for_datagrams = listener.protocol == ListenerProtocol::Udp;
    if listener.addresses.is_empty() && !is_for_datagrams {
        return vec![(u32::from(listener.port), None)];
    }
    let addresses = listener.addresses.iter().take(ADDRESSES_MAX).filter_map(|address| address.parse::<IpAddr>().ok());
    let sockets = addresses.map(|address| SocketAddr::new(address, listener.port));
    sockets.map(|socket| (registry.routing.socket_name(socket, is_for_datagrams), Some(socket))).collect()
}
