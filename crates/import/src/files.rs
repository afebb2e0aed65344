//! Files that a configuration names: read with bounds, and never outside of what was named.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Maximum bytes of all files of a configuration together. The largest that people write by hand have a tenth of it.
const BYTES_MAX: usize = 16 << 20;
/// Maximum number of files of a configuration.
const FILES_MAX: usize = 2_000;
/// Maximum entries of a directory that a glob looks at.
const ENTRIES_MAX: usize = 10_000;

/// Why a configuration cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportFailure {
    file: String,
    line: usize,
    why: String,
}

impl ImportFailure {
    /// `line` is 0 if it concerns the whole file.
    pub(crate) fn new(file: &Path, line: usize, why: impl Into<String>) -> Self {
        ImportFailure { file: file.display().to_string(), line, why: why.into() }
    }
}

impl std::error::Error for ImportFailure {}

impl fmt::Display for ImportFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.file, self.why),
            line => write!(f, "{}:{line}: {}", self.file, self.why),
        }
    }
}

/// The files of one configuration.
pub(crate) struct NamedFiles {
    first: PathBuf,
    /// Directory to which names are relative.
    directory: PathBuf,
    bytes_left: usize,
    files_left: usize,
}

impl NamedFiles {
    pub(crate) fn new(first: &Path) -> Self {
        let directory = first.parent().map(Path::to_owned).unwrap_or_default();
        NamedFiles { first: first.to_owned(), directory, bytes_left: BYTES_MAX, files_left: FILES_MAX }
    }

    pub(crate) fn first(&self) -> &Path {
        &self.first
    }

    /// A failure that concerns the whole first file.
    pub(crate) fn failure(&self, why: impl Into<String>) -> ImportFailure {
        ImportFailure::new(&self.first, 0, why)
    }

    pub(crate) fn read_first(&mut self) -> Result<String, ImportFailure> {
        let first = self.first.clone();
        self.read(&first).map_err(|why| self.failure(why))
    }

    /// Where a name leads: relative names begin at the directory of the first file.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// The text of a named file. The error says why there is none.
    pub(crate) fn read(&mut self, path: &Path) -> Result<String, String> {
        self.files_left = self.files_left.checked_sub(1).ok_or_else(|| format!("is one of more than {FILES_MAX} files"))?;
        let metadata = std::fs::metadata(path).map_err(|error| format!("cannot be read: {error}"))?;
        // Devices and pipes may never end.
        if !metadata.is_file() {
            return Err("is not a regular file".to_owned());
        }
        let too_large = || format!("is too large: all files together may have {} MiB", BYTES_MAX >> 20);
        let most = self.bytes_left;
        if metadata.len() > most as u64 {
            return Err(too_large());
        }
        let mut bytes = Vec::new();
        let file = File::open(path).map_err(|error| format!("cannot be read: {error}"))?;
        file.take(most as u64 + 1).read_to_end(&mut bytes).map_err(|error| format!("cannot be read: {error}"))?;
        self.bytes_left = most.checked_sub(bytes.len()).ok_or_else(too_large)?;
        String::from_utf8(bytes).map_err(|_| "is not text in UTF-8".to_owned())
    }

    /// The files that a name with `*` and `?` in its last part stands for, sorted. A match that a symbolic link leads out of the directory is left
    /// out and given as the second list: the configuration has named the directory, not what is elsewhere.
    pub(crate) fn matching(&self, name: &str) -> Result<(Vec<PathBuf>, Vec<PathBuf>), String> {
        let path = self.path(name);
        let Some(last) = path.file_name().and_then(|last| last.to_str()).map(str::to_owned) else {
            return Err("names no file".to_owned());
        };
        let directory = path.parent().map(Path::to_owned).unwrap_or_default();
        if directory.to_string_lossy().contains(['*', '?', '[']) {
            return Err("has wildcards in the name of a directory".to_owned());
        }
        let whole = match std::fs::canonicalize(if directory.as_os_str().is_empty() { Path::new(".") } else { &directory }) {
            Ok(whole) => whole,
            // A glob may match nothing.
            Err(_) => return Ok((Vec::new(), Vec::new())),
        };
        let (mut inside, mut outside) = (Vec::new(), Vec::new());
        let entries = std::fs::read_dir(&whole).map_err(|error| format!("cannot be read: {error}"))?;
        for entry in entries.take(ENTRIES_MAX).flatten() {
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            if name.starts_with('.') || !fits(last.as_bytes(), name.as_bytes()) {
                continue;
            }
            let leads_inside = std::fs::canonicalize(entry.path()).is_ok_and(|target| target.starts_with(&whole));
            if leads_inside { &mut inside } else { &mut outside }.push(directory.join(name));
        }
        inside.sort();
        outside.sort();
        Ok((inside, outside))
    }
}

/// Whether a name fits a pattern with `*` and `?`.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut from) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while from < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                retry = Some((at + 1, from));
                at += 1;
            }
            Some(byte) if *byte == b'?' || Some(byte) == name.get(from) => {
                at += 1;
                from += 1;
            }
            _ => match retry {
                Some((behind, start)) => {
                    retry = Some((behind, start + 1));
                    at = behind;
                    from = start + 1;
                }
                None => return false,
            },
        }
    }
    pattern.get(at..).unwrap_or_default().iter().all(|byte| *byte == b'*')
}
