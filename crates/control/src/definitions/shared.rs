//! Definitions and policies that gateways share through their Redis (`tollgate.shared_definitions`). Each gateway loads the set at its start and
//! whenever its revision changes. While Redis does not answer, the last good set stays; a copy on disk is for starts without Redis.

use super::author::ChangeAuthor;
use super::class::DocumentClass;
use super::unconfirmed::{UnconfirmedChange, UnconfirmedChanges};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};
use tollgate_access::digest::shortened;
use tollgate_access::secret::random_text;
use tollgate_cluster::SharedState;
use tollgate_model::config::GatewayConfig;
use tollgate_model::hexadecimal;
use tollgate_store::{Redis, SharedRevision, SharedTexts, StoreFault, StoreFaultKind, TextChange};

/// The set's name in Redis.
const SET: &str = "{tollgate.definitions}";
/// The copy below `data_dir`.
const COPY: &str = "shared-definitions.json";
/// Time to load the set: ten thousand definitions have some ten MB.
const LOAD_TIME_MAX: Duration = Duration::from_secs(10);
/// How long it is tried to find out whether a change was made that Redis has not confirmed.
const LOOK_AGAIN_TIME: Duration = Duration::from_secs(2);
const LOOK_AGAIN_EVERY: Duration = Duration::from_millis(200);
/// Names that are fetched in one go.
const FETCHED_AT_ONCE: usize = 500;
/// Tries to load the set while others change it.
const LOADS_MAX: usize = 5;

/// The documents at one revision.
#[derive(Default, Serialize, Deserialize)]
pub struct SharedSet {
    /// 0 if nothing was ever stored.
    pub revision: u64,
    /// Of the last change, as in [`SharedRevision`].
    #[serde(default)]
    pub stamp: String,
    /// By class and id, as in `api/shop`.
    documents: BTreeMap<String, SharedDocument>,
}

/// One document.
#[derive(Clone, Serialize, Deserialize)]
struct SharedDocument {
    digest: String,
    #[serde(serialize_with = "write_text", deserialize_with = "read_text")]
    text: Arc<str>,
}

/// The set, as far as this gateway knows it.
pub struct SharedDefinitions {
    redis: Arc<Redis>,
    copy: PathBuf,
    known: Mutex<Arc<SharedSet>>,
    /// What Redis said when the set was loaded last.
    seen: Mutex<Option<SeenStore>>,
    /// Revision of the copy.
    copied: Mutex<SharedRevision>,
    unconfirmed: Mutex<UnconfirmedChanges>,
}

/// A change of one document.
pub(super) struct SharedChange {
    pub class: DocumentClass,
    pub id: String,
    /// `None` to remove it.
    pub text: Option<Arc<str>>,
}

/// What Redis says of the set.
#[derive(Clone, Debug, PartialEq, Eq)]
enum SeenStore {
    /// Its revision; `None` if there is no set.
    Revision(Option<SharedRevision>),
    Silent,
}

/// Why a change was not made.
#[derive(Debug)]
pub enum NotShared {
    /// Another gateway has changed the document since it was loaded here.
    Changed,
    Store(StoreFault),
    /// Redis may have made the change or may make it yet, but has not said so.
    Unconfirmed(StoreFault),
}

/// What was read from Redis.
struct FetchedSet {
    set: Arc<SharedSet>,
    /// Stamps of its last changes; none if it is the one that was known.
    stamps: Vec<String>,
}

/// A set in which a change was made.
pub(super) struct SetAfterChange {
    pub set: Arc<SharedSet>,
    /// Whether it differs from what was known by this change alone.
    pub is_else_known: bool,
}

impl fmt::Display for NotShared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotShared::Changed => f.write_str("It was changed on another gateway at the same time; nothing was written"),
            NotShared::Store(fault) => write!(
                f,
                "Not saved: Redis, which has the definitions of all gateways, does not answer: {fault}. What was served before is still served"
            ),
            NotShared::Unconfirmed(fault) => write!(
                f,
                "Redis, which has the definitions of all gateways, has not confirmed the change: {fault}. What was served before is still served; if the \
                 change was made all the same, it will be served and logged"
            ),
        }
    }
}

