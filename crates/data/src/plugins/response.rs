//! Response hooks: a response is read whole, and held while the hooks see and change it one after the other.

use super::changes::check_lines;
use super::hooks::{HookList, answer_at_once};
use super::request::{is_hidden, plugin_request, sent_request, text};
use super::{BadChange, session_of};
use crate::exchange::{Exchange, ResponseView};
use crate::header_names::canonical_name;
use crate::refusal;
use crate::response_chain::{ResponseAction, ResponseHead, ResponseStep};
use crate::upstream::Upstream;
use std::cell::{OnceCell, RefCell};
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;
use tollgate_engine::KeptBody;
use tollgate_model::is_framing_header;
use tollgate_plugin::{HookAnswer, HookFault, PluginResponse};

/// What response hooks will see of this request.
fn view_of(exchange: &Exchange<'_>, upstream: Option<&Upstream>) -> ResponseView {
    ResponseView {
        request: upstream.map_or_else(|| plugin_request(exchange), |upstream| sent_request(exchange, upstream)),
        session: session_of(exchange),
        token: exchange.caller.token.clone(),
        trace_parent: exchange.arrival.trace.map(|trace| trace.trace_parent()),
        core: exchange.arrival.core,
    }
}

/// Shows the request to the hooks of its response, at the end of its chain. Without an upstream, the gateway has made the response.
pub fn show_request(exchange: &Exchange<'_>, upstream: Option<&Upstream>) {
    if let Some(view) = &exchange.notes.response_view {
        // Set once, at the end of the chain.
        let _ = view.set(view_of(exchange, upstream));
    }
}

/// The hooks' part in one response.
pub struct HookedResponse {
    hooks: Arc<HookList>,
    /// Filled at the end of the request's chain.
    view: Rc<OnceCell<ResponseView>>,
    bytes_max: usize,
    /// The response as the hooks so far have made it.
    response: Option<PluginResponse>,
    /// Number of hooks that have answered.
    done: usize,
    /// The answer of the hook that the response waits for.
    answer: Option<Rc<AnswerCell>>,
}

/// The place of an answer.
type AnswerCell = RefCell<Option<Result<HookAnswer, HookFault>>>;

impl HookedResponse {
    /// The hooks' part in the response to this request.
    pub fn new(hooks: &Arc<HookList>, exchange: &mut Exchange<'_>) -> Self {
        exchange.ask_for_whole();
        let view = Rc::new(OnceCell::new());
        exchange.notes.response_view = Some(view.clone());
        HookedResponse {
            hooks: hooks.clone(),
            view,
            bytes_max: exchange.arrival.settings.sizes.response_bytes_max,
            response: None,
            done: 0,
            answer: None,
        }
    }

    /// Takes the answer that the response has waited for.
    fn take_answer(&mut self) -> Result<(), ResponseAction> {
        let Some(answer) = self.answer.take() else { return Ok(()) };
        let Some(hook) = self.hooks.hooks.get(self.done) else { return Ok(()) };
        let failed = || ResponseAction::Refuse(refusal::PLUGIN_FAILED);
        let outcome = answer.borrow_mut().take().unwrap_or_else(|| {
            self.hooks.note(hook, self.hooks.shared.time_max, Some(&HookFault::Timeout));
            Err(HookFault::Timeout)
        });
        self.done += 1;
        match outcome.map(|answer| answer.response) {
            Ok(Some(response)) => {
                let checked = check(&response, self.bytes_max);
                checked.map_err(|bad| ResponseAction::Refuse(bad.refuse(&self.hooks.shared.api.id, &hook.name)))?;
                self.response = Some(response);
                Ok(())
            }
            // As in Tyk, a hook must return the response.
            Ok(None) => Err(failed()),
            Err(fault) if self.hooks.passes(&fault) => Ok(()),
            Err(_) => Err(failed()),
        }
    }

