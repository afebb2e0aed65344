//! A target that discovery has found.

/// A target that was discovered.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FoundTarget {
    pub url: String,
    pub weight: u32,
    /// Targets with a higher number are used if none with a lower one works.
    pub priority: u8,
}
