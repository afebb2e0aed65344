//! Purging without a scan. Each stored response has labels: its API, its URL, the folders of its path, its tags. A purge writes its number
//! to the slot of one label, and every look-up compares. A purge therefore costs one write whatever the cache contains, the index of tags
//! has a fixed size, and a response that is in flight during the purge is affected as well.

use crate::key::KeyHasher;
use std::sync::atomic::{AtomicU64, Ordering};

/// Slots for labels. Two labels can share a slot; a purge of one then drops the other's responses too. At this size the chance is one in
/// 32,768. A table takes 256 KiB, and there are two.
const PLACES: usize = 1 << 15;
/// Most folders of one path that have a label. A purge of a deeper folder purges the deepest folder with a label.
const FOLDERS_MAX: usize = 16;
/// Most tags of one response. A response with more is not stored, because a purge would miss it.
pub(crate) const TAGS_MAX: usize = 128;

/// Slot of a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Label(u16);

/// Effect of a purge on responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purge {
    /// The responses are dropped.
    Hard,
    /// The responses count as stale: used where staleness is allowed, otherwise confirmed by the upstream.
    Soft,
}

/// The number of the last purge at some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PurgeMark(pub(crate) u64);

/// Effect that purges had on a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purged {
    No,
    Soft,
    Hard,
}

/// Number of the last purge of each label.
#[derive(Debug)]
pub(crate) struct Generations {
    last: AtomicU64,
    hard: Box<[AtomicU64]>,
    soft: Box<[AtomicU64]>,
}

impl Generations {
    /// Size of the tables in bytes.
    pub(crate) const BYTES: u64 = (2 * PLACES * size_of::<AtomicU64>()) as u64;

    pub(crate) fn new() -> Self {
        let table = || (0..PLACES).map(|_| AtomicU64::new(0)).collect();
        Generations { last: AtomicU64::new(0), hard: table(), soft: table() }
    }

    /// Number of the last purge: only later purges affect what begins now.
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

    /// The effect of purges after number `born` on a response with these labels.
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

/// Makes the labels of one API.
#[derive(Clone, Copy)]
pub(crate) struct Labels<'a> {
    pub secret: &'a [u8; 32],
    pub api: &'a str,
}

impl Labels<'_> {
    fn label(&self, kind: &str, text: &[u8]) -> Label {
        let mut hasher = KeyHasher::keyed(self.secret, kind);
        hasher.add(self.api.as_bytes());
        hasher.add(text);
        Label((hasher.finish().hash64() % PLACES as u64) as u16)
    }

    /// Label of all responses of the API.
    pub(crate) fn all(&self) -> Label {
        self.label("api", b"")
    }

    /// Label of one URL, with all variants and callers.
    pub(crate) fn url(&self, target: &[u8]) -> Label {
        self.label("url", target)
    }

    /// Label of a path and everything below it.
    pub(crate) fn folder(&self, path: &[u8]) -> Label {
        let path = path.strip_suffix(b"/").unwrap_or(path);
        let end = folder_ends(path).last().unwrap_or(0);
        self.label("folder", path.get(..end).unwrap_or(path))
    }

    /// The label of a tag.
    pub(crate) fn tag(&self, tag: &[u8]) -> Label {
        self.label("tag", tag)
    }

    /// Labels that the response to a request has, whatever the response says.
    pub(crate) fn of_request(&self, target: &[u8]) -> Vec<Label> {
        let path = target.split(|&byte| byte == b'?').next().unwrap_or_default();
        let mut labels = vec![self.all(), self.url(target)];
        labels.extend(folder_ends(path).map(|end| self.label("folder", path.get(..end).unwrap_or(path))));
        labels
    }
}

/// End positions of the first folders of a path: `/a/b` has the folders ``, `/a` and `/a/b`.
fn folder_ends(path: &[u8]) -> impl Iterator<Item = usize> {
    let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
    slashes.chain([path.len()]).take(FOLDERS_MAX)
}

/// Tags of a response: separated by spaces in `Surrogate-Key` and `xkey`, by commas in `Cache-Tag`. `None` when there are too many.
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
