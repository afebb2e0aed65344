//! Answers to one request's questions from work that ran elsewhere while the request was held. When such work is done the chain restarts,
//! so each middleware finds its answers here under its own number.

use std::any::Any;
use std::cell::OnceCell;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;
use tollgate_engine::{NotKept, Pending, Work};

/// What a request keeps besides the answers of its middlewares. Each has a number of its own; those of middlewares are small.
#[derive(Clone, Copy)]
pub(crate) enum RequestSlot {
    /// The body, as it came.
    Body,
    /// The body, decompressed.
    OpenedBody,
    Variables,
    Batch,
    ResponseView,
    GraphqlFacts,
    StoredMetaData,
    HeldResponse,
}

impl RequestSlot {
    pub(crate) const fn number(self) -> u64 {
        (1 << 62) + self as u64
    }
}

/// Number of the request's body.
const BODY: u64 = RequestSlot::Body.number();

/// The answers for one request. Each middleware that asks adds at most one.
#[derive(Default)]
pub(crate) struct Answers(Vec<(u64, Box<dyn Any>)>);

impl Answers {
    /// The value stored under a number.
    pub(crate) fn get<T: 'static>(&self, serial: u64) -> Option<&T> {
        self.0.iter().find_map(|(known, value)| (*known == serial).then(|| value.downcast_ref())?)
    }

    /// Stores a value under a number, replacing any other.
    pub(crate) fn put<T: 'static>(&mut self, serial: u64, value: T) {
        self.0.retain(|(known, _)| *known != serial);
        self.0.push((serial, Box::new(value)));
    }

    /// Removes the value of a number, and returns it.
    pub(crate) fn take<T: 'static>(&mut self, serial: u64) -> Option<T> {
        let at = self.0.iter().position(|(known, value)| *known == serial && value.is::<T>())?;
        self.0.swap_remove(at).1.downcast().ok().map(|value| *value)
    }

    /// Stores the request's body, or the reason why it is not available.
    pub(crate) fn put_body(&mut self, body: Result<Vec<u8>, NotKept>) {
        self.put(BODY, body);
    }

    /// The request's body, if it was asked for and has arrived.
    pub(crate) fn body(&self) -> Option<Result<&[u8], NotKept>> {
        let body = self.get::<Result<Vec<u8>, NotKept>>(BODY)?;
        Some(body.as_ref().map(Vec::as_slice).map_err(|why| *why))
    }

    /// Drops everything, because the request has ended.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// State of a question.
pub(crate) enum QuestionState<T> {
    Done(T),
    /// No answer will arrive, or it did not arrive in time.
    Lost,
    /// The request must wait for the answer.
    Hold(Work),
}

impl Answers {
    /// Asks a question once per request; the same call finds the answer when the chain restarts.
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

impl Answers {
    /// Like [`Answers::ask`], for work of this thread that nobody else waits for: it ends when the request no longer waits.
    pub(crate) fn ask_here<T: 'static>(
        &mut self,
        serial: u64,
        begin: impl FnOnce() -> Pin<Box<dyn Future<Output = T>>>,
    ) -> QuestionState<Rc<T>> {
        if let Some(slot) = self.get::<AnswerSlot<T>>(serial) {
            return slot.get().map_or(QuestionState::Lost, |answer| QuestionState::Done(answer.clone()));
        }
        let (slot, asked) = (AnswerSlot::<T>::default(), begin());
        self.put(serial, slot.clone());
        QuestionState::Hold(Box::pin(async move {
            // Set once, here.
            let _ = slot.set(Rc::new(asked.await));
        }))
    }
}

impl Answers {
    /// Whether something is stored under a number.
    pub(crate) fn has(&self, serial: u64) -> bool {
        self.0.iter().any(|(known, _)| *known == serial)
    }

    /// Answers a question of [`Answers::ask_here`] that was lost.
    pub(crate) fn settle_here<T: 'static>(&mut self, serial: u64, answer: T) -> Rc<T> {
        let (slot, answer) = (AnswerSlot::<T>::default(), Rc::new(answer));
        let _ = slot.set(answer.clone());
        self.put(serial, slot);
        answer
    }
}

/// Where the answer of a question of this thread will be.
type AnswerSlot<T> = Rc<OnceCell<Rc<T>>>;

/// Number under which the start of a request's hold for limits is stored.
const LIMITS_SINCE: u64 = u64::MAX - 1;

impl Answers {
    /// How long a request has been held for its limits.
    pub(crate) fn held_for_limits(&self, now: Duration) -> Duration {
        self.get::<Duration>(LIMITS_SINCE).map_or(Duration::ZERO, |since| now.saturating_sub(*since))
    }

    /// Notes the start of the hold for limits, unless it has started already.
    pub(crate) fn hold_for_limits(&mut self, now: Duration) {
        if self.get::<Duration>(LIMITS_SINCE).is_none() {
            self.put(LIMITS_SINCE, now);
        }
    }
}

/// How long a request is held for an answer beyond the answer's own deadline, which comes first.
pub(crate) const GRACE: Duration = Duration::from_secs(1);
