//! What the chain of one API has decided about a request so far.

use crate::breaker::Passage;
use crate::refusal::Refusal;
use crate::upstream::Upstream;
use std::sync::Arc;
use tollgate_access::keys::CountedRequest;
use tollgate_mcp::{Call, RpcCode};

/// Decisions about one request in one chain.
#[derive(Default)]
pub struct Decisions {
    /// Whether the endpoint needs no authentication.
    pub ignored: bool,
    /// How many APIs have looped the request, one to the other, before this one.
    pub loops: usize,
    /// Whether limits do not count the request: a loop may switch them off.
    pub skips_limits: bool,
    /// Whether the answer is a cached response.
    pub from_cache: bool,
    /// Whether the reply stands for an upstream's response: a cached one, or a middleware's in its place.
    pub is_stored: bool,
    /// Whether a reply of the gateway is recorded like a response.
    pub records_reply: bool,
    /// Whether the request has conditions that are not the client's.
    pub is_conditional: bool,
    /// How often throttling has held the request.
    pub throttled: u32,
    /// The call of a request to an MCP server.
    pub call: Option<Box<Call>>,
    /// Whether its head alone says what the call is.
    pub is_head_call: bool,
    /// Whether there are rules for calls: then nothing else passes.
    pub rules_calls: bool,
    /// Why the request is refused if there are rules for calls: nobody has read its body as one.
    pub unread: Option<Refusal>,
    /// Why a call of something that clients of a federation do not see is refused when all that any call passes has let it pass.
    pub unlisted: Option<Refusal>,
    /// Why the upstream refuses the request.
    pub refused_upstream: Option<Refusal>,
    /// The code of the JSON-RPC error that refuses a request because it is no call.
    pub rpc_error: Option<RpcCode>,
    /// Whether the request is recorded, and how.
    pub track: Track,
    /// The counts of the key's limits for this request.
    pub counted: CountedRequest,
    /// Limit, remaining requests and reset time of the API's own rate limit, if variables may use them.
    pub api_rate: Option<[i64; 3]>,
    /// Target of a rewrite, in place of the API's target.
    pub redirected: Option<Redirect>,
    /// Length of the prefix of the path that a rule matched.
    pub prefix_bytes: usize,
    /// Time to the first byte of the response, in place of the version's.
    pub first_byte_ms: Option<u64>,
    /// The breaker that is told the outcome of the request.
    pub breaker: Option<Passage>,
}

/// Whether a request is recorded, and under which name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Track {
    /// As the API is configured.
    #[default]
    Default,
    Never,
    /// Recorded under a pattern.
    As(Arc<str>),
}

/// The target that a rewrite selected.
#[derive(Clone)]
pub enum Redirect {
    /// Another upstream.
    Upstream(Arc<Upstream>),
    /// Another API, by id or name.
    Loop(String),
}
