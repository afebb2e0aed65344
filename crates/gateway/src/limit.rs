//! Local rate limits: so many requests in so much time, counted by one of three algorithms. What each promises is in docs/limits.md.

mod by_address;
mod fixed_window;
mod gcra;
mod limiter;
mod rate;
mod sliding_window;

pub use by_address::AddressRates;
pub use limiter::{Algorithm, Limiter};
pub use rate::Rate;
