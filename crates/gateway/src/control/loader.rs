//! Builds a new snapshot from the files in `app_path` and from the definitions that gateways share. An unchanged document keeps its compiled
//! API; a broken one keeps its last good version; requests in flight are not affected.

mod before_after;
mod revision;

pub(crate) use before_after::ServedSet;
pub(crate) use revision::{RevisedKind, RevisedObject, Revision, document_of};

use crate::auth::keys::Policies;
use crate::base::definition_files::{ApiFile, api_files, companion_of};
use crate::base::digest::shortened;
use crate::control::compile::assemble;
use crate::control::definition::DefinitionText;
use crate::control::definition_set::distinct;
use crate::control::file_changes::{FoundChanges, OwnWrites};
use crate::control::ports::ApiPorts;
use crate::control::shared_definitions::{DocumentClass, SharedDefinitions, SharedSet, is_shared};
use crate::data::gateway_state::GatewayState;
use crate::data::port::PortTerms;
use crate::data::snapshot::CompiledApi;
use crate::observe::logs;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tollgate_file_set::{FileChange, FileSet, FileSetFault, Settled};
use tollgate_model::config::GatewayConfig;
use tollgate_model::policy::Policy;
use tollgate_model::readable_files::{NamedFile, asked_during};
use tollgate_model::{Level, Problem};

/// Loads definitions and publishes snapshots, one reload at a time.
pub(crate) struct Loader {
    shared: Arc<GatewayState>,
    app_path: PathBuf,
    policy_path: PathBuf,
    policy_file: PathBuf,
    /// Changes several definitions and policies as one.
    set: FileSet,
    digests: RandomState,
    ports: Arc<ApiPorts>,
    /// Held during a reload.
    reloading: Mutex<()>,
    /// Held only briefly: requests read it during a reload.
    files: Mutex<Arc<LoadedFiles>>,
    loaded: AtomicBool,
    /// The definitions that gateways share, if they do.
    shared_definitions: Option<SharedDefinitions>,
    /// Files that the control API writes.
    own_writes: OwnWrites,
    /// Receives what a reload finds changed that the control API did not write.
    file_changes: OnceLock<tokio::sync::mpsc::Sender<FoundChanges>>,
    /// Receives what each change replaces.
    revisions: OnceLock<tokio::sync::mpsc::Sender<Revision>>,
}

/// By path; shared definitions have a place in Redis instead of a path.
type LoadedFiles = BTreeMap<PathBuf, Arc<LoadedFile>>;

/// A compiled API and the digest of its text.
type GoodVersion = (Option<Arc<CompiledApi>>, Option<blake3::Hash>);

struct LoadedFile {
    digest: u64,
    /// The files that the definition names.
    named: Vec<NamedFile>,
    /// The last usable version.
    good: Option<Arc<CompiledApi>>,
    /// Digest of its text, which is the same in all processes.
    good_digest: Option<blake3::Hash>,
    /// A usable version that belongs to another segment, so that it is not served here.
    elsewhere: Option<Arc<CompiledApi>>,
    problems: Vec<Problem>,
}

impl LoadedFile {
    fn is_broken(&self) -> bool {
        self.problems.iter().any(Problem::is_error)
    }
}

/// Files as they were read and compiled, not in service yet.
pub(crate) struct ReadFiles {
    files: Arc<LoadedFiles>,
    policies: Policies,
    problems: Vec<Problem>,
}

/// An API of the files that were read.
pub(crate) struct ReadApi<'r> {
    pub path: &'r Path,
    pub api: &'r Arc<CompiledApi>,
    /// Whether the file has errors, so that this is its last good version.
    pub is_broken: bool,
}

/// A change of the files of one API or one policy.
pub(crate) enum WantedFile {
    /// The API's definition, and its OpenAPI document if that is a file of its own. A file of another API's must not be named.
    Api {
        file: ApiFile,
        text: DefinitionText,
    },
    /// Removes the definition in this file.
    NoApi {
        file: ApiFile,
    },
    Policy {
        path: PathBuf,
        policy: Box<Policy>,
    },
    NoPolicy {
        path: PathBuf,
        id: String,
    },
}

