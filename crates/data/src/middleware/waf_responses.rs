//! The web application firewall on responses, as all other changes have made them. Reads `responses`, `response_body_max` and `response_types` of
//! `tollgate.waf`. The client sees 403 in the place of a response that the rules deny; in mode `detection` it passes, and is counted and recorded.
//!
//! A body is held until it is complete, and inspected by the threads for bodies unless it is small. Event streams, upgraded connections, larger
//! bodies and those in unknown codings pass uninspected, and their records say so.

use super::{Middleware, MiddlewareSource};
use crate::events::PreparedEvent;
use crate::exchange::{Awaited, Exchange, GRACE, Step};
use crate::middleware::bodies::{Unopened, opened};
use crate::offload::{BodySender, BodyThreads, OFFLOAD_TIME_MAX};
use crate::refusal::{self, Refusal};
use crate::refusal_events::prepare_refusal;
use crate::response_chain::{ResponseAction, ResponseHead, ResponseStep};
use crate::waf::{InspectedNote, ResponseJob, WafFinding, WafOutcome};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use tollgate_engine::KeptBody;
use tollgate_model::api::WafMode;
use tollgate_observe::{Meter, WafFacts};
use tollgate_offload::StartedOnce;

pub(super) struct WafResponses(Arc<ResponseTerms>);

/// What an API wants of the inspection of its responses.
struct ResponseTerms {
    api: String,
    mode: WafMode,
    body_bytes_max: usize,
    types: Vec<String>,
    meter: Arc<Meter>,
    threads: Arc<StartedOnce<BodyThreads>>,
}

/// The inspection of one response.
struct ResponseInspection {
    terms: Arc<ResponseTerms>,
    note: Box<InspectedNote>,
    request_id: String,
    /// What handlers are told if the response is denied.
    event: Option<PreparedEvent>,
    /// Whether the response has only a head.
    is_head: bool,
    asker: BodySender,
    /// Where a dry run is counted.
    counting_core: Option<usize>,
    /// Where the request's record finds what was found.
    place: Rc<Cell<Option<Box<WafFacts>>>>,
    /// What another thread finds.
    asked: Option<Awaited<Option<Result<WafFinding, String>>>>,
}

impl WafResponses {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let written = source.definition.tollgate.waf.as_ref().filter(|rules| rules.mode != WafMode::Off && rules.responses)?;
        let registry = source.context.registry;
        let terms = ResponseTerms {
            api: source.definition.api_id.clone(),
            mode: written.mode,
            body_bytes_max: written.response_body_max,
            types: written.response_types.iter().map(|media_type| media_type.to_ascii_lowercase()).collect(),
            meter: registry.meters.get(&source.definition.api_id),
            threads: registry.body_threads.clone(),
        };
        Some(Box::new(WafResponses(Arc::new(terms))))
    }
}

impl Middleware for WafResponses {
    fn is_for_responses(&self) -> bool {
        true
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        // Without it, a rule has ended all inspection, or the request could not be inspected.
        let Some(note) = exchange.notes.inspected.take() else { return Step::Next };
        let place = exchange.notes.response_waf.get_or_insert_default().clone();
        let events = exchange.api.events.as_ref().filter(|_| self.0.mode == WafMode::Enforcing);
        let key = exchange.caller.key.as_deref();
        let event = events.and_then(|events| prepare_refusal(events, exchange, key, &refusal::WAF_RESPONSE_DENIED));
        let step = ResponseInspection {
            terms: self.0.clone(),
            note,
            request_id: exchange.arrival.request_id.to_string(),
            event,
            is_head: exchange.is_head(),
            asker: exchange.arrival.body_sender(),
            counting_core: exchange.arrival.counting_core,
            place,
            asked: None,
        };
        exchange.response.chain.push(step);
        Step::Next
    }
}

impl ResponseStep for ResponseInspection {
    fn on_head(&mut self, head: &mut ResponseHead<'_>) -> ResponseAction {
        let bytes_max = self.terms.body_bytes_max;
        let media_type = media_type(head);
        if bytes_max == 0 || self.is_head || head.body_len() == Some(0) || !self.terms.has_type(&media_type) {
            return self.inspect_head(head, "");
        }
        if media_type == "text/event-stream" {
            return self.inspect_head(head, "its body is a stream of events");
        }
        if head.body_len().is_some_and(|bytes| bytes > bytes_max as u64) {
            return self.inspect_head(head, TOO_LARGE);
        }
        ResponseAction::Keep(bytes_max)
    }

    fn on_body(&mut self, head: &mut ResponseHead<'_>, body: KeptBody<'_>) -> ResponseAction {
        if let Some(asked) = self.asked.take() {
            return match asked.take().flatten() {
                Some(Ok(finding)) => self.judge(head, finding),
                Some(Err(why)) => self.inspect_head(head, &why),
                None => self.without(head, refusal::BODY_WORK_BUSY),
            };
        }
        let body = match body {
            KeptBody::Whole(body) => body.to_vec(),
            KeptBody::Part(_) => return self.inspect_head(head, TOO_LARGE),
            KeptBody::NoRoom => return self.without(head, refusal::BODIES_FULL),
        };
        let codings = head.header("Content-Encoding").map(<[u8]>::to_vec);
        let job = self.job(head, Some(body));
        if codings.is_none()
            && job.is_small()
            && let Some(finding) = self.note.firewall.inspect_response_briefly(&self.note.memory, &job)
        {
            return self.judge(head, finding);
        }
        let Some(threads) = self.terms.threads.get() else { return self.without(head, refusal::BODY_WORK_BUSY) };
        let (firewall, memory, bytes_max) = (self.note.firewall.clone(), self.note.memory.clone(), self.terms.body_bytes_max);
        let inspect = move || {
            let job = decoded(job, codings.as_deref(), bytes_max)?;
            Ok(firewall.inspect_response(&memory, &job))
        };
        let (work, asked) = Awaited::new(threads.run(self.asker, inspect));
        self.asked = Some(asked);
        ResponseAction::Await(work, OFFLOAD_TIME_MAX + GRACE)
    }
}

