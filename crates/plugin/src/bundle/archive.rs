//! ZIP archives: what a bundle needs of them. Reads stored and deflated files, and writes deflated ones.

use flate2::Compression;
use flate2::Crc;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use std::io::{Read, Write};

/// Most files of a bundle: plugins are a few scripts with their libraries.
const FILES_MAX: usize = 4_096;
/// Most bytes of all files together, unpacked: a small archive must not fill the disk.
const BYTES_MAX: u64 = 256 << 20;
/// Longest name.
const NAME_BYTES_MAX: usize = 1_024;

const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
/// Length of a fixed part.
const LOCAL_BYTES: usize = 30;
const CENTRAL_BYTES: usize = 46;
const END_BYTES: usize = 22;
/// The end of an archive is followed by a comment of at most this many bytes.
const COMMENT_BYTES_MAX: usize = 65_535;
const STORED: u16 = 0;
const DEFLATED: u16 = 8;
/// General purpose flag: encrypted.
const ENCRYPTED: u16 = 1;
/// The version that deflated files need.
const VERSION: u16 = 20;
/// 1980-01-01, the first date that an archive can have: equal files make equal archives.
const DATE: u16 = 0x21;

/// A file in an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchivedFile {
    /// Its path within the archive, with `/`.
    pub name: String,
    /// Its bytes.
    pub content: Vec<u8>,
}

/// Little-endian numbers at a place; `None` beyond the end.
fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().copied().map(u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().copied().map(u32::from_le_bytes)
}

/// Reads all files of an archive.
pub(crate) fn read(bytes: &[u8]) -> Result<Vec<ArchivedFile>, String> {
    let cut = || "the archive is cut off".to_owned();
    let end = find_end(bytes).ok_or("it is no ZIP archive")?;
    let count = usize::from(u16_at(bytes, end + 10).ok_or_else(cut)?);
    if count > FILES_MAX {
        return Err(format!("it has more than {FILES_MAX} files"));
    }
    let mut at = u32_at(bytes, end + 16).ok_or_else(cut)? as usize;
    let mut files = Vec::new();
    let mut left = BYTES_MAX;
    for _ in 0..count {
        let entry = ZipEntry::read(bytes, at).ok_or_else(cut)?;
        at = entry.next;
        // Directories come with the files in them.
        if entry.name.ends_with('/') {
            continue;
        }
        check_name(&entry.name)?;
        if files.iter().any(|file: &ArchivedFile| file.name == entry.name) {
            return Err(format!("it has {:?} twice", entry.name));
        }
        let content = entry.content(bytes, left)?;
        left -= content.len() as u64;
        files.push(ArchivedFile { name: entry.name, content });
    }
    Ok(files)
}

/// Where the record at the end of an archive begins.
fn find_end(bytes: &[u8]) -> Option<usize> {
    let last = bytes.len().checked_sub(END_BYTES)?;
    (last.saturating_sub(COMMENT_BYTES_MAX)..=last).rev().find(|at| u32_at(bytes, *at) == Some(END))
}

/// Whether a file may have this name: it must stay below the directory that it is unpacked to.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    let is_plain = |part: &str| !part.is_empty() && part != "." && part != "..";
    let is_good = name.len() <= NAME_BYTES_MAX
        && !name.contains(['\\', ':', '\0'])
        && !name.chars().any(char::is_control)
        && name.split('/').all(is_plain);
    if is_good { Ok(()) } else { Err(format!("the name {:?} leads out of the bundle", name.chars().take(200).collect::<String>())) }
}

/// An entry of the directory of an archive.
struct ZipEntry {
    name: String,
    flags: u16,
    method: u16,
    checksum: u32,
    packed_bytes: usize,
    bytes: u64,
    /// Where its local header is.
    local: usize,
    /// Where the next entry is.
    next: usize,
}

impl ZipEntry {
    fn read(bytes: &[u8], at: usize) -> Option<Self> {
        if u32_at(bytes, at)? != CENTRAL {
            return None;
        }
        let length = |offset: usize| Some(usize::from(u16_at(bytes, at + offset)?));
        let (name_bytes, extra_bytes, comment_bytes) = (length(28)?, length(30)?, length(32)?);
        let name = bytes.get(at + CENTRAL_BYTES..)?.get(..name_bytes)?;
        Some(ZipEntry {
            name: String::from_utf8_lossy(name).into_owned(),
            flags: u16_at(bytes, at + 8)?,
            method: u16_at(bytes, at + 10)?,
            checksum: u32_at(bytes, at + 16)?,
            packed_bytes: u32_at(bytes, at + 20)? as usize,
            bytes: u64::from(u32_at(bytes, at + 24)?),
            local: u32_at(bytes, at + 42)? as usize,
            next: at + CENTRAL_BYTES + name_bytes + extra_bytes + comment_bytes,
        })
    }

