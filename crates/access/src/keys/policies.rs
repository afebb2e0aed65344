//! The policies in effect, read from a file or a directory of files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;
use tollgate_model::policy::Policy;
use tollgate_model::readable_files::NamedFile;
use tollgate_model::{Level, Problem};

/// Policies by id.
#[derive(Clone, Debug, Default)]
pub struct Policies {
    by_id: BTreeMap<String, (Arc<Policy>, PathBuf)>,
    /// Files of a directory as they were read, so that unchanged ones need not be read again.
    files: BTreeMap<PathBuf, Arc<PolicyFile>>,
}

/// The policy of one file.
#[derive(Debug)]
struct PolicyFile {
    state: NamedFile,
    read_at: SystemTime,
    policy: Arc<Policy>,
    problems: Vec<Problem>,
}

/// A policy that came, went or differs.
pub struct PolicyChange<'p> {
    pub id: &'p str,
    /// The policy and its file.
    pub old: Option<&'p (Arc<Policy>, PathBuf)>,
    pub new: Option<&'p (Arc<Policy>, PathBuf)>,
}

impl Policies {
    /// Digest of all of them, wherever they come from.
    pub fn digest(&self) -> blake3::Hash {
        let mut digest = blake3::Hasher::new();
        for (id, (policy, _)) in &self.by_id {
            digest.update(id.as_bytes());
            digest.update(&serde_json::to_vec(policy.as_ref()).unwrap_or_default());
        }
        digest.finalize()
    }

    /// Reads `directory` if it is set, else `file`. If a file cannot be read, its policies from `last` stay in effect: a typing error must
    /// not lock out every key with such a policy.
    pub fn load(directory: &Path, file: &Path, last: &Policies) -> (Self, Vec<Problem>) {
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

    fn has_any_below(&self, directory: &Path) -> bool {
        self.by_id.values().any(|(_, path)| path.starts_with(directory))
    }

    fn load_directory(&mut self, directory: &Path, last: &Policies, problems: &mut Vec<Problem>) {
        let paths = match tollgate_model::definition_files::definition_files(directory) {
            Ok(paths) => paths,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !last.has_any_below(directory) => return,
            Err(error) => {
                self.keep(last, directory);
                return problems.push(unreadable(directory, &error));
            }
        };
        for path in paths {
            let known =
                last.files.get(&path).filter(|known| known.state.is_older_than(known.read_at) && known.state.is_unchanged());
            let read = known.map_or_else(|| PolicyFile::read(&path).map(Arc::new), |known| Ok(known.clone()));
            match read {
                Ok(file) => {
                    problems.extend_from_slice(&file.problems);
                    self.by_id.insert(file.policy.id().to_owned(), (file.policy.clone(), path.clone()));
                    self.files.insert(path, file);
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
                self.by_id.extend(map.into_iter().map(|(key, policy)| (key, (Arc::new(policy), file.to_owned()))));
            }
            Err(found) => {
                problems.extend(found);
                self.keep(last, file);
            }
        }
    }

    /// Adds a policy, or replaces the one with its id.
    pub fn put(&mut self, policy: Arc<Policy>, file: PathBuf) {
        self.by_id.insert(policy.id().to_owned(), (policy, file));
    }

    pub fn remove(&mut self, id: &str) {
        self.by_id.remove(id);
        self.files.retain(|_, file| file.policy.id() != id);
    }

    /// Adds policies that gateways share: id, text, and the place that stands for their file. They replace those that are there already.
    pub fn add_shared<'t>(
        &mut self,
        shared: impl Iterator<Item = (&'t str, &'t [u8], PathBuf)>,
        last: &Policies,
        problems: &mut Vec<Problem>,
    ) {
        for (id, text, place) in shared {
            if let Some((_, file)) = self.by_id.get(id) {
                let message = format!("the shared policy {id} applies; this one does not count");
                problems.push(Problem::new(Level::Warning, "", message).within(Some(file)));
            }
            self.add_placed(id, text, place, last, problems);
        }
    }

    /// The same for policies of another part of the process. Those that are there already apply.
    pub fn add_external<'t>(
        &mut self,
        external: impl Iterator<Item = (&'t str, &'t [u8], PathBuf)>,
        last: &Policies,
        problems: &mut Vec<Problem>,
    ) {
        for (id, text, place) in external {
            if self.by_id.contains_key(id) {
                let message = format!("the id {id} is that of a policy of the gateway's own, which applies");
                problems.push(Problem::new(Level::Error, "$.id", message).within(Some(&place)));
            } else {
                self.add_placed(id, text, place, last, problems);
            }
        }
    }

    fn add_placed(&mut self, id: &str, text: &[u8], place: PathBuf, last: &Policies, problems: &mut Vec<Problem>) {
        match Policy::parse(text, Some(&place)) {
            Ok((mut policy, found)) => {
                problems.extend(found);
                id.clone_into(&mut policy.id);
                self.by_id.insert(id.to_owned(), (Arc::new(policy), place));
            }
            Err(found) => {
                problems.extend(found);
                self.keep(last, &place);
            }
        }
    }

    pub fn get(&self, id: &str) -> Option<&Policy> {
        self.by_id.get(id).map(|(policy, _)| policy.as_ref())
    }

    /// The file that contains a policy.
    pub fn file_of(&self, id: &str) -> Option<&Path> {
        self.by_id.get(id).map(|(_, path)| path.as_path())
    }

    /// The places that contain a policy, in effect or beneath a shared one.
    pub fn places_of(&self, id: &str) -> BTreeSet<PathBuf> {
        let beneath = self.files.iter().filter(|(_, file)| file.policy.id() == id).map(|(path, _)| path);
        beneath.chain(self.by_id.get(id).map(|(_, place)| place)).cloned().collect()
    }

    /// All policies, by id.
    pub fn iter(&self) -> impl Iterator<Item = &Policy> {
        self.by_id.values().map(|(policy, _)| policy.as_ref())
    }

    pub fn differ_from(&self, before: &Policies) -> bool {
        self.changes_since(before).next().is_some()
    }

    /// What differs from an earlier state: ids, old and new policies with the files that they are in.
    pub fn changes_since<'p>(&'p self, before: &'p Policies) -> impl Iterator<Item = PolicyChange<'p>> {
        let gone = before.by_id.iter().filter(|(id, _)| !self.by_id.contains_key(*id)).map(|(id, old)| (id, Some(old), None));
        let there = self.by_id.iter().map(|(id, new)| (id, before.by_id.get(id), Some(new)));
        let is_other = |change: &PolicyChange<'_>| match (change.old, change.new) {
            (Some((old, _)), Some((new, _))) => !Arc::ptr_eq(old, new) && old != new,
            _ => true,
        };
        gone.chain(there).map(|(id, old, new)| PolicyChange { id, old, new }).filter(is_other)
    }
}

impl PolicyFile {
    fn read(path: &Path) -> Result<Self, Vec<Problem>> {
        let (state, read_at) = (NamedFile::now(path), SystemTime::now());
        let text = std::fs::read(path).map_err(|error| vec![unreadable(path, &error)])?;
        let (mut policy, problems) = Policy::parse(&text, Some(path))?;
        if policy.id().is_empty() {
            policy.id = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
        }
        Ok(PolicyFile { state, read_at, policy: Arc::new(policy), problems })
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> Problem {
    Problem::new(Level::Error, "", format!("cannot be read: {error}")).within(Some(path))
}

#[cfg(test)]
mod tests;