impl WantedFile {
    fn path(&self) -> &Path {
        match self {
            WantedFile::Api { file, .. } | WantedFile::NoApi { file } => &file.path,
            WantedFile::Policy { path, .. } | WantedFile::NoPolicy { path, .. } => path,
        }
    }
}

/// Why the files were not changed.
pub(crate) enum FilesUnchanged<E> {
    /// Whoever wanted the change does not want it any more.
    Refused(E),
    /// Errors in the wanted files.
    Problems(Vec<Problem>),
    /// The files can't be written.
    Fault(FileSetFault),
}

/// Result of a reload.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReloadReport {
    /// Number of APIs served now.
    pub apis: usize,
    /// Problems found in the files; errors leave the last good version in place.
    pub problems: Vec<Problem>,
}

impl Loader {
    pub(crate) fn new(
        shared: Arc<GatewayState>,
        ports: Arc<ApiPorts>,
        config: &GatewayConfig,
        shared_definitions: Option<SharedDefinitions>,
    ) -> Self {
        Loader {
            shared,
            app_path: config.app_path.clone(),
            policy_path: config.policies.policy_path.clone(),
            policy_file: config.policies.policy_record_name.clone(),
            set: FileSet::new(&config.app_path),
            digests: RandomState::new(),
            ports,
            reloading: Mutex::default(),
            files: Mutex::default(),
            loaded: AtomicBool::new(false),
            shared_definitions,
            own_writes: OwnWrites::default(),
            file_changes: OnceLock::new(),
            revisions: OnceLock::new(),
        }
    }

    /// The definitions that gateways share; `None` if each has its own.
    pub(crate) fn shared_definitions(&self) -> Option<&SharedDefinitions> {
        self.shared_definitions.as_ref()
    }

    /// Files that the control API writes.
    pub(crate) fn own_writes(&self) -> &OwnWrites {
        &self.own_writes
    }

    /// From now on, changes of files by others are sent there.
    pub(crate) fn tell_file_changes(&self, to: tokio::sync::mpsc::Sender<FoundChanges>) {
        // Set once, at the start.
        let _ = self.file_changes.set(to);
    }

    /// From now on, what changes replace is sent there.
    pub(crate) fn tell_revisions(&self, to: tokio::sync::mpsc::Sender<Revision>) {
        // Set once, at the start.
        let _ = self.revisions.set(to);
    }

    /// Directory of definitions.
    pub(crate) fn app_path(&self) -> &Path {
        &self.app_path
    }

    /// Directory of policies, if policies are files.
    pub(crate) fn policy_path(&self) -> Option<&Path> {
        Some(self.policy_path.as_path()).filter(|path| !path.as_os_str().is_empty())
    }

    /// Whether the definitions have been read at least once.
    pub(crate) fn has_loaded(&self) -> bool {
        self.loaded.load(Ordering::Relaxed)
    }

    /// Reads all files and publishes a snapshot.
    pub(crate) fn reload(&self) -> ReloadReport {
        let start = Instant::now();
        self.shared.refresh_certificates();
        let remote = self.shared.settings.secrets.remote.as_deref();
        remote.iter().for_each(|secrets| secrets.refresh());
        let _one_at_a_time = self.reloading.lock().unwrap_or_else(PoisonError::into_inner);
        let (before, policies_before) = (self.files(), self.shared.keys.policies());
        let own_writes = self.own_writes.complete();
        let is_first = !self.loaded.load(Ordering::Relaxed);
        let settled = self.set.settle();
        let whole = self.set.read_lock();
        let mut read = self.read();
        drop(whole);
        match settled {
            Ok(Settled::Nothing) => {}
            Ok(Settled::Completed) => tracing::warn!("a change of several files was interrupted; it is complete now"),
            Ok(Settled::Undone) => tracing::warn!("a change of several files was interrupted; it is undone"),
            Err(fault) => {
                let message = format!("an interrupted change of several files can't be completed: {fault}");
                read.problems.push(Problem::new(Level::Error, "", message).within(Some(&self.app_path)));
            }
        }
        let report = self.serve(read, start);
        if !is_first {
            self.tell_changes_since(&before, &policies_before);
        }
        self.own_writes.forget(&own_writes);
        report
    }

