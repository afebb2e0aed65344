//! How requests are counted.

use tollgate_model::config::GatewayConfig;

/// An algorithm. One for the whole gateway.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LimitAlgorithm {
    #[default]
    /// The generic cell rate algorithm: places come back one by one.
    Gcra,
    /// All places come back when a window begins.
    FixedWindow,
    /// A place comes back when the request that took it is a window old.
    SlidingWindow,
}

impl LimitAlgorithm {
    /// What Tyk's flags ask for; of several the one that counts there counts here.
    pub fn of(config: &GatewayConfig) -> Self {
        if config.enable_fixed_window_rate_limiter {
            LimitAlgorithm::FixedWindow
        } else if config.enable_sentinel_rate_limiter || config.enable_redis_rolling_limiter {
            LimitAlgorithm::SlidingWindow
        } else {
            LimitAlgorithm::Gcra
        }
    }
}
