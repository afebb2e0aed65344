//! Requests to the sources of a data graph: other servers, and APIs of this gateway.

use super::source_fault::SourceFault;
use super::terms::GraphTerms;
use crate::api_call::{ApiCall, CallOrigin, LOOPS_MAX, request_bytes};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};
use tokio::sync::oneshot;
use tokio::time::timeout;
use tollgate_data_graph::{Execution, SourceAnswer, SourceFailure, SourceRequest};
use tollgate_outbound::{Call, CallFault, CallLimits, Holder, Share};

/// Most requests of one query at a time.
const PARALLEL_MAX: usize = 64;
/// Largest answer of a source. An execution has a limit for all answers together.
const ANSWER_BYTES_MAX: usize = 64 << 20;
/// Bytes of memory that each byte of an answer takes at most, from its arrival to the end of the response. A test holds queries to it.
const MEMORY_OF_BYTE: usize = 20;
/// Most memory that one answer reserves, so that it never waits for more than an API may have.
const RESERVED_BYTES_MAX: usize = 1 << 30;

/// Sends what executions ask for.
#[derive(Clone, Copy)]
pub(super) struct SourceCalls<'c> {
    pub terms: &'c GraphTerms,
    /// Whence the request comes.
    pub origin: CallOrigin,
}

impl SourceCalls<'_> {
    /// Runs an execution to its end; returns the response.
    pub(super) async fn run(&self, mut execution: Execution, introspection: &Map<String, Value>) -> Vec<u8> {
        let mut open = FuturesUnordered::new();
        let mut memory = Vec::new();
        loop {
            while open.len() < PARALLEL_MAX {
                let Some(request) = execution.next_request() else { break };
                open.push(self.send(request));
            }
            let Some((id, mut answer)) = open.next().await else { break };
            if let Ok(SourceAnswer { body, .. }) = &answer {
                match self.memory(body.len()).await {
                    Ok(share) => memory.push(share),
                    Err(failure) => answer = Err(failure),
                }
            }
            execution.answer(id, answer);
        }
        let response = execution.response(introspection);
        drop(memory);
        response
    }

    /// Waits until there is memory for an answer of so many bytes.
    async fn memory(&self, bytes: usize) -> Result<Share, SourceFailure> {
        let amount = bytes.saturating_mul(MEMORY_OF_BYTE).min(RESERVED_BYTES_MAX);
        let holder = Holder { owner: self.terms.name.clone(), network: None };
        timeout(self.terms.time_max(), self.terms.memory.wait_for(&holder, amount)).await.map_err(|_| {
            self.terms.log_failure("the answers of sources take all the memory that they may take");
            SourceFailure::TooLarge
        })
    }

    async fn send(&self, request: SourceRequest) -> (u64, Result<SourceAnswer, SourceFailure>) {
        let id = request.id;
        let answer = match request.url.strip_prefix("tyk://") {
            Some(target) => self.call_api(target, &request).await,
            None => self.call_server(request).await,
        };
        let told = |(failure, why): SourceFault| {
            self.terms.log_failure(&why);
            failure
        };
        (id, answer.map_err(told))
    }

    async fn call_server(&self, request: SourceRequest) -> Result<SourceAnswer, SourceFault> {
        let url = request.url.clone();
        let call = self.call(request).map_err(|why| (SourceFailure::Unsendable, why))?;
        match self.terms.client.call(call).await {
            Ok(reply) => Ok(SourceAnswer { status: reply.status.as_u16(), body: reply.body.into() }),
            Err(fault @ CallFault::Timeout(_)) => Err((SourceFailure::Timeout, format!("{url}: {fault}"))),
            Err(fault) => Err((SourceFailure::Unavailable, format!("{url}: {fault}"))),
        }
    }

    /// Sends a request to an API of this gateway, behind whose id or name is the path.
    async fn call_api(&self, target: &str, request: &SourceRequest) -> Result<SourceAnswer, SourceFault> {
        let unsendable = |why: String| (SourceFailure::Unsendable, format!("tyk://{target}: {why}"));
        let (name, path) = target.split_at(target.find(['/', '?']).unwrap_or(target.len()));
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        let origin = self.origin.next();
        if origin.loops > LOOPS_MAX {
            return Err(unsendable(format!("the request has come through {LOOPS_MAX} APIs: a loop")));
        }
        let host = request.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("host")).map_or("", |(_, value)| value);
        let bytes =
            request_bytes(&request.method, &path, host.as_bytes(), request.headers.iter(), &request.body).map_err(unsendable)?;
        let (answer, answered) = oneshot::channel();
        let call = ApiCall {
            api: percent_decode_str(name).decode_utf8_lossy().into_owned(),
            origin,
            bytes,
            is_head: request.method == "HEAD",
            body_bytes_max: ANSWER_BYTES_MAX,
            time_max: self.terms.time_max(),
            answer,
        };
        let unavailable = |why: &str| (SourceFailure::Unavailable, format!("tyk://{target}: {why}"));
        if !self.terms.api_calls.as_ref().is_some_and(|calls| calls.send(call)) {
            return Err(unavailable("too many requests wait"));
        }
        match answered.await {
            Ok(Ok(answer)) => Ok(SourceAnswer { status: answer.status, body: answer.body }),
            Ok(Err(why)) => Err(unavailable(&why)),
            Err(_) => Err(unavailable("the gateway stops")),
        }
    }

    pub(super) fn call(&self, request: SourceRequest) -> Result<Call, String> {
        let SourceRequest { method, url, headers, body, .. } = request;
        let limits = CallLimits { time_max: self.terms.time_max(), body_bytes_max: ANSWER_BYTES_MAX };
        Call::of_texts(&method, &url, &headers, body, &self.terms.tls, limits)
    }
}
