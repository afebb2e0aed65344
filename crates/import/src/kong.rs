//! Kong's declarative file, as Kong and decK read it: services, routes, upstreams, consumers and plugins with their scopes.

mod consumers;
mod plugins;
mod routes;

use crate::files::{ImportFailure, NamedFiles};
use crate::node::{Member, Node};
use crate::plan::{Plan, PlannedListener, PlannedUpstream};
use crate::report::{ImportReport, Place};
use crate::tree::read_yaml;
use crate::unread;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Where Kong listens unless told otherwise; its file does not say it.
const PORT: u16 = 8000;

/// The file, and what routes refer to.
struct KongReader<'r> {
    file: PathBuf,
    report: &'r mut ImportReport,
    upstreams: BTreeMap<String, PlannedUpstream>,
    /// Plugins of the file itself, for all or with the name of what they are for.
    global: Vec<Node>,
    /// Plugins of consumers: the name of the consumer with each.
    of_consumers: Vec<(String, Node)>,
    /// Times to connect to services: the gateway has one for all.
    connect_ms: BTreeSet<u64>,
}

impl KongReader<'_> {
    fn place(&self, line: usize) -> Place {
        Place::new(&self.file, line)
    }

    /// A member that only describes.
    fn describes(&mut self, member: &Member, path: &str) -> bool {
        let describes = matches!(
            member.key.as_str(),
            "id" | "tags"
                | "created_at"
                | "updated_at"
                | "name"
                | "instance_name"
                | "custom_id"
                | "username"
                | "ws_id"
                | "_comment"
                | "ordering"
        );
        if describes {
            match member.key.as_str() {
                "tags" => {
                    member.node.texts();
                }
                "ordering" | "_comment" => member.node.settle(),
                "created_at" | "updated_at" => {
                    member.node.whole();
                }
                _ => {
                    member.node.text();
                }
            }
            let place = self.place(member.line);
            self.report.carried(&place, format!("{path}.{}", member.key));
        }
        describes
    }

    fn unknown(&mut self, member: &Member, path: &str) {
        let place = self.place(member.line);
        self.report.not_carried(&place, format!("{path}.{}", member.key), "is not known to the importer");
    }
}

/// Kong's time to connect to a service unless told otherwise.
const CONNECT_MS: u64 = 60_000;

fn connect_ms(service: &Node) -> u64 {
    service.get("connect_timeout").whole().filter(|time| *time > 0).unwrap_or(CONNECT_MS)
}

/// Reads the file into the plan.
pub(crate) fn read(text: &str, files: &NamedFiles, plan: &mut Plan, report: &mut ImportReport) -> Result<(), ImportFailure> {
    let root = read_yaml(text, files)?;
    if !root.is_map() {
        return Err(files.failure("is no object with services and routes"));
    }
    plan.listeners.push(PlannedListener { name: "proxy".to_owned(), port: PORT, ..PlannedListener::default() });
    let mut reader = KongReader {
        file: files.first().to_owned(),
        report,
        upstreams: BTreeMap::new(),
        global: Vec::new(),
        of_consumers: Vec::new(),
        connect_ms: root.get("services").objects().iter().map(connect_ms).collect(),
    };
    if let Some(longest) = reader.connect_ms.last().filter(|time| **time != CONNECT_MS) {
        plan.timeouts.insert("upstream_connect_ms", *longest);
    }
    for upstream in root.get("upstreams").objects() {
        routes::upstream(upstream, &mut reader);
    }
    for plugin in root.get("plugins").objects() {
        reader.global.push(plugin.clone());
    }
    consumers::read(&root, plan, &mut reader);
    let named = reader.global.iter().filter_map(|plugin| {
        let consumer = *plugin.get("consumer").names(&["username", "name", "id"]).first()?;
        Some((consumer.to_owned(), plugin.clone()))
    });
    for (consumer, plugin) in reader.of_consumers.iter().cloned().chain(named).collect::<Vec<_>>() {
        plugins::of_consumer(&consumer, &plugin, plan, &mut reader);
    }
    for member in root.members() {
        let place = reader.place(member.line);
        match member.key.as_str() {
            "_format_version" | "_transform" | "_info" | "_comment" | "_workspace" | "_konnect" | "_ignore" => {
                match member.key.as_str() {
                    "_format_version" | "_transform" | "_workspace" => {
                        member.node.text();
                    }
                    _ => member.node.settle(),
                }
                reader.report.carried(&place, member.key.clone());
            }
            "upstreams"
            | "consumers"
            | "consumer_groups"
            | "plugins"
            | "basicauth_credentials"
            | "keyauth_credentials"
            | "jwt_secrets"
            | "acls"
            | "hmacauth_credentials"
            | "targets" => reader.report.carried(&place, member.key.clone()),
            "services" => {
                reader.report.carried(&place, "services");
                for service in member.node.objects() {
                    routes::service(service, &root, plan, &mut reader);
                }
            }
            "routes" => {
                reader.report.carried(&place, "routes");
                for route in member.node.objects().iter().filter(|route| route.find("service").is_none_or(Node::is_empty)) {
                    routes::without_service(route, plan, &mut reader);
                }
            }
            "certificates" | "snis" | "ca_certificates" => {
                let why = "certificates of listeners are in the routing file: add a listener with them";
                reader.report.not_carried(&place, member.key.clone(), why);
            }
            "vaults" => reader.report.not_carried(&place, "vaults", "secrets come from the stores of the configuration"),
            _ => reader.report.not_carried(&place, member.key.clone(), "is not known to the importer"),
        }
    }
    unread::complete(&root, files, report)?;
    routes::order(plan);
    if plan.routes.is_empty() && plan.consumers.is_empty() {
        return Err(files.failure("has no routes and no consumers"));
    }
    Ok(())
}
