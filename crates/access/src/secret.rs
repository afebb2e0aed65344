//! The secret of the control API: configured, or generated once and stored in the data directory.

use sha2::{Digest, Sha256};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use subtle::ConstantTimeEq;
use tollgate_model::hexadecimal;

/// The secret that requests to the control API must present. Only its digest is kept, so that every comparison takes the same time.
pub struct ControlSecret {
    digest: [u8; 32],
}

impl ControlSecret {
    pub fn new(text: &str) -> Self {
        ControlSecret { digest: Sha256::digest(text.as_bytes()).into() }
    }

    /// A secret for another purpose, the same wherever this secret is the same.
    pub fn derived(&self, purpose: &str) -> [u8; 32] {
        blake3::derive_key(purpose, &self.digest)
    }

    /// Whether `guess` is the secret, in constant time.
    pub fn is(&self, guess: &[u8]) -> bool {
        let digest: [u8; 32] = Sha256::digest(guess).into();
        digest.ct_eq(&self.digest).into()
    }
}

/// The configured secret, else the one in the file at `path`, which is created if it does not exist. Returns the path if the file is used.
pub fn configured_or_made(configured: &str, path: PathBuf) -> io::Result<(ControlSecret, Option<PathBuf>)> {
    if !configured.is_empty() {
        return Ok((ControlSecret::new(configured), None));
    }
    let explain = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    match std::fs::read_to_string(&path) {
        Ok(text) if !text.trim().is_empty() => return Ok((ControlSecret::new(text.trim()), Some(path))),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(explain(error)),
    }
    let text = random_text()?;
    path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(explain)?;
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path).map_err(explain)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(explain)?;
    Ok((ControlSecret::new(&text), Some(path)))
}

/// 128 bits of the system's randomness as 32 hex digits.
pub fn random_text() -> io::Result<String> {
    Ok(hexadecimal(&random_bytes()?))
}

/// 128 bits of the system's randomness.
pub fn random_bytes() -> io::Result<[u8; 16]> {
    let mut bytes = [0u8; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}
