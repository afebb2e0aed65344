//! Tasks that wait for a change on another core. Each has a place of its own, so that one that waits again and again is in the list once.

use std::task::Waker;

/// Who is to be woken.
#[derive(Debug, Default)]
pub(crate) struct Waiters {
    places: Vec<Option<Waker>>,
    free: Vec<usize>,
}

/// A place among the waiters.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct WaitPlace(usize);

impl Waiters {
    /// Takes a place.
    pub(crate) fn join(&mut self) -> WaitPlace {
        let at = self.free.pop().unwrap_or_else(|| {
            self.places.push(None);
            self.places.len() - 1
        });
        WaitPlace(at)
    }

    /// Gives a place back.
    pub(crate) fn leave(&mut self, place: WaitPlace) {
        if let Some(waker) = self.places.get_mut(place.0) {
            *waker = None;
        }
        self.free.push(place.0);
    }

    /// Wakes `waker` at the next change.
    pub(crate) fn wait(&mut self, place: &WaitPlace, waker: &Waker) {
        if let Some(known) = self.places.get_mut(place.0) {
            match known {
                Some(known) => known.clone_from(waker),
                None => *known = Some(waker.clone()),
            }
        }
    }

    /// Those that wait, to be woken when the lock around this is released.
    #[must_use]
    pub(crate) fn take(&mut self) -> Vec<Waker> {
        self.places.iter_mut().filter_map(Option::take).collect()
    }
}

/// Wakes all of them.
pub(crate) fn wake(waiting: Vec<Waker>) {
    for waker in waiting {
        waker.wake();
    }
}
