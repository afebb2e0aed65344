//! A rate, as sessions and policies have it in many places.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::config::OnStoreFailure;
use crate::number::{is_zero, short, short_option};

/// A rate: a number of requests in a period.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RateLimit {
    /// Requests per period; unlimited if 0 or less.
    #[serde(serialize_with = "short")]
    pub rate: f64,
    /// Period in seconds; unlimited if 0 or less.
    #[serde(serialize_with = "short")]
    pub per: f64,
    /// Requests that may arrive at once; default: `rate`.
    #[serde(serialize_with = "short_option", skip_serializing_if = "is_zero")]
    pub burst: Option<f64>,
    /// A name for people, and for matching the same limit in several policies.
    #[serde(skip_serializing_if = "is_zero")]
    pub name: String,
    /// What applies while the store is unavailable; overrides the setting next to the list.
    #[serde(skip_serializing_if = "is_zero")]
    pub on_store_failure: Option<OnStoreFailure>,
    /// Unknown fields.
    #[serde(flatten, skip_deserializing)]
    pub extra: Map<String, Value>,
}

impl RateLimit {
    /// Whether it has an effect.
    pub fn limits(&self) -> bool {
        self.rate > 0.0 && self.per > 0.0
    }
}
