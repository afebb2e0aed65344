//! Names of the request headers that a version sets, removes or reads. A trailer of such a name would come behind all that was decided by
//! the headers, at servers that merge trailers into them.

use std::collections::BTreeSet;

/// A set of names: in any letter case, and with an underscore for a dash.
#[derive(Debug, Default)]
pub(crate) struct HeaderNames {
    names: BTreeSet<String>,
    /// Clients choose which headers count: every name is in the set.
    all: bool,
}

impl HeaderNames {
    pub(crate) fn add(&mut self, name: &str) {
        self.names.insert(normal(name));
    }

    pub(crate) fn add_all(&mut self) {
        self.all = true;
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.all || self.names.contains(&normal(name))
    }
}

/// Two names that a server may take for the same.
pub(crate) fn is_same_name(one: &str, other: &str) -> bool {
    one.len() == other.len() && normal(one) == normal(other)
}

fn normal(name: &str) -> String {
    name.to_ascii_lowercase().replace('_', "-")
}
