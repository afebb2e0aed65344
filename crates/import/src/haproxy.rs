//! HAProxy's configuration: frontends with conditions, and the backends that they choose.

mod answer;
mod backend;
mod compression;
mod condition;
mod keywords;
mod lines;
mod rule;

use crate::authority::is_authority;
use crate::files::{ImportFailure, NamedFiles};
use crate::plan::{Plan, PlannedCertificate, PlannedListener, PlannedRoute};
use crate::report::ImportReport;
use backend::Backend;
use compression::CompressionLines;
use condition::{Conditions, Fit};
use lines::{Line, Section, is_head, sections};
use rule::rule;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// What the gateway does by itself, by the first word.
const OWN: &[&str] = &[
    "log",
    "maxconn",
    "option",
    "timeout",
    "retries",
    "nbthread",
    "nbproc",
    "cpu-map",
    "chroot",
    "user",
    "group",
    "daemon",
    "stats",
    "pidfile",
    "ca-base",
    "crt-base",
    "tune.ssl.default-dh-param",
    "ssl-default-bind-ciphers",
    "ssl-default-bind-options",
    "ssl-default-bind-ciphersuites",
    "ssl-default-server-options",
    "ssl-default-server-ciphers",
    "ssl-dh-param-file",
    "mode",
    "log-format",
    "errorfile",
    "description",
    "unique-id-format",
    "unique-id-header",
    "hash-type",
    "default-server",
    "fullconn",
    "http-reuse",
    "balance",
    "cookie",
    "http-check",
    "email-alert",
    "load-server-state-from-file",
    "server-state-file",
    "log-tag",
    "capture",
    "monitor-uri",
    "ulimit-n",
    "master-worker",
    "hard-stop-after",
    "bind-process",
    "no",
    "log-send-hostname",
    "lua-load",
];

/// Reads the file into the plan.
pub(crate) fn read(text: &str, files: &NamedFiles, plan: &mut Plan, report: &mut ImportReport) -> Result<(), ImportFailure> {
    let (sections, broken): (Vec<Section>, Vec<Section>) =
        sections(text, files)?.into_iter().partition(|section| is_head(&section.head));
    for section in &broken {
        report.unprotected(
            &section.head.place,
            section.head.word(0),
            "has no name, or other words behind it; its lines are not read",
        );
        section.lines.iter().for_each(|line| report.not_carried(&line.place, line.word(0), "its section is not read"));
    }
    let compression = CompressionLines::of_defaults(&sections, report);
    let mut backends = BTreeMap::new();
    for section in sections.iter().filter(|section| matches!(section.head.word(0), "backend" | "listen")) {
        backends.insert(section.head.word(1).to_owned(), backend::read(section, report));
    }
    for section in &sections {
        match section.head.word(0) {
            "frontend" | "listen" => {
                report.carried(&section.head.place, section.head.word(0));
                frontend(section, (&backends, &compression), plan, report);
            }
            "backend" => {}
            "global" | "defaults" => {
                report.carried(&section.head.place, section.head.word(0));
                section.lines.iter().filter(|line| line.word(0) != "compression").for_each(|line| own(line, report));
            }
            name => report.not_carried(&section.head.place, name, "sections of this kind have no counterpart"),
        }
    }
    if plan.routes.is_empty() {
        return Err(files.failure("has no frontend that answers HTTP"));
    }
    Ok(())
}

fn own(line: &Line, report: &mut ImportReport) {
    let name = line.word(0);
    match OWN.contains(&name) {
        true => report.approximated(&line.place, name, "the gateway's own settings of logs, limits, time and TLS"),
        false => report.not_carried(&line.place, name, "is not known to the importer"),
    }
}

