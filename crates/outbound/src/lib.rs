//! Calls that the gateway and its commands make themselves: the HTTP client ([`HttpClient`]), the proxies and certificates for each kind of
//! server ([`ExternalServices`]), and calls with deadlines and bounds on threads of their own ([`CallClient`]). Redirects never lead to inner
//! addresses. Clients' requests are not sent this way. Servers within the process are served here, read who calls
//! ([`CallerLine`]), and may leave the rest of an answer to the core of its client ([`OfferedBodies`]).
#![forbid(unsafe_code)]

mod address_text;
mod call_client;
mod caller_line;
mod client_core;
mod guarded_resolver;
mod http_client;
mod local_server;
mod offered_bodies;
mod proxy;
mod public_address;
mod services;
mod shares;

pub use address_text::append_ip;
pub use call_client::{
    Call, CallClient, CallFault, CallLimits, CallReply, ClientThreads, LazyCallClient, RawConnection, is_same_origin,
};
pub use caller_line::{CALLER_LINE, CallerLine};
pub use client_core::ClientCore;
pub use guarded_resolver::AddressGuard;
pub use http_client::{GuardedHttpClient, HttpAnswer, HttpClient, HttpClientSettings, HttpFault};
pub use offered_bodies::{LocalBody, OFFER_LINE, OfferedBodies};
pub use proxy::{HttpProxy, ProxyChooser};
pub use services::{ExternalServices, ServiceTerms};
pub use shares::{Holder, Share, Shares, holding};
