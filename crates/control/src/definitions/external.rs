//! Definitions, policies, certificates, listeners and backends that come neither from files nor from the control API: another part of the process
//! finds them and replaces them as a whole. Nothing of them is written anywhere.

use super::class::{external_place, external_policy_place};
use super::routing_file::set_backends;
use super::store::{DefinitionStore, ExternalTexts, PlacedText, ReloadReport};
use crate::compile::sockets;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::time::Instant;
use tollgate_model::Problem;
use tollgate_model::routing::{RouteListener, RoutedBackend, RoutingTables};

/// Documents of one source. One with the id of a definition or policy of the gateway's own does not count.
#[derive(Clone, Debug, Default)]
pub struct ExternalDocuments {
    /// Definitions by the ids of their APIs.
    pub definitions: BTreeMap<String, Value>,
    /// Policies by their ids.
    pub policies: BTreeMap<String, Value>,
    /// Certificates by the ids that definitions name: PEM text of a chain, with or without its private key. They are those of all sources.
    pub certificates: BTreeMap<String, String>,
    /// Listeners by name.
    pub listeners: BTreeMap<String, RouteListener>,
}

/// What became of the documents of one source.
#[derive(Clone, Debug, Default)]
pub struct ExternalReport {
    /// The errors of each definition that has any, by id.
    pub definitions: BTreeMap<String, Vec<Problem>>,
    /// The same of policies.
    pub policies: BTreeMap<String, Vec<Problem>>,
}

impl DefinitionStore {
    /// Replaces all documents of a source, and serves the result. What is unchanged keeps what was compiled of it; a broken definition
    /// keeps its last good version. What is newly wrong is logged. Blocks.
    pub fn set_external(&self, source: &str, documents: ExternalDocuments) -> ExternalReport {
        let (texts, report) = self.replace_external(source, documents);
        self.awaited.lock().unwrap_or_else(PoisonError::into_inner).remove(source);
        let mut errors: HashMap<&Path, Vec<Problem>> = HashMap::new();
        for error in report.errors() {
            errors.entry(error.file.as_deref().unwrap_or(Path::new(""))).or_default().push(error.clone());
        }
        let mut of = |texts: &[PlacedText]| {
            let errors = texts.iter().filter_map(|(id, place, _)| Some((id.clone(), errors.remove(place.as_path())?)));
            errors.collect()
        };
        ExternalReport { definitions: of(&texts.definitions), policies: of(&texts.policies) }
    }

    /// Counts as not loaded until the documents of a source are there.
    pub fn await_external(&self, source: &str) {
        self.awaited.lock().unwrap_or_else(PoisonError::into_inner).insert(source.to_owned());
    }

    fn replace_external(&self, source: &str, documents: ExternalDocuments) -> (ExternalTexts, ReloadReport) {
        let start = Instant::now();
        let _one_at_a_time = self.lock();
        let ExternalDocuments { definitions, policies, certificates, listeners } = documents;
        let tables = RoutingTables { listeners, backends: BTreeMap::new() };
        let problems = tables.problems();
        self.shared().registry.routing.set_listeners(source, tables.listeners);
        if self.shared().certificates.set_external(&certificates) {
            self.shared().refresh_certificates();
        }
        let texts = ExternalTexts {
            definitions: placed(definitions, |id| external_place(source, id)),
            policies: placed(policies, |id| external_policy_place(source, id)),
        };
        self.external.lock().unwrap_or_else(PoisonError::into_inner).insert(source.to_owned(), texts.clone());
        let read = self.read(&self.files());
        let together = self.together(&read);
        let mut report = self.serve_quietly(read, together, start);
        report.problems.extend(problems);
        (texts, report)
    }

    /// Replaces all backends of a source. Nothing is compiled but their targets.
    pub fn set_external_backends(&self, source: &str, backends: BTreeMap<String, RoutedBackend>) -> Vec<Problem> {
        let shared = self.shared();
        set_backends(source, backends, &shared.settings, &shared.registry)
    }

    /// Where each listener is open; `Err` says why one of its sockets is not.
    pub fn listener_states(&self) -> BTreeMap<String, Result<Vec<SocketAddr>, String>> {
        let registry = &self.shared().registry;
        let state = |listener: &RouteListener| {
            sockets(listener, registry).into_iter().map(|(name, _)| self.ports().state_of(name)).collect()
        };
        registry.routing.listeners().iter().map(|(name, listener)| (name.clone(), state(listener))).collect()
    }
}

fn placed(documents: BTreeMap<String, Value>, place: impl Fn(&str) -> PathBuf) -> Vec<PlacedText> {
    documents.into_iter().map(|(id, value)| (id.clone(), place(&id), value.to_string().into_bytes())).collect()
}
