//! The way to other gateways for what one of them has learnt of a provider.

use serde_json::Value;

/// The other gateways.
pub trait RestMail: Send + Sync {
    /// Sends something to all of them. It does not wait, and what it sends may get lost.
    fn tell(&self, mail: Value);
}
