//! How long the answers of one model are, so that a request whose answer nobody bounds holds about what it will take.

use std::sync::{Mutex, PoisonError};

/// Answers that are looked at, and how many it needs: below, one long answer among a hundred would not have been seen.
const ANSWERS: usize = 256;
const ANSWERS_MIN: usize = 100;

/// The last answers of one model.
#[derive(Default)]
pub(crate) struct Lengths(Mutex<LastAnswers>);

#[derive(Default)]
struct LastAnswers {
    tokens: Vec<u64>,
    next: usize,
}

impl Lengths {
    /// An answer had so many tokens.
    pub(crate) fn note(&self, tokens: u64) {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let next = last.next;
        match last.tokens.get_mut(next) {
            Some(place) => *place = tokens,
            None => last.tokens.push(tokens),
        }
        last.next = (next + 1) % ANSWERS;
    }

    /// The length that 99 of 100 answers do not exceed.
    pub(crate) fn usual_max(&self) -> Option<u64> {
        let mut tokens = {
            let last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            last.tokens.clone()
        };
        let place = (tokens.len() * 99).div_ceil(100).saturating_sub(1);
        (tokens.len() >= ANSWERS_MIN).then(|| *tokens.select_nth_unstable(place).1)
    }
}

#[cfg(test)]
mod tests {
    use super::{ANSWERS, ANSWERS_MIN, Lengths};

    #[test]
    fn ninety_nine_of_a_hundred_answers_are_no_longer() {
        let lengths = Lengths::default();
        for tokens in 1..ANSWERS_MIN as u64 {
            lengths.note(tokens);
            assert_eq!(lengths.usual_max(), None);
        }
        lengths.note(5_000);
        assert_eq!(lengths.usual_max(), Some(99));
        (0..ANSWERS).for_each(|_| lengths.note(7));
        assert_eq!(lengths.usual_max(), Some(7), "what was long ago is forgotten");
    }
}
