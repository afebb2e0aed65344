//! Algorithms that count requests.

use tollgate_model::config::GatewayConfig;

/// A rate limit algorithm; the whole gateway uses one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LimitAlgorithm {
    #[default]
    /// The generic cell rate algorithm: places become free one by one.
    Gcra,
    /// All places become free when a window begins.
    FixedWindow,
    /// A place becomes free when the request that took it is one window old.
    SlidingWindow,
}

impl LimitAlgorithm {
    /// The algorithm that Tyk's flags select. Of several flags, the one that Tyk prefers wins.
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
