//! What a key may do with one API, and how often.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::mcp::{MethodLimit, NameRules, PrimitiveKind, PrimitiveLimit, PrimitiveRights};
use super::rate_limit::RateLimit;
use super::store_failure::LimitStoreFailure;
use super::unknown::KeepsUnknown;
use crate::json_path::PathStep;
use crate::known_field::is_set;
use crate::number::{is_zero, short, whole};

/// One entry of `access_rights`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AccessRight {
    /// A name for people.
    pub api_name: String,
    /// The id of the API. Ignored: the key of the entry counts.
    pub api_id: String,
    /// Allowed versions; only for APIs with versions.
    pub versions: Vec<String>,
    /// Allowed endpoints; empty means all.
    #[serde(skip_serializing_if = "is_zero")]
    pub allowed_urls: Vec<AllowedUrl>,
    /// Limits for this API only, with separate counters; if empty, the key's limits apply.
    #[serde(skip_serializing_if = "is_zero")]
    pub limit: Option<AccessLimit>,
    /// Limits for single endpoints; they replace the limit for the API.
    #[serde(skip_serializing_if = "is_zero")]
    pub endpoints: Vec<EndpointLimit>,
    /// The set of counters: empty for those of the whole key, otherwise a separate set for each text.
    #[serde(skip_serializing_if = "is_zero")]
    pub allowance_scope: String,
    /// GraphQL: if not empty, only these fields may be asked for.
    #[serde(skip_serializing_if = "is_zero")]
    pub allowed_types: Vec<GraphqlType>,
    /// GraphQL: these fields may not be asked for. Ignored if `allowed_types` is not empty.
    #[serde(skip_serializing_if = "is_zero")]
    pub restricted_types: Vec<GraphqlType>,
    /// GraphQL: depths below single fields of the root types.
    #[serde(skip_serializing_if = "is_zero")]
    pub field_access_rights: Vec<GraphqlFieldRight>,
    /// GraphQL: the schema may not be asked for.
    #[serde(skip_serializing_if = "is_zero")]
    pub disable_introspection: bool,
    /// MCP: limits for single methods of JSON-RPC, beside the limit for the API.
    #[serde(skip_serializing_if = "is_zero")]
    pub json_rpc_methods: Vec<MethodLimit>,
    /// MCP: methods that may be called.
    #[serde(skip_serializing_if = "is_zero")]
    pub json_rpc_methods_access_rights: NameRules,
    /// MCP: limits for single tools, resources and prompts, beside the others.
    #[serde(skip_serializing_if = "is_zero")]
    pub mcp_primitives: Vec<PrimitiveLimit>,
    /// MCP: tools, resources and prompts that may be used.
    #[serde(skip_serializing_if = "is_zero")]
    pub mcp_access_rights: PrimitiveRights,
    /// Disables the entry: the API may not be called.
    #[serde(skip_serializing_if = "is_zero")]
    pub disabled: bool,
    /// Unknown fields, kept for other readers of the document.
    #[serde(flatten, skip_deserializing)]
    pub extra: Map<String, Value>,
}

/// An entry of `allowed_urls`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AllowedUrl {
    /// Regular expression for the path.
    pub url: String,
    /// Methods, exactly as requests write them.
    pub methods: Vec<String>,
    /// Unknown fields.
    #[serde(flatten, skip_deserializing)]
    pub extra: Map<String, Value>,
}

/// An entry of `allowed_types` or `restricted_types`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GraphqlType {
    /// Name of the type.
    pub name: String,
    /// Names of fields; `*` is all of them.
    pub fields: Vec<String>,
}

/// An entry of `field_access_rights`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GraphqlFieldRight {
    /// Name of the root type.
    pub type_name: String,
    /// Name of the field.
    pub field_name: String,
    /// Its limits.
    pub limits: GraphqlFieldLimit,
}

/// The limits of a field.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GraphqlFieldLimit {
    /// Most levels below the field; -1 for any.
    #[serde(deserialize_with = "whole")]
    pub max_query_depth: i64,
}

/// An entry of `endpoints`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct EndpointLimit {
    /// Path pattern.
    pub path: String,
    /// The methods with limits.
    pub methods: Vec<EndpointMethod>,
    /// Unknown fields.
    #[serde(flatten, skip_deserializing)]
    pub extra: Map<String, Value>,
}

/// One method of an endpoint, and its limit.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct EndpointMethod {
    /// Method.
    pub name: String,
    /// Its limit.
    pub limit: RateLimit,
    /// Unknown fields.
    #[serde(flatten, skip_deserializing)]
    pub extra: Map<String, Value>,
}

