//! Writes lines to a rotating file, or to standard error.

use super::{BatchSender, SinkFigures, SinkRoom, SinkThread};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Bytes of lines handed over at once: enough that waking the writer thread is cheap, few enough that they are still in the CPU
/// cache.
const BATCH_BYTES: usize = 256 * 1024;
/// Spare capacity for the line that fills a batch, to avoid a reallocation.
const LINE_BYTES: usize = 4 * 1024;
/// Maximum batches that may wait.
const BATCHES_MAX: usize = 128;
/// Interval between checks whether another program has moved the file.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Destination of lines.
pub enum LogFile {
    StandardError,
    Rotating(RotatingFile),
}

/// A file with a size limit; `file.1` is its predecessor, and so on. A file that is not regular, or that is a standard stream of
/// the process, has no limit and keeps its name.
pub struct RotatingFile {
    path: PathBuf,
    bytes_max: u64,
    files_max: u32,
    open: Option<OpenFile>,
    looked: Instant,
}

struct OpenFile {
    file: File,
    /// Current size, if the file may be rotated.
    bytes: Option<u64>,
}

/// Buffers the lines of a core for the writer thread.
#[derive(Clone)]
pub struct FileLineWriter {
    lines: Vec<u8>,
    count: u64,
    handoff: BatchSender<Vec<u8>>,
}

impl LogFile {
    /// A file, or standard error if the path is empty.
    pub fn new(path: &Path, bytes_max: u64, files_max: u32) -> Self {
        if path.as_os_str().is_empty() {
            return LogFile::StandardError;
        }
        LogFile::Rotating(RotatingFile {
            path: path.to_owned(),
            bytes_max: bytes_max.max(1),
            files_max,
            open: None,
            looked: Instant::now(),
        })
    }

    fn write(&mut self, lines: &[u8]) -> io::Result<()> {
        match self {
            LogFile::StandardError => io::stderr().write_all(lines),
            LogFile::Rotating(file) => file.write(lines),
        }
    }

    /// Opens the file, so that an unwritable path is reported at the start.
    pub fn check(&mut self) -> io::Result<()> {
        match self {
            LogFile::StandardError => Ok(()),
            LogFile::Rotating(file) => {
                file.write(b"").map_err(|error| io::Error::other(format!("{}: {error}", file.path.display())))
            }
        }
    }
}

impl RotatingFile {
    /// Writes whole lines, all to the same file.
    fn write(&mut self, lines: &[u8]) -> io::Result<()> {
        if self.looked.elapsed() >= LOOK_EVERY {
            self.looked = Instant::now();
            // Another program may have moved the file, to archive it.
            self.open.take_if(|open| !is_at(&open.file, &self.path));
        }
        let fills = |bytes: u64| bytes > 0 && bytes + lines.len() as u64 > self.bytes_max;
        if self.open.as_ref().is_some_and(|open| open.bytes.is_some_and(fills)) {
            self.open = None;
            self.rotate()?;
        }
        let mut open = match self.open.take() {
            Some(open) => open,
            None => OpenFile::at(&self.path)?,
        };
        open.file.write_all(lines)?;
        open.bytes = open.bytes.map(|bytes| bytes + lines.len() as u64);
        self.open = Some(open);
        Ok(())
    }

    fn rotate(&self) -> io::Result<()> {
        for number in (1..self.files_max).rev() {
            let older = self.numbered(number);
            if older.exists() {
                std::fs::rename(older, self.numbered(number + 1))?;
            }
        }
        if self.files_max == 0 { std::fs::remove_file(&self.path) } else { std::fs::rename(&self.path, self.numbered(1)) }
    }

    fn numbered(&self, number: u32) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(format!(".{number}"));
        name.into()
    }
}

impl OpenFile {
    /// Opens the file at a path, or creates it.
    fn at(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        let metadata = file.metadata()?;
        let is_ours = metadata.is_file() && !is_stream(&metadata);
        Ok(OpenFile { file, bytes: is_ours.then_some(metadata.len()) })
    }
}

/// Whether standard output or standard error goes to this file: whoever started the process knows the file by its name.
fn is_stream(metadata: &Metadata) -> bool {
    let (output, error) = (io::stdout(), io::stderr());
    let streams = [output.as_fd(), error.as_fd()];
    streams.iter().any(|stream| {
        let stream = stream.try_clone_to_owned().and_then(|stream| File::from(stream).metadata());
        stream.is_ok_and(|stream| place(&stream) == place(metadata))
    })
}

/// Whether a path leads to this file.
fn is_at(file: &File, path: &Path) -> bool {
    file.metadata().is_ok_and(|own| std::fs::metadata(path).is_ok_and(|at| place(&at) == place(&own)))
}

/// Device and inode, which identify a file.
fn place(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

impl FileLineWriter {
    /// Opens the file and starts its thread. At most `lines_max` lines may wait.
    pub fn start(mut file: LogFile, lines_max: u64, figures: Arc<SinkFigures>) -> io::Result<(Self, SinkThread)> {
        file.check()?;
        let write = move |lines: Vec<u8>| file.write(&lines).map_err(|error| error.to_string());
        let (handoff, writer) = BatchSender::start(figures, SinkRoom { batches: BATCHES_MAX, records: lines_max }, write)?;
        Ok((FileLineWriter { lines: Vec::new(), count: 0, handoff }, writer))
    }

    /// Adds a line; `write` writes it including the line end.
    pub fn line(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        if self.lines.capacity() == 0 {
            self.lines = Vec::with_capacity(BATCH_BYTES + LINE_BYTES);
        }
        write(&mut self.lines);
        self.count += 1;
        if self.lines.len() >= BATCH_BYTES {
            self.flush();
        }
    }

    /// Hands over the buffered lines.
    pub fn flush(&mut self) {
        if self.count > 0 {
            self.handoff.give(std::mem::take(&mut self.lines), std::mem::take(&mut self.count));
        }
    }
}

#[cfg(test)]
mod tests;
