//! The lines of an audit file: what was changed, chained by hashes. A line has its number, the hash of the line before it, and its own. A line that
//! is changed, removed, moved or put in shows when the lines are checked; a change that could not be written is a gap. With a key, nobody can make
//! lines who does not have it. No I/O.

use aws_lc_rs::hmac;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::io::{self, BufRead};

/// No gateway writes more lines.
const NUMBER_MAX: u64 = 1 << 53;
/// Before the hash at the end of a line.
const HASH: &str = ",\"hash\":\"";

/// What makes the hashes of lines.
#[derive(Clone, Debug, Default)]
pub struct AuditKey(Option<hmac::Key>);

impl AuditKey {
    /// HMAC-SHA-256 with this secret; SHA-256 if it is empty.
    pub fn new(secret: &str) -> Self {
        AuditKey((!secret.is_empty()).then(|| hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes())))
    }

    fn hash(&self, body: &str) -> String {
        match &self.0 {
            Some(key) => hexadecimal(hmac::sign(key, body.as_bytes()).as_ref()),
            None => hexadecimal(&Sha256::digest(body.as_bytes())),
        }
    }
}

/// The end of a chain: the number and the hash of its last line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditChain {
    /// 0 before the first line.
    pub number: u64,
    /// What [`AuditKey`] makes of the line before its hash, in hexadecimal digits; empty before the first line.
    pub hash: String,
}

/// The end of a chain, as it is kept beside a file.
#[derive(Serialize, Deserialize)]
struct KeptEnd {
    seq: u64,
    hash: String,
    /// What [`AuditKey`] makes of the two.
    seal: String,
}

/// A line before its hash.
#[derive(Serialize)]
struct UnhashedLine<'l, E> {
    seq: u64,
    prev: &'l str,
    #[serde(flatten)]
    entry: &'l E,
}

/// What the checks need of a line.
struct ReadAuditLine {
    number: u64,
    previous: String,
    hash: String,
}

impl AuditChain {
    /// The end of the chain in the last lines of a file; the beginning of a chain if none of them is whole.
    pub fn at_end_of(lines: &str, key: &AuditKey) -> Self {
        let last = lines.lines().rev().find_map(|line| read_line(line, key));
        last.map(|line| AuditChain { number: line.number, hash: line.hash }).unwrap_or_default()
    }

    /// The end that [`to_kept`](Self::to_kept) has written; `None` for anything else, such as one without the key.
    pub fn of_kept(text: &[u8], key: &AuditKey) -> Option<Self> {
        let KeptEnd { seq, hash, seal } = serde_json::from_slice(text).ok()?;
        // Without a key, anybody who can write the file can seal it.
        let is_plain = seq <= NUMBER_MAX && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        (is_plain && key.hash(&seal_text(seq, &hash)) == seal).then_some(AuditChain { number: seq, hash })
    }

    /// The end as it is kept beside a file.
    ///
    /// # Errors
    /// It can't be written as JSON.
    pub fn to_kept(&self, key: &AuditKey) -> serde_json::Result<Vec<u8>> {
        let seal = key.hash(&seal_text(self.number, &self.hash));
        serde_json::to_vec(&KeptEnd { seq: self.number, hash: self.hash.clone(), seal })
    }

    /// Leaves out the numbers of changes that are lost, so that a gap shows.
    pub fn skip(&mut self, lost: u64) {
        self.number = self.number.saturating_add(lost);
    }

    /// The next line, with its end. `entry` must be an object without members of the names `seq`, `prev` and `hash`.
    ///
    /// # Errors
    /// The entry can't be written as JSON.
    pub fn next(&mut self, key: &AuditKey, entry: &impl Serialize) -> serde_json::Result<String> {
        let number = self.number.saturating_add(1);
        let unhashed = serde_json::to_string(&UnhashedLine { seq: number, prev: &self.hash, entry })?;
        let body = unhashed.strip_suffix('}').unwrap_or(&unhashed);
        *self = AuditChain { number, hash: key.hash(body) };
        Ok(format!("{body}{HASH}{}\"}}\n", self.hash))
    }
}

/// Nothing that a line may be: those are objects.
fn seal_text(number: u64, hash: &str) -> String {
    format!("end {number} {hash}")
}

/// A line whose hash is right.
fn read_line(line: &str, key: &AuditKey) -> Option<ReadAuditLine> {
    let (body, rest) = line.rsplit_once(HASH)?;
    let claimed = rest.strip_suffix("\"}")?;
    if key.hash(body) != claimed {
        return None;
    }
    let value: Value = serde_json::from_str(line).ok()?;
    let previous = value.get("prev")?.as_str()?.to_owned();
    Some(ReadAuditLine { number: value.get("seq")?.as_u64()?, previous, hash: claimed.to_owned() })
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Checks the lines of one or several files, in their order.
#[derive(Debug, Default)]
pub struct AuditCheck {
    key: AuditKey,
    /// The number of the first line that is whole, and the end of the chain so far.
    span: Option<(u64, AuditChain)>,
    faults: usize,
}

/// Longest line that is read.
const LINE_BYTES_MAX: u64 = 16 << 20;

impl AuditCheck {
    /// A check of lines whose hashes were made with this key.
    pub fn new(key: AuditKey) -> Self {
        AuditCheck { key, ..AuditCheck::default() }
    }

    /// Checks the lines of the next file, and passes what is wrong to `tell`: the number of the line in the file, and a sentence.
    ///
    /// # Errors
    /// They can't be read.
    pub fn read(&mut self, mut lines: impl BufRead, mut tell: impl FnMut(usize, String)) -> io::Result<()> {
        for place in 1.. {
            let mut line = Vec::new();
            io::Read::take(&mut lines, LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
            if line.is_empty() {
                break;
            }
            let line = line.strip_suffix(b"\n").unwrap_or(&line);
            if let Some(fault) = Some(line).filter(|line| !line.is_empty()).and_then(|line| self.add(line)) {
                self.faults += 1;
                tell(place, fault);
            }
        }
        Ok(())
    }

    /// What is wrong with the next line.
    fn add(&mut self, line: &[u8]) -> Option<String> {
        let Some(line) = std::str::from_utf8(line).ok().and_then(|line| read_line(line, &self.key)) else {
            return Some("the line is not what was written, or not with this key: its hash does not fit".to_owned());
        };
        let end = AuditChain { number: line.number, hash: line.hash };
        let Some((_, last)) = &mut self.span else {
            self.span = Some((line.number, end));
            return None;
        };
        let fault = if line.number != last.number.saturating_add(1) {
            Some(format!("number {} follows number {}: lines are missing, moved or repeated", line.number, last.number))
        } else if line.previous != last.hash {
            Some(format!("number {} does not follow the line before it, which was changed", line.number))
        } else {
            None
        };
        *last = end;
        fault
    }

    /// The number of the first line that is whole, and the end of the chain; `None` without such a line.
    pub fn span(&self) -> Option<(u64, &AuditChain)> {
        self.span.as_ref().map(|(first, end)| (*first, end))
    }

    /// How much is wrong.
    pub fn faults(&self) -> usize {
        self.faults
    }
}

#[cfg(test)]
mod tests;
