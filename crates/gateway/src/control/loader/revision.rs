//! What a change of the served definitions and policies replaced, so that it can be taken back.

use super::LoadedFiles;
use crate::auth::keys::Policies;
use crate::control::shared_definitions::is_shared;
use crate::data::snapshot::CompiledApi;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::Sender;
use tokio::sync::mpsc::error::TrySendError;

/// How long a change waits for a store that takes nothing before it goes on without.
const HAND_OVER_TIME_MAX: Duration = Duration::from_secs(30);

/// The objects that one change replaced.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Revision {
    pub objects: Vec<RevisedObject>,
}

/// An object before and after.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RevisedObject {
    /// `api` or `policy`.
    pub kind: RevisedKind,
    pub id: String,
    /// With its secrets; `None` if it did not exist.
    pub old: Option<Value>,
    /// Whether it exists afterwards.
    pub exists: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RevisedKind {
    Api,
    Policy,
}

/// Puts something into a queue in front of the store. If the queue is full, whoever has made the change waits: what is answered will be stored.
/// Blocks.
pub(super) fn hand_over<T>(to: &Sender<T>, mut item: T) {
    let end = Instant::now() + HAND_OVER_TIME_MAX;
    loop {
        match to.try_send(item) {
            Err(TrySendError::Full(back)) if Instant::now() < end => item = back,
            Err(TrySendError::Full(_)) => return tracing::error!("a change is not logged: the store takes nothing"),
            // The receiver lives as long as the control API.
            Ok(()) | Err(TrySendError::Closed(_)) => return,
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

impl Revision {
    /// What differs in files between two states. Definitions that gateways share have a history of their own.
    pub(super) fn between(before: &LoadedFiles, now: &LoadedFiles, policies: [&Policies; 2]) -> Self {
        let (old, new) = (served(before), served(now));
        let mut objects = Vec::new();
        let ids: BTreeSet<&str> = old.keys().chain(new.keys()).copied().collect();
        for id in ids {
            let (old, new) = (old.get(id).map(|api| document_of(api)), new.get(id).map(|api| document_of(api)));
            if old != new {
                objects.push(RevisedObject { kind: RevisedKind::Api, id: id.to_owned(), old: old.cloned(), exists: new.is_some() });
            }
        }
        let [before, now] = policies;
        let is_file = |policies: &Policies, id: &str| policies.file_of(id).is_some_and(|path| !is_shared(path));
        let ids: BTreeSet<&str> = before.iter().chain(now.iter()).map(|policy| policy.id()).collect();
        for id in ids {
            let (old, new) = (before.get(id), now.get(id));
            if old != new && (is_file(before, id) || is_file(now, id)) {
                let old = old.map(|policy| policy.to_json());
                objects.push(RevisedObject { kind: RevisedKind::Policy, id: id.to_owned(), old, exists: new.is_some() });
            }
        }
        Revision { objects }
    }
}

/// The APIs in files by id; of two with one id, the later one.
fn served(files: &LoadedFiles) -> BTreeMap<&str, &Arc<CompiledApi>> {
    let own = files.iter().filter(|(path, _)| !is_shared(path));
    own.filter_map(|(_, file)| file.good.as_ref().or(file.elsewhere.as_ref())).map(|api| (api.id.as_str(), api)).collect()
}

/// The document of an API in the language that it is written in.
pub(crate) fn document_of(api: &CompiledApi) -> &Value {
    api.openapi.as_ref().map_or(&api.raw, |document| &document.root)
}
