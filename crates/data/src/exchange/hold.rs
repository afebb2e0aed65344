//! Requests that wait: what for, and how their middleware goes on with them.

use super::{Exchange, Middleware, Step};
use crate::refusal;
use std::any::Any;
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;
use tollgate_clock::Pending;
use tollgate_engine::{HoldUntil, Work};

/// How long a request is held for an answer beyond the answer's own deadline, which comes first.
pub const GRACE: Duration = Duration::from_secs(1);

/// A request that a middleware holds.
pub struct Hold {
    pub until: HoldUntil,
    pub then: Continuation,
}

/// How the middleware that holds a request goes on with it.
pub enum Continuation {
    /// It begins again: what it lacked is in the exchange now.
    Again,
    /// With what it has kept.
    With(Box<Resumed>),
}

/// The rest of a middleware's step. It gets the middleware that held the request.
type Resumed = dyn FnOnce(&dyn Middleware, &mut Exchange<'_>) -> Step;

impl Step {
    /// Holds the request; then the middleware begins again.
    pub fn again(until: HoldUntil) -> Step {
        Step::Hold(Box::new(Hold { until, then: Continuation::Again }))
    }

    /// Holds the request; then its middleware goes on with `then`.
    pub fn hold<M: Middleware>(_: &M, until: HoldUntil, then: impl FnOnce(&M, &mut Exchange<'_>) -> Step + 'static) -> Step {
        let then = move |middleware: &dyn Middleware, exchange: &mut Exchange<'_>| {
            let held_by: &dyn Any = middleware;
            match held_by.downcast_ref() {
                Some(middleware) => then(middleware, exchange),
                // A chain resumes at the middleware that held the request.
                None => Step::Refuse(refusal::UPSTREAM_FAILED),
            }
        };
        Step::Hold(Box::new(Hold { until, then: Continuation::With(Box::new(then)) }))
    }

    /// Holds the request for an answer that comes within `time_max`; `then` gets `None` if it did not.
    pub fn ask<M: Middleware, T: Clone + Send + Sync + 'static>(
        middleware: &M,
        answer: Pending<T>,
        time_max: Duration,
        then: impl FnOnce(&M, &mut Exchange<'_>, Option<T>) -> Step + 'static,
    ) -> Step {
        let until = HoldUntil::Done(answer.work(), time_max + GRACE);
        Step::hold(middleware, until, move |middleware, exchange| then(middleware, exchange, answer.get()))
    }
}

impl Step {
    /// Holds the request for work that takes at most `time_max`; `then` gets `None` if it is not done.
    pub fn work<M: Middleware, T: 'static>(
        middleware: &M,
        work: impl Future<Output = Option<T>> + 'static,
        time_max: Duration,
        then: impl FnOnce(&M, &mut Exchange<'_>, Option<T>) -> Step + 'static,
    ) -> Step {
        let (work, made) = Awaited::new(work);
        let until = HoldUntil::Done(work, time_max + GRACE);
        Step::hold(middleware, until, |middleware, exchange| then(middleware, exchange, made.take().flatten()))
    }
}

impl Hold {
    /// The same for a middleware within which another one has held the request.
    pub fn within<M: Middleware>(
        self,
        middleware: &M,
        then: impl FnOnce(&M, Continuation, &mut Exchange<'_>) -> Step + 'static,
    ) -> Step {
        let Hold { until, then: inner } = self;
        Step::hold(middleware, until, move |middleware, exchange| then(middleware, inner, exchange))
    }
}

impl Continuation {
    /// Goes on with a request that `middleware` has held.
    pub fn go_on(self, middleware: &dyn Middleware, exchange: &mut Exchange<'_>) -> Step {
        match self {
            Continuation::Again => middleware.on_request(exchange),
            Continuation::With(then) => then(middleware, exchange),
        }
    }
}

/// The result of work of this thread that one request waits for.
pub struct Awaited<T>(Rc<Cell<Option<T>>>);

impl<T: 'static> Awaited<T> {
    /// The work, and the place where its result will be.
    pub fn new(work: impl Future<Output = T> + 'static) -> (Work, Self) {
        let place = Rc::new(Cell::new(None));
        let result = Awaited(place.clone());
        (Box::pin(async move { place.set(Some(work.await)) }), result)
    }

    /// The result; `None` if the work is not done.
    pub fn take(self) -> Option<T> {
        self.0.take()
    }
}
