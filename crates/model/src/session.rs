//! The session of a key: what its holder may call, how often, and until when. The control API reads and writes this document.
//! Counters are stored elsewhere; the document only shows copies.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::decode::{Decoded, decode};
use crate::json_path::{JsonPath, PathStep};
use crate::known_field::{self, is_set};
use crate::number::{is_zero, short, whole};
use crate::problem::{Findings, Level, Problem};
use tollgate_text::byte_order_mark;

mod access;
mod dry_run;
pub(crate) mod known;
mod lifetime;
mod llm_budget;
mod mcp;
mod rate_limit;
mod smoothing;
mod store_failure;
mod stored;
mod unknown;

pub use access::{
    AccessLimit, AccessRight, AllowedUrl, EndpointLimit, EndpointMethod, GraphqlFieldLimit, GraphqlFieldRight, GraphqlType,
};
pub use dry_run::DryRun;
pub use lifetime::{ApiLifetime, Lifetime, LifetimeRules};
pub use llm_budget::{BudgetHolder, BudgetPeriod, BudgetUnit, LlmBudget};
pub use mcp::{MethodLimit, NameRules, PrimitiveKind, PrimitiveLimit, PrimitiveRights};
pub use rate_limit::RateLimit;
pub use smoothing::Smoothing;
pub use store_failure::LimitStoreFailure;
pub use stored::StoredSession;
pub(crate) use unknown::KeepsUnknown;

/// Hexadecimal digits of a SHA-256.
const FINGERPRINT_DIGITS: usize = 64;

