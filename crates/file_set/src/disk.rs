//! The operations on files that a change consists of. Tests replace them by ones that fail.

use crate::directory_of;
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// From this number of files on, the whole file system is synchronised instead of each file: a synchronised file costs a millisecond and more.
const FILES_ONE_BY_ONE_MAX: usize = 16;

/// Operations on files. What was written is on the disk only after `sync`.
pub(crate) trait Disk {
    /// Writes a new file, with the permissions of `like` if that exists.
    fn write(&mut self, path: &Path, content: &[u8], like: &Path) -> io::Result<()>;
    /// Gives a file a second name.
    fn link(&mut self, path: &Path, second: &Path) -> io::Result<()>;
    /// Renames a file; the target is replaced.
    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file, if it exists.
    fn remove(&mut self, path: &Path) -> io::Result<()>;
    /// Waits until everything since the last call is on the disk.
    fn sync(&mut self) -> io::Result<()>;
}

/// The operating system's files.
#[derive(Default)]
pub(crate) struct SystemDisk {
    files: Vec<PathBuf>,
    directories: HashSet<PathBuf>,
}

impl SystemDisk {
    fn changed(&mut self, path: &Path) {
        let directory = directory_of(path);
        if !self.directories.contains(directory) {
            self.directories.insert(directory.to_owned());
        }
    }
}

impl Disk for SystemDisk {
    fn write(&mut self, path: &Path, content: &[u8], like: &Path) -> io::Result<()> {
        fs::create_dir_all(directory_of(path))?;
        let mut file = File::create(path)?;
        if let Ok(known) = fs::metadata(like) {
            file.set_permissions(known.permissions())?;
        }
        file.write_all(content)?;
        self.files.push(path.to_owned());
        self.changed(path);
        Ok(())
    }

    fn link(&mut self, path: &Path, second: &Path) -> io::Result<()> {
        self.remove(second)?;
        match fs::hard_link(path, second) {
            Ok(()) => {}
            // Some file systems have no second names.
            Err(_) => {
                fs::copy(path, second)?;
                self.files.push(second.to_owned());
            }
        }
        self.changed(second);
        Ok(())
    }

    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)?;
        self.changed(to);
        Ok(())
    }

    fn remove(&mut self, path: &Path) -> io::Result<()> {
        match fs::remove_file(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
            Ok(()) => {
                self.changed(path);
                Ok(())
            }
        }
    }

    fn sync(&mut self) -> io::Result<()> {
        let files = std::mem::take(&mut self.files);
        let directories = std::mem::take(&mut self.directories);
        if files.len() > FILES_ONE_BY_ONE_MAX && sync_file_systems(&directories)? {
            return Ok(());
        }
        for path in files.into_iter().chain(directories) {
            match File::open(path) {
                Ok(file) => file.sync_all()?,
                // It was removed since: the directory tells.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Synchronises the file systems of these directories; false if this system can't.
#[cfg(target_os = "linux")]
fn sync_file_systems(directories: &HashSet<PathBuf>) -> io::Result<bool> {
    let mut seen = HashSet::new();
    for directory in directories {
        let directory = File::open(directory)?;
        if seen.insert(directory.metadata()?.dev()) {
            rustix::fs::syncfs(&directory)?;
        }
    }
    Ok(true)
}

#[cfg(not(target_os = "linux"))]
fn sync_file_systems(_: &HashSet<PathBuf>) -> io::Result<bool> {
    Ok(false)
}
