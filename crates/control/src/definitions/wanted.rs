//! Documents that somebody wants to have, and where they are kept.

use super::class::{DocumentClass, is_shared};
use super::loaded::{FileKey, FileReader, ReadFiles};
use super::places::{FilesById, StorePlaces};
use super::shared::{SharedChange, SharedSet};
use super::text::{DefinitionText, FILE_BYTES_MAX, ReadDefinition};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tollgate_file_set::FileChange;
use tollgate_model::definition_files::{ApiFile, CompanionKind, companion_of};
use tollgate_model::policy::Policy;
use tollgate_model::{Level, Problem};

/// A definition or policy as it is wanted. Its id can be the name of a file.
pub struct WantedDocument {
    pub class: DocumentClass,
    pub id: String,
    /// `None`: it is to go.
    pub content: Option<WantedContent>,
    /// What problems of it name: usually the file that it comes from. Empty for none.
    pub source: String,
}

pub enum WantedContent {
    Api(Box<ReadDefinition>),
    Policy(Box<Policy>),
}

impl WantedDocument {
    pub fn api(id: &str, definition: ReadDefinition) -> Self {
        let content = Some(WantedContent::Api(Box::new(definition)));
        WantedDocument { class: DocumentClass::Api, id: id.to_owned(), content, source: String::new() }
    }

    pub fn policy(policy: Policy) -> Self {
        let id = policy.id().to_owned();
        let content = Some(WantedContent::Policy(Box::new(policy)));
        WantedDocument { class: DocumentClass::Policy, id, content, source: String::new() }
    }

    pub fn gone(class: DocumentClass, id: &str) -> Self {
        WantedDocument { class, id: id.to_owned(), content: None, source: String::new() }
    }

    pub fn with_source(self, source: &str) -> Self {
        WantedDocument { source: source.to_owned(), ..self }
    }
}

/// A problem of a wanted document, or of what is served together with it.
pub struct DocumentProblem {
    /// Of the wanted document; of another one, its file.
    pub source: String,
    pub problem: Problem,
}

/// What is to be written, and what will be served then.
pub(super) struct ChangedDocuments {
    pub read: ReadFiles,
    pub files: Vec<FileChange>,
    pub shared: Vec<SharedChange>,
    /// Of the documents that are wanted, by their places.
    sources: HashMap<PathBuf, String>,
}

impl ChangedDocuments {
    /// Lays wanted documents over what was read, and compiles them.
    ///
    /// # Errors
    /// All errors of the wanted documents.
    pub(super) fn new(
        read: &ReadFiles,
        wanted: Vec<WantedDocument>,
        places: &StorePlaces,
        reader: &FileReader,
    ) -> Result<Self, Vec<DocumentProblem>> {
        let set = places.shared.as_ref().map(|shared| shared.known());
        let files = FilesById::of(read, &wanted.iter().map(|document| document.id.as_str()).collect());
        let mut changed = ChangedDocuments { read: read.clone(), files: Vec::new(), shared: Vec::new(), sources: HashMap::new() };
        let mut errors = Vec::new();
        for WantedDocument { class, id, content, source } in wanted {
            if let Some(place) = read.outer_place(class, &id) {
                let message = "comes from another source, where alone it can be changed";
                let problem = Problem::new(Level::Error, "", message).within(Some(place));
                errors.push(DocumentProblem { source: source.clone(), problem });
                continue;
            }
            let found = match content {
                Some(WantedContent::Api(definition)) => {
                    let file = places.of_api([read, &changed.read], &files, &id, definition.companion_kind());
                    changed.sources.extend(file.paths().map(|path| (path.clone(), source.clone())));
                    changed.put_api(&id, file, *definition, reader)
                }
                Some(WantedContent::Policy(policy)) => changed.put_policy(&id, *policy, places).into_iter().collect(),
                None => match class {
                    DocumentClass::Api => changed.remove_api(&id, files.all(&id), set.as_deref()),
                    DocumentClass::Policy => changed.remove_policy(&id, places, set.as_deref()).into_iter().collect(),
                },
            };
            errors.extend(found.into_iter().map(|problem| DocumentProblem { source: source.clone(), problem }));
        }
        if errors.is_empty() { Ok(changed) } else { Err(errors) }
    }

    /// Problems with the sources of the documents that they are in.
    pub(super) fn sourced(&self, problems: Vec<Problem>) -> Vec<DocumentProblem> {
        let source = |problem: &Problem| match &problem.file {
            Some(file) => self.sources.get(file).cloned().unwrap_or_else(|| file.display().to_string()),
            None => String::new(),
        };
        problems.into_iter().map(|problem| DocumentProblem { source: source(&problem), problem }).collect()
    }

    /// What is wrong with the wanted documents without making them unusable.
    pub(super) fn lesser_problems(&self) -> Vec<DocumentProblem> {
        let changed = self.sources.keys().filter_map(|path| self.read.files.get(path.as_os_str()));
        self.sourced(changed.flat_map(|file| file.problems.iter().cloned()).collect())
    }

