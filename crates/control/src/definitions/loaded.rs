//! Definitions and policies as they were read and compiled. An unchanged file is not read again; an unchanged text keeps its compiled API; a broken
//! one keeps its last good version.

use super::class::{DocumentClass, is_external, is_file, rank};
use super::set::distinct;
use super::text::{DefinitionText, ReadDefinition};
use serde_json::Value;
use std::borrow::Borrow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::hash::{BuildHasher, RandomState};
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;
use tollgate_access::keys::Policies;
use tollgate_data::gateway_state::GatewayState;
use tollgate_data::snapshot::CompiledApi;
use tollgate_model::api::ApiDefinition;
use tollgate_model::definition_files::ApiFile;
use tollgate_model::readable_files::{NamedFile, asked_during};
use tollgate_model::{Level, Problem};

/// In the order of their places.
pub(super) type LoadedFiles = BTreeMap<FileKey, Arc<LoadedFile>>;

/// The path of a definition; a shared one has a place in Redis instead. Compared byte by byte: part by part, as paths are, took a third of a
/// change among ten thousand.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FileKey(Arc<OsStr>);

impl From<&Path> for FileKey {
    fn from(path: &Path) -> Self {
        FileKey(path.as_os_str().into())
    }
}

impl Borrow<OsStr> for FileKey {
    fn borrow(&self) -> &OsStr {
        &self.0
    }
}

impl Deref for FileKey {
    type Target = Path;

    fn deref(&self) -> &Path {
        Path::new(&self.0)
    }
}

/// A definition that came, went, or was compiled of another text.
pub(super) struct FileDifference<'f> {
    pub path: &'f Path,
    pub old: Option<&'f Arc<LoadedFile>>,
    pub new: Option<&'f Arc<LoadedFile>>,
}

/// A compiled API and the digest of its text.
type GoodVersion = (Option<Arc<CompiledApi>>, Option<blake3::Hash>);

/// What was made of one definition.
#[derive(Clone)]
pub(super) struct LoadedFile {
    pub digest: u64,
    /// Its own files as they were when it was read. None of a definition that was not read from files.
    own: Vec<NamedFile>,
    read_at: SystemTime,
    /// The files that the definition names.
    named: Vec<NamedFile>,
    generations: OuterGenerations,
    /// The last usable version.
    pub good: Option<Arc<CompiledApi>>,
    /// Digest of its text, which is the same in all processes.
    pub good_digest: Option<blake3::Hash>,
    /// A usable version that belongs to another segment, so that it is not served here.
    pub elsewhere: Option<Arc<CompiledApi>>,
    pub problems: Vec<Problem>,
}

/// Of secrets in remote stores and of bundles: new ones may be in any definition.
type OuterGenerations = (Option<u64>, Option<u64>);

/// Files as they were read and compiled, not in service yet.
#[derive(Clone)]
pub struct ReadFiles {
    pub(super) files: Arc<LoadedFiles>,
    pub(super) policies: Policies,
    pub(super) problems: Vec<Problem>,
}

/// An API of the files that were read.
pub struct ReadApi<'r> {
    pub api: &'r Arc<CompiledApi>,
    /// Whether the file has errors, so that this is its last good version.
    pub is_broken: bool,
}

/// Reads and compiles definitions.
pub(super) struct FileReader {
    shared: Arc<GatewayState>,
    digests: RandomState,
}

impl LoadedFile {
    pub(super) fn is_broken(&self) -> bool {
        self.problems.iter().any(Problem::is_error)
    }

    /// The API, wherever it is served.
    pub(super) fn api(&self) -> Option<&Arc<CompiledApi>> {
        self.good.as_ref().or(self.elsewhere.as_ref())
    }

    fn last_good(&self) -> GoodVersion {
        (self.good.clone(), self.good_digest)
    }
}

impl FileReader {
    pub(super) fn new(shared: Arc<GatewayState>) -> Self {
        FileReader { shared, digests: RandomState::new() }
    }

