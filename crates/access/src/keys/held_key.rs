//! A key that a request holds. Holding one does not write to a reference counter that cores share, as long as a thread holds only a few at
//! a time. Cores that serve the same key therefore do not slow each other down.

use super::Key;
use arc_swap::{ArcSwap, Guard};
use std::ops::Deref;
use std::sync::Arc;

/// A key, for as long as a request needs it.
pub struct HeldKey(Guard<Arc<Key>>);

impl HeldKey {
    /// Takes the current key.
    #[inline]
    pub fn of(place: &ArcSwap<Key>) -> Self {
        HeldKey(place.load())
    }

    /// Converts it to a counted reference, for longer use.
    pub fn to_arc(&self) -> Arc<Key> {
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
