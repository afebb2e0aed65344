//! APISIX: the file of its standalone form, and exports of its Admin API, whose objects are in `value`s of lists.

mod compression;
mod plugins;
mod routes;

use crate::files::{ImportFailure, NamedFiles};
use crate::node::{Member, Node, NodeValue};
use crate::plan::{Plan, PlannedConsumer, PlannedListener, PlannedRoute};
use crate::report::{ImportReport, Place};
use crate::tree::read_yaml;
use crate::unread;
use std::path::PathBuf;

/// Where APISIX listens unless its other file says otherwise.
const PORT: u16 = 9080;

/// The file, and what routes refer to.
struct ApisixReader<'r> {
    file: PathBuf,
    report: &'r mut ImportReport,
    upstreams: Vec<Node>,
    services: Vec<Node>,
    plugin_configs: Vec<Node>,
    global: Vec<Node>,
    consumer_groups: Vec<Node>,
}

impl ApisixReader<'_> {
    fn place(&self, line: usize) -> Place {
        Place::new(&self.file, line)
    }

    fn closes(&mut self, route: &mut PlannedRoute, title: &str, why: &str, line: usize) {
        self.report.closes(&Place::new(&self.file, line), title, why, &mut route.closed);
    }

    /// A member that only describes.
    fn describes(&mut self, member: &Member, path: &str) -> bool {
        let describes = matches!(
            member.key.as_str(),
            "id" | "name"
                | "desc"
                | "labels"
                | "create_time"
                | "update_time"
                | "username"
                | "createdIndex"
                | "modifiedIndex"
                | "key"
                | "validity_start"
                | "validity_end"
        );
        if describes {
            match member.key.as_str() {
                "labels" => {
                    member.node.members().iter().for_each(|label| {
                        label.node.text();
                    });
                }
                "create_time" | "update_time" | "createdIndex" | "modifiedIndex" | "validity_start" | "validity_end" => {
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
}

/// Reads the file into the plan.
pub(crate) fn read(text: &str, files: &NamedFiles, plan: &mut Plan, report: &mut ImportReport) -> Result<(), ImportFailure> {
    let root = read_yaml(text, files)?;
    let root = export(root);
    if !root.is_map() {
        return Err(files.failure("is no object with routes"));
    }
    plan.listeners.push(PlannedListener { name: "proxy".to_owned(), port: PORT, ..PlannedListener::default() });
    let list = |key: &str| -> Vec<Node> { root.get(key).objects().iter().map(|node| value(node).clone()).collect() };
    let mut reader = ApisixReader {
        file: files.first().to_owned(),
        report,
        upstreams: list("upstreams"),
        services: list("services"),
        plugin_configs: list("plugin_configs"),
        global: list("global_rules"),
        consumer_groups: list("consumer_groups"),
    };
    for consumer in list("consumers") {
        read_consumer(&consumer, plan, &mut reader);
    }
    for member in root.members() {
        let place = reader.place(member.line);
        match member.key.as_str() {
            "routes" | "upstreams" | "services" | "plugin_configs" | "global_rules" | "consumers" | "consumer_groups" => {
                reader.report.carried(&place, member.key.clone());
            }
            "ssls" | "ssl" => routes::certificates(&member.node, plan, &mut reader),
            "plugin_metadata" | "protos" | "plugins" => {
                reader.report.approximated(&place, member.key.clone(), "settings of plugins are in definitions")
            }
            "stream_routes" => reader.report.not_carried(&place, "stream_routes", "write a route of the kind `stream`"),
            "secrets" => reader.report.not_carried(&place, "secrets", "secrets come from the stores of the configuration"),
            _ => reader.report.not_carried(&place, member.key.clone(), "is not known to the importer"),
        }
    }
    for node in list("global_rules") {
        for member in node.members() {
            reader.describes(member, "global_rules");
        }
    }
    for key in ["upstreams", "services", "plugin_configs"] {
        for node in list(key) {
            routes::report_members(&node, key, &mut reader);
        }
    }
    for route in list("routes") {
        routes::read(&route, plan, &mut reader);
    }
    unread::complete(&root, files, report)?;
    routes::order(plan);
    if plan.routes.is_empty() && plan.consumers.is_empty() {
        return Err(files.failure("has no routes and no consumers"));
    }
    Ok(())
}

/// An export is a list of objects of one kind: routes, unless they say otherwise.
fn export(root: Node) -> Node {
    let alone = |line: usize, list: Vec<Node>| {
        let member = Member { key: "routes".to_owned(), line, node: Node::new(line, NodeValue::List(list)) };
        Node::new(line, NodeValue::Map(vec![member]))
    };
    match &root.value {
        NodeValue::List(list) => alone(root.line, list.clone()),
        NodeValue::Map(_) if !root.get("list").is_empty() && root.get("routes").is_empty() => {
            alone(root.line, root.get("list").items().to_vec())
        }
        NodeValue::Map(_) if root.find("uri").is_some() || root.find("uris").is_some() => alone(root.line, vec![root.clone()]),
        _ => root,
    }
}

/// The object itself, of an entry of an export.
fn value(node: &Node) -> &Node {
    node.find("value").filter(|value| value.is_map()).unwrap_or(node)
}

fn read_consumer(node: &Node, plan: &mut Plan, reader: &mut ApisixReader<'_>) {
    let mut consumer = PlannedConsumer {
        name: node.get("username").text().to_owned(),
        place: reader.place(node.line),
        ..PlannedConsumer::default()
    };
    for member in node.members() {
        let place = reader.place(member.line);
        match member.key.as_str() {
            "plugins" => {
                for plugin in member.node.members() {
                    plugins::of_consumer(plugin, &mut consumer, reader);
                }
            }
            "group_id" => {
                let id = member.node.text().to_owned();
                consumer.groups.push(id.clone());
                let group = reader.consumer_groups.iter().find(|group| group.get("id").text() == id).cloned();
                if group.is_none() {
                    member.node.names_nothing();
                }
                for plugin in group.iter().flat_map(|group| group.get("plugins").members().to_vec()) {
                    plugins::of_consumer(&plugin, &mut consumer, reader);
                }
                reader.report.carried(&place, "consumers.group_id");
            }
            _ if reader.describes(member, "consumers") => {}
            _ => reader.report.not_carried(&place, format!("consumers.{}", member.key), "is not known to the importer"),
        }
    }
    plan.consumers.push(consumer);
}
