//! What becomes of requests to language models: the server that answers writes it, the data path reads it when the response has ended. Both know a
//! call by its number. A call is forgotten when its reader lets go of it, so there are no more than requests under way.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tollgate_model::analytics::LlmStats;

/// Most calls that are open: about as many as requests that a gateway can have under way. What is beyond has no figures in its record.
const OPEN_MAX: usize = 65_536;

/// The open calls of a gateway.
#[derive(Default)]
pub struct LlmCalls {
    last: AtomicU64,
    open: Mutex<HashMap<u64, Arc<LlmCall>>>,
}

/// One request.
#[derive(Default)]
pub struct LlmCall {
    stats: Mutex<LlmStats>,
    is_taken: AtomicBool,
    is_over: AtomicBool,
}

/// A call, for whoever records it.
pub struct OpenLlmCall {
    calls: Arc<LlmCalls>,
    /// Its number, for the server that answers.
    pub number: u64,
    call: Arc<LlmCall>,
}

impl LlmCalls {
    /// A new call; `None` if there are too many.
    pub fn open(self: &Arc<Self>) -> Option<OpenLlmCall> {
        let mut open = self.locked();
        if open.len() >= OPEN_MAX {
            return None;
        }
        let number = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let call = Arc::<LlmCall>::default();
        open.insert(number, call.clone());
        Some(OpenLlmCall { calls: self.clone(), number, call })
    }

    /// The call that a server answers from now on. Each is answered once.
    pub fn take(&self, number: u64) -> Option<Arc<LlmCall>> {
        let call = self.locked().get(&number).cloned()?;
        (!call.is_taken.swap(true, Ordering::AcqRel)).then_some(call)
    }

    /// How many are open.
    pub fn count(&self) -> usize {
        self.locked().len()
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<u64, Arc<LlmCall>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LlmCall {
    /// Changes what is known.
    pub fn note(&self, change: impl FnOnce(&mut LlmStats)) {
        change(&mut self.stats.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// What is known.
    pub fn stats(&self) -> Box<LlmStats> {
        Box::new(self.stats.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    /// Nothing will be added.
    pub fn end(&self) {
        self.is_over.store(true, Ordering::Release);
    }
}

impl OpenLlmCall {
    /// The call itself, which others may look at too.
    pub fn call(&self) -> Arc<LlmCall> {
        self.call.clone()
    }

    /// Whether all is known: its server has finished, or has never seen it.
    pub fn is_complete(&self) -> bool {
        self.call.is_over.load(Ordering::Acquire) || !self.call.is_taken.load(Ordering::Acquire)
    }

    /// What is known; `None` if no server has seen it.
    pub fn stats(&self) -> Option<Box<LlmStats>> {
        self.call.is_taken.load(Ordering::Acquire).then(|| self.call.stats())
    }
}

impl Drop for OpenLlmCall {
    fn drop(&mut self) {
        self.calls.locked().remove(&self.number);
    }
}

#[cfg(test)]
mod tests;
