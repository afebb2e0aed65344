//! Requests to the sources of a data graph.

use super::GraphServer;
use crate::base::auth_http_client::{AuthHttpClient, Call, CallFault};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use hyper::body::Bytes;
use std::time::Duration;
use tollgate_data_graph::{Execution, SourceAnswer, SourceFailure, SourceRequest};
use tollgate_model::is_framing_header;

/// Most requests of one query at a time.
const PARALLEL_MAX: usize = 64;
/// Most redirects of one request, as in Go.
const REDIRECTS_MAX: usize = 10;
/// Largest answer of a source. An execution has a limit for all answers together.
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// Sends what executions ask for.
pub(super) struct SourceCalls<'c> {
    pub server: &'c GraphServer,
    pub client: &'c AuthHttpClient,
    pub time_max: Duration,
}

impl SourceCalls<'_> {
    /// Runs an execution to its end.
    pub(super) async fn run(&self, mut execution: Execution) -> Execution {
        let mut open = FuturesUnordered::new();
        loop {
            while open.len() < PARALLEL_MAX {
                let Some(request) = execution.next_request() else { break };
                open.push(self.send(request));
            }
            let Some((id, answer)) = open.next().await else { return execution };
            execution.answer(id, answer);
        }
    }

    async fn send(&self, request: SourceRequest) -> (u64, Result<SourceAnswer, SourceFailure>) {
        let (id, source) = (request.id, request.source);
        let answer = match self.call(request) {
            Err(why) => self.failed(source, &why, SourceFailure::Unsendable),
            Ok(call) => match self.client.call(call).await {
                Ok(reply) => Ok(SourceAnswer { status: reply.status.as_u16(), body: reply.body.to_vec() }),
                Err(fault @ CallFault::Timeout(_)) => self.failed(source, &fault.to_string(), SourceFailure::Timeout),
                Err(fault) => self.failed(source, &fault.to_string(), SourceFailure::Unavailable),
            },
        };
        (id, answer)
    }

    fn failed(&self, source: usize, why: &str, failure: SourceFailure) -> Result<SourceAnswer, SourceFailure> {
        let graph = self.server.api.executed.as_ref().map(|executed| &executed.graph);
        let name = graph.and_then(|graph| graph.sources().get(source)).map_or("", |source| &source.name);
        tracing::warn!(api = self.server.name, source = name, why, "a source of a data graph gave no answer");
        Err(failure)
    }

    fn call(&self, request: SourceRequest) -> Result<Call, String> {
        let uri: Uri = request.url.parse().map_err(|error| format!("its URL is none: {error}"))?;
        let host = uri.host().ok_or("its URL has no host")?;
        let mut headers = HeaderMap::new();
        for (name, value) in request.headers.iter().filter(|(name, _)| !is_framing_header(name)) {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| format!("{name:?} is no header"))?;
            let value = HeaderValue::from_str(value).map_err(|_| format!("the value of {name} is no header value"))?;
            headers.append(name, value);
        }
        Ok(Call {
            method: Method::from_bytes(request.method.as_bytes()).map_err(|_| format!("{:?} is no method", request.method))?,
            tls: self.server.tls.for_host(host),
            uri,
            headers,
            body: Bytes::from(request.body),
            time_max: self.time_max,
            body_bytes_max: ANSWER_BYTES_MAX,
            redirects_max: REDIRECTS_MAX,
        })
    }
}
