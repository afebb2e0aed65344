//! Definitions, policies, certificates, listeners and backends that come neither from files nor from the control API: another part of the process
//! finds them and replaces them as a whole. Nothing of them is written anywhere.

use super::class::{external_place, external_policy_place};
use super::routing_file::set_backends;
use super::store::{DefinitionStore, ExternalTexts, PlacedText, ReloadReport};
use crate::compile::sockets;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::PoisonError;
use std::time::Instant;
use tollgate_model::routing::{RouteListener, RoutedBackend, RoutingTables};
use tollgate_model::{Level, Problem};

/// Documents of one source. One with the id of a definition or policy of the gateway's own does not count.
#[derive(Clone, Debug, Default)]
pub struct ExternalDocuments {
    /// Definitions in JSON by the ids of their APIs.
    pub definitions: BTreeMap<String, Vec<u8>>,
    /// Policies in JSON by their ids.
    pub policies: BTreeMap<String, Vec<u8>>,
    /// Certificates by the ids that definitions name: PEM text of a chain, with or without its private key. They are those of all sources.
    pub certificates: BTreeMap<String, String>,
    /// Listeners by name.
    pub listeners: BTreeMap<String, RouteListener>,
}

/// What became of the documents of a source.
#[derive(Debug, Default)]
pub struct ExternalReport {
    /// Why definitions are not served as they are, by their ids: one that was served before stays as it was.
    pub rejected: BTreeMap<String, String>,
    /// What is said of members of definitions that are served.
    pub warned: BTreeMap<String, String>,
}

impl ExternalReport {
    fn of(source: &str, report: &ReloadReport) -> Self {
        let place = external_place(source, "");
        let mut said = ExternalReport::default();
        for problem in &report.problems {
            let Some(id) = problem.file.as_ref().and_then(|file| file.strip_prefix(&place).ok()) else { continue };
            let list = match problem.level {
                Level::Error => &mut said.rejected,
                Level::Warning if !problem.path.is_empty() => &mut said.warned,
                _ => continue,
            };
            let why = || format!("{}: {}", problem.path, problem.message);
            list.entry(id.display().to_string()).or_insert_with(why);
        }
        said
    }
}

impl DefinitionStore {
    /// Replaces all documents of a source, and serves the result. What is unchanged keeps what was compiled of it; a broken definition
    /// keeps its last good version. What is newly wrong is logged. Blocks.
    pub fn set_external(&self, source: &str, documents: ExternalDocuments) -> ExternalReport {
        let report = self.replace_external(source, documents);
        self.awaited.lock().unwrap_or_else(PoisonError::into_inner).remove(source);
        ExternalReport::of(source, &report)
    }

    /// Counts as not loaded until the documents of a source are there.
    pub fn await_external(&self, source: &str) {
        self.awaited.lock().unwrap_or_else(PoisonError::into_inner).insert(source.to_owned());
    }

    fn replace_external(&self, source: &str, documents: ExternalDocuments) -> ReloadReport {
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
        self.external.lock().unwrap_or_else(PoisonError::into_inner).insert(source.to_owned(), texts);
        let read = self.read(&self.files());
        let together = self.together(&read);
        let mut report = self.serve_quietly(read, together, start);
        report.problems.extend(problems);
        report
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

fn placed(documents: BTreeMap<String, Vec<u8>>, place: impl Fn(&str) -> PathBuf) -> Vec<PlacedText> {
    documents.into_iter().map(|(id, text)| (id.clone(), place(&id), text)).collect()
}