    /// Unpacks the file, of at most `bytes_max` bytes.
    fn content(&self, bytes: &[u8], bytes_max: u64) -> Result<Vec<u8>, String> {
        let broken = || format!("{:?} is broken", self.name);
        if self.flags & ENCRYPTED != 0 {
            return Err(format!("{:?} is encrypted", self.name));
        }
        if self.bytes > bytes_max {
            return Err(format!("its files have more than {BYTES_MAX} bytes"));
        }
        let packed = self.packed(bytes).ok_or_else(broken)?;
        let content = match self.method {
            STORED => packed.to_vec(),
            DEFLATED => {
                let mut content = Vec::new();
                // One byte more than announced is enough to see that there are more.
                DeflateDecoder::new(packed).take(self.bytes + 1).read_to_end(&mut content).map_err(|_| broken())?;
                content
            }
            other => return Err(format!("{:?} is packed by the method {other}", self.name)),
        };
        let mut crc = Crc::new();
        crc.update(&content);
        if content.len() as u64 != self.bytes || crc.sum() != self.checksum {
            return Err(broken());
        }
        Ok(content)
    }

    fn packed<'b>(&self, bytes: &'b [u8]) -> Option<&'b [u8]> {
        if u32_at(bytes, self.local)? != LOCAL {
            return None;
        }
        let length = |offset: usize| Some(usize::from(u16_at(bytes, self.local + offset)?));
        let start = self.local + LOCAL_BYTES + length(26)? + length(28)?;
        bytes.get(start..)?.get(..self.packed_bytes)
    }
}

/// Writes an archive.
pub(crate) fn write(files: &[ArchivedFile]) -> Result<Vec<u8>, String> {
    let too_large = || "the bundle is too large".to_owned();
    let (mut archive, mut directory) = (Vec::new(), Vec::new());
    for file in files {
        check_name(&file.name)?;
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        let packed = encoder.write_all(&file.content).and_then(|()| encoder.finish()).map_err(|error| error.to_string())?;
        let mut crc = Crc::new();
        crc.update(&file.content);
        let number = |count: usize| u32::try_from(count).map_err(|_| too_large());
        let local = number(archive.len())?;
        let mut common = Vec::new();
        for part in [VERSION, 0, DEFLATED, 0, DATE] {
            common.extend_from_slice(&part.to_le_bytes());
        }
        for part in [crc.sum(), number(packed.len())?, number(file.content.len())?] {
            common.extend_from_slice(&part.to_le_bytes());
        }
        common.extend_from_slice(&u16::try_from(file.name.len()).map_err(|_| too_large())?.to_le_bytes());
        common.extend_from_slice(&0u16.to_le_bytes());
        archive.extend_from_slice(&LOCAL.to_le_bytes());
        archive.extend_from_slice(&common);
        archive.extend_from_slice(file.name.as_bytes());
        archive.extend_from_slice(&packed);
        directory.extend_from_slice(&CENTRAL.to_le_bytes());
        directory.extend_from_slice(&VERSION.to_le_bytes());
        directory.extend_from_slice(&common);
        // Comment, disk, attributes.
        directory.extend_from_slice(&[0; 10]);
        directory.extend_from_slice(&local.to_le_bytes());
        directory.extend_from_slice(file.name.as_bytes());
    }
    let count = u16::try_from(files.len()).map_err(|_| too_large())?.to_le_bytes();
    let number = |count: usize| u32::try_from(count).map(u32::to_le_bytes).map_err(|_| too_large());
    let (start, length) = (number(archive.len())?, number(directory.len())?);
    archive.extend_from_slice(&directory);
    archive.extend_from_slice(&END.to_le_bytes());
    archive.extend_from_slice(&[0; 4]);
    for part in [count.as_slice(), &count, &length, &start, &[0; 2]] {
        archive.extend_from_slice(part);
    }
    Ok(archive)
}

#[cfg(test)]
mod tests;
