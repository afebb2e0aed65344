//! Calls that the gateway and its commands make themselves: the HTTP client ([`HttpClient`]), the proxies and certificates for each kind of
//! server ([`ExternalServices`]), and calls with deadlines and bounds on threads of their own ([`CallClient`]). Redirects never lead to inner
//! addresses. Clients' requests are not sent this way. Servers within the process are served here, and read who calls ([`CallerLine`]).
#![forbid(unsafe_code)]

mod address_text;
mod call_client;
mod caller_line;
mod guarded_resolver;
mod http_client;
mod local_server;
mod proxy;
mod public_address;
mod services;
mod shares;

pub use address_text::append_ip;
pub use call_client::{
    Call, CallClient, CallFault, CallLimits, CallReply, ClientThreads, LazyCallClient, RawConnection, is_same_origin,
};
pub use caller_line::{CALLER_LINE, CallerLine};
pub use guarded_resolver::AddressGuard;
pub use http_client::{GuardedHttpClient, HttpAnswer, HttpClient, HttpClientSettings, HttpFault};
pub use proxy::{HttpProxy, ProxyChooser};
pub use services::{ExternalServices, ServiceTerms};
pub use shares::{Holder, Share, Shares, holding};
