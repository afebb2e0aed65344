//! The queries of one request: their documents, which of these are known, and whether each query may pass.

use super::QueryChecker;
use super::outcome::{BodyKind, GraphqlOutcome, told};
use crate::offload::HERE_BYTES_MAX;
use crate::refusal;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::sync::Arc;
use tollgate_graphql::{
    CheckedOperation, Denial, DocumentFaultKind, GraphqlError, GraphqlRequest, GraphqlRights, KnownDocument, OperationKind,
    RequestFault, parse_body, parse_pairs,
};
use tollgate_http::form::{decode_form, pairs};
use tollgate_observe::GraphqlFacts;
use tollgate_text::byte_order_mark;

/// Bytes of unknown documents that a data thread checks itself. They take it about as long as handing them to another thread and back.
const CHECKED_HERE_MAX: usize = 1_024;
/// Fragments that they may spread: a few that spread each other take as long as much longer documents.
const SPREADS_HERE_MAX: usize = 8;
/// Largest request whose variables are noted for its record.
const NOTED_BYTES_MAX: usize = 64 << 10;

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

/// What a request asks, on its way to a decision.
pub(super) struct AskedQueries<'q> {
    pub kind: BodyKind,
    pub body: &'q [u8],
    /// The query of the URL, where that is the request.
    pub url_query: Option<&'q str>,
    /// The content type of the response that the client wants.
    pub response_type: &'static str,
    /// Those of the key, if there is one.
    pub rights: Option<&'q GraphqlRights>,
    /// Whether a data thread decides, which has about a millisecond.
    pub is_brief: bool,
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

/// Whether all servers read the same parameters in a query: none has an escape that some would skip, or a separator that is one for few.
fn is_plain(query: &str) -> bool {
    !query.contains(';') && query.split(['&', '=']).all(|part| decode_form(part).is_some())
}

impl QueryChecker {
    /// Reads a request and decides about it.
    pub(super) fn decide(&self, asked: &AskedQueries<'_>) -> Result<PassedQueries, GraphqlOutcome> {
        let malformed = |why: String| self.unreadable(asked.response_type, RequestFault::Malformed(why));
        match asked.kind {
            BodyKind::None => {
                if asked.url_query.is_some_and(|query| !is_plain(query)) {
                    return Err(malformed("the query of the URL can be read in several ways".to_owned()));
                }
                let pairs = asked.url_query.into_iter().flat_map(pairs).map(|(name, value)| (name.into(), value.into()));
                let request = parse_pairs(pairs).map_err(|fault| self.unreadable(asked.response_type, fault))?;
                self.decide_all(asked, vec![request], false)
            }
            BodyKind::Document => {
                let text = std::str::from_utf8(asked.body).map_err(|error| malformed(error.to_string()))?;
                if text.trim().is_empty() {
                    return Err(GraphqlOutcome::Refuse(refusal::GRAPHQL_EMPTY));
                }
                let request = GraphqlRequest { query: text.into(), ..Default::default() };
                let mut passed = self.decide_all(asked, vec![request], false)?;
                // Servers that read this content type are rare; all read JSON.
                passed.body = Some(json!({ "query": text }).to_string().into_bytes());
                passed.is_json_now = true;
                Ok(passed)
            }
            BodyKind::Json => {
                let read = parse_body(asked.body, self.rules.batch_max);
                let (requests, is_batch) = read.map_err(|fault| self.unreadable(asked.response_type, fault))?;
                self.decide_all(asked, requests, is_batch)
            }
        }
    }

    fn decide_all(
        &self,
        asked: &AskedQueries<'_>,
        mut requests: Vec<GraphqlRequest<'_>>,
        is_batch: bool,
    ) -> Result<PassedQueries, GraphqlOutcome> {
        let texts = requests.iter().map(|request| self.text(asked, request)).collect::<Result<Vec<_>, _>>()?;
        let known = self.known(asked, &texts)?;
        for (request, known) in requests.iter().zip(&known) {
            let operation = self.may_pass(asked, request, known)?;
            if operation.facts.only_introspects && !is_batch {
                return Err(self.introspect(asked, request, operation, known));
            }
        }
        if self.rules.persisted {
            let sent = requests.iter().filter(|request| !request.query.is_empty());
            sent.for_each(|request| {
                request.persisted.iter().for_each(|digest| self.api.documents.register(*digest, &request.query));
            });
        }
        let mut passed = PassedQueries::default();
        let registered: Vec<Option<Arc<str>>> =
            texts.into_iter().map(|text| if let DocumentText::Registered(text) = text { Some(text) } else { None }).collect();
        if registered.iter().any(Option::is_some) {
            match asked.kind == BodyKind::None {
                true => passed.query_for_url = registered.into_iter().flatten().next(),
                false => passed.body = with_queries(asked.body, &registered),
            }
        }
        // Of a batch, the first query is recorded.
        if let (Some(request), Some(known)) = (requests.first_mut(), known.into_iter().next()) {
            passed.facts = Some(facts(asked, request, known));
        }
        Ok(passed)
    }

