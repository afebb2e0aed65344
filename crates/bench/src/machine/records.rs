//! Counts records in files and lists, and removes what it has counted, as a pump would: otherwise the machine pays for a gigabyte of cached
//! files that the gateway never uses.

use crate::probe::HOST;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

/// The list that Tyk's pumps read.
const LIST: &str = "analytics-tyk-system-analytics";
const REDIS_TIMEOUT: Duration = Duration::from_secs(10);
const BLOCK_BYTES: usize = 1 << 20;

/// Counts the lines of a file and of its rotated files, then empties them. No line is lost unless the gateway has removed a rotated file.
pub(super) fn take_lines(dir: &Path, name: &str) -> io::Result<u64> {
    let mut lines = 0;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if !entry.file_name().to_string_lossy().starts_with(name) {
            continue;
        }
        lines += count_lines(File::open(entry.path())?)?;
        if entry.file_name() == name {
            OpenOptions::new().write(true).truncate(true).open(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(lines)
}

fn count_lines(mut file: File) -> io::Result<u64> {
    let mut block = vec![0; BLOCK_BYTES];
    let mut lines = 0;
    loop {
        let read = file.read(&mut block)?;
        if read == 0 {
            return Ok(lines);
        }
        lines += block.iter().take(read).filter(|byte| **byte == b'\n').count() as u64;
    }
}

/// Removes all records from the list.
pub(super) fn take_list(port: u16) -> io::Result<u64> {
    let mut stream = TcpStream::connect((HOST, port))?;
    stream.set_read_timeout(Some(REDIS_TIMEOUT))?;
    let mut answers = BufReader::new(stream.try_clone()?);
    let mut ask = |command: String| {
        stream.write_all(command.as_bytes())?;
        let mut line = String::new();
        answers.read_line(&mut line)?;
        Ok::<_, io::Error>(line.trim_end().to_owned())
    };
    let mut taken = 0;
    loop {
        let length = ask(format!("LLEN {LIST}\r\n"))?;
        let count: u64 = length.strip_prefix(':').and_then(|count| count.parse().ok()).ok_or_else(|| io::Error::other(length))?;
        if count == 0 {
            return Ok(taken);
        }
        ask(format!("LTRIM {LIST} {count} -1\r\n"))?;
        taken += count;
    }
}
