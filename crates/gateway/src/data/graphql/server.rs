//! The server of a data graph: the upstream, within this process, of an API whose queries the gateway executes. The data path has checked
//! each request, and treats the server like any other upstream: responses stream, change and are recorded as usual. A core connects to it over
//! a socket pair.

use super::sources::SourceCalls;
use super::{ExecutedGraph, GraphqlApi};
use crate::base::auth_http_client::{AuthHttpClient, ClientThreads, LazyAuthHttpClient};
use crate::base::form::pairs;
use crate::base::tls::TlsSettings;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::future::join_all;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use tokio::net::UnixStream as AsyncStream;
use tollgate_data_graph::{Execution, Plan, RequestContext};
use tollgate_engine::LocalConnector;
use tollgate_graphql::{
    CheckedOperation, GraphqlError, GraphqlRequest, OperationKind, errors_body, parse_body, parse_pairs, response_type,
};

/// In which the data path tells the values of variables: base64 of a JSON object.
pub(crate) const VARIABLES_HEADER: &str = "X-Tollgate-Graph-Variables";
/// Largest body of a request. The data path has kept it in memory, within its own limit.
const BODY_BYTES_MAX: usize = 256 << 20;
/// Most requests in a batch: the data path has the API's own limit.
const BATCH_MAX: usize = 1_000;
/// Most calls to sources at one time, of all APIs together.
const CALLS_MAX: usize = 8_192;

/// The threads and connections of data graphs, started when the first API needs them.
pub(crate) struct GraphClient(pub LazyAuthHttpClient);

impl Default for GraphClient {
    fn default() -> Self {
        let count = std::thread::available_parallelism().map_or(1, usize::from);
        GraphClient(LazyAuthHttpClient::with_threads(ClientThreads { name: "graph", count, calls_max: CALLS_MAX }))
    }
}

/// Executes the queries of one API.
pub(crate) struct GraphServer {
    pub name: String,
    pub api: Arc<GraphqlApi>,
    pub tls: TlsSettings,
    /// Header with the client's credentials, if sources get it.
    pub credentials: Option<String>,
}

/// A response's status and body.
type GraphResponse = (StatusCode, Vec<u8>);

impl GraphServer {
    /// Opens connections to the server.
    pub(crate) fn connector(self: Arc<Self>, client: Arc<AuthHttpClient>) -> LocalConnector {
        Arc::new(move || {
            let (own, other) = UnixStream::pair()?;
            other.set_nonblocking(true)?;
            let (server, calls) = (self.clone(), client.clone());
            client.spawn(async move {
                if let Err(error) = server.serve(other, calls).await {
                    tracing::debug!(%error, "a connection to a data graph ended");
                }
            });
            Ok(own)
        })
    }

    async fn serve(self: Arc<Self>, stream: UnixStream, client: Arc<AuthHttpClient>) -> io::Result<()> {
        let stream = TokioIo::new(AsyncStream::from_std(stream)?);
        let service = service_fn(|request| {
            let (server, client) = (self.clone(), client.clone());
            async move { Ok::<_, Infallible>(server.respond(request, client).await) }
        });
        http1::Builder::new().serve_connection(stream, service).await.map_err(io::Error::other)
    }

    async fn respond(&self, request: Request<Incoming>, client: Arc<AuthHttpClient>) -> Response<Full<Bytes>> {
        let accept = request.headers().get(ACCEPT).and_then(|value| value.to_str().ok());
        let content_type = HeaderValue::from_static(response_type(accept.unwrap_or_default()));
        let (status, body) = self.answer(request, client).await;
        let mut response = Response::new(Full::new(Bytes::from(body)));
        *response.status_mut() = status;
        response.headers_mut().insert(CONTENT_TYPE, content_type);
        response
    }

