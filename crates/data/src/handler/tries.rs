//! The tries of a request at the targets of a pool: their outcomes, and the next one.

use super::GatewayHandler;
use super::finish::ResponseMaker;
use super::in_flight::{Chosen, InFlight};
use crate::balanced::{BalancedUpstreams, TargetTry, nanos};
use crate::refusal::{self, Refusal};
use crate::snapshot::Upstreams;
use std::sync::Arc;
use std::time::Duration;
use tollgate_engine::{Fault, FaultKind, HedgeEnd, Outgoing, Resend, ResponseVerdict, Retarget, Target, TryEnd};

impl GatewayHandler {
    /// Sends the request to another target, if the rules of its API allow it.
    #[cold]
    pub(super) fn next_try(&mut self, ended: &TryEnd<'_>, retarget: &mut Retarget) -> Option<Resend> {
        let now = nanos(self.core.shared.start.elapsed());
        let random = self.core.next_id().0 as u64;
        let in_flight = self.in_flight.as_mut()?;
        let mut taken = std::mem::replace(&mut in_flight.chosen, Chosen::Control);
        let resend = match (&mut taken, rules(in_flight)) {
            (Chosen::Balanced(taken), Some(rules)) => {
                taken.next(ended, rules, retarget, (now, random), &mut self.state.response.upstream_changes)
            }
            _ => None,
        };
        in_flight.chosen = taken;
        resend
    }

    /// Whether to give up connecting to the request's target, because it can go to another one.
    #[cold]
    pub(super) fn gives_up_target(&self, waited: Duration) -> bool {
        let now = nanos(self.core.shared.start.elapsed());
        self.in_flight.as_ref().is_some_and(|in_flight| match (&in_flight.chosen, rules(in_flight)) {
            (Chosen::Balanced(taken), Some(rules)) => taken.gives_up(rules, waited, now),
            _ => false,
        })
    }

    /// Another target for a request that is slow to be answered, if the rules of its API allow it.
    #[cold]
    pub(super) fn hedge(&mut self, retarget: &mut Retarget) -> Option<Arc<Target>> {
        let now = nanos(self.core.shared.start.elapsed());
        let random = self.core.next_id().0 as u64;
        let in_flight = self.in_flight.as_mut()?;
        let mut target = None;
        with_try(in_flight, |taken, rules| target = taken.hedge(rules, retarget, (now, random)));
        target
    }

    /// Notes how a second sending ended.
    #[cold]
    pub(super) fn end_hedge(&mut self, end: HedgeEnd) {
        let now = nanos(self.core.shared.start.elapsed());
        if let Some(in_flight) = &mut self.in_flight {
            with_try(in_flight, |taken, _| taken.end_hedge(end, now));
        }
    }

    /// Whether the response comes after the time that a rule leaves for it.
    #[inline]
    pub(super) fn is_late(&self) -> bool {
        match self.in_flight.as_ref().map(|in_flight| &in_flight.chosen) {
            Some(Chosen::Balanced(taken)) => taken.is_late(),
            _ => false,
        }
    }

    /// Answers in the place of a response that came too late.
    #[cold]
    pub(super) fn answer_late(&mut self, outgoing: &mut Outgoing) -> ResponseVerdict {
        self.note_try_fault(FaultKind::UpstreamTimeout);
        self.note_fault(&Fault::new(FaultKind::UpstreamTimeout));
        self.refuse_in_flight(ResponseMaker::Fault, (&refusal::UPSTREAM_TIMEOUT, None), outgoing);
        if let Some(in_flight) = &mut self.in_flight {
            in_flight.fail(FaultKind::UpstreamTimeout, outgoing.status);
        }
        ResponseVerdict::Reply
    }

    /// What a client is told whose request reached no target, if by now there is none.
    #[cold]
    pub(super) fn refusal_without_targets(&self, kind: FaultKind) -> Option<Refusal> {
        let in_flight = self.in_flight.as_ref()?;
        match (&in_flight.chosen, rules(in_flight)) {
            (Chosen::Balanced(taken), Some(rules)) => taken.refusal_without_targets(rules, kind),
            _ => None,
        }
    }

    /// Notes a response for the health of the target that sent it.
    #[inline]
    pub(super) fn note_response(&mut self, status: u16) {
        if let Some(in_flight) = &mut self.in_flight
            && matches!(in_flight.chosen, Chosen::Balanced(_))
        {
            let now = nanos(self.core.shared.start.elapsed());
            with_try(in_flight, |taken, rules| taken.respond(status, rules, now));
        }
    }

    /// Notes a fault for the health of the target.
    pub(super) fn note_try_fault(&mut self, kind: FaultKind) {
        let now = nanos(self.core.shared.start.elapsed());
        if let Some(in_flight) = &mut self.in_flight {
            with_try(in_flight, |taken, _| taken.fail(kind, now));
        }
    }
}

fn with_try(in_flight: &mut InFlight, note: impl FnOnce(&mut TargetTry, &BalancedUpstreams)) {
    let mut taken = std::mem::replace(&mut in_flight.chosen, Chosen::Control);
    if let (Chosen::Balanced(taken), Some(rules)) = (&mut taken, rules(in_flight)) {
        note(taken, rules);
    }
    in_flight.chosen = taken;
}

fn rules(in_flight: &InFlight) -> Option<&BalancedUpstreams> {
    match &in_flight.version()?.upstreams {
        Upstreams::Balanced(rules) => Some(rules),
        Upstreams::One(_) | Upstreams::Many { .. } | Upstreams::Loop(_) | Upstreams::Control | Upstreams::Nowhere => None,
    }
}
