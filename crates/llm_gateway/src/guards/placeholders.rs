//! What stands for texts that were taken out of a request: `[EMAIL_1]`. The same text has the same placeholder in the whole request, in the order of
//! its texts, so that the next turn of a conversation begins with the same bytes. None is one that the client has written itself.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Most texts of one request with placeholders of their own.
pub(crate) const PLACEHOLDERS_MAX: usize = 10_000;
/// Longest label.
const LABEL_BYTES_MAX: usize = 40;
/// Longest placeholder, with its brackets.
pub(crate) const PLACEHOLDER_BYTES_MAX: usize = LABEL_BYTES_MAX + 8;

/// Placeholders of one request.
#[derive(Debug, Default)]
pub(crate) struct Placeholders {
    texts: HashMap<String, String>,
    names: HashMap<String, String>,
    counts: HashMap<String, usize>,
    /// Those that the client has written.
    taken: HashSet<String>,
}

impl Placeholders {
    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Bytes of memory, about.
    pub(crate) fn bytes(&self) -> usize {
        const EACH: usize = 192;
        self.texts.keys().map(|text| 2 * text.len() + EACH).sum()
    }

    /// Notes what looks like a placeholder in a text of the client.
    pub(crate) fn note_taken(&mut self, text: &str) {
        for range in placeholders_in(text) {
            // More than there can be placeholders take no more numbers.
            if self.taken.len() > PLACEHOLDERS_MAX {
                return;
            }
            self.taken.extend(text.get(range).map(str::to_owned));
        }
    }

    /// The placeholder of a text; `None` if there are too many.
    pub(crate) fn name_of(&mut self, text: &str, label: &str) -> Option<String> {
        if let Some(name) = self.names.get(text) {
            return Some(name.clone());
        }
        if self.names.len() >= PLACEHOLDERS_MAX {
            return None;
        }
        let count = self.counts.entry(label.to_owned()).or_default();
        let name = loop {
            *count += 1;
            let name = placeholder(label, Some(*count));
            if !self.taken.contains(&name) {
                break name;
            }
        };
        self.names.insert(text.to_owned(), name.clone());
        self.texts.insert(name.clone(), text.to_owned());
        Some(name)
    }

    /// What a placeholder stands for.
    pub(crate) fn text_of(&self, name: &str) -> Option<&str> {
        self.texts.get(name).map(String::as_str)
    }
}

/// A placeholder with this label; in answers, where nothing is put back, it has no number.
pub(crate) fn placeholder(label: &str, number: Option<usize>) -> String {
    let label: String = label
        .chars()
        .take(LABEL_BYTES_MAX)
        .map(|letter| if letter.is_ascii_alphanumeric() { letter.to_ascii_uppercase() } else { '_' })
        .collect();
    match number {
        Some(number) => format!("[{label}_{number}]"),
        None => format!("[{label}]"),
    }
}

fn is_inner(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_'
}

/// Where something looks like a placeholder.
pub(crate) fn placeholders_in(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    text.match_indices('[').filter_map(|(at, _)| {
        let rest = text.as_bytes().get(at + 1..)?;
        let inner = rest.iter().take(PLACEHOLDER_BYTES_MAX).take_while(|byte| is_inner(**byte)).count();
        (inner > 0 && rest.get(inner) == Some(&b']')).then_some(at..at + inner + 2)
    })
}

/// Where a placeholder may have begun that is not complete at the end of a text; its length if none has.
pub(crate) fn begun_placeholder(text: &str) -> usize {
    let first = text.len().saturating_sub(PLACEHOLDER_BYTES_MAX);
    match text.rfind('[').filter(|at| *at >= first) {
        Some(at) if text.as_bytes().get(at + 1..).unwrap_or_default().iter().all(|byte| is_inner(*byte)) => at,
        _ => text.len(),
    }
}

#[cfg(test)]
mod tests;
