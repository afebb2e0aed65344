//! Requests that must fit the OpenAPI document of the API. Reads
//! `operation_validations`, which only documents write. The client sees 422, or the
//! operation's `errorResponseCode`, with the first thing that does not fit and its place.
//!
//! Parameters are checked before the body is read. A request is held until its body has arrived, if the operation describes one.

use super::{Middleware, MiddlewareSource};
use crate::data::endpoints::EndpointList;
use crate::data::exchange::{Exchange, Step};
use crate::data::refusal::RefusalText;
use std::borrow::Cow;
use std::sync::Arc;
use tollgate_http::KnownHeader;
use tollgate_openapi::{OperationRules, RequestParts, RulesCompiler};

pub(super) struct ValidateRequest {
    by_endpoint: EndpointList<Validated>,
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
        let find = |path: &str, method: &str| document.operations.iter().find(|o| o.path == path && o.method == method);
        // The rules of each entry by its index.
        let added: Vec<Option<usize>> = entries
            .iter()
            .map(|entry| find(&entry.path, &entry.method).filter(|_| entry.enabled).map(|operation| compiler.add(operation)))
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
        Some(Box::new(ValidateRequest { by_endpoint }))
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
            return refused(validated.status, mismatch.to_string());
        }
        if !rules.reads_body() {
            return Step::Next;
        }
        if let Err(step) = exchange.read_body() {
            return step;
        }
        let kind = exchange.request.headers.known(KnownHeader::ContentType).unwrap_or_default();
        match rules.check_body(&String::from_utf8_lossy(kind), exchange.body()) {
            Ok(()) => Step::Next,
            Err(mismatch) => refused(validated.status, mismatch.to_string()),
        }
    }
}

/// All lines of a header as one.
fn joined<'x>(exchange: &'x Exchange<'_>, name: &str) -> Option<Cow<'x, str>> {
    let mut lines = exchange.request.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
    let first = String::from_utf8_lossy(lines.next()?.1);
    let separator = if name.eq_ignore_ascii_case("cookie") { "; " } else { "," };
    Some(lines.fold(first, |joined, (_, value)| Cow::Owned(format!("{joined}{separator}{}", String::from_utf8_lossy(value)))))
}

fn refused(status: u16, message: String) -> Step {
    let message = format!("request validation error: {message}");
    Step::Refuse(RefusalText { status, cause: "request_invalid", message: message.into(), id: None }.into())
}