fn frontend(
    section: &Section,
    (backends, defaults): (&BTreeMap<String, Backend>, &CompressionLines),
    plan: &mut Plan,
    report: &mut ImportReport,
) {
    let name = section.head.word(1).to_owned();
    let is_tcp = section.lines.iter().any(|line| line.word(0) == "mode" && line.word(1) == "tcp");
    if is_tcp {
        return report.not_carried(&section.head.place, "mode", "streams of bytes: write a route of the kind `stream`");
    }
    let mut listeners = Vec::new();
    let mut compression = CompressionLines::default();
    let mut conditions = Conditions::default();
    for line in section.lines.iter().filter(|line| line.word(0) == "acl") {
        conditions.define(line, report);
    }
    let mut order = plan.routes.len();
    let mut base = PlannedRoute { place: section.head.place.clone(), ..PlannedRoute::default() };
    let mut early: Vec<PlannedRoute> = Vec::new();
    let mut chosen: Vec<(Line, String, Vec<Fit>)> = Vec::new();
    // Choices that are not carried over: how many came before, and the line.
    let mut left_out: Vec<(usize, usize)> = Vec::new();
    for line in &section.lines {
        let place = &line.place;
        match line.word(0) {
            "bind" => listeners.extend(bind(line, &name, plan, report)),
            "acl" | "server" => {}
            "compression" => compression.take(line, report),
            "default_backend" if line.words.len() > 2 => {
                report.not_carried(place, "default_backend", "names more than one backend")
            }
            "default_backend" if !backends.contains_key(line.word(1)) => {
                report.not_carried(place, "default_backend", no_backend(line.word(1)));
            }
            "default_backend" => {
                report.carried(place, "default_backend");
                chosen.push((line.clone(), line.word(1).to_owned(), vec![Fit::default()]));
            }
            "use_backend" if !line.word(1).contains('%') && !backends.contains_key(line.word(1)) => {
                report.unprotected(place, "use_backend", no_backend(line.word(1)));
                left_out.push((chosen.len(), place.line));
            }
            "use_backend" => match conditions.of(line.from(2)) {
                Ok(fits) if !line.word(1).contains('%') => {
                    report.carried(place, "use_backend");
                    chosen.push((line.clone(), line.word(1).to_owned(), fits));
                }
                // Its requests would go to other backends, which may be less protected.
                Ok(_) => {
                    report.unprotected(place, "use_backend", "a backend that is computed has no counterpart");
                    left_out.push((chosen.len(), place.line));
                }
                Err(why) => {
                    report.unprotected(place, "use_backend", why);
                    left_out.push((chosen.len(), place.line));
                }
            },
            "http-request" | "redirect" | "http-response" | "block" | "reqadd" | "rspadd" | "tcp-request" => {
                rule(line, &conditions, &mut base, &mut early, report);
            }
            "option" if matches!(line.word(1), "forwardfor" | "http-server-close" | "httplog" | "httpclose") => {
                report.carried(place, "option")
            }
            _ => own(line, report),
        }
    }
    if section.head.word(0) == "listen" {
        chosen.push((section.head.clone(), name.clone(), vec![Fit::default()]));
    }
    let mut add = |mut route: PlannedRoute, fit: &Fit, plan: &mut Plan| {
        route.listeners = listeners.iter().map(|listener: &PlannedListener| listener.name.clone()).collect();
        route.hosts.clone_from(&fit.hosts);
        route.matches = vec![fit.matched.clone()];
        route.admit_only(fit.addresses.clone());
        route.precedence = order;
        order += 1;
        plan.add(route);
    };
    for route in early {
        let matches = route.matches.clone();
        for matched in matches {
            let fit = Fit { matched, hosts: route.hosts.clone(), ..Fit::default() };
            add(route.clone(), &fit, plan);
        }
    }
    for (index, (line, target, fits)) in chosen.iter().enumerate() {
        let is_last = line.word(0) != "use_backend";
        let before: Vec<String> = left_out
            .iter()
            .filter(|(at, _)| is_last || *at <= index)
            .map(|(_, left)| format!("use_backend at line {left} is not carried over, and its requests would come here"))
            .collect();
        for fit in fits {
            let mut route = PlannedRoute { name: format!("{name} {target}"), place: line.place.clone(), ..base.clone() };
            if let Some(backend) = backends.get(target) {
                backend.apply(&mut route);
                CompressionLines::apply([&compression, &backend.compression, defaults], &mut route);
            }
            route.closed.extend(before.iter().cloned());
            add(route, fit, plan);
        }
    }
}

fn no_backend(name: &str) -> String {
    if name.is_empty() { "names no backend".to_owned() } else { format!("there is no backend {name}") }
}

fn bind(line: &Line, frontend: &str, plan: &mut Plan, report: &mut ImportReport) -> Vec<PlannedListener> {
    let mut made = Vec::new();
    let without = match keywords::read(line, 2, keywords::BIND, keywords::BIND_ACTING) {
        Ok(without) => without,
        Err(why) => {
            report.not_carried(&line.place, "bind", format!("{why}; the listener is left out"));
            return made;
        }
    };
    let is_tls = line.words.iter().any(|word| word == "ssl");
    let certificate = line.words.iter().position(|word| word == "crt").map(|at| line.word(at + 1).to_owned());
    if line.words.iter().any(|word| word == "verify") && !line.words.iter().any(|word| word == "none") {
        report.unprotected(&line.place, "bind", "certificates of clients are not asked for; the listener is left out");
        return made;
    }
    for address in line.word(1).split(',') {
        let (host, port) = address.rsplit_once(':').unwrap_or(("", address));
        let is_host = matches!(host, "" | "*") || is_authority(host) || host.parse::<IpAddr>().is_ok();
        let Some(port) = port.parse::<u16>().ok().filter(|port| *port > 0 && is_host) else {
            report.not_carried(&line.place, "bind", format!("{address} is no port of an address"));
            continue;
        };
        let name = format!("{frontend}-{port}");
        let certificates = certificate
            .iter()
            .map(|file| PlannedCertificate::Files { certificate: file.clone(), key: file.clone(), place: line.place.clone() })
            .collect();
        let listener = PlannedListener { name, address: host.parse().ok(), port, is_tls, certificates };
        plan.listeners.push(listener.clone());
        made.push(listener);
        match without.is_empty() {
            true => report.carried(&line.place, "bind"),
            false => {
                let how = format!("{}: the gateway's own settings of sockets and TLS", without.join(", "));
                report.approximated(&line.place, "bind", how);
            }
        }
    }
    made
}
