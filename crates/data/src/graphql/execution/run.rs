//! The queries of one request or one WebSocket: prepared, executed, and for subscriptions executed again with each event.

use super::sources::SourceCalls;
use super::subscriptions;
use super::terms::GraphTerms;
use crate::api_call::CallOrigin;
use crate::graphql::socket_rights::SocketRights;
use crate::graphql::told_facts::{TOLD_HEADER, ToldFacts};
use http::{HeaderMap, StatusCode};
use serde_json::{Map, Value};
use std::sync::Arc;
use tokio::sync::mpsc;
use tollgate_data_graph::{Execution, ExecutionContext, OperationPlan, SourceAnswer};
use tollgate_graphql::{CheckedOperation, GraphqlError, GraphqlRequest, OperationKind, errors_body};

/// Responses to events that wait for a slow client. Then the source waits, too.
const WAITING_MAX: usize = 16;

/// An answer to a request.
pub(super) enum GraphAnswer {
    Whole(StatusCode, Vec<u8>),
    /// A response for each event.
    Events(mpsc::Receiver<Vec<u8>>),
}

/// What a request is executed with.
pub(super) struct GraphRun {
    terms: Arc<GraphTerms>,
    context: ExecutionContext,
    rights: SocketRights,
    origin: CallOrigin,
}

/// A query that can be executed.
struct PreparedQuery {
    execution: Execution,
    introspection: Map<String, Value>,
    is_subscription: bool,
}

impl GraphRun {
    /// `None` for a request that the data path has not told about: nothing is known of its rights.
    pub(super) fn new(terms: Arc<GraphTerms>, headers: &HeaderMap) -> Option<Self> {
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let ToldFacts { texts, rights, is_closed, origin } = ToldFacts::of_header(&header(TOLD_HEADER)?)?;
        let mut context = ExecutionContext::default();
        if let Some(executed) = &terms.api.executed {
            let replaced = |value: &String| texts.get(value).unwrap_or(value).clone();
            let common = executed.common_headers.iter().map(|(name, value)| (name.clone(), replaced(value)));
            let credentials = terms.credentials.as_ref().and_then(|name| Some((name.clone(), header(name)?)));
            let named = executed.header_names.iter();
            context.headers = named.filter_map(|name| Some((name.clone(), header(name)?))).collect();
            context.common_headers = common.filter(|(_, value)| !value.is_empty()).chain(credentials).collect();
            context.texts = texts;
        }
        Some(GraphRun { terms, context, rights: SocketRights { rights, is_closed }, origin })
    }

    /// The response to one query.
    pub(super) async fn response(&self, request: &GraphqlRequest<'_>) -> Vec<u8> {
        match self.prepared(request) {
            Ok(prepared) if prepared.is_subscription => {
                let message = "subscriptions need a WebSocket, or a client that accepts text/event-stream";
                errors_body(&[GraphqlError::new(message).with_code("SUBSCRIPTION_BY_REQUEST")])
            }
            Ok(prepared) => self.execute(prepared.execution, &prepared.introspection).await,
            Err(errors) => errors_body(&errors),
        }
    }

    async fn execute(&self, execution: Execution, introspection: &Map<String, Value>) -> Vec<u8> {
        self.calls().run(execution, introspection).await
    }

    /// The responses to one query: one for each event of a subscription. They end when nobody takes them any more.
    pub(super) fn events(self: &Arc<Self>, request: &GraphqlRequest<'_>) -> GraphAnswer {
        match self.responses(request) {
            Ok(responses) => GraphAnswer::Events(responses),
            Err(errors) => GraphAnswer::Whole(StatusCode::OK, errors_body(&errors)),
        }
    }

    /// The same; `Err` is why the query cannot be executed.
    pub(super) fn responses(self: &Arc<Self>, request: &GraphqlRequest<'_>) -> Result<mpsc::Receiver<Vec<u8>>, Vec<GraphqlError>> {
        let prepared = self.prepared(request)?;
        let (sender, receiver) = mpsc::channel(WAITING_MAX);
        let run = self.clone();
        tokio::spawn(async move {
            let left = sender.clone();
            tokio::select! {
                () = run.respond(prepared, sender) => {}
                // The client has left.
                () = left.closed() => {}
            }
        });
        Ok(receiver)
    }

    async fn respond(&self, prepared: PreparedQuery, sender: mpsc::Sender<Vec<u8>>) {
        let PreparedQuery { mut execution, introspection, is_subscription } = prepared;
        let opening = if is_subscription { execution.next_request() } else { None };
        let Some(request) = opening else {
            // Fails only if nobody waits any more.
            let _ = sender.send(self.execute(execution, &introspection).await).await;
            return;
        };
        let id = request.id;
        let (events, mut received) = mpsc::channel(1);
        let subscribed = subscriptions::subscribe(self.calls(), request, events);
        let answering = async {
            while let Some(event) = received.recv().await {
                let mut execution = execution.clone();
                execution.answer(id, Ok(SourceAnswer { status: 200, body: event }));
                if sender.send(self.execute(execution, &introspection).await).await.is_err() {
                    return;
                }
            }
        };
        let (ended, ()) = tokio::join!(subscribed, answering);
        if let Err((failure, why)) = ended {
            self.terms.log_failure(&why);
            execution.answer(id, Err(failure));
            let _ = sender.send(self.execute(execution, &introspection).await).await;
        }
    }

    fn calls(&self) -> SourceCalls<'_> {
        SourceCalls { terms: &self.terms, origin: self.origin }
    }

    fn prepared(&self, request: &GraphqlRequest<'_>) -> Result<PreparedQuery, Vec<GraphqlError>> {
        let one = |error: GraphqlError| vec![error];
        let api = &self.terms.api;
        let executed = api.executed.as_ref().ok_or_else(|| one(GraphqlError::new("the API has no data graph")))?;
        let known = api.known(&request.query);
        let operation = self.rights.permit(api, &known, request)?;
        let variables = api.schema.variables(operation, request.variables.as_ref()).map_err(one)?;
        let is_true = |name: String| {
            let value = variables.get(&name).and_then(Value::as_bool).unwrap_or_default();
            (name, value)
        };
        let conditions = OperationPlan::conditions(operation).into_iter().map(is_true).collect();
        let plan = executed.plan(&api.schema, &known, operation, conditions);
        let plan = plan.map_err(|fault| one(GraphqlError::new(fault.to_string()).with_code("PLAN_FAILED")))?;
        let introspection = self.introspection(operation, request).map_err(one)?;
        let (graph, context, limits) = (executed.graph.clone(), self.context.clone(), executed.limits);
        Ok(PreparedQuery {
            execution: Execution::new(graph, plan, variables, context, limits),
            introspection,
            is_subscription: operation.facts.kind == OperationKind::Subscription,
        })
    }

    /// The answers to what a query asks of the schema.
    fn introspection(
        &self,
        operation: CheckedOperation<'_>,
        request: &GraphqlRequest<'_>,
    ) -> Result<Map<String, Value>, GraphqlError> {
        if !operation.facts.introspects {
            return Ok(Map::new());
        }
        let body = self.terms.api.schema.introspect(operation, request.variables.as_ref())?;
        match serde_json::from_slice::<Value>(&body).ok().and_then(|mut body| Some(body.get_mut("data")?.take())) {
            Some(Value::Object(members)) => Ok(members),
            _ => Ok(Map::new()),
        }
    }
}
