//! What a change or a reload did to the definitions and policies in service: for the log of changes, and for the way back.

use super::author::ChangeAuthor;
use super::class::{DocumentClass, is_shared, rank};
use super::loaded::{FileDifference, LoadedFiles, differing, document_of};
use crate::known_keys::masked_differences;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::Sender;
use tokio::sync::mpsc::error::TrySendError;
use tollgate_access::keys::{Keys, Policies, PolicyChange};
use tollgate_admin::Difference;
use tollgate_data::snapshot::CompiledApi;
use tollgate_model::api::ApiDefinition;

/// How long a change waits for a store that takes nothing before it goes on without.
const HAND_OVER_TIME_MAX: Duration = Duration::from_secs(30);
/// Objects of one change that are logged one by one; their differences are not looked for if there are more.
pub const LOGGED_MAX: usize = 200;

/// What one change or reload did.
pub struct DefinitionsChanged {
    pub author: ChangeAuthor,
    pub changes: Vec<DocumentChange>,
    /// When it took effect, in seconds since 1970.
    pub unix_s: u64,
    /// When the state before it was read, in milliseconds since 1970.
    pub before_unix_ms: u64,
    pub files: FilesPlace,
    /// Held until it is stored.
    pub untold: Arc<()>,
}

/// Whose files they are that were changed.
#[derive(Clone, Default)]
pub struct FilesPlace {
    /// What all gateways call the directory that change it.
    pub identity: Option<String>,
    /// What processes of this machine call it.
    pub here: Option<String>,
}

/// What became of one definition or policy.
pub struct DocumentChange {
    pub class: DocumentClass,
    pub id: String,
    /// As it was written, with its secrets; `None` if it did not exist.
    pub old: Option<Value>,
    /// Whether it exists afterwards.
    pub exists: bool,
    /// Whether the new text can be used. If not, the old version stays in service.
    pub is_usable: bool,
    /// Whether it is one that gateways share.
    pub is_shared: bool,
    /// The first differences, with masked secrets, and the number of the others.
    pub diff: (Vec<Difference>, usize),
    /// Version of the new document.
    pub etag: Option<String>,
}

/// A state of definitions and policies.
pub(super) type DocumentsState<'s> = (&'s LoadedFiles, &'s Policies);

impl DefinitionsChanged {
    /// What differs between two states. What other gateways have changed in the definitions that all share is their business: of those, only
    /// `shared` were changed here.
    pub(super) fn between(
        before: DocumentsState<'_>,
        now: DocumentsState<'_>,
        shared: &HashSet<(DocumentClass, String)>,
        keys: &Keys,
    ) -> Vec<DocumentChange> {
        let is_own = |is_shared: bool, class, id: &str| !is_shared || shared.contains(&(class, id.to_owned()));
        let apis: Vec<ApiChange<'_>> = api_changes(before.0, now.0)
            .into_iter()
            .filter(|change| is_own(change.is_shared, DocumentClass::Api, &change.id))
            .collect();
        let is_shared = |change: &PolicyChange<'_>| change.new.or(change.old).is_some_and(|(_, place)| is_shared(place));
        let policies: Vec<PolicyChange<'_>> =
            now.1.changes_since(before.1).filter(|change| is_own(is_shared(change), DocumentClass::Policy, change.id)).collect();
        let is_logged = apis.len() + policies.len() <= LOGGED_MAX;
        let mut changes = Vec::with_capacity(apis.len() + policies.len());
        for ApiChange { id, old, new, is_usable, is_shared } in apis {
            let [old_shown, new_shown] = [old, new].map(|api| api.filter(|_| is_logged).map(|api| ApiDefinition::shown(&api.raw)));
            changes.push(DocumentChange {
                class: DocumentClass::Api,
                id,
                old: old.map(|api| document_of(api).clone()),
                exists: new.is_some(),
                is_usable,
                is_shared,
                diff: masked_differences(keys, old_shown.as_ref(), new_shown.as_ref()),
                etag: new_shown.as_ref().map(etag),
            });
        }
        for change in policies {
            let [old, new] = [change.old, change.new].map(|there| there.map(|(policy, _)| policy));
            let [old_shown, new_shown] = [old, new].map(|policy| policy.filter(|_| is_logged).map(|policy| policy.shown()));
            changes.push(DocumentChange {
                class: DocumentClass::Policy,
                is_shared: is_shared(&change),
                id: change.id.to_owned(),
                old: old.map(|policy| policy.to_json()),
                exists: new.is_some(),
                is_usable: true,
                diff: masked_differences(keys, old_shown.as_ref(), new_shown.as_ref()),
                etag: new_shown.as_ref().map(etag),
            });
        }
        changes
    }