    /// Reads one definition, or takes what is known of it if its files are unchanged.
    pub(super) fn load(&self, file: &ApiFile, known: Option<&Arc<LoadedFile>>) -> Arc<LoadedFile> {
        if let Some(known) = known.filter(|known| self.is_as_read(file, known)) {
            return known.clone();
        }
        let (own, read_at) = (own_files(file), SystemTime::now());
        let text = match DefinitionText::read(file) {
            Ok(text) => text,
            Err(error) => {
                let problems = vec![Problem::new(Level::Error, "", format!("cannot be read: {error}")).within(Some(&file.path))];
                let (good, good_digest) = known.map(|known| known.last_good()).unwrap_or_default();
                let generations = OuterGenerations::default();
                return Arc::new(LoadedFile {
                    digest: 0,
                    own: Vec::new(),
                    read_at,
                    named: Vec::new(),
                    generations,
                    good,
                    good_digest,
                    elsewhere: None,
                    problems,
                });
            }
        };
        let loaded = self.load_text(file, &text, known);
        Arc::new(LoadedFile { own, read_at, ..LoadedFile::clone(&loaded) })
    }

    /// The same for a text that has been read.
    pub(super) fn load_text(&self, file: &ApiFile, text: &DefinitionText, known: Option<&Arc<LoadedFile>>) -> Arc<LoadedFile> {
        let is_same = |known: &&Arc<LoadedFile>| {
            known.digest == self.digest_of(text, &known.named) && known.named.iter().all(NamedFile::is_unchanged)
        };
        match known.filter(is_same) {
            Some(known) => known.clone(),
            None => {
                Arc::new(self.compile(file, text, text.parse(Some(file)), known.map(|known| known.last_good()).unwrap_or_default()))
            }
        }
    }

    /// Compiles a definition that is about to be written; the last good version is none of its.
    pub(super) fn load_wanted(&self, file: &ApiFile, text: &DefinitionText, definition: ReadDefinition) -> LoadedFile {
        self.compile(file, text, Ok(definition), GoodVersion::default())
    }

    fn compile(
        &self,
        file: &ApiFile,
        text: &DefinitionText,
        definition: Result<ReadDefinition, Vec<Problem>>,
        (last_good, last_digest): GoodVersion,
    ) -> LoadedFile {
        let path = file.path.as_path();
        let generations = self.generations();
        let (settings, registry) = (&self.shared.settings, &self.shared.registry);
        let (compiled, named) =
            asked_during(|| definition.and_then(|definition| definition.compile(Some(path), settings, registry)));
        let digest = self.digest_of(text, &named);
        let mut loaded = LoadedFile {
            digest,
            own: Vec::new(),
            read_at: SystemTime::UNIX_EPOCH,
            named,
            generations,
            good: last_good,
            good_digest: last_digest,
            elsewhere: None,
            problems: Vec::new(),
        };
        match compiled {
            Ok((api, problems)) => {
                let is_own = settings.has_tag_of(&api.tags);
                let api = Arc::new(api);
                loaded.problems = problems;
                if !is_own {
                    let message = "belongs to another segment: none of its tags stands in db_app_conf_options.tags; not served";
                    loaded.problems.push(Problem::new(Level::Note, "$.tags", message).within(Some(path)));
                }
                (loaded.good, loaded.elsewhere) = if is_own { (Some(api), None) } else { (None, Some(api)) };
                loaded.good_digest = Some(text.digest());
            }
            Err(problems) => {
                let message = if loaded.good.is_some() { "the last good version stays in service" } else { "this API is left out" };
                loaded.problems = problems;
                loaded.problems.push(Problem::new(Level::Warning, "", message).within(Some(path)));
            }
        }
        loaded
    }

    /// Whether nothing has changed since a definition was read: its files, those that it names, and what any definition may refer to.
    fn is_as_read(&self, file: &ApiFile, known: &LoadedFile) -> bool {
        let is_unchanged = |file: &NamedFile| file.is_older_than(known.read_at) && file.is_unchanged();
        known.own.iter().map(|file| file.path().as_os_str()).eq(file.paths().map(|path| path.as_os_str()))
            && known.generations == self.generations()
            && known.own.iter().all(is_unchanged)
            && known.named.iter().all(NamedFile::is_unchanged)
    }

    /// What tells whether a definition must be compiled again.
    fn digest_of(&self, text: &DefinitionText, named: &[NamedFile]) -> u64 {
        self.digests.hash_one((text, self.generations(), named))
    }

    /// A secret that has changed may be in any definition, and so may a bundle that has come.
    fn generations(&self) -> OuterGenerations {
        let secrets = self.shared.settings.documents.secrets.remote.as_ref().map(|secrets| secrets.generation());
        (secrets, self.shared.registry.bundles.get().map(|bundles| bundles.generation()))
    }
}

