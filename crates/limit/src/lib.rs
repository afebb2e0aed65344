//! Limits on requests per time, counted in this process by one of three algorithms, or together with other gateways. docs/limits.md states
//! what each algorithm guarantees.
#![forbid(unsafe_code)]

mod admission;
mod algorithm;
mod by_address;
mod fixed_window;
mod gcra;
mod lease;
mod limit_store;
mod limiter;
mod quota_lease;
mod rate;
mod shared;
mod shared_quota;
mod shared_rate;
mod sliding_window;
mod smoothing;

pub use admission::{LimitDecision, WaitPolicy};
pub use algorithm::LimitAlgorithm;
pub use by_address::AddressRates;
pub use limiter::Limiter;
pub use quota_lease::QuotaPeriod;
pub use rate::Rate;
pub use shared::SharedLimits;
pub use shared_quota::{BudgetDecision, BudgetTerms, SharedQuota, TakenUnits};
pub use smoothing::{SmoothingChange, SmoothingRules};
