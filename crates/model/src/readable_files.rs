//! Files that documents may name. Whoever may write a document need not be allowed to read every file that the process can read, so a document
//! names files only below directories of the gateway configuration, and never the gateway's own data. Symbolic links are followed first.

use std::path::{Component, Path, PathBuf};

/// Why a file is not read. It is the same for files that exist and for others.
const OUTSIDE: &str = "is outside of the directories whose files documents may name: file.base_path, middleware_path and template_path \
    of the gateway configuration, but not data_dir";

/// Directories whose files documents may name, and one within them whose files they may not name.
#[derive(Debug, Clone, Default)]
pub struct ReadableFiles {
    bases: Vec<PathBuf>,
    closed: PathBuf,
}

impl ReadableFiles {
    /// Files below `bases`, without those below `closed`. Empty paths name no directory; others are relative to the working directory.
    pub fn new(bases: impl IntoIterator<Item = PathBuf>, closed: &Path) -> Self {
        let bases = bases.into_iter().filter(|base| !base.as_os_str().is_empty()).collect();
        ReadableFiles { bases, closed: closed.to_owned() }
    }

    /// The path of a file that a document names, with symbolic links resolved. A file that does not exist is no error here.
    ///
    /// # Errors
    /// A document must not name it.
    pub fn admit(&self, path: &Path) -> Result<PathBuf, String> {
        let real = real(path).filter(|real| self.admits(real));
        real.ok_or_else(|| OUTSIDE.to_owned())
    }

    fn admits(&self, file: &Path) -> bool {
        let depth_in = |directory: &Path| {
            let directory = real(directory).filter(|_| !directory.as_os_str().is_empty())?;
            file.starts_with(&directory).then(|| directory.components().count())
        };
        // The innermost directory decides, so that a folder of scripts may lie in the folder of data.
        self.bases.iter().filter_map(|base| depth_in(base)).max() > depth_in(&self.closed).max(Some(0))
    }
}

/// The path without symbolic links. Of a path that does not exist, as much is resolved as there is; `None` if the rest goes upwards.
fn real(path: &Path) -> Option<PathBuf> {
    if let Ok(real) = path.canonicalize() {
        return Some(real);
    }
    let path = std::path::absolute(path).ok()?;
    let (parent, name) = (path.parent()?, path.components().next_back()?);
    let Component::Normal(name) = name else { return None };
    Some(real(parent)?.join(name))
}

#[cfg(test)]
mod tests;
