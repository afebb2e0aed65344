//! What one request has been told by work that was done elsewhere while it was held. The chain starts over when such work is done,
//! so each middleware finds its answers here under a number of its own.

use std::any::Any;
use std::time::Duration;
use tollgate_engine::{NotKept, Pending, Work};

/// The number of the request's body; those of middlewares are small.
const BODY: u64 = 1 << 62;

/// The answers for one request. There are at most as many as the chain has middlewares that ask.
#[derive(Default)]
pub(crate) struct Answers(Vec<(u64, Box<dyn Any>)>);

impl Answers {
    /// What was kept under a number.
    pub(crate) fn get<T: 'static>(&self, serial: u64) -> Option<&T> {
        self.0.iter().find_map(|(known, value)| (*known == serial).then(|| value.downcast_ref())?)
    }

    /// Keeps a value in place of what was kept under the number.
    pub(crate) fn put<T: 'static>(&mut self, serial: u64, value: T) {
        self.0.retain(|(known, _)| *known != serial);
        self.0.push((serial, Box::new(value)));
    }

    /// Keeps the request's body, or why it is not there.
    pub(crate) fn put_body(&mut self, body: Result<Vec<u8>, NotKept>) {
        self.put(BODY, body);
    }

    /// The request's body, if it was asked for and has come.
    pub(crate) fn body(&self) -> Option<Result<&[u8], NotKept>> {
        let body = self.get::<Result<Vec<u8>, NotKept>>(BODY)?;
        Some(body.as_ref().map(Vec::as_slice).map_err(|why| *why))
    }

    /// Forgets everything: the request is over.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// What became of a question.
pub(crate) enum QuestionState<T> {
    Done(T),
    /// There will be no answer, or not in time.
    Lost,
    /// The request has to wait for it.
    Hold(Work),
}

impl Answers {
    /// Asks a question once for this request; the same call finds the answer when the chain starts over.
    pub(crate) fn ask<T: Clone + Send + Sync + 'static>(
        &mut self,
        serial: u64,
        begin: impl FnOnce() -> Pending<T>,
    ) -> QuestionState<T> {
        match self.get::<Pending<T>>(serial) {
            Some(answer) => answer.get().map_or(QuestionState::Lost, QuestionState::Done),
            None => {
                let answer = begin();
                let work = answer.work();
                self.put(serial, answer);
                QuestionState::Hold(work)
            }
        }
    }
}

/// Under what a request keeps since when it is held for its limits.
const LIMITS_SINCE: u64 = u64::MAX - 1;

impl Answers {
    /// How long a request has been held for its limits.
    pub(crate) fn held_for_limits(&self, now: Duration) -> Duration {
        self.get::<Duration>(LIMITS_SINCE).map_or(Duration::ZERO, |since| now.saturating_sub(*since))
    }

    /// From now on it is held for its limits, if it was not before.
    pub(crate) fn hold_for_limits(&mut self, now: Duration) {
        if self.get::<Duration>(LIMITS_SINCE).is_none() {
            self.put(LIMITS_SINCE, now);
        }
    }
}

/// How long a request is held for an answer beyond the answer's own time limit, which comes first.
pub(crate) const GRACE: Duration = Duration::from_secs(1);
