//! The hooks of an API: compiled from its definition, called while their requests are held.

use super::request::rewritten_url;
use super::{BadChange, MetaDataWriter, changes, plugin_request, session_of};
use crate::base::answers::QuestionState;
use crate::data::exchange::{Exchange, Step};
use crate::data::refusal;
use crate::observe::{HookMeter, HookResult};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tollgate_engine::MonoTime;
use tollgate_model::api::PluginEntry;
use tollgate_plugin::{
    HookAnswer, HookCall, HookFault, HookFuture, HookKind, LoadedPlugins, PluginApi, PluginRequest, SessionChange,
};

/// The plugins of an API, as they were loaded.
pub(crate) enum PluginsOfApi {
    /// It has none.
    None,
    /// They can't be loaded: every request is refused.
    Refused,
    Loaded(Arc<ApiHooks>),
}

/// What all hooks of an API share.
pub(crate) struct ApiHooks {
    pub api: Arc<PluginApi>,
    pub plugins: Arc<dyn LoadedPlugins>,
    /// How long a hook may take.
    pub time_max: Duration,
    /// Whether requests go on without a plugin that can't be reached.
    pub is_open: bool,
    pub meta_data: MetaDataWriter,
}

/// The hooks of one kind, in their order.
pub(crate) struct HookList {
    pub shared: Arc<ApiHooks>,
    pub kind: HookKind,
    pub hooks: Vec<Hook>,
}

/// One hook.
pub(crate) struct Hook {
    pub name: Arc<str>,
    index: usize,
    raw_body_only: bool,
    serial: u64,
    meter: Arc<HookMeter>,
}

/// What became of a call.
pub(crate) type HookOutcome = Rc<Result<HookAnswer, HookFault>>;

impl HookList {
    /// The hooks of one kind that are in effect; `None` without any. `serial` numbers them.
    pub(crate) fn new(
        plugins: &PluginsOfApi,
        kind: HookKind,
        entries: &[PluginEntry],
        mut serial: impl FnMut() -> u64,
        meter: impl Fn(HookKind, &str) -> Arc<HookMeter>,
    ) -> Option<Self> {
        let PluginsOfApi::Loaded(shared) = plugins else { return None };
        let used = entries.iter().enumerate().filter(|(_, entry)| !entry.disabled);
        let hooks: Vec<_> = used
            .map(|(index, entry)| Hook {
                name: entry.name.as_str().into(),
                index,
                raw_body_only: entry.raw_body_only,
                serial: serial(),
                meter: meter(kind, &entry.name),
            })
            .collect();
        (!hooks.is_empty()).then(|| HookList { shared: shared.clone(), kind, hooks })
    }

    /// Calls the hooks, one after the other; requests with a body are read first, as in Tyk.
    pub(crate) fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        if let Err(step) = exchange.keep_body(exchange.settings.body_bytes_max) {
            return step;
        }
        for hook in &self.hooks {
            let outcome = match self.ask(hook, exchange) {
                Ok(outcome) => outcome,
                Err(step) => return step,
            };
            match &*outcome {
                Ok(answer) => {
                    if let Err(step) = self.apply(hook, answer, exchange) {
                        return step;
                    }
                }
                Err(fault) if self.passes(fault) => {}
                Err(_) => return Step::Refuse(refusal::PLUGIN_FAILED),
            }
        }
        Step::Next
    }

    /// Applies an answer; `Err` ends the request.
    pub(crate) fn apply(&self, hook: &Hook, answer: &HookAnswer, exchange: &mut Exchange<'_>) -> Result<(), Step> {
        let refused = |bad: BadChange| Step::Refuse(bad.refuse(&self.shared.api.id, &hook.name));
        if let SessionChange::MetaData(meta_data) = &answer.session {
            self.shared.meta_data.put(exchange, number_of(hook, exchange), meta_data.clone());
        }
        if let Some(overrides) = &answer.request.overrides {
            return Err(changes::end(overrides, exchange).unwrap_or_else(refused));
        }
        changes::apply(&answer.request, exchange).map_err(refused)
    }

    /// Whether a request goes on after this fault.
    pub(crate) fn passes(&self, fault: &HookFault) -> bool {
        self.shared.is_open && !matches!(fault, HookFault::Failed(_)) && self.shared.plugins.is_loaded()
    }

    /// The outcome of a call for this request; `Err` holds the request for it.
    pub(crate) fn ask(&self, hook: &Hook, exchange: &mut Exchange<'_>) -> Result<HookOutcome, Step> {
        let number = number_of(hook, exchange);
        let mut begun = (!exchange.answers.has(number)).then(|| self.begin(hook, self.call(hook, exchange)));
        if let Some(outcome) = begun.as_mut().and_then(answer_at_once) {
            return Ok(exchange.answers.settle_here(number, outcome));
        }
        let begin = || begun.unwrap_or_else(|| Box::pin(std::future::ready(Err(HookFault::Timeout))));
        match exchange.answers.ask_here(number, begin) {
            QuestionState::Done(outcome) => Ok(outcome),
            QuestionState::Hold(work) => Err(Step::Await(work, self.shared.time_max)),
            QuestionState::Lost => {
                self.note(hook, self.shared.time_max, Some(&HookFault::Timeout));
                Ok(exchange.answers.settle_here(number, Err(HookFault::Timeout)))
            }
        }
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

    fn call(&self, hook: &Hook, exchange: &Exchange<'_>) -> HookCall {
        let knows_caller = !matches!(self.kind, HookKind::Pre | HookKind::AuthCheck);
        let mut request = plugin_request(exchange);
        request.absolute_url = rewritten_url(exchange);
        HookCall {
            session: if knows_caller { session_of(exchange) } else { None },
            token: exchange.token.clone().filter(|_| knows_caller),
            trace_parent: exchange.trace.map(|trace| trace.trace_parent()),
            ..self.blank_call(hook, exchange.core, request)
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

/// The number under which a request has the outcome of a call. An API that a request loops to again calls its hooks again.
fn number_of(hook: &Hook, exchange: &Exchange<'_>) -> u64 {
    hook.serial | (exchange.level as u64) << 56
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
