//! `server`: its listeners and names, and the order of its locations.

use super::Shared;
use super::directive::Directive;
use super::location::{self, LocationKind, LocationRoute};
use super::scope::Scope;
use super::value::Surroundings;
use crate::authority::is_host;
use crate::files::NamedFiles;
use crate::plan::{Plan, PlannedCertificate, PlannedListener};
use crate::report::ImportReport;

/// A socket of a server, and whether the server is the default there.
struct Socket {
    name: String,
    around: Surroundings,
    is_default: bool,
}

pub(super) fn read_all(
    servers: &[&Directive],
    scope: &Scope,
    shared: &Shared,
    files: &mut NamedFiles,
    plan: &mut Plan,
    report: &mut ImportReport,
) {
    // Which server is the default of a socket: the one that says so, else the first.
    let mut defaults: Vec<(String, usize, bool)> = Vec::new();
    for (index, server) in servers.iter().enumerate() {
        for listen in listens(server) {
            let name = socket_name(listen.word(0), is_tls(server, listen));
            let says_so = listen.words.iter().any(|word| word == "default_server" || word == "default");
            match defaults.iter_mut().find(|(known, ..)| *known == name) {
                Some(entry) if says_so && !entry.2 => *entry = (name, index, true),
                Some(_) => {}
                None => defaults.push((name, index, says_so)),
            }
        }
        if listens(server).is_empty() && !defaults.iter().any(|(known, ..)| known == "port-80") {
            defaults.push(("port-80".to_owned(), index, false));
        }
    }
    for (index, server) in servers.iter().enumerate() {
        report.carried(&server.place, "server");
        let is_default = |name: &str| defaults.iter().any(|(known, default, _)| known == name && *default == index);
        let sockets = sockets(server, &is_default, plan, report);
        let hosts = hosts(server, report);
        let mut inner = scope.within(server.inner());
        let name =
            server.inner().iter().find(|directive| directive.name == "server_name").map_or("", |directive| directive.word(0));
        if !name.contains(['$', '~', '*']) {
            inner.variables.insert("server_name".to_owned(), name.trim_start_matches('.').to_owned());
        }
        let mut rest = Vec::new();
        for directive in server.inner() {
            match directive.name.as_str() {
                "listen" | "server_name" | "ssl_certificate" | "ssl_certificate_key" => {}
                "location" | "return" | "rewrite" | "if" | "error_page" | "try_files" | "root" | "index" => rest.push(directive),
                _ => inner.take(directive, shared, files, plan, report),
            }
        }
        let routes = location::of_server(server, &rest, &inner, shared, files, plan, report);
        emit(&routes, &sockets, &hosts, plan, report);
    }
}

fn listens(server: &Directive) -> Vec<&Directive> {
    server.inner().iter().filter(|directive| directive.name == "listen").collect()
}

fn is_tls(server: &Directive, listen: &Directive) -> bool {
    let says_on = server.inner().iter().any(|directive| directive.name == "ssl" && directive.word(0) == "on");
    says_on || listen.words.iter().any(|word| matches!(word.as_str(), "ssl" | "quic"))
}

fn port(address: &str) -> u16 {
    let behind = address.rsplit(':').next().unwrap_or_default();
    behind.parse().unwrap_or(80)
}

fn socket_name(address: &str, is_tls: bool) -> String {
    let host = address.rsplit_once(':').map_or("", |(host, _)| host);
    let host = if host.parse::<std::net::IpAddr>().is_ok() { host } else { "" };
    let number = if address.rsplit(':').next().is_some_and(|port| port.parse::<u16>().is_ok()) { port(address) } else { 80 };
    let kind = if is_tls { "tls-" } else { "port-" };
    format!("{kind}{number}{}{host}", if host.is_empty() { "" } else { "-" })
}

