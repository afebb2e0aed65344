//! Who calls the control plane: the client's address, and how safe the way to it is. The data plane tells it in a header that no client can
//! send; the control API's own port knows its connections.

use crate::client_address::ClientAddress;
use std::fmt;
use std::net::IpAddr;

/// Where the control plane has the developer portal for the data plane, which appends the path of the request. No client reaches it.
pub const PORTAL_PATH: &str = "/portal";

/// A caller of the control plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlCaller {
    /// The client's address.
    pub address: IpAddr,
    pub way: CallerWay,
}

/// How a request came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallerWay {
    /// Over TLS, to this process or to a trusted proxy.
    Tls,
    /// From this machine, without a proxy.
    Local,
    /// Over plain HTTP from elsewhere.
    Plain,
}

impl CallerWay {
    const ALL: [(CallerWay, &str); 3] = [(CallerWay::Tls, "tls"), (CallerWay::Local, "local"), (CallerWay::Plain, "plain")];
}

impl ControlCaller {
    /// The header between data plane and control plane.
    pub const HEADER: &'static str = "x-tollgate-caller";

    /// The caller of a request from `peer`, in which trusted proxies may have named the client. `header` finds the last header line of a name.
    pub fn behind_proxies<'h>(
        proxies: &ClientAddress,
        peer: IpAddr,
        client: IpAddr,
        is_tls: bool,
        header: &dyn Fn(&str) -> Option<&'h [u8]>,
    ) -> Self {
        let is_forwarded =
            ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"].iter().any(|name| header(name).is_some());
        let proxy_has_tls =
            || proxies.trusts(peer) && header("x-forwarded-proto").is_some_and(|value| value.eq_ignore_ascii_case(b"https"));
        let way = if is_tls || proxy_has_tls() {
            CallerWay::Tls
        } else if peer.to_canonical().is_loopback() && !is_forwarded {
            CallerWay::Local
        } else {
            CallerWay::Plain
        };
        ControlCaller { address: client, way }
    }

    /// Parses the header.
    pub fn parse(text: &str) -> Option<Self> {
        let (address, way) = text.split_once(' ')?;
        let (way, _) = CallerWay::ALL.into_iter().find(|(_, name)| *name == way)?;
        Some(ControlCaller { address: address.parse().ok()?, way })
    }
}

impl fmt::Display for ControlCaller {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let way = CallerWay::ALL.into_iter().find(|(way, _)| *way == self.way).map_or("plain", |(_, name)| name);
        write!(formatter, "{} {way}", self.address)
    }
}
