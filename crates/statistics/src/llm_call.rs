//! What becomes of a request to a language model: the server that answers writes it, the data path reads it when the response has ended.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use tollgate_model::analytics::LlmStats;

/// One request.
#[derive(Default)]
pub struct LlmCall {
    stats: Mutex<LlmStats>,
    is_taken: AtomicBool,
    is_over: AtomicBool,
}

impl LlmCall {
    /// A server answers it from now on. Says whether it is the first: each is answered once.
    pub fn take(&self) -> bool {
        !self.is_taken.swap(true, Ordering::AcqRel)
    }

    /// Changes what is known.
    pub fn note(&self, change: impl FnOnce(&mut LlmStats)) {
        change(&mut self.stats.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// What is known.
    pub fn stats(&self) -> Box<LlmStats> {
        Box::new(self.stats.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    /// What is known; `None` if no server has seen it.
    pub fn server_stats(&self) -> Option<Box<LlmStats>> {
        self.is_taken.load(Ordering::Acquire).then(|| self.stats())
    }

    /// Nothing will be added.
    pub fn end(&self) {
        self.is_over.store(true, Ordering::Release);
    }

    /// Whether all is known: its server has finished, or has never seen it.
    pub fn is_complete(&self) -> bool {
        self.is_over.load(Ordering::Acquire) || !self.is_taken.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::LlmCall;

    #[test]
    fn what_a_server_notes_is_read() {
        let call = LlmCall::default();
        assert!(call.is_complete() && call.server_stats().is_none(), "no server has seen it");
        assert!(call.take() && !call.take(), "it is answered once");
        call.note(|stats| stats.model = "m".to_owned());
        assert!(!call.is_complete());
        assert_eq!(call.server_stats().unwrap().model, "m");
        call.end();
        assert!(call.is_complete());
    }
}
