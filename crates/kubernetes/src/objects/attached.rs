//! Policies of our own group, attached to Gateways and routes. Their types say what the definitions in the cluster say: one is made of the other.

mod authentication;
#[cfg(test)]
mod definitions;
mod rate_limits;
mod traffic;

pub(crate) use authentication::{
    ApiKeySettings, AuthenticationSettings, BasicUserSettings, ClientAuthorities, CredentialPlace, ExternalCheck, JwtSettings,
    KeyQuotaSettings, OidcSettings, TokenAlgorithms,
};
pub(crate) use rate_limits::{ConcurrentRequests, LimitPer, RateLimitSettings, StoreFailureRule};
pub(crate) use traffic::{
    ActiveHealthSettings, BackendHealthSettings, BodyChange, CircuitBreakerSettings, ErrorRule, FirewallMode,
    FirewallPolicySettings, HeaderSettings, PassiveHealthSettings, PluginDriverName, PluginPhase, Plugins, ResponseCacheSettings,
    TrafficSettings,
};

use super::metadata::Spec;
use super::policy::PolicyTarget;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A policy with what it is attached to. Settings that can't be read are kept as such: what they would protect must not be open.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(from = "Value", bound(deserialize = "S: DeserializeOwned"))]
pub(crate) struct AttachedPolicy<S> {
    pub target_refs: Vec<PolicyTarget>,
    pub settings: Result<S, String>,
}

pub(crate) type AuthenticationPolicy = AttachedPolicy<AuthenticationSettings>;
pub(crate) type RateLimitPolicy = AttachedPolicy<RateLimitSettings>;
pub(crate) type TrafficPolicy = AttachedPolicy<TrafficSettings>;

impl<S: DeserializeOwned> From<Value> for AttachedPolicy<S> {
    fn from(mut written: Value) -> Self {
        let targets = written.get_mut("targetRefs").map(Value::take).unwrap_or_default();
        let targets = match targets {
            Value::Array(targets) => targets.into_iter().filter_map(|target| serde_json::from_value(target).ok()).collect(),
            _ => Vec::new(),
        };
        AttachedPolicy { target_refs: targets, settings: serde_json::from_value(written).map_err(|error| error.to_string()) }
    }
}

impl Spec for AuthenticationPolicy {}
impl Spec for RateLimitPolicy {}
impl Spec for TrafficPolicy {}
