//! The classes of documents, and how those that gateways share are named.

use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What paths of shared documents begin with, where others have their file.
const PATH_START: &str = "redis:";

/// What a document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DocumentClass {
    Api,
    Policy,
}

impl DocumentClass {
    /// As the log of changes and revisions name it.
    pub fn name(self) -> &'static str {
        match self {
            DocumentClass::Api => "api",
            DocumentClass::Policy => "policy",
        }
    }

    /// Its name among those that gateways share.
    pub(super) fn named(self, id: &str) -> String {
        format!("{}/{id}", self.name())
    }

    /// What problems name in place of a file.
    pub fn place(self, id: &str) -> PathBuf {
        PathBuf::from(format!("{PATH_START}{}", self.named(id)))
    }
}

/// What paths of documents of other sources begin with.
const EXTERNAL_START: &str = "external:";

/// What problems of a definition from another source name in place of a file.
pub(super) fn external_place(source: &str, id: &str) -> PathBuf {
    PathBuf::from(format!("{EXTERNAL_START}{source}/{id}"))
}

/// The same for a policy.
pub(super) fn external_policy_place(source: &str, id: &str) -> PathBuf {
    external_place(source, &DocumentClass::Policy.named(id))
}

/// Whether a path is that of a document from another source.
pub(super) fn is_external(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().starts_with(EXTERNAL_START.as_bytes())
}

/// Whether a path is that of a file of this gateway.
pub(super) fn is_file(path: &Path) -> bool {
    !is_shared(path) && !is_external(path)
}

/// Of documents with the same id, the one of the highest rank applies: other sources, then files, then what gateways share. Whoever writes a
/// gateway's files decides over those who write into a cluster.
pub(super) fn rank(path: &Path) -> u8 {
    match (is_external(path), is_shared(path)) {
        (true, _) => 0,
        (false, false) => 1,
        (false, true) => 2,
    }
}

/// Whether a path is that of a shared document.
pub(super) fn is_shared(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().starts_with(PATH_START.as_bytes())
}
