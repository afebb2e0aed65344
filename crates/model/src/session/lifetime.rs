//! The lifetime of a stored session by Tyk's rules: first what the gateway enforces, then what happens to expired keys, then the
//! session's own setting, then those of its APIs. Without any of them, the store keeps the session forever, even after the key has
//! expired.

use super::Session;
use crate::config::GatewayConfig;

/// The lifetime of a session that is written now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lifetime {
    /// Not specified.
    Unset,
    /// Overrides all other settings.
    Forever,
    /// This long from now.
    Seconds(u64),
}

/// The gateway's settings for all sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LifetimeRules {
    /// `global_session_lifetime` where it is forced.
    pub forced_s: Option<i64>,
    /// No session ends before its key expires.
    pub respects_expiry: bool,
}

/// An API's settings for the sessions that may call it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ApiLifetime {
    /// `session_lifetime`.
    pub seconds: i64,
    /// `session_lifetime_respects_key_expiration`.
    pub respects_expiry: bool,
}

impl LifetimeRules {
    /// The configured rules.
    pub fn new(config: &GatewayConfig) -> Self {
        LifetimeRules {
            forced_s: config.force_global_session_lifetime.then_some(config.global_session_lifetime),
            respects_expiry: config.session_lifetime_respects_key_expiration,
        }
    }
}

impl Session {
    /// The longest lifetime that a session's APIs give it. The session must have its policies applied. `apis` are those that it may
    /// call; if none is known, only the gateway's enforced lifetime applies.
    pub fn lifetime(&self, rules: LifetimeRules, apis: impl Iterator<Item = ApiLifetime>, now_unix_s: i64) -> Lifetime {
        if let Some(seconds) = rules.forced_s {
            return Lifetime::of(seconds);
        }
        let mut longest = 0;
        for api in apis {
            match self.lifetime_s(rules.respects_expiry || api.respects_expiry, api.seconds, now_unix_s) {
                FOREVER => return Lifetime::Forever,
                seconds => longest = longest.max(seconds),
            }
        }
        Lifetime::of(longest)
    }

    /// The lifetime as Tyk's number: -1 means forever, 0 means not specified.
    fn lifetime_s(&self, respects_expiry: bool, of_api: i64, now: i64) -> i64 {
        let deletes = self.post_expiry_action == "delete";
        if deletes || self.post_expiry_action == "retain" && self.post_expiry_grace_period != 0 {
            return match (self.expires, self.post_expiry_grace_period) {
                (..=0, _) => 0,
                (expires, _) if deletes => expires.saturating_sub(now).max(1),
                (_, -1) => FOREVER,
                (expires, grace) => expires.saturating_sub(now).saturating_add(grace).max(1),
            };
        }
        let lifetime = if self.session_lifetime > 0 { self.session_lifetime } else { of_api };
        match self.expires {
            _ if lifetime <= 0 => 0,
            _ if !respects_expiry => lifetime,
            // A key that never expires has no expiry to respect; -1 means forever.
            ..=0 => self.expires,
            expires => lifetime.max(expires.saturating_sub(now)),
        }
    }
}

/// Tyk's number for an unlimited lifetime.
const FOREVER: i64 = -1;

impl Lifetime {
    fn of(seconds: i64) -> Self {
        match u64::try_from(seconds) {
            Ok(0) => Lifetime::Unset,
            Ok(seconds) => Lifetime::Seconds(seconds),
            Err(_) if seconds == FOREVER => Lifetime::Forever,
            Err(_) => Lifetime::Unset,
        }
    }
}

#[cfg(test)]
mod tests;
