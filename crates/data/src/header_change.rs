//! One change to the header lines of a message.

use std::sync::Arc;
use tollgate_http::{HeaderEdits, Headers};

/// A change to a message's header lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeaderChange {
    /// Removes all lines with this name.
    Remove(Arc<str>),
    /// Replaces all lines with this name by one.
    Set(Arc<str>, Vec<u8>),
    /// Adds a line.
    Add(Arc<str>, Vec<u8>),
}

/// A change to responses with some statuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusChange {
    /// Empty for all.
    pub statuses: Arc<[u16]>,
    pub change: HeaderChange,
}

impl StatusChange {
    /// Whether a response with this status is changed.
    pub fn is_for(&self, status: u16) -> bool {
        self.statuses.is_empty() || self.statuses.contains(&status)
    }
}

impl HeaderChange {
    /// Name of the header.
    pub fn name(&self) -> &str {
        match self {
            HeaderChange::Remove(name) | HeaderChange::Set(name, _) | HeaderChange::Add(name, _) => name,
        }
    }

    /// Applies the change to a message from the upstream or the client.
    pub fn apply(&self, headers: &Headers<'_>, edits: &mut HeaderEdits) {
        match self {
            HeaderChange::Remove(name) => edits.remove(headers, name),
            HeaderChange::Set(name, value) => edits.set(headers, name, value),
            HeaderChange::Add(name, value) => edits.add(name, value),
        }
    }

    /// Applies the change to a cached response.
    pub fn apply_to_stored(&self, edits: &mut HeaderEdits) {
        match self {
            HeaderChange::Remove(name) => edits.remove_added(name),
            HeaderChange::Set(name, value) => {
                edits.remove_added(name);
                edits.add(name, value);
            }
            HeaderChange::Add(name, value) => edits.add(name, value),
        }
    }

    /// Applies the change to a reply of the gateway itself.
    pub fn apply_to_reply(&self, edits: &mut HeaderEdits) {
        match self {
            HeaderChange::Remove(_) => {}
            HeaderChange::Set(name, value) | HeaderChange::Add(name, value) => edits.add(name, value),
        }
    }
}