/// A session. The names are Tyk's, every field has Tyk's zero as default, and fields that are zero are not written.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Session {
    /// When the key was last used; ignored.
    #[serde(deserialize_with = "whole", skip_serializing_if = "is_zero")]
    pub last_check: i64,
    /// No effect; older tools write it next to `rate`.
    #[serde(serialize_with = "short", skip_serializing_if = "is_zero")]
    pub allowance: f64,
    /// Requests per `per`; unlimited if 0 or less.
    #[serde(serialize_with = "short", skip_serializing_if = "is_zero")]
    pub rate: f64,
    /// Period in seconds.
    #[serde(serialize_with = "short", skip_serializing_if = "is_zero")]
    pub per: f64,
    /// Additional rate limits; all apply. Not in Tyk.
    #[serde(skip_serializing_if = "is_zero")]
    pub limits: Vec<RateLimit>,
    /// Seconds that a request over the rate is held before it is tried again.
    #[serde(serialize_with = "short", skip_serializing_if = "is_zero")]
    pub throttle_interval: f64,
    /// Maximum retries.
    #[serde(deserialize_with = "whole", skip_serializing_if = "is_zero")]
    pub throttle_retry_limit: i64,
    /// Deepest GraphQL query; -1 for any.
    #[serde(deserialize_with = "whole", skip_serializing_if = "is_zero")]
    pub max_query_depth: i64,
    /// When the key was created, in RFC 3339 format.
    #[serde(skip_serializing_if = "is_zero")]
    pub date_created: String,
    /// When the key expires, seconds since 1970; never if 0 or less.
    #[serde(deserialize_with = "whole", skip_serializing_if = "is_zero")]
    pub expires: i64,
    /// What happens to the key then: `retain` or `delete`.
    #[serde(skip_serializing_if = "is_zero")]
    pub post_expiry_action: String,
    /// Seconds before that action.
    #[serde(deserialize_with = "whole", skip_serializing_if = "is_zero")]
    pub post_expiry_grace_period: i64,
    /// Requests per `quota_renewal_rate`; unlimited if 0 or less.
    #[serde(deserialize_with = "whole", skip_serializing_if = "is_zero")]
    pub quota_max: i64,
    /// When the quota renews, seconds since 1970. A copy for display.
    #[serde(deserialize_with = "whole", skip_serializing_if = "is_zero")]
    pub quota_renews: i64,
    /// The remaining quota. A copy for display.
    #[serde(deserialize_with = "whole", skip_serializing_if = "is_zero")]
    pub quota_remaining: i64,
    /// Seconds from the first request to the renewal of the quota; never if 0 or less.
    #[serde(deserialize_with = "whole", skip_serializing_if = "is_zero")]
    pub quota_renewal_rate: i64,
    /// Access rights by API. Empty means every API; this is for administrators' keys.
    #[serde(skip_serializing_if = "is_zero")]
    pub access_rights: BTreeMap<String, AccessRight>,
    /// Checks in dry run, which reject nobody. Not in Tyk.
    #[serde(skip_serializing_if = "is_zero")]
    pub dry_run: DryRun,
    /// What applies to the limits while the store is unavailable. Not in Tyk.
    #[serde(skip_serializing_if = "is_zero")]
    pub on_store_failure: LimitStoreFailure,
    /// How much of language models it may use. Not in Tyk.
    #[serde(skip_serializing_if = "is_zero")]
    pub llm_budgets: Vec<LlmBudget>,
    /// The organisation that the key belongs to.
    #[serde(skip_serializing_if = "is_zero")]
    pub org_id: String,
    /// The OAuth client that the key belongs to.
    #[serde(skip_serializing_if = "is_zero")]
    pub oauth_client_id: String,
    /// OAuth keys, by client.
    #[serde(skip_serializing_if = "is_zero")]
    pub oauth_keys: BTreeMap<String, String>,
    /// Id of the client certificate that replaces the key.
    #[serde(skip_serializing_if = "is_zero")]
    pub certificate: String,
    /// Ids of the client certificates that the key may be used with.
    #[serde(skip_serializing_if = "is_zero")]
    pub mtls_static_certificate_bindings: Value,
    /// Password for HTTP basic.
    #[serde(skip_serializing_if = "is_zero")]
    pub basic_auth_data: BasicAuthData,
    /// Secret or public key for JSON Web Tokens.
    #[serde(skip_serializing_if = "is_zero")]
    pub jwt_data: JwtData,
    /// Whether requests are signed with `hmac_string`.
    #[serde(skip_serializing_if = "is_zero")]
    pub hmac_enabled: bool,
    /// Whether requests are signed with the private key of `rsa_certificate_id`.
    #[serde(skip_serializing_if = "is_zero")]
    pub enable_http_signature_validation: bool,
    /// Secret for signatures.
    #[serde(skip_serializing_if = "is_zero")]
    pub hmac_string: String,
    /// Id of the certificate or public key that verifies signatures.
    #[serde(skip_serializing_if = "is_zero")]
    pub rsa_certificate_id: String,
    /// Whether the key is rejected.
    #[serde(skip_serializing_if = "is_zero")]
    pub is_inactive: bool,
    /// Older form of `apply_policies`, for one policy; used when that is empty.
    #[serde(skip_serializing_if = "is_zero")]
    pub apply_policy_id: String,
    /// Ids of the policies that apply.
    #[serde(skip_serializing_if = "is_zero")]
    pub apply_policies: Vec<String>,
    /// When analytics records of the key expire.
    #[serde(deserialize_with = "whole", skip_serializing_if = "is_zero")]
    pub data_expires: i64,
    /// `trigger_limits`: uses of a quota in percent that are told; see `monitor` of the configuration.
    #[serde(skip_serializing_if = "is_zero")]
    pub monitor: Value,
    /// Older form of `enable_detailed_recording`.
    #[serde(skip_serializing_if = "is_zero")]
    pub enable_detail_recording: bool,
    /// Record whole requests and responses; not supported yet.
    #[serde(skip_serializing_if = "is_zero")]
    pub enable_detailed_recording: bool,
    /// Values for `$tyk_meta.*`. Keys with the same text in `tollgate_quota` use one quota together.
    #[serde(skip_serializing_if = "is_zero")]
    pub meta_data: Map<String, Value>,
    /// Tags for analytics records.
    #[serde(skip_serializing_if = "is_zero")]
    pub tags: Vec<String>,
    /// A name for people.
    #[serde(skip_serializing_if = "is_zero")]
    pub alias: String,
    /// When the document was last changed; part of the name of rate limit counters.
    #[serde(skip_serializing_if = "is_zero")]
    pub last_updated: String,
    /// Time stamp for plugins.
    #[serde(deserialize_with = "whole", skip_serializing_if = "is_zero")]
    pub id_extractor_deadline: i64,
    /// Seconds that the session is kept; 0 lets the API decide.
    #[serde(deserialize_with = "whole", skip_serializing_if = "is_zero")]
    pub session_lifetime: i64,
    /// A rate that rises and falls in steps: `enabled`, `threshold`, `trigger`, `step`, `delay`.
    #[serde(skip_serializing_if = "is_zero")]
    pub smoothing: Value,
    /// Unknown fields, kept for other readers of the document.
    #[serde(flatten, skip_deserializing)]
    pub extra: Map<String, Value>,
}

