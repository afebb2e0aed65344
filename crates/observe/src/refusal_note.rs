//! What only a refusal itself knows, for people who look: the middleware, and the limit behind it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The limit that rejected a request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LimitFact {
    /// `rate` or `quota`.
    pub what: String,
    /// `key`, `api`, `endpoint` or `org`.
    pub of: String,
    pub max: u64,
    /// Seconds that it is for; `null` if the quota never renews.
    pub per_s: Option<u64>,
    pub left: i64,
    /// When a request passes again.
    pub retry_unix_s: Option<u64>,
}

/// What only the refusal itself knows.
#[derive(Clone, Debug)]
pub struct RefusalNote {
    pub middleware: &'static str,
    pub message: String,
    pub limit: Option<LimitFact>,
}
