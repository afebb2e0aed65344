//! A bounded queue from cores to a thread. It wakes the thread after it has let go of its lock: a channel of the standard library holds
//! one while it wakes, so a thread that takes over the sender's processor must wait for the sender, which costs two more switches.

use std::collections::VecDeque;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Where a core puts items in.
pub struct Inlet<T>(Arc<Queue<T>>);

/// Where the thread takes them out.
pub struct Outlet<T>(Arc<Queue<T>>);

struct Queue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
    room: usize,
}

struct State<T> {
    items: VecDeque<T>,
    inlets: usize,
    outlet_is_open: bool,
}

/// A queue with room for so many items.
pub fn queue<T>(room: usize) -> (Inlet<T>, Outlet<T>) {
    let state = Mutex::new(State { items: VecDeque::new(), inlets: 1, outlet_is_open: true });
    let queue = Arc::new(Queue { state, changed: Condvar::new(), room });
    (Inlet(queue.clone()), Outlet(queue))
}

impl<T> Queue<T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Inlet<T> {
    /// Puts an item in, if there is room and somebody to take it.
    pub fn give(&self, item: T) -> bool {
        let mut state = self.0.state();
        if !state.outlet_is_open || state.items.len() >= self.0.room {
            return false;
        }
        state.items.push_back(item);
        drop(state);
        self.0.changed.notify_one();
        true
    }
}

impl<T> Outlet<T> {
    /// Waits for the next item, but not longer than this. The queue is disconnected when it is empty and has no inlet any longer.
    pub fn take(&self, time_max: Duration) -> Result<T, RecvTimeoutError> {
        let must_wait = |state: &mut State<T>| state.items.is_empty() && state.inlets > 0;
        let waited = self.0.changed.wait_timeout_while(self.0.state(), time_max, must_wait);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner).0;
        let without = if state.inlets > 0 { RecvTimeoutError::Timeout } else { RecvTimeoutError::Disconnected };
        state.items.pop_front().ok_or(without)
    }
}

impl<T> Clone for Inlet<T> {
    fn clone(&self) -> Self {
        self.0.state().inlets += 1;
        Inlet(self.0.clone())
    }
}

impl<T> Drop for Inlet<T> {
    fn drop(&mut self) {
        self.0.state().inlets -= 1;
        self.0.changed.notify_one();
    }
}

impl<T> Drop for Outlet<T> {
    fn drop(&mut self) {
        self.0.state().outlet_is_open = false;
    }
}

#[cfg(test)]
mod tests;