/// `basic_auth_data`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct BasicAuthData {
    /// The password, hashed as `hash_type` says.
    #[serde(skip_serializing_if = "is_zero")]
    pub password: String,
    /// `bcrypt` and others; empty for a password in plain text.
    pub hash_type: String,
    /// Unknown fields.
    #[serde(flatten, skip_deserializing)]
    pub extra: Map<String, Value>,
}

/// `jwt_data`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct JwtData {
    /// The secret or public key that tokens are signed with.
    pub secret: String,
    /// Unknown fields.
    #[serde(flatten, skip_deserializing)]
    pub extra: Map<String, Value>,
}

/// Member of `meta_data` by which keys use one quota together.
pub const QUOTA_OF: &str = "tollgate_quota";

impl Session {
    /// Whose quota it uses, with all keys that name the same; empty for one of its own.
    pub fn quota_of(&self) -> &str {
        self.meta_data.get(QUOTA_OF).and_then(Value::as_str).unwrap_or_default()
    }

    /// Reads a session.
    ///
    /// The result is the session with its warnings and ignored fields, or all its problems.
    pub fn parse(text: &[u8]) -> Result<(Session, Vec<Problem>), Vec<Problem>> {
        match serde_json::from_slice(byte_order_mark::without(text)) {
            Ok(document) => Session::from_value(&document),
            Err(error) => Err(vec![Problem::new(Level::Error, "", format!("not valid JSON: {error}"))]),
        }
    }

    /// Same for a parsed JSON document.
    pub fn from_value(document: &Value) -> Result<(Session, Vec<Problem>), Vec<Problem>> {
        let mut findings = Findings::default();
        if !document.is_object() {
            findings.error(&JsonPath::root(), "must be an object");
            return findings.conclude(None);
        }
        let decoded: Decoded<Session> = decode(document);
        findings.decoded(&decoded);
        known_field::judge(&decoded.unknown, known::FIELDS, &mut findings);
        let session = decoded.value.map(|mut session| {
            session.check(&mut findings);
            session.keep(decoded.unknown);
            session
        });
        findings.conclude(session)
    }

    /// The session as the control API writes it, without zero fields.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// The policies of the key: `apply_policies`, or `apply_policy_id` if that is empty.
    pub fn policy_ids(&self) -> Vec<&str> {
        if self.apply_policies.is_empty() && !self.apply_policy_id.is_empty() {
            return vec![&self.apply_policy_id];
        }
        self.apply_policies.iter().map(String::as_str).collect()
    }

    /// The limits of the key as a whole.
    pub fn limit(&self) -> AccessLimit {
        AccessLimit {
            rate: self.rate,
            per: self.per,
            limits: self.limits.clone(),
            smoothing: self.smoothing.clone(),
            throttle_interval: self.throttle_interval,
            throttle_retry_limit: self.throttle_retry_limit,
            max_query_depth: self.max_query_depth,
            quota_max: self.quota_max,
            quota_renews: self.quota_renews,
            quota_remaining: self.quota_remaining,
            quota_renewal_rate: self.quota_renewal_rate,
            on_store_failure: self.on_store_failure,
            extra: Map::new(),
        }
    }

    /// Writes the limits of the key as a whole.
    pub fn set_limit(&mut self, limit: AccessLimit) {
        self.rate = limit.rate;
        self.per = limit.per;
        self.limits = limit.limits;
        self.smoothing = limit.smoothing;
        self.throttle_interval = limit.throttle_interval;
        self.throttle_retry_limit = limit.throttle_retry_limit;
        self.max_query_depth = limit.max_query_depth;
        self.quota_max = limit.quota_max;
        self.quota_renews = limit.quota_renews;
        self.quota_remaining = limit.quota_remaining;
        self.quota_renewal_rate = limit.quota_renewal_rate;
        self.on_store_failure = limit.on_store_failure;
    }

