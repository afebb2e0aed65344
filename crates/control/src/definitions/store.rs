//! The one store of definitions and policies: loads them, puts them into service, and changes several as one. One of these at a time; requests in
//! flight are not affected.

use super::author::ChangeAuthor;
use super::changes::{DefinitionsChanged, FilesPlace};
use super::class::{DocumentClass, is_shared};
use super::loaded::{FileKey, FileReader, LoadedFiles, ReadFiles, differing, own};
use super::places::StorePlaces;
use super::routing_file::load_routing_file;
use super::shared::{NotShared, SharedDefinitions, SharedSet};
use super::text::DefinitionText;
use super::wanted::{ChangedDocuments, DocumentProblem, WantedDocument};
use crate::compile::{assemble, sockets};
use crate::ports::ApiPorts;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::mpsc::Sender;
use tollgate_access::digest::shortened;
use tollgate_access::keys::Policies;
use tollgate_clock::unix_s;
use tollgate_data::gateway_state::GatewayState;
use tollgate_data::port::WantedPort;
use tollgate_data::snapshot::{CompiledApi, Snapshot};
use tollgate_file_set::{FileSet, FileSetFault, LockedFileSet, Settled};
use tollgate_model::config::GatewayConfig;
use tollgate_model::definition_files::{ApiFile, api_files};
use tollgate_model::routing::RouteListener;
use tollgate_model::{Level, Problem};
use tollgate_observe::logs;
use tollgate_store::SharedRevision;

/// What problems of all shared definitions name in place of a file.
const SHARED: &str = "redis:";

/// Loads, serves and changes definitions and policies.
pub struct DefinitionStore {
    shared: Arc<GatewayState>,
    places: StorePlaces,
    reader: FileReader,
    /// Documents of other sources.
    pub(super) external: Mutex<BTreeMap<String, ExternalTexts>>,
    /// Changes several files as one.
    set: FileSet,
    ports: Arc<ApiPorts>,
    /// Held during a reload and during a change.
    changing: Mutex<()>,
    /// In service. Held only briefly: requests read it during a reload.
    files: Mutex<Arc<LoadedFiles>>,
    loaded: AtomicBool,
    /// The problems that were logged last.
    pub(super) told: Mutex<HashSet<Problem>>,
    /// Other sources whose documents are not there yet.
    pub(super) awaited: Mutex<BTreeSet<String>>,
    /// When what is in service was read, in milliseconds since 1970.
    read_unix_ms: Mutex<u64>,
    /// Others have it too as long as they have changes that are not stored yet.
    untold: Arc<()>,
    /// Receives what changes and reloads did.
    changes: OnceLock<Sender<DefinitionsChanged>>,
}

/// A document's text, with its id and what stands for its path.
pub(super) type PlacedText = (String, PathBuf, Vec<u8>);

/// The texts of one source.
#[derive(Clone, Default)]
pub(super) struct ExternalTexts {
    pub definitions: Vec<PlacedText>,
    pub policies: Vec<PlacedText>,
}

/// A change that was made and is in service.
pub struct Applied<T> {
    /// What its plan has beside the documents.
    pub planned: T,
    /// Lesser problems of the documents.
    pub problems: Vec<DocumentProblem>,
    /// Revision of the definitions that gateways share, if it changed them.
    pub revision: Option<SharedRevision>,
}

/// Why nothing was changed.
pub enum NotApplied<E> {
    /// Whoever wanted the change does not want it any more.
    Refused(E),
    /// Errors in the wanted documents, or in what would be served.
    Problems(Vec<DocumentProblem>),
    /// The files can't be written.
    Files(FileSetFault),
    /// What gateways share can't be changed.
    Shared(NotShared),
}

/// The APIs and policies that are served together.
pub struct ServedSet {
    pub apis: Vec<Arc<CompiledApi>>,
    pub policies: Policies,
}

/// Result of a reload.
#[derive(Clone, Debug, Default)]
pub struct ReloadReport {
    /// Number of APIs served now.
    pub apis: usize,
    /// Problems found in the files; errors leave the last good version in place.
    pub problems: Vec<Problem>,
}

/// A change that could be made.
struct CheckedChange<T> {
    changed: ChangedDocuments,
    together: Together,
    planned: T,
}