    /// The text of a query's document.
    fn text<'r>(&self, asked: &AskedQueries<'_>, request: &'r GraphqlRequest<'_>) -> Result<DocumentText<'r>, GraphqlOutcome> {
        let Some(digest) = request.persisted.filter(|_| self.rules.persisted) else {
            return match (request.query.trim().is_empty(), request.persisted) {
                (false, _) => Ok(DocumentText::Sent(&request.query)),
                (true, Some(_)) => {
                    let error = GraphqlError::new("PersistedQueryNotSupported").with_code("PERSISTED_QUERY_NOT_SUPPORTED");
                    Err(told(asked.response_type, 200, "graphql_persisted_off", &[error]))
                }
                (true, None) => {
                    let error = GraphqlError::new("document doesn't contain any executable operation");
                    Err(told(asked.response_type, 400, "graphql_invalid", &[error]))
                }
            };
        };
        if request.query.is_empty() {
            let error = || GraphqlError::new("PersistedQueryNotFound").with_code("PERSISTED_QUERY_NOT_FOUND");
            // The client then sends the whole query; 200 is what clients expect.
            let known = self.api.documents.registered(&digest);
            return known
                .map(DocumentText::Registered)
                .ok_or_else(|| told(asked.response_type, 200, "graphql_persisted_unknown", &[error()]));
        }
        if Sha256::digest(request.query.as_bytes()).as_slice() != digest {
            let error = GraphqlError::new("provided sha does not match query");
            return Err(told(asked.response_type, 400, "graphql_persisted_digest", &[error]));
        }
        Ok(DocumentText::Sent(&request.query))
    }

    /// What is known about the documents. Those that are not known are checked now, if they are short enough.
    fn known(&self, asked: &AskedQueries<'_>, texts: &[DocumentText<'_>]) -> Result<Vec<KnownDocument>, GraphqlOutcome> {
        // A short request may name long documents.
        if asked.is_brief && texts.iter().map(|text| text.text().len()).sum::<usize>() > HERE_BYTES_MAX {
            return Err(GraphqlOutcome::Elsewhere);
        }
        let found: Vec<Option<KnownDocument>> = texts.iter().map(|text| self.api.documents.get(text.text())).collect();
        let unknown = || texts.iter().zip(&found).filter(|(_, found)| found.is_none()).map(|(text, _)| text.text());
        let spreads = || unknown().map(|text| text.matches("...").count()).sum::<usize>();
        if asked.is_brief && (unknown().map(str::len).sum::<usize>() > CHECKED_HERE_MAX || spreads() > SPREADS_HERE_MAX) {
            return Err(GraphqlOutcome::Elsewhere);
        }
        let all = texts.iter().zip(found);
        Ok(all.map(|(text, found)| found.unwrap_or_else(|| self.api.check(text.text()))).collect())
    }

    /// Whether a query may pass.
    fn may_pass<'k>(
        &self,
        asked: &AskedQueries<'_>,
        request: &GraphqlRequest<'_>,
        known: &'k KnownDocument,
    ) -> Result<CheckedOperation<'k>, GraphqlOutcome> {
        let document = match &**known {
            Ok(document) => document,
            Err(fault) if fault.kind == DocumentFaultKind::Limit => {
                return Err(told(asked.response_type, 400, "graphql_limit", &fault.errors));
            }
            Err(fault) => return Err(self.invalid(asked.response_type, "graphql_invalid", &fault.errors)),
        };
        let operation = document.operation(request.operation_name.as_deref());
        let operation = operation.map_err(|error| self.invalid(asked.response_type, "graphql_invalid", &[error]))?;
        if asked.kind == BodyKind::None && operation.facts.kind == OperationKind::Mutation {
            return Err(GraphqlOutcome::Refuse(refusal::GRAPHQL_MUTATION_BY_GET));
        }
        let variables = operation.check_variables(&self.api.schema, request.variables.as_ref());
        variables.map_err(|error| self.invalid(asked.response_type, "graphql_variables", &[error]))?;
        if self.rules.is_closed && operation.facts.introspects {
            return Err(GraphqlOutcome::Refuse(refusal::GRAPHQL_INTROSPECTION));
        }
        let Some(rights) = asked.rights else { return Ok(operation) };
        let denied = rights.check(operation, &self.api.schema);
        match denied {
            Ok(()) => Ok(operation),
            Err(Denial::Depth) => Err(GraphqlOutcome::Refuse(refusal::GRAPHQL_DEPTH)),
            Err(Denial::Introspection) => Err(GraphqlOutcome::Refuse(refusal::GRAPHQL_INTROSPECTION)),
            Err(denial @ (Denial::Field { .. } | Denial::Type(_))) => {
                Err(told(asked.response_type, 400, "graphql_field", &[GraphqlError::new(denial.to_string())]))
            }
        }
    }

    /// The answer to a query for nothing but the schema.
    fn introspect(
        &self,
        asked: &AskedQueries<'_>,
        request: &GraphqlRequest<'_>,
        operation: CheckedOperation<'_>,
        known: &KnownDocument,
    ) -> GraphqlOutcome {
        if asked.is_brief {
            return GraphqlOutcome::Elsewhere;
        }
        match self.api.schema.introspect(operation, request.variables.as_ref()) {
            Err(error) => self.invalid(asked.response_type, "graphql_limit", &[error]),
            Ok(body) => GraphqlOutcome::Reply {
                content_type: asked.response_type,
                body,
                facts: Some(facts(asked, &mut request.clone(), known.clone())),
            },
        }
    }
}

fn facts(asked: &AskedQueries<'_>, request: &mut GraphqlRequest<'_>, document: KnownDocument) -> Box<GraphqlFacts> {
    let operation_name = request.operation_name.take().map(Cow::into_owned);
    // A data thread writes them to the record.
    let variables = request.variables.take().filter(|_| asked.body.len() <= NOTED_BYTES_MAX);
    Box::new(GraphqlFacts { document, operation_name, variables })
}

/// A body with the registered documents in the place of their names.
fn with_queries(body: &[u8], registered: &[Option<Arc<str>>]) -> Option<Vec<u8>> {
    let mut whole: Value = serde_json::from_slice(byte_order_mark::without(body)).ok()?;
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

#[cfg(test)]
mod tests;