fn own_files(file: &ApiFile) -> Vec<NamedFile> {
    file.paths().map(|path| NamedFile::now(path)).collect()
}

impl ReadFiles {
    /// The APIs in the order of their files; of several with one id, all.
    pub fn apis(&self) -> impl Iterator<Item = ReadApi<'_>> {
        self.files.values().filter_map(|file| Some(ReadApi { api: file.api()?, is_broken: file.is_broken() }))
    }

    /// The API with an id; of several, the one that is served.
    pub fn api(&self, id: &str) -> Option<&Arc<CompiledApi>> {
        let is_it = |file: &Arc<LoadedFile>| file.api().is_some_and(|api| api.id == id);
        let shared = self.files.get(DocumentClass::Api.place(id).as_os_str()).filter(|file| is_it(file));
        shared.or_else(|| Some(self.placed_api(id)?.1))?.api()
    }

    /// Whether a document comes from another source, where alone it can be changed.
    pub fn is_external(&self, class: DocumentClass, id: &str) -> bool {
        self.outer_place(class, id).is_some()
    }

    /// What stands for the path of a document that comes from another source.
    pub(super) fn outer_place(&self, class: DocumentClass, id: &str) -> Option<&Path> {
        if class == DocumentClass::Policy {
            return self.policies.file_of(id).filter(|place| is_external(place));
        }
        self.placed_api(id).map(|(path, _)| &**path).filter(|place| is_external(place))
    }

    /// Of the definitions with an id, the one that is served.
    fn placed_api(&self, id: &str) -> Option<(&FileKey, &Arc<LoadedFile>)> {
        let is_it = |file: &Arc<LoadedFile>| file.api().is_some_and(|api| api.id == id);
        self.files.iter().filter(|(_, file)| is_it(file)).max_by_key(|(path, _)| rank(path))
    }

    /// A document as it is shown.
    pub fn shown(&self, class: DocumentClass, id: &str) -> Option<Value> {
        match class {
            DocumentClass::Api => self.api(id).map(|api| ApiDefinition::shown(&api.raw)),
            DocumentClass::Policy => self.policies.get(id).map(|policy| policy.shown()),
        }
    }

    /// Those that are served together.
    pub(super) fn served(&self, problems: &mut Vec<Problem>) -> Vec<Arc<CompiledApi>> {
        distinct(self.files.iter().filter_map(|(path, file)| Some((&**path, file.good.as_ref()?))), problems)
    }

    pub fn policies(&self) -> &Policies {
        &self.policies
    }

    /// Errors in files, by file.
    pub fn errors(&self) -> impl Iterator<Item = &Problem> {
        let in_files = self.files.values().flat_map(|file| &file.problems);
        self.problems.iter().chain(in_files).filter(|problem| problem.is_error())
    }

    /// Digest of the texts of all definitions and policies, the same in all processes.
    pub fn digest(&self) -> blake3::Hash {
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

/// What differs between two states, in one walk through both.
pub(super) fn differing<'f>(before: &'f LoadedFiles, now: &'f LoadedFiles) -> Vec<FileDifference<'f>> {
    let (mut before, mut now) = (before.iter().peekable(), now.iter().peekable());
    let mut found = Vec::new();
    loop {
        let order = match (before.peek(), now.peek()) {
            (None, None) => return found,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some((old, _)), Some((new, _))) => old.cmp(new),
        };
        let old = if order.is_le() { before.next() } else { None };
        let new = if order.is_ge() { now.next() } else { None };
        let Some(path) = old.or(new).map(|(path, _)| &**path) else { return found };
        let [old, new] = [old, new].map(|there| there.map(|(_, file)| file));
        let is_same = old.zip(new).is_some_and(|(old, new)| Arc::ptr_eq(old, new) || old.digest == new.digest);
        if !is_same {
            found.push(FileDifference { path, old, new });
        }
    }
}

/// The document of an API in the language that it is written in.
pub fn document_of(api: &CompiledApi) -> &Value {
    api.openapi.as_ref().map_or(&api.raw, |document| &document.root)
}

/// The files of this gateway, without what gateways share.
pub(super) fn own(files: &LoadedFiles) -> impl DoubleEndedIterator<Item = (&FileKey, &Arc<LoadedFile>)> {
    files.iter().filter(|(path, _)| is_file(path))
}
