//! The policies in effect, read from a file or a directory of files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tollgate_model::policy::Policy;
use tollgate_model::{Level, Problem};

/// Policies by id.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Policies {
    by_id: BTreeMap<String, (Policy, PathBuf)>,
}

impl Policies {
    /// Digest of all of them, wherever they come from.
    pub(crate) fn digest(&self) -> blake3::Hash {
        let mut digest = blake3::Hasher::new();
        for (id, (policy, _)) in &self.by_id {
            digest.update(id.as_bytes());
            digest.update(&serde_json::to_vec(policy).unwrap_or_default());
        }
        digest.finalize()
    }

    /// Reads `directory` if it is set, else `file`. If a file cannot be read, its policies from `last` stay in effect: a typing error must
    /// not lock out every key with such a policy.
    pub(crate) fn load(directory: &Path, file: &Path, last: &Policies) -> (Self, Vec<Problem>) {
        let mut policies = Policies::default();
        let mut problems = Vec::new();
        if !directory.as_os_str().is_empty() {
            policies.load_directory(directory, last, &mut problems);
        } else if !file.as_os_str().is_empty() {
            policies.load_map(file, last, &mut problems);
        }
        (policies, problems)
    }

    /// Keeps the policies that `last` has from a file, or from all files below a directory.
    fn keep(&mut self, last: &Policies, place: &Path) {
        let kept = last.by_id.iter().filter(|(_, (_, path))| path.starts_with(place));
        self.by_id.extend(kept.map(|(id, entry)| (id.clone(), entry.clone())));
    }

    fn load_directory(&mut self, directory: &Path, last: &Policies, problems: &mut Vec<Problem>) {
        let paths = match crate::base::definition_files::definition_files(directory) {
            Ok(paths) => paths,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return,
            Err(error) => {
                self.keep(last, directory);
                return problems.push(unreadable(directory, &error));
            }
        };
        for path in paths {
            let text = match std::fs::read(&path) {
                Ok(text) => text,
                Err(error) => {
                    problems.push(unreadable(&path, &error));
                    self.keep(last, &path);
                    continue;
                }
            };
            match Policy::parse(&text, Some(&path)) {
                Ok((mut policy, found)) => {
                    problems.extend(found);
                    if policy.id().is_empty() {
                        policy.id = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
                    }
                    self.by_id.insert(policy.id().to_owned(), (policy, path));
                }
                Err(found) => {
                    problems.extend(found);
                    self.keep(last, &path);
                }
            }
        }
    }

    fn load_map(&mut self, file: &Path, last: &Policies, problems: &mut Vec<Problem>) {
        let text = match std::fs::read(file) {
            Ok(text) => text,
            Err(error) => {
                self.keep(last, file);
                return problems.push(unreadable(file, &error));
            }
        };
        match Policy::parse_map(&text, Some(file)) {
            Ok((map, found)) => {
                problems.extend(found);
                self.by_id.extend(map.into_iter().map(|(key, policy)| (key, (policy, file.to_owned()))));
            }
            Err(found) => {
                problems.extend(found);
                self.keep(last, file);
            }
        }
    }

    /// Adds a policy, or replaces the one with its id.
    pub(crate) fn put(&mut self, policy: Policy, file: PathBuf) {
        self.by_id.insert(policy.id().to_owned(), (policy, file));
    }

    pub(crate) fn remove(&mut self, id: &str) {
        self.by_id.remove(id);
    }

    /// Adds policies that gateways share: id, text, and the place that stands for their file. They replace those of files.
    pub(crate) fn add_shared<'t>(
        &mut self,
        shared: impl Iterator<Item = (&'t str, &'t str, PathBuf)>,
        last: &Policies,
        problems: &mut Vec<Problem>,
    ) {
        for (id, text, place) in shared {
            if let Some((_, file)) = self.by_id.get(id) {
                let message = format!("the shared policy {id} applies; that in a file of this gateway does not count");
                problems.push(Problem::new(Level::Warning, "", message).within(Some(file)));
            }
            match Policy::parse(text.as_bytes(), Some(&place)) {
                Ok((mut policy, found)) => {
                    problems.extend(found);
                    id.clone_into(&mut policy.id);
                    self.by_id.insert(id.to_owned(), (policy, place));
                }
                Err(found) => {
                    problems.extend(found);
                    self.keep(last, &place);
                }
            }
        }
    }

    pub(crate) fn get(&self, id: &str) -> Option<&Policy> {
        self.by_id.get(id).map(|(policy, _)| policy)
    }

    /// The file that contains a policy.
    pub(crate) fn file_of(&self, id: &str) -> Option<&Path> {
        self.by_id.get(id).map(|(_, path)| path.as_path())
    }

    /// All policies, by id.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Policy> {
        self.by_id.values().map(|(policy, _)| policy)
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> Problem {
    Problem::new(Level::Error, "", format!("cannot be read: {error}")).within(Some(path))
}
