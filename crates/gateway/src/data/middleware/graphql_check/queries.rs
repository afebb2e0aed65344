//! The queries of one request: their documents, which of these are known, and whether each query may pass.

use super::outcome::{GraphqlOutcome, response_type, told};
use super::{CHECKED_HERE_MAX, GraphqlCheck};
use crate::data::exchange::Exchange;
use crate::data::graphql::CheckedTexts;
use crate::data::refusal;
use crate::observe::GraphqlFacts;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::sync::Arc;
use tollgate_graphql::{CheckedOperation, Denial, DocumentFaultKind, GraphqlError, GraphqlRequest, KnownDocument, OperationKind};

/// A request that may pass, and what the upstream gets that the client did not send.
#[derive(Default)]
pub(super) struct PassedQueries {
    pub body: Option<Vec<u8>>,
    /// Whether the new body is JSON and the client's was not.
    pub is_json_now: bool,
    /// A registered document that the URL only names.
    pub query_for_url: Option<Arc<str>>,
    pub facts: Option<Box<GraphqlFacts>>,
}

/// The queries of a request, on their way to a decision.
pub(super) struct GraphqlQueries<'q, 'e> {
    pub check: &'q GraphqlCheck,
    pub exchange: &'q Exchange<'e>,
    pub is_get: bool,
    pub asked: AskedTexts,
}

/// What other threads have found out about documents.
pub(super) enum AskedTexts {
    NotYet,
    Known(CheckedTexts),
    /// There was no answer.
    Lost,
}

/// The text of a document: as the client sent it, or as somebody has registered it.
enum DocumentText<'r> {
    Sent(&'r str),
    Registered(Arc<str>),
}

impl DocumentText<'_> {
    fn text(&self) -> &str {
        match self {
            DocumentText::Sent(text) => text,
            DocumentText::Registered(text) => text,
        }
    }
}

impl GraphqlQueries<'_, '_> {
    pub(super) fn decide(&self, mut requests: Vec<GraphqlRequest<'_>>, is_batch: bool) -> Result<PassedQueries, GraphqlOutcome> {
        let texts = requests.iter().map(|request| self.text(request)).collect::<Result<Vec<_>, _>>()?;
        let known = self.known(&texts)?;
        for (request, known) in requests.iter().zip(&known) {
            let operation = self.may_pass(request, known)?;
            if operation.facts.only_introspects && !is_batch {
                return Err(self.introspect(request, operation, known));
            }
        }
        if self.check.rules.persisted {
            let sent = requests.iter().filter(|request| !request.query.is_empty());
            sent.for_each(|request| {
                request.persisted.iter().for_each(|digest| self.check.api.documents.register(*digest, &request.query));
            });
        }
        let mut passed = PassedQueries::default();
        let registered: Vec<Option<Arc<str>>> =
            texts.into_iter().map(|text| if let DocumentText::Registered(text) = text { Some(text) } else { None }).collect();
        if registered.iter().any(Option::is_some) {
            match self.is_get {
                true => passed.query_for_url = registered.into_iter().flatten().next(),
                false => passed.body = with_queries(self.exchange.body(), &registered),
            }
        }
        // Of a batch, the first query is recorded.
        if let (Some(request), Some(known)) = (requests.first_mut(), known.into_iter().next()) {
            passed.facts = Some(facts(request, known));
        }
        Ok(passed)
    }

    /// The text of a query's document.
    fn text<'r>(&self, request: &'r GraphqlRequest<'_>) -> Result<DocumentText<'r>, GraphqlOutcome> {
        let exchange = self.exchange;
        let Some(digest) = request.persisted.filter(|_| self.check.rules.persisted) else {
            return match (request.query.trim().is_empty(), request.persisted) {
                (false, _) => Ok(DocumentText::Sent(&request.query)),
                (true, Some(_)) => {
                    let error = GraphqlError::new("PersistedQueryNotSupported").with_code("PERSISTED_QUERY_NOT_SUPPORTED");
                    Err(told(exchange, 200, "graphql_persisted_off", &[error]))
                }
                (true, None) => {
                    let error = GraphqlError::new("document doesn't contain any executable operation");
                    Err(told(exchange, 400, "graphql_invalid", &[error]))
                }
            };
        };
        if request.query.is_empty() {
            let error = || GraphqlError::new("PersistedQueryNotFound").with_code("PERSISTED_QUERY_NOT_FOUND");
            // The client then sends the whole query; 200 is what clients expect.
            let known = self.check.api.documents.registered(&digest);
            return known.map(DocumentText::Registered).ok_or_else(|| told(exchange, 200, "graphql_persisted_unknown", &[error()]));
        }
        if Sha256::digest(request.query.as_bytes()).as_slice() != digest {
            let error = GraphqlError::new("provided sha does not match query");
            return Err(told(exchange, 400, "graphql_persisted_digest", &[error]));
        }
        Ok(DocumentText::Sent(&request.query))
    }