/// What is served together, and the problems that it has together.
pub(super) struct Together {
    snapshot: Snapshot,
    problems: Vec<Problem>,
}

impl DefinitionStore {
    pub fn new(
        shared: Arc<GatewayState>,
        ports: Arc<ApiPorts>,
        config: &GatewayConfig,
        shared_definitions: Option<SharedDefinitions>,
    ) -> Self {
        DefinitionStore {
            reader: FileReader::new(shared.clone()),
            shared,
            places: StorePlaces {
                app_path: config.app_path.clone(),
                policy_path: config.policies.policy_path.clone(),
                policy_file: config.policies.policy_record_name.clone(),
                shared: shared_definitions,
            },
            external: Mutex::default(),
            set: FileSet::new(&config.app_path),
            ports,
            changing: Mutex::default(),
            files: Mutex::default(),
            loaded: AtomicBool::new(false),
            told: Mutex::default(),
            awaited: Mutex::default(),
            read_unix_ms: Mutex::default(),
            untold: Arc::default(),
            changes: OnceLock::new(),
        }
    }

    /// The definitions that gateways share; `None` if each has its own.
    pub fn shared_definitions(&self) -> Option<&SharedDefinitions> {
        self.places.shared.as_ref()
    }

    /// From now on, what changes and reloads do is sent there.
    pub fn tell_changes(&self, to: Sender<DefinitionsChanged>) {
        // Set once, at the start.
        let _ = self.changes.set(to);
    }

    /// Whether all changes so far are in the log of changes and stored as revisions, or given up.
    pub fn has_told_all(&self) -> bool {
        Arc::strong_count(&self.untold) == 1
    }

    /// Whose files this gateway has.
    pub fn files_place(&self) -> FilesPlace {
        let machine = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok();
        let here = machine.zip(std::fs::metadata(&self.places.app_path).ok());
        let here = here.map(|(machine, directory)| format!("{} {} {}", machine.trim_end(), directory.dev(), directory.ino()));
        FilesPlace { identity: self.set.identity(), here }
    }

    /// Directory of definitions.
    pub fn app_path(&self) -> &Path {
        &self.places.app_path
    }

    /// Directory of policies, if policies are files.
    pub fn policy_path(&self) -> Option<&Path> {
        self.places.policy_path()
    }

