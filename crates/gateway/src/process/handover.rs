//! A restart without a refused connection: the running process starts its successor, gives it the listening sockets and the store's lock,
//! and goes when the successor serves. Until then, and whenever anything fails, it serves itself.
//!
//! They talk over a socket pair, whose one end is the successor's standard input: first come the descriptors, then each side says a line at a
//! time. The successor says `prepared` when all but the last quotas is read; the predecessor
//! stores these and says `go`; the successor starts to serve and says `ready`, or at any time `failed: why`.

mod descriptors;
mod inherited;
mod successor;

pub(crate) use inherited::{Inherited, Predecessor};
pub(crate) use successor::Estate;

/// Tells a successor what each descriptor is for that it receives: the names of roles with commas between.
const VARIABLE: &str = "TOLLGATE_HANDOVER";

const PREPARED: &str = "prepared";
const GO: &str = "go";
const READY: &str = "ready";
const FAILED: &str = "failed: ";

/// What a descriptor is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A listening socket of the data plane, with the configured address.
    Data,
    /// The same, with whatever address it came with from a service manager.
    Given,
    /// The control API's own port.
    Control,
    /// The port for metrics.
    Metrics,
    /// The lock of the embedded store.
    Lock,
}

impl Role {
    const ALL: [(Role, &str); 5] = [
        (Role::Data, "data"),
        (Role::Given, "given"),
        (Role::Control, "control"),
        (Role::Metrics, "metrics"),
        (Role::Lock, "lock"),
    ];

    fn name(self) -> &'static str {
        Role::ALL.iter().find(|(role, _)| *role == self).map_or("", |(_, name)| name)
    }

    fn named(name: &str) -> Option<Role> {
        Role::ALL.iter().find(|(_, known)| *known == name).map(|(role, _)| *role)
    }
}