    /// Tells which files have changed that the control API did not write.
    fn tell_changes_since(&self, before: &LoadedFiles, policies_before: &Policies) {
        let Some(to) = self.file_changes.get() else { return };
        let mut changes = FoundChanges::default();
        self.note_file_changes(before, &self.files(), &mut changes);
        changes.add_policies(policies_before, &self.shared.keys.policies());
        changes.leave_out(&self.own_writes);
        if !changes.is_empty() {
            revision::hand_over(to, changes);
        }
    }

    /// Changes files of several APIs and policies as one, and serves the result; or changes nothing. `plan` decides by the files as they are
    /// now; with `is_dry_run`, its changes are only checked. Blocks.
    pub(crate) fn change<T, E>(
        &self,
        is_dry_run: bool,
        plan: impl FnOnce(&ReadFiles) -> Result<(Vec<WantedFile>, T), E>,
    ) -> Result<(T, ReloadReport), FilesUnchanged<E>> {
        let start = Instant::now();
        self.shared.refresh_certificates();
        let _one_at_a_time = self.reloading.lock().unwrap_or_else(PoisonError::into_inner);
        let locked = if is_dry_run { None } else { Some(self.set.lock().map_err(FilesUnchanged::Fault)?) };
        if let Some(locked) = &locked {
            locked.settle().map_err(FilesUnchanged::Fault)?;
        }
        let read = self.read();
        let (wanted, planned) = plan(&read).map_err(FilesUnchanged::Refused)?;
        let (changed, writes) = self.changed(&read, &wanted).map_err(FilesUnchanged::Problems)?;
        self.check_together(&read, &changed).map_err(FilesUnchanged::Problems)?;
        let Some(locked) = locked else {
            // What was compiled only for the check is not needed any more.
            self.shared.registry.purge();
            let problems = changed.files.values().flat_map(|file| file.problems.iter().cloned()).chain(changed.problems).collect();
            return Ok((planned, ReloadReport { apis: changed.files.len(), problems }));
        };
        if wanted.is_empty() {
            return Ok((planned, ReloadReport::default()));
        }
        locked.apply(&writes).map_err(FilesUnchanged::Fault)?;
        Ok((planned, self.serve(changed, start)))
    }

    /// The files after a change, and what has to be written.
    fn changed(&self, read: &ReadFiles, wanted: &[WantedFile]) -> Result<(ReadFiles, Vec<FileChange>), Vec<Problem>> {
        let mut files = LoadedFiles::clone(&read.files);
        let mut policies = read.policies.clone();
        let (mut errors, mut writes) = (Vec::new(), Vec::new());
        for wanted in wanted {
            // What comes from elsewhere has no file that could change together with others.
            if !self.is_own_file(wanted.path()) {
                let message = "is no file of this gateway, so it can't be changed together with others";
                errors.push(Problem::new(Level::Error, "", message).within(Some(wanted.path())));
                continue;
            }
            match wanted {
                WantedFile::Api { file, text } => {
                    let loaded = self.parse(file, text, GoodVersion::default());
                    errors.extend(loaded.problems.iter().filter(|problem| problem.is_error()).cloned());
                    files.insert(file.path.clone(), Arc::new(loaded));
                    writes.push(FileChange { path: file.path.clone(), content: Some(text.text.clone()) });
                    // A document that is no longer one must not stay beside the definition.
                    let companion = file.companion.clone().or_else(|| companion_of(&file.path).filter(|path| path.is_file()));
                    writes.extend(companion.map(|path| FileChange { path, content: text.companion.clone() }));
                }
                WantedFile::NoApi { file } => {
                    files.remove(&file.path);
                    let both = [Some(&file.path), file.companion.as_ref()].into_iter().flatten();
                    writes.extend(both.map(|path| FileChange { path: path.clone(), content: None }));
                }
                WantedFile::Policy { path, policy } => {
                    let text = serde_json::to_vec_pretty(&policy.to_json()).unwrap_or_default();
                    writes.push(FileChange { path: path.clone(), content: Some(text) });
                    policies.put(Policy::clone(policy), path.clone());
                }
                WantedFile::NoPolicy { path, id } => {
                    writes.push(FileChange { path: path.clone(), content: None });
                    policies.remove(id);
                }
            }
        }
        let changed = ReadFiles { files: Arc::new(files), policies, problems: read.problems.clone() };
        if errors.is_empty() { Ok((changed, writes)) } else { Err(errors) }
    }

