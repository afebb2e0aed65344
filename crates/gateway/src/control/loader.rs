//! Builds a new snapshot from the files in `app_path`. An unchanged file keeps its compiled API; a broken one keeps its last good
//! version; requests in flight are not affected.

use crate::auth::keys::Policies;
use crate::base::definition_files::{ApiFile, api_files};
use crate::base::digest::shortened;
use crate::control::compile::assemble;
use crate::control::definition::DefinitionText;
use crate::control::ports::ApiPorts;
use crate::data::gateway_state::GatewayState;
use crate::data::port::PortTerms;
use crate::data::snapshot::CompiledApi;
use crate::observe::logs;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tollgate_model::config::GatewayConfig;
use tollgate_model::{Level, Problem};

/// Loads definitions and publishes snapshots, one reload at a time.
pub(crate) struct Loader {
    shared: Arc<GatewayState>,
    app_path: PathBuf,
    policy_path: PathBuf,
    policy_file: PathBuf,
    digests: RandomState,
    ports: Arc<ApiPorts>,
    /// Held during a reload.
    reloading: Mutex<()>,
    /// Held only briefly: requests read it during a reload.
    files: Mutex<Arc<LoadedFiles>>,
    loaded: AtomicBool,
}

type LoadedFiles = BTreeMap<PathBuf, Arc<LoadedFile>>;

/// A compiled API and the digest of its text.
type GoodVersion = (Option<Arc<CompiledApi>>, Option<blake3::Hash>);

