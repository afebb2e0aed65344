//! A policy: limits and access rights that many keys share. [`apply()`] applies a key's policies to its session.

use std::collections::BTreeMap;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::decode::{Decoded, decode};
use crate::json_path::{JsonPath, PathStep};
use crate::known_field::KnownField;
use crate::known_field::ReportWhen::{Never, Set};
use crate::known_field::{self, is_set};
use crate::number::{is_zero, short, whole};
use crate::problem::{Findings, Level, Problem};
use crate::session::{
    AccessLimit, AccessRight, BudgetHolder, DryRun, KeepsUnknown, LimitStoreFailure, LlmBudget, RateLimit, Smoothing, check_limits,
    check_rights,
};

use crate::zero_values::DocumentKind;
use tollgate_text::byte_order_mark;

mod apply;

pub use apply::{PolicyError, apply, key_expires_in};

/// Fields of Tyk's policies without effect.
pub(crate) const FIELDS: &[KnownField] =
    &[("date_created", Never), ("created_at", Never), ("graphql_access_rights", Never), ("rsa_enabled", Set)];

/// A policy. The names are Tyk's, and every field has Tyk's zero as default.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Policy {
    /// The policy's identifier; `_id` if empty.
    #[serde(skip_serializing_if = "is_zero")]
    pub id: String,
    /// The identifier that a database gave it: a text, or an object with the member `$oid`.
    #[serde(rename = "_id", skip_serializing_if = "is_zero")]
    #[schemars(extend("type" = ["string", "object", "null"]))]
    pub database_id: Value,
    /// A name for people.
    pub name: String,
    /// The organisation whose keys may use it.
    pub org_id: String,
    /// Requests per `per`; unlimited if negative, not set if 0.
    #[serde(serialize_with = "short")]
    pub rate: f64,
    /// Period in seconds.
    #[serde(serialize_with = "short")]
    pub per: f64,
    /// Additional rate limits; all apply. Not in Tyk.
    #[serde(skip_serializing_if = "is_zero")]
    pub limits: Vec<RateLimit>,
    /// Requests per `quota_renewal_rate`; unlimited if -1, not set if 0.
    #[serde(deserialize_with = "whole")]
    pub quota_max: i64,
    /// Seconds from the first request to the renewal of the quota.
    #[serde(deserialize_with = "whole")]
    pub quota_renewal_rate: i64,
    /// Seconds that a request over the rate is held before it is tried again.
    #[serde(serialize_with = "short")]
    pub throttle_interval: f64,
    /// Maximum retries.
    #[serde(deserialize_with = "whole")]
    pub throttle_retry_limit: i64,
    /// Deepest GraphQL query; -1 for any.
    #[serde(deserialize_with = "whole")]
    pub max_query_depth: i64,
    /// Access rights by API.
    pub access_rights: BTreeMap<String, AccessRight>,
    /// Checks in dry run, which reject nobody. Not in Tyk.
    #[serde(skip_serializing_if = "is_zero")]
    pub dry_run: DryRun,
    /// What applies to the limits while the store is unavailable. Not in Tyk.
    #[serde(skip_serializing_if = "is_zero")]
    pub on_store_failure: LimitStoreFailure,
    /// How much of language models its keys may use. Not in Tyk.
    #[serde(skip_serializing_if = "is_zero")]
    pub llm_budgets: Vec<LlmBudget>,
    /// Whether keys sign their requests.
    pub hmac_enabled: bool,
    /// Whether keys sign their requests with a private key.
    pub enable_http_signature_validation: bool,
    /// Ignored, as in Tyk, which uses `is_inactive`.
    pub active: bool,
    /// Whether the keys are rejected.
    pub is_inactive: bool,
    /// Tags for the keys' analytics records.
    pub tags: Vec<String>,
    /// Lifetime of new keys in seconds; forever if 0 or less.
    #[serde(deserialize_with = "whole")]
    pub key_expires_in: i64,
    /// What happens to expired keys: `retain` or `delete`.
    #[serde(skip_serializing_if = "is_zero")]
    pub post_expiry_action: String,
    /// Seconds before that action.
    #[serde(deserialize_with = "whole", skip_serializing_if = "is_zero")]
    pub post_expiry_grace_period: i64,
    /// The parts of a session that the policy decides.
    pub partitions: Partitions,
    /// Values for `$tyk_meta.*`.
    #[serde(skip_serializing_if = "is_zero")]
    pub meta_data: Map<String, Value>,
    /// A rate that rises and falls in steps.
    #[serde(skip_serializing_if = "is_zero")]
    pub smoothing: Value,
    /// When the document was last changed.
    #[serde(skip_serializing_if = "is_zero")]
    pub last_updated: String,
    /// Unknown fields, kept for other readers of the document.
    #[serde(flatten, skip_deserializing)]
    pub extra: Map<String, Value>,
}

/// Policies by identifier.
pub type PolicyMap = BTreeMap<String, Policy>;

/// The parts of a session that a policy decides; all if none is set.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Partitions {
    /// Quotas.
    pub quota: bool,
    /// Rate limits and throttling.
    pub rate_limit: bool,
    /// The depth of GraphQL queries.
    pub complexity: bool,
    /// Access rights.
    pub acl: bool,
    /// Everything, with separate counters for each API; excludes the other partitions.
    pub per_api: bool,
    /// Unknown fields.
    #[serde(flatten, skip_deserializing)]
    pub extra: Map<String, Value>,
}