    /// Whether a file is in the directory of definitions or of policies.
    fn is_own_file(&self, path: &Path) -> bool {
        [&self.app_path, &self.policy_path].iter().any(|directory| !directory.as_os_str().is_empty() && path.starts_with(directory))
    }

    /// Whether the changed APIs can be served together, as far as those before could.
    fn check_together(&self, before: &ReadFiles, changed: &ReadFiles) -> Result<(), Vec<Problem>> {
        let errors = |read: &ReadFiles| {
            let (_, problems) = assemble(distinct(usable(&read.files), &mut Vec::new()), &self.shared.settings);
            problems.into_iter().filter(Problem::is_error).collect::<Vec<_>>()
        };
        let mut new = errors(changed);
        if !new.is_empty() {
            let known = errors(before);
            new.retain(|error| !known.contains(error));
        }
        if new.is_empty() { Ok(()) } else { Err(new) }
    }

    /// Reads all files. Unchanged ones keep what was compiled from them.
    fn read(&self) -> ReadFiles {
        let before = self.files();
        let mut problems = Vec::new();
        let shared_set = self.load_shared(&mut problems);
        let mut files: LoadedFiles = match api_files(&self.app_path) {
            Ok(paths) => {
                self.loaded.store(true, Ordering::Relaxed);
                paths.into_iter().map(|file| (file.path.clone(), self.load(&file, before.get(&file.path)))).collect()
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound && before.keys().all(|path| is_shared(path)) => {
                self.loaded.store(true, Ordering::Relaxed);
                if self.shared_definitions.is_none() {
                    let message = "there is no such directory yet; no API is served";
                    problems.push(Problem::new(Level::Warning, "", message).within(Some(&self.app_path)));
                }
                LoadedFiles::new()
            }
            Err(error) => {
                let message = format!("cannot be read: {error}; the APIs served before stay");
                problems.push(Problem::new(Level::Error, "", message).within(Some(&self.app_path)));
                before.iter().filter(|(path, _)| !is_shared(path)).map(|(path, file)| (path.clone(), file.clone())).collect()
            }
        };
        for (id, text) in shared_set.iter().flat_map(|set| set.of(DocumentClass::Api)) {
            let file = ApiFile { path: DocumentClass::Api.place(id), companion: None };
            let loaded = self.load_text(&file, &DefinitionText::of(text.as_bytes()), before.get(&file.path));
            files.insert(file.path, loaded);
        }
        let policies_before = self.shared.keys.policies();
        let (mut policies, found) = Policies::load(&self.policy_path, &self.policy_file, &policies_before);
        problems.extend(found);
        if let Some(set) = &shared_set {
            let shared = set.of(DocumentClass::Policy).map(|(id, text)| (id, text, DocumentClass::Policy.place(id)));
            policies.add_shared(shared, &policies_before, &mut problems);
        }
        let files = Arc::new(files);
        ReadFiles { files, policies, problems }
    }

    /// Publishes a snapshot of files that were read.
    fn serve(&self, read: ReadFiles, start: Instant) -> ReloadReport {
        let ReadFiles { files, policies, problems } = read;
        let before = self.files();
        let mut report = ReloadReport { apis: 0, problems };
        let policies_before = self.shared.keys.policies();
        let policies_changed = *policies_before != policies;
        if let Some(to) = self.revisions.get() {
            let revision = Revision::between(&before, &files, [&policies_before, &policies]);
            if !revision.objects.is_empty() {
                revision::hand_over(to, revision);
            }
        }
        report.problems.extend(self.shared.keys.set_policies(policies));
        let apis = distinct(usable(&files), &mut report.problems);
        report.apis = apis.len();
        let (snapshot, mut problems) = assemble(apis, &self.shared.settings);
        let ports = snapshot.ports();
        problems.extend(self.open_ports(&ports, &files));
        *self.files.lock().unwrap_or_else(PoisonError::into_inner) = files.clone();
        self.shared.publish(snapshot);
        self.ports.apply(&ports);
        self.shared.registry.purge();
        report.problems.extend(files.values().flat_map(|file| file.problems.iter().cloned()));
        report.problems.extend(problems);
        let is_changed = is_changed(&before, &files) || policies_changed;
        self.shared.observer.note_reload(&report.problems, start.elapsed(), is_changed, report.apis);
        report.log(start);
        report
    }

    /// Opens the ports of a snapshot that is about to be in service. A port that can't be opened is a problem of each API that names it; the
    /// others are served.
    fn open_ports(&self, ports: &BTreeMap<u16, PortTerms>, files: &LoadedFiles) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (number, error) in self.ports.prepare(ports) {
            for (path, file) in files {
                let names_it = file.good.as_ref().is_some_and(|api| api.port.number == number);
                if names_it {
                    problems.push(Problem::new(Level::Error, "$.listen_port", error.as_str()).within(Some(path)));
                }
            }
        }
        problems
    }

