//! `on_store_failure` of a key, a policy or an access right: what applies to its limits while the store is unavailable.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::config::OnStoreFailure;

/// What applies to each kind of limit; `None` means the setting of the API or the gateway. Written as one word for all, or as an
/// object with the members `rate_limit` and `quota`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LimitStoreFailure {
    /// Rate limits.
    pub rate_limit: Option<OnStoreFailure>,
    /// Quotas.
    pub quota: Option<OnStoreFailure>,
}

impl LimitStoreFailure {
    fn of(value: &Value) -> Option<LimitStoreFailure> {
        let Value::Object(members) = value else {
            let all = word(value)?;
            return Some(LimitStoreFailure { rate_limit: all, quota: all });
        };
        let mut each = LimitStoreFailure::default();
        for (name, value) in members {
            match name.as_str() {
                "rate_limit" => each.rate_limit = word(value)?,
                "quota" => each.quota = word(value)?,
                _ => return None,
            }
        }
        Some(each)
    }
}

/// `None` if it is neither a known word nor "not set".
fn word(value: &Value) -> Option<Option<OnStoreFailure>> {
    match value {
        Value::Null => Some(None),
        Value::String(text) if text.is_empty() => Some(None),
        _ => OnStoreFailure::deserialize(value).ok().map(Some),
    }
}

impl<'de> Deserialize<'de> for LimitStoreFailure {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<LimitStoreFailure, D::Error> {
        let value = Value::deserialize(deserializer)?;
        LimitStoreFailure::of(&value).ok_or_else(|| {
            let message =
                "must be \"allow\", \"local\" or \"deny\", or an object with one of them for \"rate_limit\" and \"quota\"";
            D::Error::custom(format!("{message}, not {value}"))
        })
    }
}

impl Serialize for LimitStoreFailure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.rate_limit == self.quota {
            return self.quota.serialize(serializer);
        }
        let parts = [("rate_limit", self.rate_limit), ("quota", self.quota)];
        serializer.collect_map(parts.into_iter().filter_map(|(name, rule)| Some((name, rule?))))
    }
}

impl JsonSchema for LimitStoreFailure {
    fn schema_name() -> Cow<'static, str> {
        "LimitStoreFailure".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let rule = generator.subschema_for::<OnStoreFailure>();
        json_schema!({
            "description": "Rules for limits while the store does not answer: one for all of them, or one for each kind.",
            "oneOf": [
                rule,
                { "type": "object", "properties": { "rate_limit": rule, "quota": rule }, "additionalProperties": false },
            ],
        })
    }
}