struct LoadedFile {
    digest: u64,
    /// The last usable version.
    good: Option<Arc<CompiledApi>>,
    /// Digest of its text, which is the same in all processes.
    good_digest: Option<blake3::Hash>,
    problems: Vec<Problem>,
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
    pub(crate) fn new(shared: Arc<GatewayState>, ports: Arc<ApiPorts>, config: &GatewayConfig) -> Self {
        Loader {
            shared,
            app_path: config.app_path.clone(),
            policy_path: config.policies.policy_path.clone(),
            policy_file: config.policies.policy_record_name.clone(),
            digests: RandomState::new(),
            ports,
            reloading: Mutex::default(),
            files: Mutex::default(),
            loaded: AtomicBool::new(false),
        }
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
        let _one_at_a_time = self.reloading.lock().unwrap_or_else(PoisonError::into_inner);
        let mut files = self.files();
        let before = files.clone();
        let mut report = ReloadReport::default();
        match api_files(&self.app_path) {
            Ok(paths) => {
                self.loaded.store(true, Ordering::Relaxed);
                let load = |file: ApiFile| (file.path.clone(), self.load(&file, files.get(&file.path)));
                files = Arc::new(paths.into_iter().map(load).collect());
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound && files.is_empty() => {
                self.loaded.store(true, Ordering::Relaxed);
                let message = "there is no such directory yet; no API is served";
                report.problems.push(Problem::new(Level::Warning, "", message).within(Some(&self.app_path)));
            }
            Err(error) => {
                let message = format!("cannot be read: {error}; the APIs served before stay");
                report.problems.push(Problem::new(Level::Error, "", message).within(Some(&self.app_path)));
            }
        }
        let (policies, problems) = Policies::load(&self.policy_path, &self.policy_file, &self.shared.keys.policies());
        report.problems.extend(problems);
        let policies_changed = *self.shared.keys.policies() != policies;
        report.problems.extend(self.shared.keys.set_policies(policies));
        let apis = self.distinct(&files, &mut report.problems);
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

    /// Reads one file, or reuses its previous result if it is unchanged.
    fn load(&self, file: &ApiFile, known: Option<&Arc<LoadedFile>>) -> Arc<LoadedFile> {
        let last_good = || known.map(|known| (known.good.clone(), known.good_digest)).unwrap_or_default();
        let text = match DefinitionText::read(file) {
            Ok(text) => text,
            Err(error) => {
                let problems = vec![Problem::new(Level::Error, "", format!("cannot be read: {error}")).within(Some(&file.path))];
                let (good, good_digest) = last_good();
                return Arc::new(LoadedFile { digest: 0, good, good_digest, problems });
            }
        };
        let digest = self.digests.hash_one(&text);
        match known {
            Some(known) if known.digest == digest => known.clone(),
            _ => Arc::new(self.parse(file, &text, digest, last_good())),
        }
    }

    fn parse(&self, file: &ApiFile, text: &DefinitionText, digest: u64, (last_good, last_digest): GoodVersion) -> LoadedFile {
        let path = file.path.as_path();
        match self.api(text, Some(file)) {
            Ok((api, mut problems)) => {
                let good = self.shared.settings.has_tag_of(&api.tags).then(|| Arc::new(api));
                if good.is_none() {
                    let message = "belongs to another segment: none of its tags stands in db_app_conf_options.tags; not served";
                    problems.push(Problem::new(Level::Note, "$.tags", message).within(Some(path)));
                }
                LoadedFile { digest, good, good_digest: Some(text.digest()), problems }
            }
            Err(mut problems) => {
                let message = if last_good.is_some() { "the last good version stays in service" } else { "this API is left out" };
                problems.push(Problem::new(Level::Warning, "", message).within(Some(path)));
                LoadedFile { digest, good: last_good, good_digest: last_digest, problems }
            }
        }
    }

    /// Parses, checks and compiles one definition.
    pub(crate) fn api(&self, text: &DefinitionText, file: Option<&ApiFile>) -> Result<(CompiledApi, Vec<Problem>), Vec<Problem>> {
        text.compile(file, &self.shared.settings, &self.shared.registry)
    }

    /// The APIs in the order of their files; of two with the same id, the later one wins.
    fn distinct(&self, files: &LoadedFiles, problems: &mut Vec<Problem>) -> Vec<Arc<CompiledApi>> {
        let mut apis: Vec<Arc<CompiledApi>> = Vec::with_capacity(files.len());
        let mut places: HashMap<String, usize> = HashMap::new();
        for (path, file) in files {
            let Some(api) = &file.good else { continue };
            let place = if api.id.is_empty() { None } else { places.get(&api.id).copied() };
            match place.and_then(|place| apis.get_mut(place)) {
                Some(earlier) => {
                    let message = format!("the id {} is also that of an earlier file, which does not count", api.id);
                    problems.push(Problem::new(Level::Warning, "$.api_id", message).within(Some(path)));
                    *earlier = api.clone();
                }
                None => {
                    places.insert(api.id.clone(), apis.len());
                    apis.push(api.clone());
                }
            }
        }
        apis
    }

    /// The files loaded last.
    fn files(&self) -> Arc<LoadedFiles> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Digest of the definitions that are served; the same on all gateways that serve the same texts.
    pub(crate) fn definitions_digest(&self) -> String {
        let files = self.files();
        let served = files.values().filter_map(|file| Some((file.good.as_ref()?.id.as_str(), file.good_digest?)));
        let mut served: Vec<(&str, blake3::Hash)> = served.collect();
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

    /// The file of the API with this id.
    pub(crate) fn file_of(&self, id: &str) -> Option<PathBuf> {
        let files = self.files();
        let defines = |file: &Arc<LoadedFile>| file.good.as_ref().is_some_and(|api| api.id == id);
        files.iter().rev().find(|(_, file)| defines(file)).map(|(path, _)| path.clone())
    }
}

impl ReloadReport {
    fn log(&self, start: Instant) {
        logs::problems(&self.problems);
        let ignored = self.problems.iter().filter(|problem| problem.level == Level::Ignored).count();
        tracing::info!(apis = self.apis, ignored_fields = ignored, ms = start.elapsed().as_millis() as u64, "definitions loaded");
    }

    /// Problems that make a definition unusable.
    pub(crate) fn errors(&self) -> impl Iterator<Item = &Problem> {
        self.problems.iter().filter(|problem| problem.is_error())
    }
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