impl Policy {
    /// Reads a file with one policy.
    ///
    /// The result is the policy with its warnings and ignored fields, or all its problems.
    pub fn parse(text: &[u8], file: Option<&Path>) -> Result<(Policy, Vec<Problem>), Vec<Problem>> {
        Policy::from_value(&json(text, file)?, file)
    }

    /// The same for a parsed JSON document.
    pub fn from_value(document: &Value, file: Option<&Path>) -> Result<(Policy, Vec<Problem>), Vec<Problem>> {
        let mut findings = Findings::default();
        let policy = read(document, &mut findings);
        findings.within(file).conclude(policy)
    }

    /// Reads a file with many policies by identifier. A policy without an identifier gets its key.
    pub fn parse_map(text: &[u8], file: Option<&Path>) -> Result<(PolicyMap, Vec<Problem>), Vec<Problem>> {
        let mut findings = Findings::default();
        let Value::Object(members) = json(text, file)? else {
            findings.error(&JsonPath::root(), "must be an object");
            return findings.within(file).conclude(None);
        };
        let mut policies = PolicyMap::new();
        for (key, document) in members {
            let mut own = Findings::default();
            if let Some(mut policy) = read(&document, &mut own) {
                if policy.id().is_empty() {
                    policy.id.clone_from(&key);
                }
                policies.insert(key.clone(), policy);
            }
            findings.extend(own.below(&JsonPath::root().key(&key)));
        }
        findings.within(file).conclude(Some(policies))
    }

    /// The policy's identifier: `id`, otherwise `_id`; empty if it has neither.
    pub fn id(&self) -> &str {
        if !self.id.is_empty() {
            return &self.id;
        }
        let database_id = self.database_id.get("$oid").unwrap_or(&self.database_id);
        database_id.as_str().unwrap_or_default()
    }

    /// The parts of a session that the policy decides, all explicit.
    pub fn decides(&self) -> Partitions {
        let all = !self.partitions.is_partitioned();
        let Partitions { quota, rate_limit, complexity, acl, per_api, .. } = self.partitions;
        Partitions {
            quota: all || quota,
            rate_limit: all || rate_limit,
            complexity: all || complexity,
            acl: all || acl,
            per_api,
            extra: Map::new(),
        }
    }

    /// The limits of the policy as a whole.
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
            quota_renewal_rate: self.quota_renewal_rate,
            on_store_failure: self.on_store_failure,
            ..AccessLimit::default()
        }
    }

    /// The policy as the control API writes it.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// The policy as the control API shows it, including missing fields.
    pub fn shown(&self) -> Value {
        DocumentKind::Policy.with_zeros(&self.to_json())
    }

    fn check(&self, findings: &mut Findings) {
        if self.partitions.per_api && self.partitions.is_partitioned() {
            let message = "excludes the other partitions: keys with this policy are refused";
            findings.warning(&JsonPath::of("partitions.per_api"), message);
        }
        check_limits(&JsonPath::root(), &self.limits, findings);
        check_rights(&JsonPath::of("access_rights"), &self.access_rights, findings);
        Smoothing::check(&self.smoothing, &JsonPath::of("smoothing"), findings);
        let holders = [BudgetHolder::Key, BudgetHolder::Policy];
        LlmBudget::check_all(&self.llm_budgets, &JsonPath::of("llm_budgets"), &holders, findings);
        for (field, is_asked) in [("meta_data.rate_limit_pattern", self.meta_data.get("rate_limit_pattern").is_some_and(is_set))] {
            if is_asked {
                findings.ignored(&JsonPath::of(field), "not supported yet");
            }
        }
    }
}

impl Partitions {
    /// Whether the policy decides only parts of a session.
    pub fn is_partitioned(&self) -> bool {
        self.quota || self.rate_limit || self.complexity || self.acl
    }
}

impl KeepsUnknown for Policy {
    fn extra_at(&mut self, place: &[PathStep]) -> Option<&mut Map<String, Value>> {
        let Some((PathStep::Key(key), rest)) = place.split_first() else {
            return Some(&mut self.extra);
        };
        match (key.to_ascii_lowercase().as_str(), rest) {
            ("access_rights", [PathStep::Key(api), rest @ ..]) => self.access_rights.get_mut(api)?.extra_at(rest),
            ("limits", [PathStep::Index(index)]) => Some(&mut self.limits.get_mut(*index)?.extra),
            ("llm_budgets", [PathStep::Index(index)]) => Some(&mut self.llm_budgets.get_mut(*index)?.extra),
            ("partitions", []) => Some(&mut self.partitions.extra),
            _ => None,
        }
    }
}

fn json(text: &[u8], file: Option<&Path>) -> Result<Value, Vec<Problem>> {
    serde_json::from_slice(byte_order_mark::without(text))
        .map_err(|error| vec![Problem::new(Level::Error, "", format!("not valid JSON: {error}")).within(file)])
}

fn read(document: &Value, findings: &mut Findings) -> Option<Policy> {
    if !document.is_object() {
        findings.error(&JsonPath::root(), "must be an object");
        return None;
    }
    let decoded: Decoded<Policy> = decode(document);
    findings.decoded(&decoded);
    known_field::judge(&decoded.unknown, FIELDS, findings);
    let mut policy = decoded.value?;
    policy.check(findings);
    policy.keep(decoded.unknown);
    Some(policy)
}

#[cfg(test)]
mod tests;
