//! The file with the process ID (`pid_file_location`), for scripts that send signals.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// A written file. Dropping it removes the file, unless a successor has written its own ID.
pub(crate) struct PidFile {
    path: PathBuf,
    text: String,
}

impl PidFile {
    /// Writes the file, and its directory if that is missing. A failure is logged: like Tyk, the gateway serves without the file.
    pub(crate) fn write(path: &Path) -> Option<Self> {
        if path.as_os_str().is_empty() {
            return None;
        }
        let text = format!("{}\n", std::process::id());
        // The file alone may be writable, and not its directory.
        if let Err(error) = write_whole(path, &text).or_else(|_| fs::write(path, &text)) {
            tracing::warn!(path = %path.display(), %error, "the file for the process ID cannot be written");
            return None;
        }
        Some(PidFile { path: path.to_owned(), text })
    }
}

/// Readers find the old text or the new one.
fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(&new, text)?;
    fs::rename(&new, path)
}

impl Drop for PidFile {
    fn drop(&mut self) {
        if fs::read_to_string(&self.path).is_ok_and(|text| text == self.text) {
            let _ = fs::remove_file(&self.path);
        }
    }
}