    /// Calls the next hook. `Continue` if it has answered at once, `Break` with what the response waits for, or `None` after the last one.
    fn call_next(&mut self) -> ControlFlow<Option<ResponseAction>> {
        let (Some(hook), Some(view)) = (self.hooks.hooks.get(self.done), self.view.get()) else { return ControlFlow::Break(None) };
        let mut call = self.hooks.blank_call(hook, view.core, view.request.clone());
        call.session.clone_from(&view.session);
        call.token.clone_from(&view.token);
        call.trace_parent.clone_from(&view.trace_parent);
        call.response.clone_from(&self.response);
        let mut asked = self.hooks.begin(hook, call);
        let at_once = answer_at_once(&mut asked);
        let has_answered = at_once.is_some();
        let answer = Rc::new(RefCell::new(at_once));
        self.answer = Some(answer.clone());
        if has_answered {
            return ControlFlow::Continue(());
        }
        let work = Box::pin(async move {
            let outcome = asked.await;
            *answer.borrow_mut() = Some(outcome);
        });
        ControlFlow::Break(Some(ResponseAction::Await(work, self.hooks.shared.time_max)))
    }
}

impl ResponseStep for HookedResponse {
    fn on_head(&mut self, _: &mut ResponseHead<'_>) -> ResponseAction {
        ResponseAction::Keep(self.bytes_max)
    }

    fn on_body(&mut self, head: &mut ResponseHead<'_>, body: KeptBody<'_>) -> ResponseAction {
        if self.response.is_none() {
            match body {
                KeptBody::Whole(body) => self.response = Some(seen(head, body)),
                KeptBody::Part(_) => return ResponseAction::Refuse(refusal::RESPONSE_TOO_LARGE),
                KeptBody::NoRoom => return ResponseAction::Refuse(refusal::BODIES_FULL),
            }
        }
        loop {
            if let Err(refused) = self.take_answer() {
                return refused;
            }
            match self.call_next() {
                ControlFlow::Continue(()) => {}
                ControlFlow::Break(Some(waits)) => return waits,
                ControlFlow::Break(None) => break,
            }
        }
        match self.response.take() {
            Some(response) if self.done > 0 => changed(head, response),
            // The request never reached the end of its chain, so no hook has seen it.
            _ => ResponseAction::Refuse(refusal::PLUGIN_FAILED),
        }
    }
}

/// The response as the first hook sees it.
fn seen(head: &ResponseHead<'_>, body: &[u8]) -> PluginResponse {
    let (headers, edits) = head.lines();
    let mut lines = Vec::with_capacity(headers.len());
    edits.each_line(headers, &mut |name, value| {
        let name = canonical_name(name);
        if !is_hidden(&name) {
            lines.push((name, text(value)));
        }
    });
    PluginResponse { status: head.status(), headers: lines, body: body.to_vec() }
}

fn check(response: &PluginResponse, bytes_max: usize) -> Result<(), BadChange> {
    if !(200..=599).contains(&response.status) {
        return Err(BadChange(format!("{} is no status of a response", response.status)));
    }
    if response.body.len() > bytes_max {
        return Err(BadChange(format!("the body has more than {bytes_max} bytes")));
    }
    check_lines(&response.headers)
}

/// The response as the hooks have made it. Whatever frames the message stays the upstream's or is made anew.
fn changed(head: &mut ResponseHead<'_>, response: PluginResponse) -> ResponseAction {
    let (headers, edits) = head.lines();
    let mut before: Vec<String> = Vec::with_capacity(headers.len());
    edits.each_line(headers, &mut |name, _| before.push(name.to_owned()));
    before.iter().filter(|name| !is_framing_header(name)).for_each(|name| head.remove_header(name));
    head.body_changes();
    head.add_lines(|out| {
        for (name, value) in response.headers.iter().filter(|(name, _)| !is_framing_header(name)) {
            [name.as_bytes(), b": ", value.as_bytes(), b"\r\n"].iter().for_each(|part| out.extend_from_slice(part));
        }
    });
    if response.status != head.status() {
        head.set_status(response.status);
    }
    ResponseAction::Rewrite(response.body)
}
