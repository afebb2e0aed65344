//! Files of which no more is read than they may have. A size that the file system tells is no bound: devices and pipes have none.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The bytes of a file.
///
/// # Errors
/// Those of the system, and "larger than" with the bound for a file with more than `bytes_max`.
pub fn read(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        return Err(io::Error::other(format!("larger than {bytes_max} bytes")));
    }
    Ok(bytes)
}

/// The same for a text in UTF-8.
///
/// # Errors
/// The same, and for other bytes.
pub fn read_text(path: &Path, bytes_max: u64) -> io::Result<String> {
    String::from_utf8(read(path, bytes_max)?).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "not text in UTF-8"))
}

#[cfg(test)]
mod tests;
