//! Which changes of files are in the log of changes already, where several gateways serve the same files. Whoever logs a change leaves a note in the
//! store; another gateway that finds the files as the note says has nothing to log.

use crate::definitions::{ChangeAuthor, DefinitionsChanged, DocumentChange, LOGGED_MAX};
use std::time::{SystemTime, UNIX_EPOCH};
use tollgate_access::secret::random_text;
use tollgate_clock::unix_s;
use tollgate_store::{DocumentSpace, Store, StoreFault};

/// How long a note stays. A gateway that finds a change later logs it again.
const NOTE_TIME_S: u64 = 3_600;

/// Notes of this process, and of others.
pub(super) struct LoggedFiles {
    /// What notes of this process have.
    own: String,
}

impl LoggedFiles {
    pub(super) fn new() -> Option<Self> {
        random_text().ok().map(|own| LoggedFiles { own })
    }

    /// Removes what another gateway has logged from a change, and notes the rest. If it fails, it can be asked again.
    pub(super) async fn leave_out_known(&self, store: &dyn Store, changed: &mut DefinitionsChanged) -> Result<(), StoreFault> {
        let places: Vec<&String> = [&changed.files.identity, &changed.files.here].into_iter().flatten().collect();
        let is_of_files = |change: &&DocumentChange| !change.is_shared;
        if changed.changes.len() > LOGGED_MAX {
            // As one, like its entry.
            let state = digest(changed.changes.iter().filter(is_of_files).map(|change| (change, "")));
            if self.is_logged_elsewhere(store, changed, &places, &state).await? {
                changed.changes.retain(|change| change.is_shared);
            }
            return Ok(());
        }
        let mut known = Vec::new();
        for change in changed.changes.iter().filter(is_of_files) {
            let etag = change.etag.as_deref().unwrap_or_default();
            if self.is_logged_elsewhere(store, changed, &places, &digest([(change, etag)].into_iter())).await? {
                known.push((change.class, change.id.clone()));
            }
        }
        changed.changes.retain(|change| change.is_shared || !known.contains(&(change.class, change.id.clone())));
        Ok(())
    }

    /// Whether another gateway has noted this state of files since this one has seen another. If not, it is noted.
    async fn is_logged_elsewhere(
        &self,
        store: &dyn Store,
        changed: &DefinitionsChanged,
        places: &[&String],
        state: &str,
    ) -> Result<bool, StoreFault> {
        let is_found = matches!(changed.author, ChangeAuthor::Files);
        // A directory gets its name with the first change by a gateway; until then, and for those that can't write it, it has another one.
        for place in places {
            let id = format!("logged/{}", blake3::hash(format!("{place} {state}").as_bytes()).to_hex());
            let value = format!("{} {}", self.own, now_ms()).into_bytes();
            let expires_unix_s = Some(unix_s() + NOTE_TIME_S);
            let note = |id: String| store.write(DocumentSpace::Console, id, value.clone(), expires_unix_s);
            if !is_found {
                note(id).await?;
                continue;
            }
            if !store.write_over(DocumentSpace::Console, id.clone(), None, value.clone(), expires_unix_s).await? {
                continue;
            }
            let found = store.read(DocumentSpace::Console, id.clone()).await?;
            let found = found.map(|found| String::from_utf8_lossy(&found).into_owned()).unwrap_or_default();
            if found.split_once(' ').is_some_and(|(whose, when)| {
                whose != self.own && when.parse::<u64>().is_ok_and(|when| when >= changed.before_unix_ms)
            }) {
                return Ok(true);
            }
            note(id).await?;
        }
        Ok(false)
    }
}

/// What names a state of documents.
fn digest<'c>(changes: impl Iterator<Item = (&'c DocumentChange, &'c str)>) -> String {
    let mut hasher = blake3::Hasher::new();
    for (change, etag) in changes {
        let state = format!("{} {} {} {} {etag}\n", change.class.name(), change.id, change.exists, change.is_usable);
        hasher.update(state.as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

fn now_ms() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis()
}
