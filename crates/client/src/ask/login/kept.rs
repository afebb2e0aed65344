//! Tokens of people, in a file that only they can read.

use super::super::CommandFailure;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;

/// A sign-in for one gateway.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Login {
    pub(super) issuer: String,
    pub(super) client_id: String,
    pub(super) token_endpoint: String,
    pub(super) revocation_endpoint: Option<String>,
    pub(super) id_token: String,
    pub(super) refresh_token: Option<String>,
    pub(super) expires_unix_s: u64,
}

/// The sign-ins of a person, by the address of the gateway.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Logins(BTreeMap<String, Login>);

impl Logins {
    /// Reads the file; without one, nobody is signed in.
    pub(super) fn read() -> Result<Self, CommandFailure> {
        let Some(path) = path() else { return Ok(Logins::default()) };
        match fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text).map_err(|error| failed(&path, error)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Logins::default()),
            Err(error) => Err(failed(&path, error)),
        }
    }

    pub(super) fn get(&self, address: &str) -> Option<&Login> {
        self.0.get(address)
    }

    pub(super) fn set(&mut self, address: &str, login: Option<Login>) {
        match login {
            Some(login) => drop(self.0.insert(address.to_owned(), login)),
            None => drop(self.0.remove(address)),
        }
    }

    /// Writes the file anew, so that nobody ever reads a part of it.
    pub(super) fn write(&self) -> Result<(), CommandFailure> {
        let path = place()?;
        let write = || {
            let new = path.with_extension("json.new");
            let _ = fs::remove_file(&new);
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
            file.write_all(&serde_json::to_vec(self)?)?;
            file.sync_all()?;
            fs::rename(&new, &path)
        };
        write().map_err(|error: std::io::Error| failed(&path, error))
    }
}

/// Keeps other commands from changing the file until it is dropped.
pub(super) fn locked() -> Result<File, CommandFailure> {
    let path = place()?.with_extension("lock");
    let lock = || {
        let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path)?;
        file.lock()?;
        Ok(file)
    };
    lock().map_err(|error: std::io::Error| failed(&path, error))
}

/// The file, in a directory that exists.
fn place() -> Result<PathBuf, CommandFailure> {
    let path = path().ok_or_else(|| CommandFailure::Refused("neither XDG_CONFIG_HOME nor HOME is set".to_owned()))?;
    if let Some(directory) = path.parent() {
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(directory);
        made.map_err(|error| failed(directory, error))?;
    }
    Ok(path)
}

fn path() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = set("XDG_CONFIG_HOME").or_else(|| set("HOME").map(|home| home.join(".config")))?;
    Some(base.join("tollgate/logins.json"))
}

fn failed(path: &std::path::Path, error: impl std::fmt::Display) -> CommandFailure {
    CommandFailure::Refused(format!("{}: {error}", path.display()))
}