    /// Puts it into the queue in front of the store. If the queue is full, whoever has made the change waits: what is answered will be stored.
    /// Blocks.
    pub(super) fn hand_over(mut self, to: &Sender<DefinitionsChanged>) {
        let end = Instant::now() + HAND_OVER_TIME_MAX;
        loop {
            match to.try_send(self) {
                Err(TrySendError::Full(back)) if Instant::now() < end => self = back,
                Err(TrySendError::Full(_)) => return tracing::error!("a change is not logged: the store takes nothing"),
                // The receiver lives as long as the control API.
                Ok(()) | Err(TrySendError::Closed(_)) => return,
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// An API that came, went or differs, or whose new text cannot be used.
struct ApiChange<'f> {
    id: String,
    old: Option<&'f Arc<CompiledApi>>,
    new: Option<&'f Arc<CompiledApi>>,
    is_usable: bool,
    is_shared: bool,
}

fn api_changes<'f>(before: &'f LoadedFiles, now: &'f LoadedFiles) -> Vec<ApiChange<'f>> {
    let mut ids: HashSet<&str> = HashSet::new();
    let mut changes = Vec::new();
    for FileDifference { path, old, new } in differing(before, now) {
        let [old_api, new_api] = [old, new].map(|file| file.and_then(|file| file.api()));
        if new.is_some_and(|file| file.is_broken()) {
            // The last good version stays in service; if there is none, the file has the only name.
            let id = || path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            let id = new_api.map_or_else(id, |api| api.id.clone());
            changes.push(ApiChange { id, old: old_api, new: new_api, is_usable: false, is_shared: is_shared(path) });
        } else {
            ids.extend([old_api, new_api].into_iter().flatten().map(|api| api.id.as_str()));
        }
    }
    if ids.is_empty() {
        return changes;
    }
    let [before, now] = [before, now].map(|files| by_id(files, &ids));
    let mut ids: Vec<&str> = ids.into_iter().collect();
    ids.sort_unstable();
    for id in ids {
        let (old, new) = (before.get(id), now.get(id));
        let document = |(_, api): &(&Path, &'f Arc<CompiledApi>)| document_of(api);
        if old.map(document) != new.map(document) {
            let place = new.or(old).map(|(path, _)| *path);
            changes.push(ApiChange {
                id: id.to_owned(),
                old: old.map(|(_, api)| *api),
                new: new.map(|(_, api)| *api),
                is_usable: true,
                is_shared: place.is_some_and(is_shared),
            });
        }
    }
    changes
}

/// The APIs with these ids. Of two with one id, the one that is served: a shared one, else the later one.
fn by_id<'f>(files: &'f LoadedFiles, ids: &HashSet<&str>) -> HashMap<&'f str, (&'f Path, &'f Arc<CompiledApi>)> {
    let mut found: HashMap<&str, (&Path, &Arc<CompiledApi>)> = HashMap::with_capacity(ids.len());
    for (path, file) in files {
        let Some(api) = file.api().filter(|api| ids.contains(api.id.as_str())) else { continue };
        let is_hidden = found.get(api.id.as_str()).is_some_and(|(other, _)| rank(other) > rank(path));
        if !is_hidden {
            found.insert(&api.id, (path, api));
        }
    }
    found
}

/// The version of a document as it is shown.
pub fn etag(shown: &Value) -> String {
    let hash = blake3::hash(shown.to_string().as_bytes()).to_hex();
    format!("\"{}\"", hash.get(..32).unwrap_or_default())
}
