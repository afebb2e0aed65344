//! Restart without a refused connection: the running process starts its successor, passes it the listening sockets and the store's
//! lock, and exits once the successor serves. Until then, and after any failure, it keeps serving.
//!
//! They talk over a socket pair, whose one end is the successor's standard input. First come the descriptors; then the two exchange
//! lines. The successor says `prepared` when it has read everything except the latest quotas; the predecessor stores those and says
//! `go`; the successor starts to serve and says `ready`, or at any time `failed: why`.

mod descriptors;
mod inherited;
mod successor;

pub(crate) use inherited::{Inherited, Predecessor};
pub(crate) use successor::HandoverState;

/// Environment variable that tells a successor the purpose of each descriptor that it receives: role names separated by commas.
const VARIABLE: &str = "TOLLGATE_HANDOVER";

const PREPARED: &str = "prepared";
const GO: &str = "go";
const READY: &str = "ready";
const FAILED: &str = "failed: ";

/// Purpose of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SocketRole {
    /// A listening socket of the data plane, with the configured address.
    Data,
    /// A listening socket of the data plane from a service manager, with any address.
    Given,
    /// A listening socket of a port of APIs.
    Api,
    /// A socket for datagrams of a port of APIs.
    Datagrams,
    /// The listening socket of the control API's own port.
    Control,
    /// The listening socket of the metrics port.
    Metrics,
    /// The listening socket of the developer portal.
    Portal,
    /// The lock of the embedded store.
    Lock,
}

impl SocketRole {
    const ALL: [(SocketRole, &str); 8] = [
        (SocketRole::Data, "data"),
        (SocketRole::Given, "given"),
        (SocketRole::Api, "api"),
        (SocketRole::Datagrams, "datagrams"),
        (SocketRole::Control, "control"),
        (SocketRole::Metrics, "metrics"),
        (SocketRole::Portal, "portal"),
        (SocketRole::Lock, "lock"),
    ];

    fn name(self) -> &'static str {
        SocketRole::ALL.iter().find(|(role, _)| *role == self).map_or("", |(_, name)| name)
    }

    fn named(name: &str) -> Option<SocketRole> {
        SocketRole::ALL.iter().find(|(_, known)| *known == name).map(|(role, _)| *role)
    }
}