    async fn answer(&self, request: Request<Incoming>, client: Arc<AuthHttpClient>) -> GraphResponse {
        let (head, body) = request.into_parts();
        let Some(executed) = &self.api.executed else { return refused("the API has no data graph") };
        let run = GraphRun { server: self, executed, context: self.context(executed, &head.headers), client };
        if matches!(head.method, Method::GET | Method::HEAD) {
            let pairs = head.uri.query().into_iter().flat_map(pairs).map(|(name, value)| (name.into(), value.into()));
            return match parse_pairs(pairs) {
                Ok(request) => (StatusCode::OK, run.execute(&request).await),
                Err(_) => refused("the request cannot be read"),
            };
        }
        let Ok(body) = Limited::new(body, BODY_BYTES_MAX).collect().await else { return refused("the body cannot be read") };
        let body = body.to_bytes();
        match parse_body(&body, BATCH_MAX) {
            Ok((requests, true)) => {
                let responses = join_all(requests.iter().map(|request| run.execute(request))).await;
                let mut all = b"[".to_vec();
                all.extend(responses.join(&b','));
                all.push(b']');
                (StatusCode::OK, all)
            }
            Ok((requests, false)) => match requests.first() {
                Some(request) => (StatusCode::OK, run.execute(request).await),
                None => refused("the request is empty"),
            },
            Err(_) => refused("the request cannot be read"),
        }
    }

    fn context(&self, executed: &ExecutedGraph, headers: &HeaderMap) -> RequestContext {
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let told = header(VARIABLES_HEADER).and_then(|told| STANDARD.decode(told).ok());
        let texts: HashMap<String, String> = told.and_then(|told| serde_json::from_slice(&told).ok()).unwrap_or_default();
        let common = executed.common_headers.iter().map(|(name, value)| (name.clone(), texts.get(value).unwrap_or(value).clone()));
        let credentials = self.credentials.as_ref().and_then(|name| Some((name.clone(), header(name)?)));
        let named = executed.graph.header_names().into_iter();
        RequestContext {
            headers: named.filter_map(|name| Some((name.clone(), header(&name)?))).collect(),
            common_headers: common.filter(|(_, value)| !value.is_empty()).chain(credentials).collect(),
            texts,
        }
    }
}

/// The queries of one request.
struct GraphRun<'r> {
    server: &'r GraphServer,
    executed: &'r ExecutedGraph,
    context: RequestContext,
    client: Arc<AuthHttpClient>,
}

impl GraphRun<'_> {
    /// The response to one query.
    async fn execute(&self, request: &GraphqlRequest<'_>) -> Vec<u8> {
        match self.prepared(request) {
            Ok((execution, introspection)) => {
                let calls = SourceCalls { server: self.server, client: &self.client, time_max: self.executed.time_max };
                calls.run(execution).await.response(&introspection)
            }
            Err(errors) => errors_body(&errors),
        }
    }

    fn prepared(&self, request: &GraphqlRequest<'_>) -> Result<(Execution, Map<String, Value>), Vec<GraphqlError>> {
        let one = |error: GraphqlError| vec![error];
        let api = &self.server.api;
        let known = api.documents.get(&request.query).unwrap_or_else(|| api.check(&request.query));
        let document = known.as_ref().as_ref().map_err(|fault| fault.errors.clone())?;
        let operation = document.operation(request.operation_name.as_deref()).map_err(one)?;
        if operation.facts.kind == OperationKind::Subscription {
            return Err(one(GraphqlError::new("subscriptions are not supported here").with_code("NOT_SUPPORTED")));
        }
        let variables = api.schema.variables(operation, request.variables.as_ref()).map_err(one)?;
        let is_true = |name: String| {
            let value = variables.get(&name).and_then(Value::as_bool).unwrap_or_default();
            (name, value)
        };
        let conditions = Plan::conditions(operation).into_iter().map(is_true).collect();
        let plan = self.executed.plan(&api.schema, &known, operation, conditions);
        let plan = plan.map_err(|fault| one(GraphqlError::new(fault.to_string()).with_code("PLAN_FAILED")))?;
        let introspection = self.introspection(operation, request).map_err(one)?;
        let (graph, context, limits) = (self.executed.graph.clone(), self.context.clone(), self.executed.limits);
        Ok((Execution::new(graph, plan, variables, context, limits), introspection))
    }

    /// The answers to what a query asks of the schema.
    fn introspection(&self, operation: CheckedOperation<'_>, request: &GraphqlRequest<'_>) -> Result<Map<String, Value>, GraphqlError> {
        if !operation.facts.introspects {
            return Ok(Map::new());
        }
        let body = self.server.api.schema.introspect(operation, request.variables.as_ref())?;
        match serde_json::from_slice::<Value>(&body).ok().and_then(|mut body| Some(body.get_mut("data")?.take())) {
            Some(Value::Object(members)) => Ok(members),
            _ => Ok(Map::new()),
        }
    }
}

fn refused(why: &str) -> GraphResponse {
    (StatusCode::BAD_REQUEST, errors_body(&[GraphqlError::new(why)]))
}