impl SharedDefinitions {
    /// `None` unless the configuration says that definitions are shared.
    pub fn new(config: &GatewayConfig, redis: Option<Arc<Redis>>) -> Option<Self> {
        let redis = redis.filter(|_| config.tollgate.shared_definitions)?;
        Some(SharedDefinitions {
            redis,
            copy: config.tollgate.data_dir.join(COPY),
            known: Mutex::default(),
            seen: Mutex::default(),
            copied: Mutex::default(),
            unconfirmed: Mutex::default(),
        })
    }

    /// The set that was loaded last.
    pub fn known(&self) -> Arc<SharedSet> {
        lock(&self.known).clone()
    }

    pub fn state(&self) -> SharedState {
        let known = self.known();
        let store_up = matches!(*lock(&self.seen), Some(SeenStore::Revision(_)));
        SharedState { revision: known.revision, digest: known.digest(), store_up }
    }

    /// Loads the set from Redis, or from the copy if this gateway has none yet. Blocks.
    ///
    /// # Errors
    /// Why Redis has no newer one. What was known before stays known.
    pub fn load(&self) -> Result<Arc<SharedSet>, String> {
        let known = self.known();
        let (redis, last) = (self.redis.clone(), known.clone());
        let answer = self.on_redis(async move { fetch(&redis, &last).await }).unwrap_or_else(|| Err(silent()));
        *lock(&self.seen) = Some(match &answer {
            Ok(fetched) => SeenStore::Revision(fetched.as_ref().map(|fetched| fetched.set.at())),
            Err(_) => SeenStore::Silent,
        });
        let fetched = match answer {
            Ok(Some(FetchedSet { set, .. })) if set.revision < known.revision => Err(older(set.revision, known.revision)),
            Ok(Some(fetched)) => Ok(fetched),
            Ok(None) if known.revision > 0 || self.read_copy().is_some_and(|copy| copy.revision > 0) => {
                Err("Redis has lost them".to_owned())
            }
            Ok(None) => Ok(FetchedSet { set: Arc::default(), stamps: Vec::new() }),
            Err(fault) => Err(fault.to_string()),
        };
        let FetchedSet { set, stamps } = match fetched {
            Ok(fetched) => fetched,
            Err(why) => {
                if known.revision == 0
                    && let Some(copy) = self.read_copy()
                {
                    *lock(&self.known) = Arc::new(copy);
                }
                return Err(why);
            }
        };
        if set.at() != known.at() {
            if set.revision == known.revision {
                tracing::warn!(
                    revision = set.revision,
                    "Redis has another set of shared definitions of the same revision: somebody has gone on from an older one; it is taken over"
                );
            }
            *lock(&self.known) = set.clone();
            lock(&self.unconfirmed).note(&stamps);
        }
        Ok(set)
    }

    /// Changes of this gateway that Redis had not confirmed, and that are in the set which was loaded since.
    pub(super) fn take_confirmed(&self) -> Vec<UnconfirmedChange> {
        lock(&self.unconfirmed).take_made()
    }

    /// Whether this gateway serves another set than that of a revision which somebody has just made.
    pub(super) fn is_behind(&self, revision: &SharedRevision) -> bool {
        !self.known().at().serves(revision)
    }

    /// Whether Redis says something else than when the set was loaded last.
    pub async fn is_to_be_loaded(&self) -> bool {
        let now = self.redis.shared_revision(SET).await.map_or(SeenStore::Silent, SeenStore::Revision);
        *lock(&self.seen) != Some(now)
    }

