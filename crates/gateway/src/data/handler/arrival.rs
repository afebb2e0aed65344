//! A request on arrival.

use super::CoreService;
use crate::base::request_id::RequestId;
use crate::base::tls::CallerTls;
use crate::observe::trace::RequestTrace;
use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};
use tollgate_engine::MonoTime;
use tollgate_http::Request;

/// Data of a request that does not depend on the API.
pub(super) struct RequestContext<'a> {
    pub core: &'a CoreService,
    pub request: &'a Request<'a>,
    pub full_path: Cow<'a, str>,
    pub client_ip: IpAddr,
    pub began: MonoTime,
    /// Address of the connection's other end.
    pub peer: SocketAddr,
    /// Whether the client uses HTTP/2.
    pub http2: bool,
    pub tls: Option<&'a CallerTls>,
    /// Position in its trace, if requests are traced.
    pub trace: Option<RequestTrace>,
    /// When the request arrived, or was last retried.
    pub now: MonoTime,
    pub request_id: RequestId,
}