/// The limits of an access right, of a policy or of a key as a whole.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AccessLimit {
    /// Requests per `per`; unlimited if 0 or less.
    #[serde(serialize_with = "short", skip_serializing_if = "is_zero")]
    pub rate: f64,
    /// Period in seconds.
    #[serde(serialize_with = "short", skip_serializing_if = "is_zero")]
    pub per: f64,
    /// Additional rate limits; all apply.
    #[serde(skip_serializing_if = "is_zero")]
    pub limits: Vec<RateLimit>,
    /// A rate that rises and falls in steps.
    #[serde(skip_serializing_if = "is_zero")]
    pub smoothing: Value,
    /// Seconds that a request over the rate is held before it is tried again.
    #[serde(serialize_with = "short", skip_serializing_if = "is_zero")]
    pub throttle_interval: f64,
    /// Maximum retries.
    #[serde(deserialize_with = "whole", skip_serializing_if = "is_zero")]
    pub throttle_retry_limit: i64,
    /// Deepest GraphQL query; -1 for any.
    #[serde(deserialize_with = "whole", skip_serializing_if = "is_zero")]
    pub max_query_depth: i64,
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
    /// What applies while the store is unavailable. Not in Tyk.
    #[serde(skip_serializing_if = "is_zero")]
    pub on_store_failure: LimitStoreFailure,
    /// Unknown fields.
    #[serde(flatten, skip_deserializing)]
    pub extra: Map<String, Value>,
}

impl AccessRight {
    /// The limits for this API only. `None` also for empty limits: the API shares those of the key.
    pub fn own_limit(&self) -> Option<&AccessLimit> {
        self.limit.as_ref().filter(|limit| !limit.is_empty())
    }

    /// The entries of `mcp_primitives` for a kind, with their indexes.
    pub fn primitive_limits(&self, kind: PrimitiveKind) -> impl Iterator<Item = (usize, &PrimitiveLimit)> {
        self.mcp_primitives.iter().enumerate().filter(move |(_, limit)| limit.kind() == Some(kind))
    }

    /// Whether it says something that only an MCP proxy has.
    pub fn has_mcp_fields(&self) -> bool {
        let has_limits = !self.json_rpc_methods.is_empty() || !self.mcp_primitives.is_empty();
        has_limits || !self.json_rpc_methods_access_rights.is_empty() || !self.mcp_access_rights.is_empty()
    }

    /// Whether it says something of endpoints or of GraphQL, which an MCP proxy does not have.
    pub fn has_fields_without_mcp(&self) -> bool {
        let has_endpoints = !self.allowed_urls.is_empty() || !self.endpoints.is_empty();
        let has_types = !self.restricted_types.is_empty() || !self.allowed_types.is_empty() || !self.field_access_rights.is_empty();
        has_endpoints || has_types || self.disable_introspection
    }
}

impl AccessLimit {
    /// Whether nothing is limited or counted, in contrast to explicitly unlimited, which is -1.
    pub fn is_empty(&self) -> bool {
        let numbers = [self.throttle_retry_limit, self.max_query_depth, self.quota_max, self.quota_renews];
        let more = [self.quota_remaining, self.quota_renewal_rate];
        let rates = [self.rate, self.per, self.throttle_interval];
        rates.iter().all(is_zero) && numbers.iter().chain(&more).all(is_zero) && self.limits.is_empty() && !is_set(&self.smoothing)
    }

    /// All effective rate limits: `rate` and `per` first, then `limits`.
    pub fn rate_limits(&self) -> impl Iterator<Item = RateLimit> {
        let first = RateLimit { rate: self.rate, per: self.per, ..RateLimit::default() };
        std::iter::once(first).chain(self.limits.iter().cloned()).filter(RateLimit::limits)
    }

    /// The quota, `None` if it is unlimited.
    pub fn quota(&self) -> Option<i64> {
        (self.quota_max > 0).then_some(self.quota_max)
    }
}

impl KeepsUnknown for AccessRight {
    fn extra_at(&mut self, place: &[PathStep]) -> Option<&mut Map<String, Value>> {
        let Some((PathStep::Key(key), place)) = place.split_first() else {
            return place.is_empty().then_some(&mut self.extra);
        };
        match (key.to_ascii_lowercase().as_str(), place) {
            ("limit", rest) => self.limit.as_mut()?.extra_at(rest),
            ("endpoints", [PathStep::Index(index), rest @ ..]) => self.endpoints.get_mut(*index)?.extra_at(rest),
            ("allowed_urls", [PathStep::Index(index)]) => Some(&mut self.allowed_urls.get_mut(*index)?.extra),
            ("json_rpc_methods", [PathStep::Index(index), rest @ ..]) => self.json_rpc_methods.get_mut(*index)?.extra_at(rest),
            ("json_rpc_methods_access_rights", []) => Some(&mut self.json_rpc_methods_access_rights.extra),
            ("mcp_primitives", [PathStep::Index(index), rest @ ..]) => self.mcp_primitives.get_mut(*index)?.extra_at(rest),
            ("mcp_access_rights", rest) => self.mcp_access_rights.extra_at(rest),
            _ => None,
        }
    }
}

impl KeepsUnknown for EndpointLimit {
    fn extra_at(&mut self, place: &[PathStep]) -> Option<&mut Map<String, Value>> {
        match place {
            [] => Some(&mut self.extra),
            [PathStep::Key(_), PathStep::Index(index)] => Some(&mut self.methods.get_mut(*index)?.extra),
            [PathStep::Key(_), PathStep::Index(index), PathStep::Key(_)] => Some(&mut self.methods.get_mut(*index)?.limit.extra),
            _ => None,
        }
    }
}

impl KeepsUnknown for AccessLimit {
    fn extra_at(&mut self, place: &[PathStep]) -> Option<&mut Map<String, Value>> {
        match place {
            [] => Some(&mut self.extra),
            [PathStep::Key(_), PathStep::Index(index)] => Some(&mut self.limits.get_mut(*index)?.extra),
            _ => None,
        }
    }
}
