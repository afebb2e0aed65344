//! The middlewares of one request and their times, for traces that want them. A request that is held walks its chain again: what it has
//! passed keeps its time, and what held it lasts until it let the request go.

use crate::observe::StepTime;
use tollgate_engine::Moment;

#[derive(Default)]
pub(super) struct Steps {
    times: Vec<StepTime>,
    /// Middlewares of the current walk so far.
    walked: usize,
}

impl Steps {
    /// A walk begins.
    pub(super) fn start(&mut self) {
        self.walked = 0;
    }

    /// The next middleware's turn is over. `request_began` is before `began`.
    pub(super) fn end(&mut self, middleware: &'static str, request_began: Moment, began: Moment, ended: Moment) {
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

    /// Hands the times over, and takes the memory of others for the next ones.
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
