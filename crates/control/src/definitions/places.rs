//! Where definitions and policies are kept: in files, or in the Redis of all gateways.

use super::class::DocumentClass;
use super::loaded::{ReadFiles, own};
use super::shared::SharedDefinitions;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use tollgate_model::definition_files::{ApiFile, CompanionKind, Companions, companion_of};

/// Where documents are kept.
pub(super) struct StorePlaces {
    /// Directory of definitions.
    pub app_path: PathBuf,
    pub policy_path: PathBuf,
    pub policy_file: PathBuf,
    /// The definitions that gateways share, if they do; then changes are made there.
    pub shared: Option<SharedDefinitions>,
}

/// Files of this gateway by the ids of their APIs, in their order.
pub(super) struct FilesById<'r>(HashMap<&'r str, Vec<&'r Path>>);

impl<'r> FilesById<'r> {
    /// Those of some APIs.
    pub(super) fn of(read: &'r ReadFiles, ids: &HashSet<&str>) -> Self {
        let mut files: HashMap<&str, Vec<&Path>> = HashMap::with_capacity(ids.len());
        for (path, file) in own(&read.files) {
            if let Some(api) = file.api().filter(|api| ids.contains(api.id.as_str())) {
                files.entry(&api.id).or_default().push(path);
            }
        }
        FilesById(files)
    }

    pub(super) fn all(&self, id: &str) -> &[&'r Path] {
        self.0.get(id).map_or(&[], Vec::as_slice)
    }
}

impl StorePlaces {
    /// Directory of policies, if policies are files of a directory.
    pub(super) fn policy_path(&self) -> Option<&Path> {
        Some(self.policy_path.as_path()).filter(|path| !path.as_os_str().is_empty())
    }

    /// Where a definition is kept, or will be beside what a change has already put into `changed`. An OpenAPI document is the companion of its classic form, unless it stands alone already.
    pub(super) fn of_api(
        &self,
        [read, changed]: [&ReadFiles; 2],
        files: &FilesById<'_>,
        id: &str,
        kind: Option<CompanionKind>,
    ) -> ApiFile {
        if self.shared.is_some() {
            return ApiFile::alone(DocumentClass::Api.place(id));
        }
        let (path, stands_alone) = match files.all(id).last() {
            Some(path) => ((*path).to_owned(), ApiFile::at((*path).to_owned()).companions.is_empty()),
            None => (self.new_file([read, changed], id), false),
        };
        let companion = kind.filter(|_| !stands_alone).and_then(|kind| Some((kind, companion_of(&path, kind)?)));
        let companions = companion.map(|(kind, path)| Companions::only(kind, path)).unwrap_or_default();
        ApiFile { path, companions }
    }

    /// Where a new definition is written: the file named after its id, unless another API is there, or the name has a meaning of its own.
    fn new_file(&self, states: [&ReadFiles; 2], id: &str) -> PathBuf {
        let names = std::iter::once(format!("{id}.json")).chain((2..).map(|number| format!("{id}.{number}.json")));
        let mut paths = names.map(|name| self.app_path.join(name));
        let is_of_none = |path: &PathBuf, read: &ReadFiles| read.files.get(path.as_os_str()).and_then(|file| file.api()).is_none();
        // A document that stands alone would become its companion.
        let companions =
            |path: &PathBuf| CompanionKind::ALL.into_iter().filter_map(|kind| companion_of(path, kind)).collect::<Vec<_>>();
        let is_unused = |path: &PathBuf, read: &ReadFiles| {
            is_of_none(path, read) && companions(path).iter().all(|companion| is_of_none(companion, read))
        };
        let is_free = |path: &PathBuf| !has_own_meaning(path) && states.iter().all(|read| is_unused(path, read));
        paths.find(is_free).unwrap_or_else(|| self.app_path.join(id))
    }

    /// Where a policy is kept, or will be; `None` if there is no place for it.
    pub(super) fn of_policy(&self, read: &ReadFiles, id: &str) -> Option<PathBuf> {
        if self.shared.is_some() {
            return Some(DocumentClass::Policy.place(id));
        }
        let directory = self.policy_path()?;
        let named = directory.join(format!("{id}.json"));
        let new = || if has_own_meaning(&named) { directory.join(format!("{id}.2.json")) } else { named.clone() };
        Some(read.policies.file_of(id).map_or_else(new, Path::to_owned))
    }
}

/// Whether a file of this name belongs to another one, or is not read.
fn has_own_meaning(path: &Path) -> bool {
    CompanionKind::of_file(path).is_some()
}