    /// The certificates that the key is bound to, as SHA-256 fingerprints: the identifiers without their organisation.
    pub fn certificate_fingerprints(&self) -> Vec<String> {
        let listed = self.mtls_static_certificate_bindings.as_array().into_iter().flatten().filter_map(Value::as_str);
        let identifiers = listed.chain([self.certificate.as_str()]).filter(|identifier| !identifier.is_empty());
        identifiers
            .map(|identifier| {
                let start = identifier.len().saturating_sub(FINGERPRINT_DIGITS);
                identifier.get(start..).unwrap_or(identifier).to_ascii_lowercase()
            })
            .collect()
    }

    /// `monitor.trigger_limits`: uses of a quota in percent that are told.
    pub fn trigger_limits(&self) -> Vec<f64> {
        self.monitor.get("trigger_limits").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_f64).collect()
    }

    fn check_monitor(&self, findings: &mut Findings) {
        let at = JsonPath::of("monitor.trigger_limits");
        match self.monitor.get("trigger_limits") {
            Some(Value::Array(limits)) => {
                for (index, limit) in limits.iter().enumerate() {
                    if limit.as_f64().is_none_or(|limit| !(0.0..=100.0).contains(&limit)) {
                        findings.error(&at.index(index), "must be a percentage from 0 to 100");
                    }
                }
            }
            None | Some(Value::Null) if matches!(self.monitor, Value::Null | Value::Object(_)) => {}
            _ => findings.error(&at, "must be a list of percentages"),
        }
    }

    fn check(&self, findings: &mut Findings) {
        check_limits(&JsonPath::root(), &self.limits, findings);
        Smoothing::check(&self.smoothing, &JsonPath::of("smoothing"), findings);
        self.check_monitor(findings);
        LlmBudget::check_all(&self.llm_budgets, &JsonPath::of("llm_budgets"), &[], findings);
        if self.enable_http_signature_validation && self.rsa_certificate_id.is_empty() {
            findings.warning(&JsonPath::of("rsa_certificate_id"), "is empty: no signature can be checked");
        }
        check_rights(&JsonPath::of("access_rights"), &self.access_rights, findings);
        for (field, is_asked) in [
            ("enable_detail_recording", self.enable_detail_recording),
            ("enable_detailed_recording", self.enable_detailed_recording),
            ("meta_data.rate_limit_pattern", self.meta_data.get("rate_limit_pattern").is_some_and(is_set)),
        ] {
            if is_asked {
                findings.ignored(&JsonPath::of(field), "not supported yet");
            }
        }
    }
}

impl KeepsUnknown for Session {
    fn extra_at(&mut self, place: &[PathStep]) -> Option<&mut Map<String, Value>> {
        let Some((PathStep::Key(key), rest)) = place.split_first() else {
            return Some(&mut self.extra);
        };
        match (key.to_ascii_lowercase().as_str(), rest) {
            ("access_rights", [PathStep::Key(api), rest @ ..]) => self.access_rights.get_mut(api)?.extra_at(rest),
            ("limits", [PathStep::Index(index)]) => Some(&mut self.limits.get_mut(*index)?.extra),
            ("llm_budgets", [PathStep::Index(index)]) => Some(&mut self.llm_budgets.get_mut(*index)?.extra),
            ("basic_auth_data", []) => Some(&mut self.basic_auth_data.extra),
            ("jwt_data", []) => Some(&mut self.jwt_data.extra),
            _ => None,
        }
    }
}

/// Adds the problems of the `access_rights` of a session or a policy to `findings`.
pub(crate) fn check_rights(at: &JsonPath, rights: &BTreeMap<String, AccessRight>, findings: &mut Findings) {
    for (api_id, right) in rights {
        let at = at.key(api_id);
        mcp::check_primitives(&at, &right.mcp_primitives, findings);
        let at = at.key("limit");
        let Some(limit) = &right.limit else { continue };
        check_limits(&at, &limit.limits, findings);
        Smoothing::check(&limit.smoothing, &at.key("smoothing"), findings);
    }
}

/// Adds the problems of the `limits` of the object at `at` to `findings`.
pub(crate) fn check_limits(at: &JsonPath, limits: &[RateLimit], findings: &mut Findings) {
    for (index, limit) in limits.iter().enumerate() {
        let at = at.key("limits").index(index);
        if !limit.limits() {
            findings.warning(&at, "limits nothing: rate and per must be more than 0");
        }
        if limit.burst.is_some_and(|burst| burst < 1.0) {
            findings.error(&at.key("burst"), "must be at least 1");
        }
    }
}

#[cfg(test)]
mod tests;
