//! The middlewares of one request and their times, for traces with details. A held request runs its chain again: middlewares that it has
//! passed keep their time, and the time of the one that held it lasts until it passes.

use crate::observe::StepTime;
use tollgate_engine::MonoTime;

#[derive(Default)]
pub(super) struct Steps {
    times: Vec<StepTime>,
    /// Number of middlewares of the current run so far.
    walked: usize,
}

impl Steps {
    /// Starts a run of the chain.
    pub(super) fn start(&mut self) {
        self.walked = 0;
    }

    /// Ends the next middleware's step. `request_began` is before `began`.
    pub(super) fn end(&mut self, middleware: &'static str, request_began: MonoTime, began: MonoTime, ended: MonoTime) {
        let after_ns = began.ns_since(request_began);
        let is_last = self.walked + 1 == self.times.len();
        match self.times.get_mut(self.walked) {
            Some(held) if is_last && held.middleware == middleware => {
                held.took_ns = ended.ns_since(request_began).saturating_sub(held.after_ns);
            }
            Some(_) => {}
            None => self.times.push(StepTime { middleware, after_ns, took_ns: ended.ns_since(began) }),
        }
        self.walked += 1;
    }

    /// Hands the times over, and reuses the memory of `times` for the next request.
    pub(super) fn swap(&mut self, times: &mut Vec<StepTime>) {
        std::mem::swap(&mut self.times, times);
        self.clear();
    }

    pub(super) fn clear(&mut self) {
        self.times.clear();
        self.walked = 0;
    }
}

#[cfg(test)]
mod tests;