    /// The definitions that gateways share, as far as they can be had.
    fn load_shared(&self, problems: &mut Vec<Problem>) -> Option<Arc<SharedSet>> {
        let shared = self.shared_definitions.as_ref()?;
        Some(shared.load().unwrap_or_else(|why| {
            let known = shared.known();
            let message = match known.revision {
                0 => format!("the shared definitions can't be read: {why}; none is served"),
                revision => format!("the shared definitions can't be read: {why}; those of revision {revision} stay in service"),
            };
            problems.push(Problem::new(Level::Error, "", message).within(Some(Path::new("redis:"))));
            known
        }))
    }

    /// Notes which definitions in files have changed.
    fn note_file_changes(&self, before: &LoadedFiles, now: &LoadedFiles, changes: &mut FoundChanges) {
        let api = |file: &Arc<LoadedFile>| file.good.clone();
        for (path, file) in now.iter().filter(|(path, _)| !is_shared(path)) {
            match before.get(path) {
                Some(old) if old.digest == file.digest => {}
                old => {
                    let is_usable = !file.problems.iter().any(Problem::is_error);
                    changes.add_api(path, old.and_then(api), api(file).filter(|_| is_usable), is_usable);
                }
            }
        }
        for (path, old) in before.iter().filter(|(path, _)| !is_shared(path) && !now.contains_key(*path)) {
            changes.add_api(path, api(old), None, true);
        }
    }

    /// Reads one file, or reuses its previous result if it is unchanged.
    fn load(&self, file: &ApiFile, known: Option<&Arc<LoadedFile>>) -> Arc<LoadedFile> {
        let last_good = || known.map(|known| (known.good.clone(), known.good_digest)).unwrap_or_default();
        let text = match DefinitionText::read(file) {
            Ok(text) => text,
            Err(error) => {
                let problems = vec![Problem::new(Level::Error, "", format!("cannot be read: {error}")).within(Some(&file.path))];
                let (good, good_digest) = last_good();
                return Arc::new(LoadedFile { digest: 0, named: Vec::new(), good, good_digest, elsewhere: None, problems });
            }
        };
        self.load_text(file, &text, known)
    }

    /// What tells whether a definition must be compiled again. A secret that has changed may be in any of them, and so may a bundle that has
    /// come.
    fn digest_of(&self, text: &DefinitionText, named: &[NamedFile]) -> u64 {
        let generation = self.shared.settings.secrets.remote.as_ref().map(|secrets| secrets.generation());
        let bundles = self.shared.registry.bundles.get().map(|bundles| bundles.generation());
        self.digests.hash_one((text, generation, bundles, named))
    }

    /// The same for a text that has been read.
    fn load_text(&self, file: &ApiFile, text: &DefinitionText, known: Option<&Arc<LoadedFile>>) -> Arc<LoadedFile> {
        let is_same = |known: &&Arc<LoadedFile>| {
            known.digest == self.digest_of(text, &known.named) && known.named.iter().all(NamedFile::is_unchanged)
        };
        match known.filter(is_same) {
            Some(known) => known.clone(),
            None => {
                let last_good = known.map(|known| (known.good.clone(), known.good_digest)).unwrap_or_default();
                Arc::new(self.parse(file, text, last_good))
            }
        }
    }

