//! Responses that the gateway makes for operations of an OpenAPI document. Reads `operation_mocks`, which only documents write: a fixed response,
//! or the document's examples, selected by `X-Tyk-Accept-Example-Code`, `X-Tyk-Accept-Example-Name` and `Accept`. Runs after authentication and
//! limits, unlike `mock_response`. An example that does not exist is 500 with what is missing, as in Tyk.

use super::{Middleware, MiddlewareSource};
use crate::endpoints::EndpointList;
use crate::exchange::{Exchange, Step, SubstituteResponse};
use crate::refusal::RefusalText;
use tollgate_model::api::OperationMock;
use tollgate_model::is_framing_header;
use tollgate_openapi::{MockSelection, Mocks};

pub(super) struct OperationMocks {
    by_endpoint: EndpointList<MockAnswer>,
}

enum MockAnswer {
    /// The operation is not mocked.
    None,
    Fixed {
        status: u16,
        headers: Vec<(String, String)>,
        body: String,
    },
    FromExamples(Mocks, MockSelection),
}

impl OperationMocks {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let entries = &source.info.extended_paths.operation_mocks;
        if entries.iter().all(|entry| entry.disabled || entry.skip) {
            return None;
        }
        let document = source.context.openapi.clone();
        let by_endpoint = source.endpoints("operation_mocks", entries, |_, _, entry| {
            let operation = || document.as_ref()?.operations.iter().find(|o| o.path == entry.path && o.method == entry.method);
            let examples = || Some(Mocks::new(document.as_ref()?, operation()?));
            Some(match (entry.skip, entry.from_examples.enabled) {
                (true, _) => MockAnswer::None,
                (false, true) => examples().map_or(MockAnswer::None, |mocks| MockAnswer::FromExamples(mocks, selection(entry))),
                (false, false) => MockAnswer::Fixed {
                    status: if entry.code == 0 { 200 } else { entry.code },
                    headers: entry.headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
                    body: entry.body.clone(),
                },
            })
        });
        Some(Box::new(OperationMocks { by_endpoint }))
    }
}

fn selection(entry: &OperationMock) -> MockSelection {
    let examples = &entry.from_examples;
    MockSelection { code: examples.code, content_type: examples.content_type.clone(), example_name: examples.example_name.clone() }
}

impl Middleware for OperationMocks {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        match self.by_endpoint.find(exchange.hits, &exchange.method) {
            None | Some(MockAnswer::None) => Step::Next,
            Some(MockAnswer::Fixed { status, headers, body }) => respond(*status, None, headers, body.as_bytes()),
            Some(MockAnswer::FromExamples(mocks, configured)) => {
                let headers = exchange.received();
                let header = |name: &str| headers.get(name).map(|value| String::from_utf8_lossy(value).into_owned());
                match mocks.select(configured, &header) {
                    Ok(mocked) => {
                        let content_type = Some(mocked.content_type).filter(|kind| !kind.is_empty());
                        respond(mocked.status, content_type, mocked.headers, mocked.body)
                    }
                    Err(why) => {
                        let message = format!("failed to mock response: mock: {why}");
                        Step::Refuse(RefusalText::new(500, "mock_missing", message).into())
                    }
                }
            }
        }
    }
}

fn respond(status: u16, content_type: Option<&str>, headers: &[(String, String)], body: &[u8]) -> Step {
    let is_type = |name: &str| name.eq_ignore_ascii_case("content-type");
    // The gateway frames its replies itself.
    let lines = headers.iter().filter(|(name, _)| !(is_framing_header(name) || is_type(name) && content_type.is_some()));
    let mut lines: Vec<_> = lines.map(|(name, value)| (name.clone(), value.clone().into_bytes())).collect();
    let known_type = match content_type {
        Some(content_type) => Some(content_type),
        None if body.is_empty() || headers.iter().any(|(name, _)| is_type(name)) => None,
        None => Some("text/plain; charset=utf-8"),
    };
    lines.extend(known_type.map(|kind| ("Content-Type".to_owned(), kind.as_bytes().to_vec())));
    // As in Tyk, it does not tell about limits.
    Step::Respond(Box::new(SubstituteResponse { status, headers: lines, body: body.to_vec(), tells_limits: true }))
}