const TOO_LARGE: &str = "its body is larger than response_body_max";

impl ResponseInspection {
    fn job(&self, head: &ResponseHead<'_>, body: Option<Vec<u8>>) -> ResponseJob {
        let mut headers = Vec::new();
        let (received, edits) = head.lines();
        edits.each_line(received, &mut |name, value| headers.push((name.to_owned(), value.to_vec())));
        ResponseJob { status: head.status(), protocol: self.note.protocol, headers, body }
    }

    /// Inspects a response without its body. `unseen` says why the body, which should be inspected, is not.
    fn inspect_head(&mut self, head: &mut ResponseHead<'_>, unseen: &str) -> ResponseAction {
        let job = self.job(head, None);
        // Rules about heads are few, and a head is small.
        let found = self.note.firewall.inspect_response_briefly(&self.note.memory, &job);
        let mut finding = found.unwrap_or_else(|| WafFinding {
            facts: WafFacts { response_fault: "its head takes too much work to inspect".to_owned(), ..WafFacts::default() },
            outcome: WafOutcome::TooMuchWork,
            memory: None,
        });
        if finding.facts.response_fault.is_empty() {
            finding.facts.response_fault = unseen.to_owned();
        }
        self.judge(head, finding)
    }

    /// What becomes of a response that nobody has the room or the time to inspect.
    fn without(&mut self, head: &mut ResponseHead<'_>, refusal: Refusal) -> ResponseAction {
        match self.terms.mode {
            WafMode::Enforcing => ResponseAction::Refuse(refusal),
            WafMode::Detection | WafMode::Off => self.inspect_head(head, refusal.message.text()),
        }
    }

    fn judge(&mut self, head: &mut ResponseHead<'_>, finding: WafFinding) -> ResponseAction {
        let facts = finding.facts;
        let refusal = match finding.outcome {
            WafOutcome::Passes | WafOutcome::BodyUnreadable => None,
            WafOutcome::Denied => Some(refusal::WAF_RESPONSE_DENIED),
            WafOutcome::TooMuchWork => Some(refusal::WAF_RESPONSE_TOO_MUCH_WORK),
        };
        let terms = &*self.terms;
        if let Some(refusal) = &refusal {
            let (api, cause, id, status) = (terms.api.as_str(), refusal.cause, self.request_id.as_str(), head.status());
            let (rules, score, fault) = (facts.rules(), facts.response_score, facts.response_fault.as_str());
            tracing::warn!(api, cause, request_id = id, status, rules, score, fault, mode = ?terms.mode, "the web application firewall denies a response");
        }
        if !facts.matches.is_empty() || !facts.response_fault.is_empty() {
            let mut all = self.place.take().unwrap_or_default();
            all.add_response(facts);
            self.place.set(Some(all));
        }
        let Some(refusal) = refusal else { return ResponseAction::Pass };
        if terms.mode == WafMode::Enforcing {
            self.event.take().into_iter().for_each(PreparedEvent::tell);
            return ResponseAction::Refuse(refusal);
        }
        let cells = self.counting_core.and_then(|core| terms.meter.core(core));
        cells.iter().for_each(|cells| cells.dry_run(refusal.cause));
        ResponseAction::Pass
    }
}

impl ResponseTerms {
    /// Whether bodies of this type are inspected.
    fn has_type(&self, media_type: &str) -> bool {
        media_type.is_empty() || self.types.iter().any(|wanted| fits(wanted, media_type))
    }
}

/// `*` stands for any text.
fn fits(wanted: &str, media_type: &str) -> bool {
    match wanted.split_once('*') {
        None => wanted == media_type,
        Some((start, end)) => {
            media_type.len() >= start.len() + end.len() && media_type.starts_with(start) && media_type.ends_with(end)
        }
    }
}

/// In lower case and without parameters; empty if the response has none.
fn media_type(head: &ResponseHead<'_>) -> String {
    let value = head.header("Content-Type").unwrap_or_default();
    let media_type = value.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
    String::from_utf8_lossy(media_type).to_ascii_lowercase()
}

/// The response without its coding; or why there is no body to inspect.
fn decoded(job: ResponseJob, codings: Option<&[u8]>, bytes_max: usize) -> Result<ResponseJob, String> {
    let (Some(codings), Some(body)) = (codings, &job.body) else { return Ok(job) };
    let body = match opened(Some(codings), body, bytes_max) {
        Ok(body) => body.into_owned(),
        Err(Unopened::Refused(_)) => return Err(TOO_LARGE.to_owned()),
        Err(Unopened::Unreadable(why)) => return Err(format!("its body was not decoded: {why}")),
    };
    // The rules leave compressed bodies alone.
    let headers = job.headers.into_iter().filter(|(name, _)| !name.eq_ignore_ascii_case("content-encoding"));
    Ok(ResponseJob { headers: headers.collect(), body: Some(body), ..job })
}
