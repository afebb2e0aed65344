//! Responses that must fit the OpenAPI document of the API. Reads `tollgate.validate_responses`, which acts in documents only. A response that does
//! not fit is replaced by 500, or `error_response_code`; the reason is in the log, because it may tell what the upstream wanted to hide. In dry run it is
//! counted and named in the response header `Tollgate-Dry-Run`.
//!
//! Clients see the document's side of the API, so responses are checked as all other steps have changed them. A response whose body must be checked
//! is held until it is complete; bodies in other forms than JSON pass as they come.

use super::{Middleware, MiddlewareSource};
use crate::endpoints::EndpointList;
use crate::exchange::{Awaited, Exchange, GRACE, Step};
use crate::middleware::bodies::{Unopened, WholeBody};
use crate::offload::{BodyThreads, HERE_BYTES_MAX, OFFLOAD_TIME_MAX};
use crate::refusal::{Refusal, RefusalText};
use crate::response_chain::{ResponseAction, ResponseHead, ResponseStep};
use std::sync::Arc;
use tollgate_engine::KeptBody;
use tollgate_observe::Meter;
use tollgate_offload::StartedOnce;
use tollgate_openapi::{Budget, ResponseCheck, ResponseCompiler, ResponseRules, UnfitBody};

/// Cause of the refusal and of the dry run.
const CAUSE: &str = "response_invalid";

pub(super) struct ValidateResponse {
    /// Rules of all operations; `None` for one that is not validated.
    by_endpoint: EndpointList<Option<Arc<ResponseRules>>>,
    terms: Arc<ValidationTerms>,
}

/// What happens to responses that do not fit.
struct ValidationTerms {
    api: String,
    dry_run: bool,
    status: u16,
    must_be_described: bool,
    meter: Arc<Meter>,
    threads: Arc<StartedOnce<BodyThreads>>,
}

/// The check of one response.
struct ResponseValidation {
    rules: Arc<ResponseRules>,
    terms: Arc<ValidationTerms>,
    reader: WholeBody,
    counting_core: Option<usize>,
    body: Option<ResponseCheck>,
    /// What another thread finds of a large body.
    asked: Option<Awaited<Option<Result<(), UnfitBody>>>>,
}

impl ValidateResponse {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let written = source.definition.tollgate.validate_responses.clone()?;
        let Some(document) = source.context.openapi.clone() else {
            source.context.error("$.tollgate.validate_responses", "acts only in an OpenAPI document");
            return None;
        };
        let is_known = |id: &String| document.operation(id).is_some();
        if let Some(index) = written.operations.iter().position(|id| !is_known(id)) {
            let path = format!("$.tollgate.validate_responses.operations[{index}]");
            source.context.error(path, "no operation of this document has this id");
            return None;
        }
        let is_validated = |id: &String| written.operations.is_empty() || written.operations.contains(id);
        let mut compiler = ResponseCompiler::new(&document);
        // The rules of each operation by its index.
        let added: Vec<Option<usize>> =
            document.operations.iter().map(|operation| is_validated(&operation.id).then(|| compiler.add(operation))).collect();
        let (rules, problems) = compiler.finish();
        let file = source.context.file;
        source.context.problems.extend(problems.into_iter().map(|problem| problem.within(file)));
        let mut by_endpoint = EndpointList::default();
        for (operation, added) in document.operations.iter().zip(added) {
            let pattern = match source.patterns.add(&operation.path, false) {
                Ok(pattern) => pattern,
                Err(why) => {
                    source.context.error(format!("$.paths[{:?}]", operation.path), why);
                    continue;
                }
            };
            by_endpoint.push(pattern, &operation.method, added.and_then(|number| rules.get(number).cloned()));
        }
        let terms = ValidationTerms {
            api: source.definition.api_id.clone(),
            dry_run: written.dry_run,
            status: if written.error_response_code == 0 { 500 } else { written.error_response_code },
            must_be_described: written.described_statuses_only,
            meter: source.context.registry.meters.get(&source.definition.api_id),
            threads: source.context.registry.body_threads.clone(),
        };
        Some(Box::new(ValidateResponse { by_endpoint, terms: Arc::new(terms) }))
    }
}

