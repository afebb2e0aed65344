//! The file with listeners and backends, and how backends get their targets.

use crate::compile::{backend_targets, checked_pool};
use std::collections::BTreeMap;
use tollgate_data::registry::Registry;
use tollgate_data::settings::Settings;
use tollgate_data::target_list::{EmptyList, TargetList};
use tollgate_model::routing::{RoutedBackend, RoutingTables};
use tollgate_model::{Level, Problem};

/// What the tables of the file are kept under.
const FILE: &str = "file";

/// Reads the file with listeners and backends, if there is one. The last good tables stay, if it is broken.
pub fn load_routing_file(settings: &Settings, registry: &Registry) -> Vec<Problem> {
    let file = &settings.routing.tables_file;
    if file.as_os_str().is_empty() {
        return Vec::new();
    }
    let error = |message: String| vec![Problem::new(Level::Error, "", message).within(Some(file))];
    let text = match std::fs::read(file) {
        Ok(text) => text,
        Err(why) => return error(format!("cannot be read: {why}; the listeners and backends of before stay")),
    };
    match RoutingTables::parse(&text, Some(file)) {
        Err(problems) => problems,
        Ok((tables, mut problems)) => {
            registry.routing.set_listeners(FILE, tables.listeners);
            let found = set_backends(FILE, tables.backends, settings, registry);
            problems.extend(found.into_iter().map(|problem| problem.within(Some(file))));
            problems
        }
    }
}

/// Makes the targets of backends. One that cannot be used is there without any.
pub(super) fn set_backends(
    source: &str,
    backends: BTreeMap<String, RoutedBackend>,
    settings: &Settings,
    registry: &Registry,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    let make = |name: &str, backend: &RoutedBackend| {
        backend_targets(name, backend, settings, registry).unwrap_or_else(|why| {
            problems.push(Problem::new(Level::Warning, format!("$.backends.{name}"), format!("cannot be used: {why}")));
            TargetList::empty(EmptyList::Unknown)
        })
    };
    registry
        .routing
        .backends
        .replace(source, backends, make, |name, backend, targets| checked_pool(name, backend, targets, registry));
    problems
}
