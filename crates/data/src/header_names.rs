//! Names of the request headers that a version sets, removes or reads. Trailers with these names are dropped: a server that merges trailers
//! into the headers would see them after all decisions were made.

use std::collections::BTreeSet;

/// A set of names that ignores letter case and treats an underscore as a dash.
#[derive(Debug, Default)]
pub struct HeaderNames {
    names: BTreeSet<String>,
    /// Whether the set contains every name, because clients choose which headers count.
    all: bool,
}

impl HeaderNames {
    pub fn add(&mut self, name: &str) {
        self.names.insert(normal(name));
    }

    pub fn add_all(&mut self) {
        self.all = true;
    }

    pub fn contains(&self, name: &str) -> bool {
        self.all || self.names.contains(&normal(name))
    }
}

/// Whether a server may take two names for the same.
pub fn is_same_name(one: &str, other: &str) -> bool {
    one.len() == other.len() && normal(one) == normal(other)
}

fn normal(name: &str) -> String {
    name.to_ascii_lowercase().replace('_', "-")
}

/// A header's name in Go's form: `X-My-Header`.
pub fn canonical_name(name: &str) -> String {
    let mut starts = true;
    let letter = |c: char| {
        let written = if starts { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() };
        starts = c == '-';
        written
    };
    name.chars().map(letter).collect()
}