    fn put_api(&mut self, id: &str, file: ApiFile, definition: ReadDefinition, reader: &FileReader) -> Vec<Problem> {
        if CompanionKind::of_file(&file.path) == Some(CompanionKind::Mcp) && !is_shared(&file.path) && !definition.is_mcp() {
            let message = "its file is one of proxies for the Model Context Protocol: remove the API before another takes its id";
            return vec![Problem::new(Level::Error, "", message).within(Some(&file.path))];
        }
        let text = definition.texts(is_shared(&file.path) || file.companions.is_empty());
        if text.bytes_max() > FILE_BYTES_MAX {
            let message = format!("its file would be larger than {FILE_BYTES_MAX} bytes");
            return vec![Problem::new(Level::Error, "", message).within(Some(&file.path))];
        }
        let loaded = reader.load_wanted(&file, &text, definition);
        let errors: Vec<Problem> = loaded.problems.iter().filter(|problem| problem.is_error()).cloned().collect();
        if errors.is_empty() {
            Arc::make_mut(&mut self.read.files).insert(FileKey::from(&*file.path), Arc::new(loaded));
            self.write_api(id, file, text);
        }
        errors
    }

    fn write_api(&mut self, id: &str, file: ApiFile, text: DefinitionText) {
        if is_shared(&file.path) {
            self.share(DocumentClass::Api, id, Some(text.text));
            return;
        }
        for kind in CompanionKind::ALL {
            let content = text.companions.get(kind).cloned();
            // A document that is no longer one must not stay beside the definition.
            let path = companion_of(&file.path, kind).filter(|path| content.is_some() || path.is_file());
            self.files.extend(path.map(|path| written(path, content)));
        }
        self.files.push(written(file.path, Some(text.text)));
    }

    fn put_policy(&mut self, id: &str, policy: Policy, places: &StorePlaces) -> Option<Problem> {
        let Some(place) = places.of_policy(&self.read, id) else {
            return Some(Problem::new(
                Level::Error,
                "",
                "the gateway has no policies.policy_path: there is nowhere to write policies to",
            ));
        };
        let text = serde_json::to_vec_pretty(&policy.to_json()).unwrap_or_default();
        if is_shared(&place) {
            self.share(DocumentClass::Policy, id, Some(text));
        } else {
            self.files.push(written(place.clone(), Some(text)));
        }
        self.read.policies.put(Arc::new(policy), place);
        None
    }

    /// Removes an API wherever it is: beneath a shared one, there may be a file with its id that would be served in its place, and an earlier
    /// file with this id.
    fn remove_api(&mut self, id: &str, files: &[&Path], set: Option<&SharedSet>) -> Vec<Problem> {
        let loaded = Arc::make_mut(&mut self.read.files);
        loaded.remove(DocumentClass::Api.place(id).as_os_str());
        for path in files {
            loaded.remove(path.as_os_str());
            let file = ApiFile::at((*path).to_owned());
            self.files.extend(file.paths().map(|path| FileChange { path: path.clone(), content: None }));
        }
        if set.is_some_and(|set| set.has(DocumentClass::Api, id)) {
            self.share(DocumentClass::Api, id, None);
        }
        Vec::new()
    }

    /// The same for a policy.
    fn remove_policy(&mut self, id: &str, places: &StorePlaces, set: Option<&SharedSet>) -> Option<Problem> {
        let files: Vec<PathBuf> = self.read.policies.places_of(id).into_iter().filter(|place| !is_shared(place)).collect();
        if !files.is_empty() && places.policy_path().is_none() {
            let message = "the gateway has no policies.policy_path: its policies share one file, which is not written";
            return Some(Problem::new(Level::Error, "", message));
        }
        self.read.policies.remove(id);
        self.files.extend(files.into_iter().map(|path| FileChange { path, content: None }));
        if set.is_some_and(|set| set.has(DocumentClass::Policy, id)) {
            self.share(DocumentClass::Policy, id, None);
        }
        None
    }

    fn share(&mut self, class: DocumentClass, id: &str, text: Option<Vec<u8>>) {
        // It was written by a serialiser of JSON, so it is UTF-8.
        let text = text.map(|text| String::from_utf8_lossy(&text).into());
        self.shared.push(SharedChange { class, id: id.to_owned(), text });
    }
}

/// A file with new content. What a link leads to is written, and the link stays; it is removed if it is to go.
fn written(path: PathBuf, content: Option<Vec<u8>>) -> FileChange {
    let target = if content.is_some() && path.is_symlink() { std::fs::canonicalize(&path).ok() } else { None };
    FileChange { path: target.unwrap_or(path), content }
}

/// Whether an id can be the name of a file.
pub fn is_file_name(id: &str) -> bool {
    id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte)) && !id.starts_with('.') && id.len() <= 200
}