    /// What is known about the documents. Short ones that are not known are checked now.
    fn known(&self, texts: &[DocumentText<'_>]) -> Result<Vec<KnownDocument>, GraphqlOutcome> {
        let api = &self.check.api;
        let answered = |text: &str| match &self.asked {
            AskedTexts::Known(answers) => answers.iter().find(|(asked, _)| asked == text).map(|(_, known)| known.clone()),
            AskedTexts::NotYet | AskedTexts::Lost => None,
        };
        let find = |text: &DocumentText<'_>| api.documents.get(text.text()).or_else(|| answered(text.text()));
        let found: Vec<Option<KnownDocument>> = texts.iter().map(find).collect();
        let unknown = || texts.iter().zip(&found).filter(|(_, found)| found.is_none()).map(|(text, _)| text.text());
        let is_much = unknown().map(str::len).sum::<usize>() > CHECKED_HERE_MAX;
        match self.asked {
            AskedTexts::NotYet if is_much => return Err(GraphqlOutcome::Ask(unknown().map(str::to_owned).collect())),
            AskedTexts::Lost if is_much => return Err(GraphqlOutcome::Refuse(refusal::GRAPHQL_BUSY)),
            _ => {}
        }
        let all = texts.iter().zip(&found);
        Ok(all.map(|(text, found)| found.clone().unwrap_or_else(|| api.check(text.text()))).collect())
    }

    /// Whether a query may pass.
    fn may_pass<'k>(&self, request: &GraphqlRequest<'_>, known: &'k KnownDocument) -> Result<CheckedOperation<'k>, GraphqlOutcome> {
        let (check, exchange) = (self.check, self.exchange);
        let document = match &**known {
            Ok(document) => document,
            Err(fault) if fault.kind == DocumentFaultKind::Limit => {
                return Err(told(exchange, 400, "graphql_limit", &fault.errors));
            }
            Err(fault) => return Err(check.invalid(exchange, "graphql_invalid", &fault.errors)),
        };
        let operation = document.operation(request.operation_name.as_deref());
        let operation = operation.map_err(|error| check.invalid(exchange, "graphql_invalid", &[error]))?;
        if self.is_get && operation.facts.kind == OperationKind::Mutation {
            return Err(GraphqlOutcome::Refuse(refusal::GRAPHQL_MUTATION_BY_GET));
        }
        let variables = operation.check_variables(&check.api.schema, request.variables.as_ref());
        variables.map_err(|error| check.invalid(exchange, "graphql_variables", &[error]))?;
        if check.rules.is_closed && operation.facts.introspects {
            return Err(GraphqlOutcome::Refuse(refusal::GRAPHQL_INTROSPECTION));
        }
        let Some(key) = &exchange.caller.key else { return Ok(operation) };
        let denied = key.graphql_rights(&exchange.api.id).check(operation, &check.api.schema);
        match denied {
            Ok(()) => Ok(operation),
            Err(Denial::Depth) => Err(GraphqlOutcome::Refuse(refusal::GRAPHQL_DEPTH)),
            Err(Denial::Introspection) => Err(GraphqlOutcome::Refuse(refusal::GRAPHQL_INTROSPECTION)),
            Err(denial @ (Denial::Field { .. } | Denial::Type(_))) => {
                Err(told(exchange, 400, "graphql_field", &[GraphqlError::new(denial.to_string())]))
            }
        }
    }

    /// The answer to a query for nothing but the schema.
    fn introspect(&self, request: &GraphqlRequest<'_>, operation: CheckedOperation<'_>, known: &KnownDocument) -> GraphqlOutcome {
        match self.check.api.schema.introspect(operation, request.variables.as_ref()) {
            Err(error) => self.check.invalid(self.exchange, "graphql_limit", &[error]),
            Ok(body) => GraphqlOutcome::Reply {
                content_type: response_type(self.exchange),
                body,
                facts: Some(facts(&mut request.clone(), known.clone())),
            },
        }
    }
}

fn facts(request: &mut GraphqlRequest<'_>, document: KnownDocument) -> Box<GraphqlFacts> {
    let operation_name = request.operation_name.take().map(Cow::into_owned);
    Box::new(GraphqlFacts { document, operation_name, variables: request.variables.take() })
}

/// A body with the registered documents in the place of their names.
fn with_queries(body: &[u8], registered: &[Option<Arc<str>>]) -> Option<Vec<u8>> {
    let mut whole: Value = serde_json::from_slice(body).ok()?;
    let requests = match &mut whole {
        Value::Array(requests) => requests.as_mut_slice(),
        request => std::slice::from_mut(request),
    };
    for (request, text) in requests.iter_mut().zip(registered) {
        if let (Value::Object(members), Some(text)) = (request, text) {
            members.insert("query".to_owned(), Value::String(text.to_string()));
        }
    }
    serde_json::to_vec(&whole).ok()
}