    fn parse(&self, file: &ApiFile, text: &DefinitionText, (last_good, last_digest): GoodVersion) -> LoadedFile {
        let path = file.path.as_path();
        let (compiled, named) = asked_during(|| self.api(text, Some(file)));
        let digest = self.digest_of(text, &named);
        match compiled {
            Ok((api, mut problems)) => {
                let is_own = self.shared.settings.has_tag_of(&api.tags);
                let api = Arc::new(api);
                let (good, elsewhere) = if is_own { (Some(api), None) } else { (None, Some(api)) };
                if !is_own {
                    let message = "belongs to another segment: none of its tags stands in db_app_conf_options.tags; not served";
                    problems.push(Problem::new(Level::Note, "$.tags", message).within(Some(path)));
                }
                LoadedFile { digest, named, good, good_digest: Some(text.digest()), elsewhere, problems }
            }
            Err(mut problems) => {
                let message = if last_good.is_some() { "the last good version stays in service" } else { "this API is left out" };
                problems.push(Problem::new(Level::Warning, "", message).within(Some(path)));
                LoadedFile { digest, named, good: last_good, good_digest: last_digest, elsewhere: None, problems }
            }
        }
    }

    /// Parses, checks and compiles one definition.
    pub(crate) fn api(&self, text: &DefinitionText, file: Option<&ApiFile>) -> Result<(CompiledApi, Vec<Problem>), Vec<Problem>> {
        text.compile(file, &self.shared.settings, &self.shared.registry)
    }

    /// The files loaded last.
    fn files(&self) -> Arc<LoadedFiles> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Digest of the definitions that are served; the same on all gateways that serve the same texts.
    pub(crate) fn definitions_digest(&self) -> String {
        let files = self.files();
        let shared = self.shared_definitions.as_ref().map(SharedDefinitions::known);
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
    pub(crate) fn policies_digest(&self) -> String {
        shortened(&self.shared.keys.policies().digest())
    }

    /// The files and policies in service.
    pub(crate) fn served(&self) -> ReadFiles {
        ReadFiles { files: self.files(), policies: Policies::clone(&self.shared.keys.policies()), problems: Vec::new() }
    }

    /// The file of each API that is in one, by id. Of two with the same id, the later one.
    pub(crate) fn files_by_id(&self) -> HashMap<String, PathBuf> {
        let files = self.files();
        let own = files.iter().filter(|(path, _)| !is_shared(path));
        own.filter_map(|(path, file)| Some((file.good.as_ref()?.id.clone(), path.clone()))).collect()
    }

    /// The file of the API with this id; none for a shared definition.
    pub(crate) fn file_of(&self, id: &str) -> Option<PathBuf> {
        let files = self.files();
        let defines = |file: &Arc<LoadedFile>| file.good.as_ref().is_some_and(|api| api.id == id);
        files.iter().rev().find(|(path, file)| !is_shared(path) && defines(file)).map(|(path, _)| path.clone())
    }
}

impl ReadFiles {
    /// The APIs in the order of their files; of several with one id, all.
    pub(crate) fn apis(&self) -> impl Iterator<Item = ReadApi<'_>> {
        self.files.iter().filter_map(|(path, file)| {
            let api = file.good.as_ref().or(file.elsewhere.as_ref())?;
            Some(ReadApi { path, api, is_broken: file.is_broken() })
        })
    }

    pub(crate) fn policies(&self) -> &Policies {
        &self.policies
    }

    /// Errors in files, by file.
    pub(crate) fn errors(&self) -> impl Iterator<Item = &Problem> {
        let in_files = self.files.values().flat_map(|file| &file.problems);
        self.problems.iter().chain(in_files).filter(|problem| problem.is_error())
    }

