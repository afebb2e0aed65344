//! Which target of a list gets a request, and whether a failed request is sent again: the health of targets as their responses show it,
//! methods of balancing, back-off and retry budgets. No I/O; the clock and random numbers are parameters. All state is atomic, so that the
//! cores of a gateway share it without locks.

mod budget;
mod check_state;
mod health;
mod latencies;
mod pick;
mod retry;

pub use budget::{BudgetRules, RetryBudget};
pub use check_state::CheckState;
pub use health::{Availability, EjectionCause, HealthRules, TargetHealth, TryResult};
pub use latencies::Latencies;
pub use pick::{BalanceMethod, Candidate, Candidates, Choice, weighted_score};
pub use retry::Backoff;

/// Nanoseconds since a moment that the caller chose, the same for all calls.
pub type Nanos = u64;

/// Most targets in one list. Methods that compare all targets stay below some microseconds, and discovery cannot grow a list without end.
pub const TARGETS_MAX: usize = 512;

/// A well-mixed hash of a number (the finaliser of SplitMix64).
#[inline]
pub fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A hash of bytes that is the same in every process and version, so that gateways choose the same target. It does not resist an attacker
/// who chooses the bytes: such a client can only choose its own target.
pub fn hash_bytes(bytes: &[u8]) -> u64 {
    // FNV-1a, mixed, because its high bits vary little for short inputs.
    mix(bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3)))
}
