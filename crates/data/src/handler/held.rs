//! A request that is held: all that it needs to go on, in the snapshot in which it began.

use super::in_flight::VersionPlace;
use super::own_response::HeldResponse;
use super::running_batch::RunningBatch;
use crate::batch::{Batch, BatchFault};
use crate::exchange::{Awaited, Continuation, SubstituteResponse};
use crate::snapshot::CoreSnapshot;
use crate::url::Url;
use std::borrow::Cow;
use std::net::IpAddr;
use std::rc::Rc;
use tollgate_clock::MonoTime;
use tollgate_engine::Outgoing;
use tollgate_http::HeaderEdits;
use tollgate_model::request_id::RequestId;

/// A held request. The rest of its state stays in its handler.
pub(super) struct HeldRequest {
    pub snapshot: Rc<CoreSnapshot>,
    pub began: MonoTime,
    pub request_id: RequestId,
    pub client_ip: IpAddr,
    pub full_path: String,
    /// What was written of the request to the upstream.
    pub outgoing: Outgoing,
    pub at: HeldAt,
}

/// Where a request is held.
pub(super) enum HeldAt {
    /// In the chain of an API.
    Chain(Box<HeldChain>),
    /// Its body is to be the batch of this URL.
    BatchBody(Url<'static>),
    /// The batch of this URL is read by another thread.
    BatchParsed(Url<'static>, Awaited<Option<Result<Batch, BatchFault>>>),
    /// Its batch is on its way.
    Batch(Rc<RunningBatch>),
}

/// A chain that stops at one of its middlewares.
pub(super) struct HeldChain {
    pub place: VersionPlace,
    /// The versions that looped the request to this one.
    pub looped_through: Vec<VersionPlace>,
    pub method: Cow<'static, str>,
    pub url: Url<'static>,
    /// The edits that were shown to middlewares.
    pub shown: Option<HeaderEdits>,
    pub rest: RestOfChain,
}

/// What is left of a chain.
pub(super) struct RestOfChain {
    /// Index of the next middleware.
    pub next: usize,
    /// The response that a middleware has made in the upstream's place.
    pub own: Option<Box<SubstituteResponse>>,
    /// How to go on.
    pub resumed: Resumption,
}

/// How a chain goes on.
pub(super) enum Resumption {
    /// With the next middleware.
    Next,
    /// With the middleware before the next, which has held the request.
    Held(Continuation),
    /// With the steps of a response that the gateway has made.
    Response(Box<HeldResponse>),
}

impl RestOfChain {
    /// A whole chain.
    pub(super) fn whole() -> Self {
        RestOfChain { next: 0, own: None, resumed: Resumption::Next }
    }
}