    /// Digest of the texts of all definitions and policies, the same in all processes.
    pub(crate) fn digest(&self) -> blake3::Hash {
        let mut digest = blake3::Hasher::new();
        for (path, file) in self.files.iter() {
            let name = path.file_name().unwrap_or_default().as_encoded_bytes();
            digest.update(&(name.len() as u64).to_le_bytes()).update(name);
            digest.update(file.good_digest.as_ref().map_or(&[], |good| good.as_bytes().as_slice()));
            for error in file.problems.iter().filter(|problem| problem.is_error()) {
                digest.update(error.path.as_bytes()).update(error.message.as_bytes());
            }
        }
        digest.update(self.policies.digest().as_bytes());
        digest.finalize()
    }
}

impl ReloadReport {
    fn log(&self, start: Instant) {
        logs::problems(&self.problems);
        let ignored = self.problems.iter().filter(|problem| problem.level == Level::Ignored).count();
        tracing::info!(apis = self.apis, ignored_fields = ignored, ms = start.elapsed().as_millis() as u64, "API reload complete");
    }

    /// Problems that make a definition unusable.
    pub(crate) fn errors(&self) -> impl Iterator<Item = &Problem> {
        self.problems.iter().filter(|problem| problem.is_error())
    }
}

/// The APIs of files, in the order of the files.
fn usable(files: &LoadedFiles) -> impl Iterator<Item = (&Path, &Arc<CompiledApi>)> {
    files.iter().filter_map(|(path, file)| Some((path.as_path(), file.good.as_ref()?)))
}

/// Whether files came, went or changed.
fn is_changed(before: &LoadedFiles, now: &LoadedFiles) -> bool {
    let digest = |(path, file): (&PathBuf, &Arc<LoadedFile>)| (path.clone(), file.digest);
    !before.iter().map(digest).eq(now.iter().map(digest))
}

/// Requests reloads. Requests that arrive during a reload are answered by one more.
#[derive(Clone)]
pub(crate) struct Reloads {
    requests: mpsc::Sender<ReloadWaiter>,
}

/// The requester of a reload; `None` if it does not wait for the report.
type ReloadWaiter = Option<oneshot::Sender<ReloadReport>>;

impl Reloads {
    /// Starts the reload thread. `interval` is the minimum time between two reloads that no one waits for.
    pub(crate) fn start(loader: Arc<Loader>, interval: Duration) -> io::Result<Self> {
        let (requests, inbox) = mpsc::channel::<ReloadWaiter>();
        let run = move || {
            let mut last: Option<Instant> = None;
            while let Ok(first) = inbox.recv() {
                let waiting = gather(first, &inbox, last.map_or(Duration::ZERO, |last| interval.saturating_sub(last.elapsed())));
                let report = loader.reload();
                last = Some(Instant::now());
                for asker in waiting {
                    // The requester may have stopped waiting.
                    let _ = asker.send(report.clone());
                }
            }
        };
        std::thread::Builder::new().name("reload".to_owned()).spawn(run)?;
        Ok(Reloads { requests })
    }

    /// Requests a reload; the receiver gets its report.
    pub(crate) fn request(&self) -> oneshot::Receiver<ReloadReport> {
        let (sender, receiver) = oneshot::channel();
        self.send(Some(sender));
        receiver
    }

    /// Requests a reload without waiting for it.
    pub(crate) fn request_later(&self) {
        self.send(None);
    }

    fn send(&self, asker: ReloadWaiter) {
        if self.requests.send(asker).is_err() {
            tracing::error!("the reload thread is gone");
        }
    }
}

/// Collects the requesters of the next reload. It starts when someone waits for it, at the latest after `time_max`.
fn gather(first: ReloadWaiter, inbox: &mpsc::Receiver<ReloadWaiter>, time_max: Duration) -> Vec<oneshot::Sender<ReloadReport>> {
    let end = Instant::now() + time_max;
    let mut waiting: Vec<_> = first.into_iter().collect();
    loop {
        waiting.extend(inbox.try_iter().flatten());
        let left = end.saturating_duration_since(Instant::now());
        if !waiting.is_empty() || left.is_zero() {
            return waiting;
        }
        match inbox.recv_timeout(left) {
            Ok(asker) => waiting.extend(asker),
            Err(_) => return waiting,
        }
    }
}