fn sockets(server: &Directive, is_default: &dyn Fn(&str) -> bool, plan: &mut Plan, report: &mut ImportReport) -> Vec<Socket> {
    let certificates: Vec<&Directive> = server.inner().iter().filter(|directive| directive.name == "ssl_certificate").collect();
    let keys: Vec<&Directive> = server.inner().iter().filter(|directive| directive.name == "ssl_certificate_key").collect();
    for directive in certificates.iter().chain(&keys) {
        report.carried(&directive.place, directive.name.clone());
    }
    let pairs: Vec<PlannedCertificate> = certificates
        .iter()
        .zip(&keys)
        .map(|(certificate, key)| PlannedCertificate::Files {
            certificate: certificate.word(0).to_owned(),
            key: key.word(0).to_owned(),
            place: certificate.place.clone(),
        })
        .collect();
    let mut sockets = Vec::new();
    let mut add = |address: &str, is_tls: bool, plan: &mut Plan| {
        let name = socket_name(address, is_tls);
        if sockets.iter().any(|socket: &Socket| socket.name == name) {
            return;
        }
        let host = address.rsplit_once(':').and_then(|(host, _)| host.parse().ok());
        let listener = PlannedListener { name: name.clone(), address: host, port: port(address), is_tls, certificates: Vec::new() };
        if !plan.listeners.iter().any(|known| known.name == name) {
            plan.listeners.push(listener);
        }
        if let Some(known) = plan.listeners.iter_mut().find(|known| known.name == name && known.is_tls) {
            known.certificates.extend(pairs.iter().filter(|pair| !known.certificates.contains(pair)).cloned().collect::<Vec<_>>());
        }
        sockets.push(Socket { is_default: is_default(&name), around: Surroundings { is_tls, port: port(address) }, name });
    };
    for listen in listens(server) {
        let address = listen.word(0);
        if address.starts_with("unix:") {
            report.not_carried(&listen.place, "listen", "the gateway listens at ports, not at sockets of the file system");
            continue;
        }
        if listen.words.iter().any(|word| word == "proxy_protocol") {
            report.not_carried(
                &listen.place,
                "listen",
                "set `tollgate.proxy_protocol`: the address behind a PROXY header is not read yet",
            );
        } else if listen.words.iter().any(|word| word == "quic") {
            report.not_carried(&listen.place, "listen", "HTTP/3 is not spoken");
            continue;
        } else {
            report.carried(&listen.place, "listen");
        }
        add(address, is_tls(server, listen), plan);
    }
    if sockets.is_empty() {
        let mut add_default = |address: &str| {
            let name = socket_name(address, false);
            if !plan.listeners.iter().any(|known| known.name == name) {
                plan.listeners.push(PlannedListener { name: name.clone(), port: 80, ..PlannedListener::default() });
            }
            sockets.push(Socket { is_default: is_default(&name), around: Surroundings { is_tls: false, port: 80 }, name });
        };
        add_default("80");
    }
    sockets
}

/// Hosts in our form.
fn hosts(server: &Directive, report: &mut ImportReport) -> Vec<String> {
    let mut hosts = Vec::new();
    for directive in server.inner().iter().filter(|directive| directive.name == "server_name") {
        let mut without = Vec::new();
        for name in &directive.words {
            match name.as_str() {
                "_" | "" | "localhost.invalid" => {}
                name if name.starts_with('~') || name.ends_with(".*") || name.contains('$') => without.push(name.to_owned()),
                name => match name.strip_prefix('.') {
                    Some(rest) => hosts.extend([rest.to_lowercase(), format!("*.{}", rest.to_lowercase())]),
                    None => hosts.push(name.to_lowercase()),
                },
            }
        }
        without.extend(hosts.iter().filter(|host| !is_host(host)).cloned());
        hosts.retain(|host| is_host(host));
        match without.is_empty() {
            true => report.carried(&directive.place, "server_name"),
            false => report.not_carried(
                &directive.place,
                "server_name",
                format!("{}: hosts are names or begin with *.", without.join(" ")),
            ),
        }
    }
    hosts.dedup();
    hosts
}

/// Adds the routes once for each kind of socket.
fn emit(routes: &[LocationRoute], sockets: &[Socket], hosts: &[String], plan: &mut Plan, report: &mut ImportReport) {
    let mut is_first = true;
    for is_tls in [false, true] {
        for is_default in [true, false] {
            let these: Vec<&Socket> =
                sockets.iter().filter(|socket| socket.around.is_tls == is_tls && socket.is_default == is_default).collect();
            let Some(around) = these.first().map(|socket| socket.around) else { continue };
            // A default server answers for all hosts; another one without a name for none that can be asked for.
            let hosts = match (is_default, hosts.is_empty()) {
                (true, _) => Vec::new(),
                (false, true) => vec!["nowhere.invalid".to_owned()],
                (false, false) => hosts.to_vec(),
            };
            for route in routes.iter().filter(|route| route.is_for(is_tls)) {
                let mut planned = route.planned(around, is_first, report);
                planned.listeners = these.iter().map(|socket| socket.name.clone()).collect();
                planned.precedence = route.order;
                planned.hosts = if route.hosts.is_empty() { hosts.clone() } else { route.hosts.clone() };
                if matches!(route.kind, LocationKind::Named) {
                    continue;
                }
                plan.add(planned);
            }
            is_first = false;
        }
    }
}
