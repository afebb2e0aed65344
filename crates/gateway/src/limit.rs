//! Local rate limits.

mod gcra;

pub use gcra::{Gcra, Rate};
