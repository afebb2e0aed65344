//! Header changes of definitions: names to remove, and names with values to set.

use crate::exchange::Exchange;
use crate::header_change::HeaderChange;
use crate::header_names::HeaderNames;
use crate::template::{ValueTemplate, VariableScope};
use std::collections::BTreeMap;
use std::sync::Arc;
use tollgate_http::is_value;
use tollgate_model::is_framing_header;

/// Names to remove, then names to set.
pub(super) struct HeaderPlan {
    remove: Vec<Arc<str>>,
    set: Vec<(Arc<str>, ValueTemplate)>,
}

impl HeaderPlan {
    pub(super) fn new(remove: &[String], set: &BTreeMap<String, String>, scope: VariableScope<'_>) -> Self {
        let remove = remove.iter().filter(|name| !is_framing_header(name)).map(|name| name.as_str().into()).collect();
        let set = set.iter().filter(|(name, _)| !is_framing_header(name));
        HeaderPlan { remove, set: set.map(|(name, value)| (name.as_str().into(), ValueTemplate::new(value, scope))).collect() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.remove.is_empty() && self.set.is_empty()
    }

    /// Keeps only values with variables; constant values are applied elsewhere.
    pub(super) fn only_variable(mut self) -> Self {
        self.remove.clear();
        self.set.retain(|(_, value)| value.literal().is_none());
        self
    }

    /// Adds the names of the request headers that the plan changes.
    pub(super) fn changed_names(&self, names: &mut HeaderNames) {
        self.remove.iter().for_each(|name| names.add(name));
        self.set.iter().for_each(|(name, _)| names.add(name));
    }

    /// Adds the names of the request headers that its values use.
    pub(super) fn read_names(&self, names: &mut HeaderNames) {
        self.set.iter().for_each(|(_, value)| value.header_names(names));
    }

    /// The changes for one request. A value that a variable makes invalid for a header line is skipped.
    pub(super) fn changes<'p>(&'p self, exchange: &'p Exchange<'_>) -> impl Iterator<Item = HeaderChange> + 'p {
        let removed = self.remove.iter().map(|name| HeaderChange::Remove(name.clone()));
        let set = self.set.iter().filter_map(|(name, value)| {
            let value = value.render(exchange).into_bytes();
            is_value(&value).then(|| HeaderChange::Set(name.clone(), value))
        });
        removed.chain(set)
    }
}