    /// Changes several documents as one, in place of the versions that were loaded here. Blocks.
    ///
    /// # Errors
    /// Then nothing was changed, or it is unknown because Redis did not answer.
    pub(super) fn apply(&self, changes: &[SharedChange], author: &ChangeAuthor) -> Result<SetAfterChange, NotShared> {
        let known = self.known();
        let names = changes.iter().map(|change| (change.class, change.id.clone())).collect();
        let changes: Vec<TextChange> = changes.iter().map(|change| change.against(&known)).collect();
        let no_stamp = |error| NotShared::Store(StoreFault::new(StoreFaultKind::Io, format!("no random numbers: {error}")));
        let stamp = random_text().map_err(no_stamp)?;
        let (redis, last, wanted, own) = (self.redis.clone(), known.clone(), changes.clone(), stamp.clone());
        let answer = self.on_redis(async move { carry_out(&redis, &last, &own, &wanted).await });
        let (number, replaced) = match answer.unwrap_or_else(|| Err(NotShared::Unconfirmed(silent()))) {
            Ok(made) => made,
            // The change may have been made all the same: then it must not be told as a failure.
            Err(NotShared::Unconfirmed(fault)) => {
                return match self.found_after(&stamp) {
                    Some(set) => Ok(SetAfterChange { set, is_else_known: false }),
                    None => {
                        lock(&self.unconfirmed).add(UnconfirmedChange::new(stamp, author.clone(), names));
                        Err(NotShared::Unconfirmed(fault))
                    }
                };
            }
            Err(not_made) => return Err(not_made),
        };
        if (number, &replaced) != (known.revision + 1, &known.stamp) {
            // Another gateway has changed other documents meanwhile.
            let set = self.load().map_err(|why| {
                lock(&self.unconfirmed).add(UnconfirmedChange::new(stamp, author.clone(), names));
                NotShared::Unconfirmed(StoreFault::new(StoreFaultKind::Unavailable, why))
            })?;
            return Ok(SetAfterChange { set, is_else_known: false });
        }
        let set = Arc::new(known.changed(&changes, number, stamp));
        *lock(&self.seen) = Some(SeenStore::Revision(Some(set.at())));
        *lock(&self.known) = set.clone();
        Ok(SetAfterChange { set, is_else_known: true })
    }

    /// The set in which a change was made that Redis has not confirmed. `None` if it does not have it, or does not answer for a while.
    fn found_after(&self, stamp: &str) -> Option<Arc<SharedSet>> {
        let end = Instant::now() + LOOK_AGAIN_TIME;
        loop {
            match self.load() {
                Ok(set) => return Some(set).filter(|_| lock(&self.unconfirmed).is_known(stamp)),
                Err(_) if Instant::now() >= end => return None,
                Err(_) => std::thread::sleep(LOOK_AGAIN_EVERY),
            }
        }
    }

    /// Writes the copy of the set for starts without Redis, if it has changed. A gateway without a writable directory does without. Blocks.
    pub(super) fn keep_copy(&self) {
        let known = self.known();
        let mut copied = lock(&self.copied);
        if known.at() != *copied {
            match self.write_copy(&known) {
                Ok(()) => *copied = known.at(),
                Err(error) => tracing::warn!(%error, path = %self.copy.display(), "shared definitions can't be copied to disk"),
            }
        }
    }

    /// Waits for an answer of Redis; `None` if it takes too long.
    fn on_redis<T: Send + 'static>(&self, question: impl Future<Output = T> + Send + 'static) -> Option<T> {
        let (sender, receiver) = mpsc::channel();
        self.redis.runtime().spawn(async move {
            let _ = sender.send(question.await);
        });
        receiver.recv_timeout(LOAD_TIME_MAX).ok()
    }

    fn read_copy(&self) -> Option<SharedSet> {
        let text = match std::fs::read(&self.copy) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => {
                tracing::error!(%error, path = %self.copy.display(), "the copy of the shared definitions can't be read");
                return None;
            }
        };
        let set: Option<SharedSet> = serde_json::from_slice(&text).ok();
        if set.is_none() {
            tracing::error!(path = %self.copy.display(), "the copy of the shared definitions is damaged");
        }
        set
    }

    fn write_copy(&self, set: &SharedSet) -> io::Result<()> {
        let directory = self.copy.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(directory)?;
        let temporary = self.copy.with_extension("json.new");
        // Definitions may have secrets.
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
        file.write_all(&serde_json::to_vec(set).map_err(io::Error::other)?)?;
        file.sync_all()?;
        std::fs::rename(&temporary, &self.copy)?;
        File::open(directory)?.sync_all()
    }
}

impl SharedSet {
    pub fn at(&self) -> SharedRevision {
        SharedRevision { number: self.revision, stamp: self.stamp.clone() }
    }

    /// Ids and texts of a class, by id.
    pub fn of(&self, class: DocumentClass) -> impl Iterator<Item = (&str, &str)> {
        let start = class.named("");
        let documents = self.documents.iter();
        documents.filter_map(move |(name, document)| Some((name.strip_prefix(start.as_str())?, &*document.text)))
    }

    pub fn has(&self, class: DocumentClass, id: &str) -> bool {
        self.documents.contains_key(&class.named(id))
    }

    /// The set after changes that were made.
    fn changed(&self, changes: &[TextChange], revision: u64, stamp: String) -> Self {
        let mut documents = self.documents.clone();
        for change in changes {
            match &change.new {
                Some((digest, text)) => {
                    documents.insert(change.name.clone(), SharedDocument { digest: digest.clone(), text: text.clone() });
                }
                None => drop(documents.remove(&change.name)),
            }
        }
        SharedSet { revision, stamp, documents }
    }

    fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for (name, document) in &self.documents {
            hasher.update(name.as_bytes()).update(document.digest.as_bytes());
        }
        shortened(&hasher.finalize())
    }
}

impl SharedChange {
    fn against(&self, known: &SharedSet) -> TextChange {
        let name = self.class.named(&self.id);
        TextChange {
            expected: known.documents.get(&name).map(|document| document.digest.clone()),
            new: self.text.as_ref().map(|text| (digest(text), text.clone())),
            name,
        }
    }
}

/// Why an older set is not loaded: whoever filled an empty Redis, or brought back an old one, would remove what all gateways serve.
fn older(stored: u64, known: u64) -> String {
    format!("Redis has revision {stored}, which is older than {known}; a restart of this gateway takes it")
}

fn silent() -> StoreFault {
    StoreFault::new(StoreFaultKind::Unavailable, format!("Redis has not answered within {} s", LOAD_TIME_MAX.as_secs()))
}

/// Makes changes; the number of the new revision, and the stamp of the one that it replaced.
async fn carry_out(redis: &Redis, known: &SharedSet, stamp: &str, changes: &[TextChange]) -> Result<(u64, String), NotShared> {
    let stored = redis.shared_revision(SET).await.map_err(NotShared::Store)?;
    if let Some(stored) = stored.as_ref().filter(|stored| stored.number < known.revision) {
        return Err(NotShared::Store(StoreFault::new(StoreFaultKind::Corrupt, older(stored.number, known.revision))));
    }
    if known.revision > 0 && stored.is_none() {
        // The change alone would be the whole set, and all gateways would drop the rest.
        let texts = known.documents.iter().map(|(name, kept)| [name.clone(), kept.digest.clone(), kept.text.to_string()]);
        let restored = redis.restore_shared_texts(SET, &known.at(), texts.collect::<Vec<_>>()).await;
        if restored.map_err(NotShared::Store)? {
            tracing::warn!(documents = known.documents.len(), "Redis had lost the shared definitions; they are stored again");
        }
    }
    redis.change_shared_texts(SET, stamp, changes).await.map_err(NotShared::Unconfirmed)?.ok_or(NotShared::Changed)
}

/// The set in Redis, with the texts of `last` where they are the same. `None` if nothing was ever stored.
async fn fetch(redis: &Redis, last: &Arc<SharedSet>) -> Result<Option<FetchedSet>, StoreFault> {
    if last.revision > 0 && redis.shared_revision(SET).await? == Some(last.at()) {
        return Ok(Some(FetchedSet { set: last.clone(), stamps: Vec::new() }));
    }
    for _ in 0..LOADS_MAX {
        let SharedTexts { revision, stamps, digests } = redis.shared_texts(SET).await?;
        let Some(SharedRevision { number, stamp }) = revision else { return Ok(None) };
        let mut documents = BTreeMap::new();
        let mut missing = Vec::new();
        for (name, digest) in &digests {
            match last.documents.get(name).filter(|known| known.digest == *digest) {
                Some(known) => drop(documents.insert(name.clone(), known.clone())),
                None => missing.push(name.clone()),
            }
        }
        let mut is_whole = true;
        for names in missing.chunks(FETCHED_AT_ONCE) {
            let texts = redis.shared_values(SET, names).await?;
            for (name, text) in names.iter().zip(texts) {
                let own = text.map(|text| SharedDocument { digest: digest(&text), text: text.into() });
                // Another gateway may have changed it since its digest was read.
                match own.filter(|own| digests.get(name) == Some(&own.digest)) {
                    Some(own) => drop(documents.insert(name.clone(), own)),
                    None => is_whole = false,
                }
            }
        }
        if is_whole {
            return Ok(Some(FetchedSet { set: Arc::new(SharedSet { revision: number, stamp, documents }), stamps }));
        }
    }
    Err(StoreFault::new(StoreFaultKind::Unavailable, "they change faster than they can be read"))
}

fn write_text<S: Serializer>(text: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text)
}

fn read_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<str>, D::Error> {
    String::deserialize(deserializer).map(Arc::from)
}

fn digest(text: &str) -> String {
    hexadecimal(blake3::hash(text.as_bytes()).as_bytes())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
