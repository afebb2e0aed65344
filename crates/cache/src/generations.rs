//! Purging without a walk. Each stored response has labels: its API, its URL, the folders of its path, its tags. A purge writes its number into the
//! place of one label; whoever looks a response up compares. A purge so costs one write whatever the cache holds, the index of tags has a fixed size,
//! and a response that is still on its way when the purge comes is caught as well.

use crate::key::KeyHasher;
use std::sync::atomic::{AtomicU64, Ordering};

/// Places for labels. Two labels can share one, and then a purge of one drops the other's responses too: at this size, one in 32,768. A table takes
/// 256 KiB, and there are two.
const PLACES: usize = 1 << 15;
/// Folders of one path that have a label. A purge of a deeper one purges the deepest that has.
const FOLDERS_MAX: usize = 16;
/// Tags that one response can have. One with more is not stored, for a purge would miss it.
pub(crate) const TAGS_MAX: usize = 128;

/// The place of a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Label(u16);

/// What happens to the responses that a purge meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purge {
    /// They are gone.
    Hard,
    /// They count as stale: used where staleness is allowed, and confirmed by the upstream otherwise.
    Soft,
}

/// What purges did to a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purged {
    No,
    Soft,
    Hard,
}

/// The numbers of the last purge of each label.
#[derive(Debug)]
pub(crate) struct Generations {
    last: AtomicU64,
    hard: Box<[AtomicU64]>,
    soft: Box<[AtomicU64]>,
}

impl Generations {
    /// Bytes of the tables.
    pub(crate) const BYTES: u64 = (2 * PLACES * size_of::<AtomicU64>()) as u64;

    pub(crate) fn new() -> Self {
        let table = || (0..PLACES).map(|_| AtomicU64::new(0)).collect();
        Generations { last: AtomicU64::new(0), hard: table(), soft: table() }
    }

    /// The number of the last purge: what begins now is met by later ones alone.
    pub(crate) fn now(&self) -> u64 {
        self.last.load(Ordering::SeqCst)
    }

    pub(crate) fn purge(&self, label: Label, purge: Purge) {
        let number = self.last.fetch_add(1, Ordering::SeqCst) + 1;
        let table = match purge {
            Purge::Hard => &self.hard,
            Purge::Soft => &self.soft,
        };
        if let Some(place) = table.get(usize::from(label.0)) {
            place.fetch_max(number, Ordering::SeqCst);
        }
    }

    /// What purges since number `born` did to a response with these labels.
    pub(crate) fn check(&self, labels: &[Label], born: u64) -> Purged {
        let is_met = |table: &[AtomicU64], label: &Label| {
            table.get(usize::from(label.0)).is_some_and(|place| place.load(Ordering::SeqCst) > born)
        };
        if labels.iter().any(|label| is_met(&self.hard, label)) {
            Purged::Hard
        } else if labels.iter().any(|label| is_met(&self.soft, label)) {
            Purged::Soft
        } else {
            Purged::No
        }
    }
}

/// Makes labels of one API.
#[derive(Clone, Copy)]
pub(crate) struct Labels<'a> {
    pub secret: &'a [u8; 32],
    pub api: &'a str,
}

impl Labels<'_> {
    fn label(&self, kind: &str, host: Option<&[u8]>, text: &[u8]) -> Label {
        let mut hasher = KeyHasher::keyed(self.secret, kind);
        hasher.add(self.api.as_bytes());
        hasher.add_optional(host);
        hasher.add(text);
        Label((hasher.finish().hash64() % PLACES as u64) as u16)
    }

    /// The label of everything that belongs to the API.
    pub(crate) fn all(&self) -> Label {
        self.label("api", None, b"")
    }

    /// The label of one URL, with every variant and caller.
    pub(crate) fn url(&self, host: Option<&[u8]>, target: &[u8]) -> Label {
        self.label("url", host, target)
    }

    /// The label of a path and what is below it.
    pub(crate) fn folder(&self, host: Option<&[u8]>, path: &[u8]) -> Label {
        let path = path.strip_suffix(b"/").unwrap_or(path);
        let end = folder_ends(path).last().unwrap_or(0);
        self.label("folder", host, path.get(..end).unwrap_or(path))
    }

    /// The label of a tag.
    pub(crate) fn tag(&self, tag: &[u8]) -> Label {
        self.label("tag", None, tag)
    }

    /// The labels that a request's response has whatever the response says.
    pub(crate) fn of_request(&self, host: Option<&[u8]>, target: &[u8]) -> Vec<Label> {
        let path = target.split(|&byte| byte == b'?').next().unwrap_or_default();
        let mut labels = vec![self.all(), self.url(host, target)];
        labels.extend(folder_ends(path).map(|end| self.label("folder", host, path.get(..end).unwrap_or(path))));
        labels
    }
}

/// Where the first folders of a path end: `/a/b` has the folders ``, `/a` and `/a/b`.
fn folder_ends(path: &[u8]) -> impl Iterator<Item = usize> {
    let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
    slashes.chain([path.len()]).take(FOLDERS_MAX)
}

/// The tags of a response: `Surrogate-Key` and `xkey` separate them with spaces, `Cache-Tag` with commas. `None` when there are too many.
pub(crate) fn tags(lines: &dyn crate::lines::HeaderLines) -> Option<Vec<Vec<u8>>> {
    let mut tags: Vec<Vec<u8>> = Vec::new();
    lines.each(&mut |name, value| {
        let is_tags = ["surrogate-key", "xkey", "cache-tag"].iter().any(|known| known.eq_ignore_ascii_case(name));
        if is_tags {
            let words = value.split(|byte| matches!(byte, b' ' | b'\t' | b','));
            tags.extend(words.filter(|word| !word.is_empty()).take(TAGS_MAX + 1).map(<[u8]>::to_vec));
        }
    });
    (tags.len() <= TAGS_MAX).then_some(tags)
}

#[cfg(test)]
mod tests;
