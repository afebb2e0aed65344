//! What becomes of calls, for whoever records them: the code of the error in a response, which may come long after its status. The data path opens a
//! call and tells the federation its number; both know it by that. It is forgotten when the data path lets go of it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Most calls that are open: about as many as requests that a gateway can have under way. Of what is beyond, errors are not recorded.
const OPEN_MAX: usize = 65_536;

/// The open calls of a gateway.
#[derive(Debug, Default)]
pub struct CallOutcomes {
    last: AtomicU64,
    open: Mutex<HashMap<u64, Arc<CallOutcome>>>,
}

/// One call.
#[derive(Debug, Default)]
pub(crate) struct CallOutcome {
    /// The code of the error that its client got; 0 for none.
    code: AtomicI32,
}

/// A call, for whoever records it.
#[derive(Debug)]
pub struct OpenOutcome {
    outcomes: Arc<CallOutcomes>,
    /// Its number, for the federation.
    pub number: u64,
    outcome: Arc<CallOutcome>,
}

impl CallOutcomes {
    /// A new call; `None` if there are too many.
    pub fn open(self: &Arc<Self>) -> Option<OpenOutcome> {
        let mut open = self.locked();
        if open.len() >= OPEN_MAX {
            return None;
        }
        let number = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let outcome = Arc::<CallOutcome>::default();
        open.insert(number, outcome.clone());
        Some(OpenOutcome { outcomes: self.clone(), number, outcome })
    }

    /// The call with a number.
    pub(crate) fn find(&self, number: u64) -> Option<Arc<CallOutcome>> {
        self.locked().get(&number).cloned()
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<u64, Arc<CallOutcome>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CallOutcome {
    /// The client gets an error.
    pub(crate) fn note(&self, code: i64) {
        self.code.store(i32::try_from(code).unwrap_or_default(), Ordering::Release);
    }
}

impl OpenOutcome {
    /// The code of the error that the client got; `None` for none.
    pub fn error(&self) -> Option<i32> {
        Some(self.outcome.code.load(Ordering::Acquire)).filter(|code| *code != 0)
    }
}

impl Drop for OpenOutcome {
    fn drop(&mut self) {
        self.outcomes.locked().remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::CallOutcomes;
    use std::sync::Arc;

    #[test]
    fn an_error_is_told_by_the_number_of_its_call_until_that_is_forgotten() {
        let outcomes = Arc::<CallOutcomes>::default();
        let (one, other) = (outcomes.open().unwrap(), outcomes.open().unwrap());
        outcomes.find(one.number).unwrap().note(-32004);
        outcomes.find(other.number).unwrap().note(i64::MAX);
        assert_eq!((one.error(), other.error()), (Some(-32004), None));
        let number = one.number;
        drop(one);
        assert!(outcomes.find(number).is_none() && outcomes.find(other.number).is_some());
    }
}
