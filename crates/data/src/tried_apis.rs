//! The APIs that pages of the developer portal may try: those of its products. Operators change products at any time, so this is no part of a snapshot.

use arc_swap::ArcSwap;
use std::collections::HashSet;
use std::sync::Arc;

/// The portal's origin, and the APIs that it may try.
#[derive(Clone, Debug)]
pub struct TriedApis {
    /// Origin of the portal's pages.
    pub origin: String,
    ids: Arc<ArcSwap<HashSet<String>>>,
}

impl TriedApis {
    /// None yet.
    pub fn of(origin: &str) -> Self {
        TriedApis { origin: origin.to_owned(), ids: Arc::default() }
    }

    /// Whether the API with this id may be tried.
    pub fn has(&self, api: &str) -> bool {
        self.ids.load().contains(api)
    }

    /// From now on, the APIs with these ids.
    pub fn set(&self, ids: HashSet<String>) {
        self.ids.store(Arc::new(ids));
    }
}
