//! The identity of a set: a random text in the file that is locked, with the number of that file. In a copy of the directory, the file has another
//! number, so that the text is not the copy's.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};

const BYTES_MAX: usize = 128;

/// The identity that a file has, if it is its own.
pub(super) fn read(file: &File) -> Option<String> {
    let mut text = [0; BYTES_MAX];
    let count = file.read_at(&mut text, 0).ok()?;
    let text = std::str::from_utf8(text.get(..count)?).ok()?;
    let (identity, number) = text.trim_end().split_once(' ')?;
    (number.parse() == Ok(file.metadata().ok()?.ino())).then(|| identity.to_owned())
}

/// Gives a file its identity, if it has none. Without one, its set has no name; that keeps nobody from changing it.
pub(super) fn ensure(file: &File) {
    if read(file).is_none() {
        let _ = write(file);
    }
}

fn write(file: &File) -> io::Result<()> {
    let mut random = [0; 16];
    File::open("/dev/urandom")?.read_exact_at(&mut random, 0)?;
    let identity: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    file.set_len(0)?;
    file.write_all_at(format!("{identity} {}\n", file.metadata()?.ino()).as_bytes(), 0)
}