impl Middleware for ValidateResponse {
    fn is_for_responses(&self) -> bool {
        true
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        // The client's method: an earlier step may have changed it for the upstream.
        let Some(Some(rules)) = self.by_endpoint.find(exchange.hits, exchange.request.method) else { return Step::Next };
        let step = ResponseValidation {
            rules: rules.clone(),
            terms: self.terms.clone(),
            // A part of a document can't be checked.
            reader: WholeBody::new(exchange),
            counting_core: exchange.arrival.counting_core,
            body: None,
            asked: None,
        };
        exchange.response.chain.push(step);
        Step::Next
    }
}

impl ResponseStep for ResponseValidation {
    fn on_head(&mut self, head: &mut ResponseHead<'_>) -> ResponseAction {
        // What only confirms a response that the client has is not described.
        if head.status() < 200 || head.status() == 304 {
            return ResponseAction::Pass;
        }
        let checked = {
            let header = |name: &str| head.header(name).map(|value| String::from_utf8_lossy(value).into_owned());
            self.rules.check_head(head.status(), self.terms.must_be_described, &header)
        };
        match checked {
            Err(why) => self.unfit(head, &why),
            Ok(Some(check)) if check.reads_body() && !self.reader.is_head && head.can_have_body() => {
                self.body = Some(check);
                ResponseAction::Keep(self.reader.bytes_max)
            }
            Ok(_) => ResponseAction::Pass,
        }
    }

    fn on_body(&mut self, head: &mut ResponseHead<'_>, body: KeptBody<'_>) -> ResponseAction {
        if let Some(asked) = self.asked.take() {
            let lost = || Err(UnfitBody::new("the threads for bodies are busy".to_owned()));
            return self.decide(head, asked.take().flatten().unwrap_or_else(lost));
        }
        let Some(check) = self.body.take() else { return ResponseAction::Pass };
        let fits = match self.reader.opened(head, body) {
            Ok(body) => {
                let here = (body.len() <= HERE_BYTES_MAX).then(|| check.check_body(&body, Budget::brief()));
                match here.filter(|fits| !fits.as_ref().is_err_and(UnfitBody::is_exhausted)) {
                    Some(fits) => fits,
                    None => return self.ask(head, check, body.to_vec()),
                }
            }
            // Without a check, nothing passes but in dry run.
            Err(Unopened::Refused(refusal)) if !self.terms.dry_run => return ResponseAction::Refuse(refusal),
            Err(Unopened::Refused(refusal)) => Err(UnfitBody::new(refusal.message.text().to_owned())),
            Err(Unopened::Unreadable(why)) => Err(UnfitBody::new(why)),
        };
        self.decide(head, fits)
    }
}

impl ResponseValidation {
    /// Holds the response while another thread checks its body.
    fn ask(&mut self, head: &mut ResponseHead<'_>, check: ResponseCheck, body: Vec<u8>) -> ResponseAction {
        let Some(threads) = self.terms.threads.get() else {
            return self.unfit(head, "there are no threads to check its body");
        };
        let (work, asked) =
            Awaited::new(threads.run(self.reader.asker, move || check.check_body(&body, Budget::of_body(body.len()))));
        self.asked = Some(asked);
        ResponseAction::Await(work, OFFLOAD_TIME_MAX + GRACE)
    }

    fn decide(&self, head: &mut ResponseHead<'_>, fits: Result<(), UnfitBody>) -> ResponseAction {
        match fits {
            Ok(()) => ResponseAction::Pass,
            Err(why) => self.unfit(head, &why.to_string()),
        }
    }

    #[cold]
    fn unfit(&self, head: &mut ResponseHead<'_>, why: &str) -> ResponseAction {
        let terms = &*self.terms;
        let api = terms.api.as_str();
        tracing::warn!(api, cause = CAUSE, status = head.status(), why, "a response does not fit the OpenAPI document");
        if !terms.dry_run {
            return ResponseAction::Refuse(refusal(terms.status));
        }
        if let Some(cells) = self.counting_core.and_then(|core| terms.meter.core(core)) {
            cells.dry_run(CAUSE);
        }
        head.add_lines(|out| {
            [&b"Tollgate-Dry-Run: "[..], CAUSE.as_bytes(), b"\r\n"].iter().for_each(|part| out.extend_from_slice(part))
        });
        ResponseAction::Pass
    }
}

fn refusal(status: u16) -> Refusal {
    let message = "Response does not fit the API's description".to_owned();
    RefusalText::new(status, CAUSE, message).into()
}
