//! The hooks of an API: compiled from its definition, called while their requests are held.

use super::request::rewritten_url;
use super::{BadChange, MetaDataWriter, changes, plugin_request, session_of};
use crate::exchange::{Awaited, Exchange, Step};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tollgate_clock::MonoTime;
use tollgate_engine::HoldUntil;
use tollgate_model::api::PluginEntry;
use tollgate_observe::{HookMeter, HookResult};
use tollgate_plugin::{
    HookAnswer, HookCall, HookFault, HookFuture, HookKind, LoadedPlugins, PluginApi, PluginRequest, SessionChange,
};

/// The plugins of an API, as they were loaded.
pub enum PluginsOfApi {
    /// It has none.
    None,
    /// They can't be loaded: every request is refused.
    Refused,
    Loaded(Arc<ApiHooks>),
}

/// What all hooks of an API share.
pub struct ApiHooks {
    pub api: Arc<PluginApi>,
    pub plugins: Arc<dyn LoadedPlugins>,
    /// How long a hook may take.
    pub time_max: Duration,
    /// Whether requests go on without a plugin that can't be reached.
    pub is_open: bool,
    pub meta_data: MetaDataWriter,
}

/// The hooks of one kind, in their order.
pub struct HookList {
    pub shared: Arc<ApiHooks>,
    pub kind: HookKind,
    pub hooks: Vec<Hook>,
}

/// One hook.
pub struct Hook {
    pub name: Arc<str>,
    index: usize,
    raw_body_only: bool,
    meter: Arc<HookMeter>,
}

/// What became of a call.
pub type HookOutcome = Result<HookAnswer, HookFault>;

/// A call that has begun.
pub enum StartedCall {
    /// It did not have to wait.
    Ended(Box<HookOutcome>),
    /// Its request must be held; then [`HookList::outcome`] has the outcome.
    Waits(HoldUntil, Awaited<HookOutcome>),
}

impl HookList {
    /// The hooks of one kind that are in effect; `None` without any.
    pub fn new(
        plugins: &PluginsOfApi,
        kind: HookKind,
        entries: &[PluginEntry],
        meter: impl Fn(HookKind, &str) -> Arc<HookMeter>,
    ) -> Option<Self> {
        let PluginsOfApi::Loaded(shared) = plugins else { return None };
        let used = entries.iter().enumerate().filter(|(_, entry)| !entry.disabled);
        let hooks: Vec<_> = used
            .map(|(index, entry)| Hook {
                name: entry.name.as_str().into(),
                index,
                raw_body_only: entry.raw_body_only,
                meter: meter(kind, &entry.name),
            })
            .collect();
        (!hooks.is_empty()).then(|| HookList { shared: shared.clone(), kind, hooks })
    }

    /// Applies an answer; `Err` ends the request.
    pub fn apply(&self, hook: &Hook, answer: &HookAnswer, exchange: &mut Exchange<'_>) -> Result<(), Step> {
        let refused = |bad: BadChange| Step::Refuse(bad.refuse(&self.shared.api.id, &hook.name));
        if let SessionChange::MetaData(meta_data) = &answer.session {
            self.shared.meta_data.put(exchange, meta_data.clone());
        }
        if let Some(overrides) = &answer.request.overrides {
            return Err(changes::end(overrides, self.kind == HookKind::AuthCheck, exchange).unwrap_or_else(refused));
        }
        changes::apply(&answer.request, exchange).map_err(refused)
    }

    /// Whether a request goes on after this fault.
    pub fn passes(&self, fault: &HookFault) -> bool {
        self.shared.is_open && !matches!(fault, HookFault::Failed(_)) && self.shared.plugins.is_loaded()
    }

    /// Calls a hook for this request.
    pub fn call(&self, hook: &Hook, exchange: &Exchange<'_>) -> StartedCall {
        let mut call = self.begin(hook, self.call_for(hook, exchange));
        match answer_at_once(&mut call) {
            Some(outcome) => StartedCall::Ended(Box::new(outcome)),
            None => {
                let (work, answer) = Awaited::new(call);
                StartedCall::Waits(HoldUntil::Done(work, self.shared.time_max), answer)
            }
        }
    }

    /// The outcome of a call that a request was held for.
    pub fn outcome(&self, hook: &Hook, answer: Awaited<HookOutcome>) -> HookOutcome {
        answer.take().unwrap_or_else(|| {
            self.note(hook, self.shared.time_max, Some(&HookFault::Timeout));
            Err(HookFault::Timeout)
        })
    }

    /// Starts a call.
    pub(super) fn begin(&self, hook: &Hook, call: HookCall) -> HookFuture {
        let began = MonoTime::now();
        let asked = self.shared.plugins.call(call);
        let (meter, api, name) = (hook.meter.clone(), self.shared.api.clone(), hook.name.clone());
        Box::pin(async move {
            let outcome = asked.await;
            let took = Duration::from_nanos(MonoTime::now().ns_since(began));
            note(&meter, &api, &name, took, outcome.as_ref().err());
            outcome
        })
    }

    /// Notes a call that ended.
    pub(super) fn note(&self, hook: &Hook, took: Duration, fault: Option<&HookFault>) {
        note(&hook.meter, &self.shared.api, &hook.name, took, fault);
    }

    fn call_for(&self, hook: &Hook, exchange: &Exchange<'_>) -> HookCall {
        let knows_caller = !matches!(self.kind, HookKind::Pre | HookKind::AuthCheck);
        let mut request = plugin_request(exchange);
        request.absolute_url = rewritten_url(exchange);
        HookCall {
            session: if knows_caller { session_of(exchange) } else { None },
            token: exchange.caller.token.clone().filter(|_| knows_caller),
            trace_parent: exchange.arrival.trace.map(|trace| trace.trace_parent()),
            ..self.blank_call(hook, exchange.arrival.core, request)
        }
    }

    /// A call without a caller.
    pub(super) fn blank_call(&self, hook: &Hook, core: usize, request: PluginRequest) -> HookCall {
        HookCall {
            core,
            kind: self.kind,
            index: hook.index,
            name: hook.name.clone(),
            api: self.shared.api.clone(),
            request,
            session: None,
            token: None,
            response: None,
            raw_body_only: hook.raw_body_only,
            trace_parent: None,
            time_max: self.shared.time_max,
        }
    }
}

/// The outcome of a call that does not have to wait. Whoever waits polls it again, so that nothing gets lost.
pub(super) fn answer_at_once(call: &mut HookFuture) -> Option<Result<HookAnswer, HookFault>> {
    match call.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => Some(outcome),
        Poll::Pending => None,
    }
}

fn note(meter: &HookMeter, api: &PluginApi, hook: &str, took: Duration, fault: Option<&HookFault>) {
    meter.add(took, HookResult::of(fault));
    if let Some(fault) = fault {
        tracing::warn!(api = api.id, hook, %fault, "a plugin failed");
    }
}