    /// Whether the definitions of all sources have been read at least once.
    pub fn has_loaded(&self) -> bool {
        self.loaded.load(Ordering::Relaxed) && self.awaited.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Reads what has changed and publishes a snapshot. Blocks.
    pub fn reload(&self) -> ReloadReport {
        let start = Instant::now();
        self.shared.refresh_certificates();
        let remote = self.shared.settings.documents.secrets.remote.as_deref();
        remote.iter().for_each(|secrets| secrets.refresh());
        let _one_at_a_time = self.lock();
        let of_tables = load_routing_file(&self.shared.settings, &self.shared.registry);
        let settled = self.set.settle();
        let whole = self.set.read_lock();
        let mut read = self.read(&self.files());
        drop(whole);
        read.problems.extend(of_tables);
        match settled {
            Ok(Settled::Nothing) => {}
            Ok(Settled::Completed) => tracing::warn!("a change of several files was interrupted; it is complete now"),
            Ok(Settled::Undone) => tracing::warn!("a change of several files was interrupted; it is undone"),
            Err(fault) => {
                let message = format!("an interrupted change of several files can't be completed: {fault}");
                read.problems.push(Problem::new(Level::Error, "", message).within(Some(&self.places.app_path)));
            }
        }
        let together = self.together(&read);
        self.serve(read, together, (ChangeAuthor::Files, HashSet::new()), start)
    }

    /// Loads what gateways share if it is not of a revision yet that somebody has made. Blocks.
    pub fn take_up(&self, revision: &SharedRevision) {
        if self.places.shared.as_ref().is_some_and(|shared| shared.is_behind(revision)) {
            self.reload();
        }
    }

    /// Changes several documents as one, and serves the result; or changes nothing. `plan` decides by the documents as they are now. Blocks.
    ///
    /// # Errors
    /// Nothing was changed.
    pub fn apply<T, E>(
        &self,
        author: ChangeAuthor,
        plan: impl FnOnce(&ReadFiles) -> Result<(Vec<WantedDocument>, T), E>,
    ) -> Result<Applied<T>, NotApplied<E>> {
        let start = Instant::now();
        self.shared.refresh_certificates();
        let _one_at_a_time = self.lock();
        // The files of a gateway whose definitions are shared may be ones that it can't write.
        let mut files = if self.places.shared.is_none() { Some(self.lock_files()?) } else { None };
        let CheckedChange { changed, mut together, planned } = self.planned(plan)?;
        let problems = changed.lesser_problems();
        if changed.files.is_empty() && changed.shared.is_empty() {
            return Ok(Applied { planned, problems, revision: None });
        }
        if files.is_none() && !changed.files.is_empty() {
            files = Some(self.lock_files()?);
        }
        let ChangedDocuments { mut read, files: file_changes, shared: shared_changes, .. } = changed;
        let mut revision = None;
        if let Some(shared) = self.places.shared.as_ref().filter(|_| !shared_changes.is_empty()) {
            let after = shared.apply(&shared_changes, &author).map_err(NotApplied::Shared)?;
            revision = Some(after.set.at());
            // It has them again, if it had lost them.
            read.problems.retain(|problem| problem.file.as_deref() != Some(Path::new(SHARED)));
            if !after.is_else_known {
                // Other gateways have changed others meanwhile.
                read = self.read(&read.files);
                together = self.together(&read);
            }
        }
        let own = shared_changes.into_iter().map(|change| (change.class, change.id)).collect();
        let written = files.map_or(Ok(()), |files| files.apply(&file_changes));
        if let Err(fault) = written {
            if revision.is_some() {
                // What gateways share is changed all the same: it is served and told, with the files as they are.
                let read = self.read(&read.files);
                let together = self.together(&read);
                self.serve(read, together, (author, own), start);
            }
            return Err(NotApplied::Files(fault));
        }
        self.serve(read, together, (author, own), start);
        Ok(Applied { planned, problems, revision })
    }

    /// Checks a change without making it: lesser problems of the documents. Blocks.
    ///
    /// # Errors
    /// Why it could not be made.
    pub fn check<T, E>(
        &self,
        plan: impl FnOnce(&ReadFiles) -> Result<(Vec<WantedDocument>, T), E>,
    ) -> Result<(T, Vec<DocumentProblem>), NotApplied<E>> {
        let _one_at_a_time = self.lock();
        let CheckedChange { changed, planned, .. } = self.planned(plan)?;
        let problems = changed.lesser_problems();
        drop(changed);
        // What was compiled only for the check is not needed any more.
        self.shared.registry.purge();
        Ok((planned, problems))
    }

    /// What is served now, and what would be served after a change, which is not made. Blocks.
    ///
    /// # Errors
    /// Why it could not be made.
    pub fn before_and_after<T, E>(
        &self,
        plan: impl FnOnce(&ReadFiles) -> Result<(Vec<WantedDocument>, T), E>,
    ) -> Result<([ServedSet; 2], T), NotApplied<E>> {
        let _one_at_a_time = self.lock();
        let before = self.up_to_date();
        let CheckedChange { changed, planned, .. } = self.planned(plan)?;
        let set = |read: ReadFiles| ServedSet { apis: read.served(&mut Vec::new()), policies: read.policies };
        let sets = [set(before), set(changed.read)];
        self.shared.registry.purge();
        Ok((sets, planned))
    }

    fn planned<T, E>(
        &self,
        plan: impl FnOnce(&ReadFiles) -> Result<(Vec<WantedDocument>, T), E>,
    ) -> Result<CheckedChange<T>, NotApplied<E>> {
        let read = self.up_to_date();
        let (wanted, planned) = plan(&read).map_err(NotApplied::Refused)?;
        let changed = ChangedDocuments::new(&read, wanted, &self.places, &self.reader).map_err(NotApplied::Problems)?;
        let together = self.together(&changed.read);
        let mut new: Vec<Problem> = together.problems.iter().filter(|problem| problem.is_error()).cloned().collect();
        if !new.is_empty() {
            // What could not be served before need not be served now.
            let known = self.together(&read).problems;
            new.retain(|error| !known.contains(error));
        }
        if new.is_empty() {
            Ok(CheckedChange { changed, together, planned })
        } else {
            Err(NotApplied::Problems(changed.sourced(new)))
        }
    }

    /// The documents as they are now. What others have changed meanwhile is served first, as their change.
    fn up_to_date(&self) -> ReadFiles {
        let start = Instant::now();
        let before = self.files();
        let read = self.read(&before);
        if !differing(&before, &read.files).is_empty() || read.policies.differ_from(&self.shared.keys.policies()) {
            let together = self.together(&read);
            self.serve(read.clone(), together, (ChangeAuthor::Files, HashSet::new()), start);
        }
        read
    }

    fn lock_files<E>(&self) -> Result<LockedFileSet, NotApplied<E>> {
        let path = &self.places.app_path;
        if !path.exists() && own(&self.files()).next().is_some() {
            // A volume that is not there: a directory in its place would take all its APIs away.
            let error = io::Error::new(io::ErrorKind::NotFound, "the directory of the APIs in service is missing");
            return Err(NotApplied::Files(FileSetFault::Unchanged { path: path.clone(), error }));
        }
        let locked = self.set.lock().map_err(NotApplied::Files)?;
        locked.settle().map_err(NotApplied::Files)?;
        Ok(locked)
    }

    /// The texts of all other sources.
    fn external_texts(&self) -> Vec<ExternalTexts> {
        lock(&self.external).values().cloned().collect()
    }

    pub(super) fn shared(&self) -> &Arc<GatewayState> {
        &self.shared
    }

    pub(super) fn ports(&self) -> &ApiPorts {
        &self.ports
    }

    pub(super) fn lock(&self) -> std::sync::MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads all documents. What is unchanged since `before` keeps what was compiled from it.
    pub(super) fn read(&self, before: &LoadedFiles) -> ReadFiles {
        let mut problems = Vec::new();
        let shared_set = self.load_shared(&mut problems);
        let external = self.external_texts();
        let app_path = &self.places.app_path;
        let mut files: LoadedFiles = match api_files(app_path) {
            Ok(paths) => {
                self.loaded.store(true, Ordering::Relaxed);
                let known = |file: &ApiFile| before.get(file.path.as_os_str());
                paths.iter().map(|file| (FileKey::from(&*file.path), self.reader.load(file, known(file)))).collect()
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound && own(before).next().is_none() => {
                self.loaded.store(true, Ordering::Relaxed);
                if shared_set.is_none() && external.is_empty() {
                    let message = "there is no such directory yet; no API is served";
                    problems.push(Problem::new(Level::Warning, "", message).within(Some(app_path)));
                }
                LoadedFiles::new()
            }
            Err(error) => {
                let message = format!("cannot be read: {error}; the APIs served before stay");
                problems.push(Problem::new(Level::Error, "", message).within(Some(app_path)));
                own(before).map(|(path, file)| (path.clone(), file.clone())).collect()
            }
        };
        for (id, text) in shared_set.iter().flat_map(|set| set.of(DocumentClass::Api)) {
            let file = ApiFile::alone(DocumentClass::Api.place(id));
            let loaded = self.reader.load_text(&file, &DefinitionText::of(text.as_bytes()), before.get(file.path.as_os_str()));
            files.insert(FileKey::from(&*file.path), loaded);
        }
        for (_, place, text) in external.iter().flat_map(|texts| &texts.definitions) {
            let file = ApiFile::alone(place.clone());
            let loaded = self.reader.load_text(&file, &DefinitionText::of(text), before.get(file.path.as_os_str()));
            files.insert(FileKey::from(&*file.path), loaded);
        }
        let policies_before = self.shared.keys.policies();
        let (mut policies, found) = Policies::load(&self.places.policy_path, &self.places.policy_file, &policies_before);
        problems.extend(found);
        let of_sources = external.iter().flat_map(|texts| &texts.policies);
        let of_sources = of_sources.map(|(id, place, text)| (id.as_str(), text.as_slice(), place.clone()));
        policies.add_external(of_sources, &policies_before, &mut problems);
        if let Some(set) = &shared_set {
            let shared = set.of(DocumentClass::Policy).map(|(id, text)| (id, text.as_bytes(), DocumentClass::Policy.place(id)));
            policies.add_shared(shared, &policies_before, &mut problems);
        }
        ReadFiles { files: Arc::new(files), policies, problems }
    }

    /// What is served of documents that were read.
    pub(super) fn together(&self, read: &ReadFiles) -> Together {
        let mut problems = Vec::new();
        let (snapshot, found) = assemble(read.served(&mut problems), &self.shared.settings, &self.shared.registry);
        problems.extend(found);
        Together { snapshot, problems }
    }

    /// Publishes a snapshot of documents that were read, and logs what is wrong with them.
    pub(super) fn serve(
        &self,
        read: ReadFiles,
        together: Together,
        change: (ChangeAuthor, HashSet<(DocumentClass, String)>),
        start: Instant,
    ) -> ReloadReport {
        let report = self.publish(read, together, change, start);
        logs::problems(&report.problems);
        report.log_end(start);
        *lock(&self.told) = report.problems.iter().cloned().collect();
        report
    }

    /// The same; logs only problems that were not logged the last time. For what changes all the time.
    pub(super) fn serve_quietly(&self, read: ReadFiles, together: Together, start: Instant) -> ReloadReport {
        let report = self.publish(read, together, (ChangeAuthor::Files, HashSet::new()), start);
        let mut told = lock(&self.told);
        let new: Vec<Problem> = report.problems.iter().filter(|problem| !told.contains(*problem)).cloned().collect();
        logs::problems(&new);
        report.log_end(start);
        *told = report.problems.iter().cloned().collect();
        drop(told);
        report
    }

    fn publish(
        &self,
        read: ReadFiles,
        together: Together,
        (author, shared): (ChangeAuthor, HashSet<(DocumentClass, String)>),
        start: Instant,
    ) -> ReloadReport {
        let ReadFiles { files, policies, mut problems } = read;
        let Together { snapshot, problems: in_snapshot } = together;
        let before = self.files();
        let policies_before = self.shared.keys.policies();
        let confirmed = self.places.shared.iter().flat_map(SharedDefinitions::take_confirmed);
        let before_unix_ms = std::mem::replace(&mut *lock(&self.read_unix_ms), unix_ms().saturating_sub(millis(start.elapsed())));
        let changed = self.changes.get().map(|to| {
            let (keys, unix_s) = (&self.shared.keys, unix_s());
            let between = |author, shared: &HashSet<(DocumentClass, String)>| {
                let changes = DefinitionsChanged::between((&before, &policies_before), (&files, &policies), shared, keys);
                let untold = self.untold.clone();
                DefinitionsChanged { author, changes, unix_s, before_unix_ms, files: FilesPlace::default(), untold }
            };
            let mut changed: Vec<DefinitionsChanged> = confirmed
                .map(|made| {
                    let mut changed = between(made.author, &made.documents);
                    changed.changes.retain(|change| change.is_shared);
                    changed
                })
                .collect();
            changed.push(between(author, &shared));
            changed.retain(|changed| !changed.changes.is_empty());
            changed.iter_mut().for_each(|changed| changed.files = self.files_place());
            (to, changed)
        });
        let has_changed = !differing(&before, &files).is_empty() || policies.differ_from(&policies_before);
        problems.extend(self.shared.keys.set_policies(policies));
        let apis = snapshot.apis.len();
        let ports = snapshot.ports();
        let of_ports = self.open_ports(&ports, &files);
        *self.files.lock().unwrap_or_else(PoisonError::into_inner) = files.clone();
        drop(before);
        self.shared.publish(snapshot);
        self.ports.apply(&ports);
        self.shared.registry.purge();
        problems.extend(files.values().flat_map(|file| file.problems.iter().cloned()));
        problems.extend(in_snapshot);
        problems.extend(of_ports);
        let report = ReloadReport { apis, problems };
        self.shared.observer.note_reload(&report.problems, start.elapsed(), has_changed, report.apis);
        if let Some((to, changed)) = changed {
            changed.into_iter().for_each(|changed| changed.hand_over(to));
        }
        report
    }

    /// Opens the ports of a snapshot that is about to be in service. A port that can't be opened is a problem of each API that names it; the
    /// others are served.
    fn open_ports(&self, ports: &BTreeMap<u32, WantedPort>, files: &LoadedFiles) -> Vec<Problem> {
        let mut problems = Vec::new();
        let listeners = self.shared.registry.routing.listeners();
        for (number, error) in self.ports.prepare(ports) {
            for (name, _) in listeners.iter().filter(|(_, listener)| self.has_socket(listener, number)) {
                problems.push(Problem::new(Level::Error, format!("$.listeners.{name}"), error.as_str()));
            }
            for (path, file) in files {
                let names_it = file.good.as_ref().is_some_and(|api| u32::from(api.port.number) == number);
                if names_it {
                    problems.push(Problem::new(Level::Error, "$.listen_port", error.as_str()).within(Some(path)));
                }
            }
        }
        problems
    }

    fn has_socket(&self, listener: &RouteListener, name: u32) -> bool {
        sockets(listener, &self.shared.registry).iter().any(|(socket, _)| *socket == name)
    }

    /// The definitions that gateways share, as far as they can be had.
    fn load_shared(&self, problems: &mut Vec<Problem>) -> Option<Arc<SharedSet>> {
        let shared = self.places.shared.as_ref()?;
        Some(shared.load().unwrap_or_else(|why| {
            let known = shared.known();
            let message = match known.revision {
                0 => format!("the shared definitions can't be read: {why}; none is served"),
                revision => format!("the shared definitions can't be read: {why}; those of revision {revision} stay in service"),
            };
            problems.push(Problem::new(Level::Error, "", message).within(Some(Path::new(SHARED))));
            known
        }))
    }

    /// Writes the copy of what gateways share, for starts without Redis. Blocks.
    pub fn keep_copy(&self) {
        self.places.shared.iter().for_each(SharedDefinitions::keep_copy);
    }

    /// The files loaded last.
    pub(super) fn files(&self) -> Arc<LoadedFiles> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Digest of the definitions that are served; the same on all gateways that serve the same texts.
    pub fn definitions_digest(&self) -> String {
        let files = self.files();
        let shared = self.places.shared.as_ref().map(SharedDefinitions::known);
        let is_served =
            |path: &Path, id: &str| is_shared(path) || !shared.as_ref().is_some_and(|set| set.has(DocumentClass::Api, id));
        let texts = files.iter().filter_map(|(path, file)| Some((path, file.good.as_ref()?.id.as_str(), file.good_digest?)));
        let mut served: Vec<(&str, blake3::Hash)> =
            texts.filter(|(path, id, _)| is_served(path, id)).map(|(_, id, digest)| (id, digest)).collect();
        served.sort_by(|(a, a_digest), (b, b_digest)| (a, a_digest.as_bytes()).cmp(&(b, b_digest.as_bytes())));
        let mut digest = blake3::Hasher::new();
        for (id, own) in served {
            digest.update(id.as_bytes());
            digest.update(own.as_bytes());
        }
        shortened(&digest.finalize())
    }

    /// The same of the policies.
    pub fn policies_digest(&self) -> String {
        shortened(&self.shared.keys.policies().digest())
    }

    /// The documents in service.
    pub fn served(&self) -> ReadFiles {
        ReadFiles { files: self.files(), policies: Policies::clone(&self.shared.keys.policies()), problems: Vec::new() }
    }

    /// The file of each API that is in one, by id. Of two with the same id, the later one.
    pub fn files_by_id(&self) -> HashMap<String, PathBuf> {
        let files = self.files();
        own(&files).filter_map(|(path, file)| Some((file.good.as_ref()?.id.clone(), path.to_path_buf()))).collect()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn unix_ms() -> u64 {
    millis(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default())
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl ReloadReport {
    fn log_end(&self, start: Instant) {
        let ignored = self.problems.iter().filter(|problem| problem.level == Level::Ignored).count();
        tracing::info!(apis = self.apis, ignored_fields = ignored, ms = start.elapsed().as_millis() as u64, "API reload complete");
    }

    /// Problems that make a definition unusable.
    pub fn errors(&self) -> impl Iterator<Item = &Problem> {
        self.problems.iter().filter(|problem| problem.is_error())
    }
}
