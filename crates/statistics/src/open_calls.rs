//! What the data path and a server within the process tell each other of requests beside their messages: the server answers, the data path reads when the
//! response has ended. Both know a call by its number. A call is forgotten when the data path lets go of it, so there are no more than requests under way.

use std::collections::HashMap;
use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Most calls that are open: about as many as requests that a gateway can have under way. What is beyond has nothing of it in its record.
const OPEN_MAX: usize = 65_536;

/// The open calls of a gateway to one kind of server.
#[derive(Debug)]
pub struct OpenCalls<T> {
    last: AtomicU64,
    open: Mutex<HashMap<u64, Arc<T>>>,
}

/// A call, for whoever records it.
pub struct OpenCall<T> {
    calls: Arc<OpenCalls<T>>,
    /// Its number, for the server that answers.
    pub number: u64,
    call: Arc<T>,
}

impl<T> Default for OpenCalls<T> {
    fn default() -> Self {
        OpenCalls { last: AtomicU64::new(0), open: Mutex::default() }
    }
}

impl<T> OpenCalls<T> {
    /// A new call; `None` if there are too many.
    pub fn open(self: &Arc<Self>, call: T) -> Option<OpenCall<T>> {
        let mut open = self.locked();
        if open.len() >= OPEN_MAX {
            return None;
        }
        let (number, call) = (self.last.fetch_add(1, Ordering::Relaxed) + 1, Arc::new(call));
        open.insert(number, call.clone());
        Some(OpenCall { calls: self.clone(), number, call })
    }

    /// The call with a number.
    pub fn find(&self, number: u64) -> Option<Arc<T>> {
        self.locked().get(&number).cloned()
    }

    /// How many are open.
    pub fn count(&self) -> usize {
        self.locked().len()
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<u64, Arc<T>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> OpenCall<T> {
    /// The call itself, which others may look at too.
    pub fn call(&self) -> Arc<T> {
        self.call.clone()
    }
}

impl<T> Deref for OpenCall<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.call
    }
}

impl<T> fmt::Debug for OpenCall<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("OpenCall").field("number", &self.number).finish_non_exhaustive()
    }
}

impl<T> Drop for OpenCall<T> {
    fn drop(&mut self) {
        self.calls.locked().remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::{OPEN_MAX, OpenCalls};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn a_call_is_known_by_its_number_until_its_reader_lets_go() {
        let calls = Arc::<OpenCalls<AtomicU32>>::default();
        let (one, other) = (calls.open(AtomicU32::new(1)).unwrap(), calls.open(AtomicU32::new(2)).unwrap());
        let found = calls.find(one.number).unwrap();
        found.store(3, Ordering::Relaxed);
        assert_eq!((one.load(Ordering::Relaxed), other.load(Ordering::Relaxed)), (3, 2));
        let number = one.number;
        drop(one);
        assert!(calls.find(number).is_none() && calls.find(other.number).is_some());
        assert_eq!(calls.count(), 1);
        found.store(4, Ordering::Relaxed);
    }

    #[test]
    fn calls_are_bounded() {
        let calls = Arc::<OpenCalls<()>>::default();
        let open: Vec<_> = (0..OPEN_MAX).map(|_| calls.open(()).unwrap()).collect();
        assert!(calls.open(()).is_none());
        drop(open);
        assert!(calls.open(()).is_some());
    }
}
