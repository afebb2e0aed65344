//! What the gateway's functions answer to a module.

use wasmtime::Error;

/// The statuses of the interface that the gateway uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum AbiStatus {
    Ok = 0,
    NotFound = 1,
    BadArgument = 2,
    InvalidMemoryAccess = 6,
    InternalFailure = 10,
    Unimplemented = 12,
}

/// Why a function of the gateway does not do what it is asked.
pub(crate) enum AbiFault {
    /// The module gets this status.
    Status(AbiStatus),
    /// The call ends.
    Trap(Error),
}

impl From<AbiStatus> for AbiFault {
    fn from(status: AbiStatus) -> Self {
        AbiFault::Status(status)
    }
}

impl From<Error> for AbiFault {
    fn from(error: Error) -> Self {
        AbiFault::Trap(error)
    }
}
