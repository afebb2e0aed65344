//! A request as it came.

use super::CoreService;
use crate::base::request_id::RequestId;
use crate::base::tls::CallerTls;
use crate::observe::trace::RequestTrace;
use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};
use tollgate_engine::Moment;
use tollgate_http::Request;

/// What is known of a request whatever API it goes through.
pub(super) struct RequestContext<'a> {
    pub core: &'a CoreService,
    pub request: &'a Request<'a>,
    pub full_path: Cow<'a, str>,
    pub client_ip: IpAddr,
    pub began: Moment,
    /// The connection's other end.
    pub peer: SocketAddr,
    /// The client speaks HTTP/2.
    pub http2: bool,
    pub tls: Option<&'a CallerTls>,
    /// Its place in its trace, when requests are traced.
    pub trace: Option<RequestTrace>,
    /// When it came, or was tried again after it was held.
    pub now: Moment,
    pub request_id: RequestId,
}
