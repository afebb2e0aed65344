//! Tasks that wait for a change on another core. Each has its own slot, so that a task that waits repeatedly is in the list once.

use std::task::Waker;

/// Wakers of the waiting tasks.
#[derive(Debug, Default)]
pub(crate) struct Waiters {
    places: Vec<Option<Waker>>,
    free: Vec<usize>,
}

/// Slot of a waiting task.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct WaitPlace(usize);

impl Waiters {
    /// Takes a slot.
    pub(crate) fn join(&mut self) -> WaitPlace {
        let at = self.free.pop().unwrap_or_else(|| {
            self.places.push(None);
            self.places.len() - 1
        });
        WaitPlace(at)
    }

    /// Returns a slot.
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

    /// Takes the wakers, to be called after the surrounding lock is released.
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
