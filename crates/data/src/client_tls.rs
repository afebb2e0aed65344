//! TLS towards clients: what the gateway's ports offer, and which client certificates are accepted.

mod allow_list;
mod issued;
mod listener;
mod server_names;
mod terms;

pub use allow_list::{AllowList, CallerTls, Disallowed};
pub use issued::{HostCertificates, HostWait, IssueState};
pub use listener::{ListenerTlsTable, ListenerTlsTerms, SocketTls, TlsOptions};
pub use terms::{ApiTls, ClientTerms, server_certificates};
