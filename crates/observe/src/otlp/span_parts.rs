//! What spans of all kinds have.

use crate::record_ref::RecordRef;

/// Flags of a span: the trace is sampled; it is known whether the parent is remote; the parent is remote.
pub(super) const TAKEN: u32 = 0x1;
pub(super) const PARENT_KNOWN: u32 = 0x100;
pub(super) const PARENT_ELSEWHERE: u32 = 0x200;

/// When the request ended, in nanoseconds since 1970.
pub(super) fn nanoseconds(hit: &RecordRef<'_>) -> u64 {
    u64::try_from(hit.time.unix_s).unwrap_or_default().saturating_mul(1_000_000_000).saturating_add(u64::from(hit.time.ns))
}
