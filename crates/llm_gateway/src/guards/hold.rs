//! How much of a text that goes on must wait, because a match of a pattern may have begun in it. All else goes on at once.

use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson;
use regex_automata::{Anchored, Input, MatchKind};
use std::sync::{Mutex, PoisonError};

/// Most bytes that wait. Of a match that is longer, what is beyond is not found in a stream.
pub(crate) const HOLD_BYTES_MAX: usize = 8 << 10;
/// Memory of the automaton's states, which are made when they are needed, for each that works at the same time.
const STATES_BYTES_MAX: usize = 1 << 20;

/// Where matches may have begun.
pub(crate) struct Hold {
    /// `None` if the patterns are too large together: then all waits that may.
    automaton: Option<DFA>,
    caches: Mutex<Vec<Cache>>,
}

impl Hold {
    pub(crate) fn new(patterns: &[&str]) -> Self {
        let config = DFA::config().match_kind(MatchKind::All).cache_capacity(STATES_BYTES_MAX).skip_cache_capacity_check(true);
        let automaton = DFA::builder()
            .configure(config)
            .thompson(thompson::Config::new().nfa_size_limit(Some(16 << 20)))
            .build_many(patterns)
            .ok();
        Hold { automaton, caches: Mutex::default() }
    }

    /// The first place from `from` on where a match may have begun that is not complete at the end of the text; its length if there is none.
    pub(crate) fn begins(&self, text: &str, from: usize) -> usize {
        let first = text.ceil_char_boundary(from.max(text.len().saturating_sub(HOLD_BYTES_MAX)));
        let Some(automaton) = &self.automaton else { return first };
        let mut caches = self.caches.lock().unwrap_or_else(PoisonError::into_inner);
        let mut cache = caches.pop().unwrap_or_else(|| automaton.create_cache());
        drop(caches);
        let places = text.get(first..).unwrap_or_default().char_indices().map(|(at, _)| first + at);
        let begins = places.into_iter().find(|at| is_alive(automaton, &mut cache, text, *at)).unwrap_or(text.len());
        self.caches.lock().unwrap_or_else(PoisonError::into_inner).push(cache);
        begins
    }
}

/// Whether a match that begins here may go on behind the end of the text.
fn is_alive(automaton: &DFA, cache: &mut Cache, text: &str, at: usize) -> bool {
    let input = Input::new(text).anchored(Anchored::Yes).range(at..);
    let Ok(mut state) = automaton.start_state_forward(cache, &input) else { return true };
    for byte in text.as_bytes().get(at..).unwrap_or_default() {
        if state.is_dead() {
            return false;
        }
        match automaton.next_state(cache, state, *byte) {
            Ok(next) => state = next,
            Err(_) => return true,
        }
        if state.is_quit() {
            return true;
        }
    }
    !state.is_dead()
}

#[cfg(test)]
mod tests;
