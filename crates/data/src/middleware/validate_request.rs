//! Requests that must fit the OpenAPI document of the API. Reads
//! `operation_validations`, which only documents write. The client sees 422, or the
//! operation's `errorResponseCode`, with the first thing that does not fit and its place.
//!
//! Parameters are checked before the body is read. A request is held until its body has arrived, if the operation describes one. What takes more
//! than a brief budget runs on another thread; what takes more than the budget of the body's size is refused like what does not fit.

use super::{Middleware, MiddlewareSource};
use crate::endpoints::EndpointList;
use crate::exchange::{Exchange, Step};
use crate::offload::{BodyThreads, HERE_BYTES_MAX, OFFLOAD_TIME_MAX};
use crate::refusal::{self, RefusalText};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use tollgate_http::KnownHeader;
use tollgate_offload::StartedOnce;
use tollgate_openapi::{Budget, Operation, OperationRules, RequestMismatch, RequestParts, RulesCompiler};

pub(super) struct ValidateRequest {
    by_endpoint: EndpointList<Validated>,
    threads: Arc<StartedOnce<BodyThreads>>,
}

/// The rules of an operation; `None` if its requests are not validated.
struct Validated {
    rules: Option<Arc<OperationRules>>,
    /// Status of a refusal.
    status: u16,
}

impl ValidateRequest {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let entries = &source.info.extended_paths.operation_validations;
        let first = entries.iter().position(|entry| entry.enabled && !entry.disabled)?;
        let Some(document) = source.context.openapi.clone() else {
            let message = "acts only in an OpenAPI document".to_owned();
            source.problem("operation_validations", first, "enabled", message);
            return None;
        };
        let mut compiler = RulesCompiler::new(&document);
        let by_place: HashMap<(&str, &str), &Operation> =
            document.operations.iter().map(|operation| ((operation.path.as_str(), operation.method.as_str()), operation)).collect();
        // The rules of each entry by its index.
        let added: Vec<Option<usize>> = entries
            .iter()
            .map(|entry| {
                by_place
                    .get(&(entry.path.as_str(), entry.method.as_str()))
                    .filter(|_| entry.enabled)
                    .map(|found| compiler.add(found))
            })
            .collect();
        let (rules, problems) = compiler.finish();
        for problem in problems {
            let file = source.context.file;
            source.context.problems.push(problem.within(file));
        }
        let by_endpoint = source.endpoints("operation_validations", entries, |_, index, entry| {
            let rules = added.get(index).copied().flatten().and_then(|number| rules.get(number).cloned());
            let status = if entry.error_response_code == 0 { 422 } else { entry.error_response_code };
            Some(Validated { rules, status })
        });
        let threads = source.context.registry.body_threads.clone();
        Some(Box::new(ValidateRequest { by_endpoint, threads }))
    }
}

impl Middleware for ValidateRequest {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let Some(validated) = self.by_endpoint.find(exchange.hits, &exchange.method) else { return Step::Next };
        let Some(rules) = &validated.rules else { return Step::Next };
        let mismatch = {
            let header = |name: &str| joined(exchange, name);
            let path = exchange.path_behind_listen();
            let parts = RequestParts { path: &path, query: exchange.query().unwrap_or_default(), header: &header };
            rules.check_parameters(&parts)
        };
        if let Err(mismatch) = mismatch {
            return refused(validated.status, &mismatch);
        }
        if !rules.reads_body() {
            return Step::Next;
        }
        if let Err(step) = exchange.read_body() {
            return step;
        }
        let kind = exchange.received().known(KnownHeader::ContentType).unwrap_or_default();
        let kind = String::from_utf8_lossy(kind);
        let body = exchange.body();
        if body.len() <= HERE_BYTES_MAX {
            match rules.check_body(&kind, body, Budget::brief()) {
                Ok(()) => return Step::Next,
                Err(mismatch) if mismatch.is_exhausted() => {}
                Err(mismatch) => return refused(validated.status, &mismatch),
            }
        }
        let Some(threads) = self.threads.get() else { return Step::Refuse(refusal::BODY_WORK_BUSY) };
        let (rules, kind, body, status) = (rules.clone(), kind.into_owned(), exchange.shared_body(), validated.status);
        let checked =
            threads.run(exchange.arrival.body_sender(), move || rules.check_body(&kind, &body, Budget::of_body(body.len())));
        Step::work(self, checked, OFFLOAD_TIME_MAX, move |_, _, checked| match checked {
            None => Step::Refuse(refusal::BODY_WORK_BUSY),
            Some(Ok(())) => Step::Next,
            Some(Err(mismatch)) => refused(status, &mismatch),
        })
    }
}

/// All lines of a header as one.
fn joined<'x>(exchange: &'x Exchange<'_>, name: &str) -> Option<Cow<'x, str>> {
    let mut lines = exchange.received().iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
    let first = String::from_utf8_lossy(lines.next()?.1);
    let separator = if name.eq_ignore_ascii_case("cookie") { "; " } else { "," };
    Some(lines.fold(first, |joined, (_, value)| Cow::Owned(format!("{joined}{separator}{}", String::from_utf8_lossy(value)))))
}

fn refused(status: u16, mismatch: &RequestMismatch) -> Step {
    let message = format!("request validation error: {mismatch}");
    Step::Refuse(match mismatch.is_exhausted() {
        true => RefusalText::new(status, "request_too_much_work", message).into(),
        false => refusal::request_invalid(status, message),
    })
}
