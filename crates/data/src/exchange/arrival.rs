//! A request on arrival: what does not depend on the APIs that it passes.

use crate::client_tls::CallerTls;
use crate::offload::{BodySender, BodyThreads};
use crate::settings::Settings;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use tollgate_access::keys::Keys;
use tollgate_clock::MonoTime;
use tollgate_model::request_id::RequestId;
use tollgate_observe::trace::RequestTrace;
use tollgate_offload::StartedOnce;

/// What is known of a request, its client and the time.
pub struct Arrival<'a> {
    pub settings: &'a Settings,
    pub keys: &'a Keys,
    /// The threads for work on large bodies.
    pub body_threads: &'a StartedOnce<BodyThreads>,
    /// The client's address: the connection's, or the one that a trusted proxy reports.
    pub client_ip: IpAddr,
    /// Address of the connection's other end.
    pub peer: SocketAddr,
    /// The port of the listener, if that is not the gateway's own.
    pub listener_port: Option<u16>,
    /// How many loops from API to API have led to the request.
    pub loops: usize,
    /// Whether the client uses HTTP/2.
    pub http2: bool,
    /// Data of the client's TLS handshake, if it uses TLS.
    pub tls: Option<&'a CallerTls>,
    /// Position of the request in its trace, if requests are traced.
    pub trace: Option<RequestTrace>,
    /// Random id of this request; the same wherever it is used.
    pub request_id: RequestId,
    /// The decoded path in the client's request, for `$tyk_context.path`.
    pub full_path: &'a str,
    pub began: MonoTime,
    /// When the request arrived, or was resumed: time since the gateway started, for limits.
    pub now: Duration,
    /// The same in Unix seconds.
    pub unix_s: u64,
    /// The core that handles the request.
    pub core: usize,
    /// The same if requests are counted.
    pub counting_core: Option<usize>,
}

impl Arrival<'_> {
    /// In whose turn the body is worked on.
    pub fn body_sender(&self) -> BodySender {
        BodySender::at(self.client_ip)
    }
}
