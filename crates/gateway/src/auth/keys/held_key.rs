//! A key in the hands of a request. Having one writes to no counter that other cores write to, as long as a thread has few of them at a
//! time; so cores that serve the same key do not wait for each other.

use super::Key;
use arc_swap::{ArcSwap, Guard};
use std::ops::Deref;
use std::sync::Arc;

/// A key, for as long as a request needs it.
pub(crate) struct HeldKey(Guard<Arc<Key>>);

impl HeldKey {
    /// The key that is there now.
    #[inline]
    pub(crate) fn of(place: &ArcSwap<Key>) -> Self {
        HeldKey(place.load())
    }

    /// The same key for keeps; this does count.
    pub(crate) fn to_arc(&self) -> Arc<Key> {
        (*self.0).clone()
    }
}

impl Deref for HeldKey {
    type Target = Key;

    #[inline]
    fn deref(&self) -> &Key {
        &self.0
    }
}

impl Clone for HeldKey {
    fn clone(&self) -> Self {
        HeldKey(Guard::from_inner(self.to_arc()))
    }
}
