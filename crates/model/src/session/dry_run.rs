//! `dry_run`: checks that count and report, but reject nobody.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// The checks in dry run. Written as `true` for all, or as a list of `rate_limit`, `quota`, `access`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DryRun {
    /// Rate limits.
    pub rate_limit: bool,
    /// Quotas.
    pub quota: bool,
    /// Access rights.
    pub access: bool,
}

impl DryRun {
    /// All checks.
    pub const ALL: DryRun = DryRun { rate_limit: true, quota: true, access: true };

    fn of_list(items: &[Value]) -> Option<DryRun> {
        let mut dry_run = DryRun::default();
        for item in items {
            match item.as_str()? {
                "rate_limit" => dry_run.rate_limit = true,
                "quota" => dry_run.quota = true,
                "access" => dry_run.access = true,
                _ => return None,
            }
        }
        Some(dry_run)
    }
}

impl<'de> Deserialize<'de> for DryRun {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<DryRun, D::Error> {
        let dry_run = match Value::deserialize(deserializer)? {
            Value::Bool(true) => Some(DryRun::ALL),
            Value::Bool(false) | Value::Null => Some(DryRun::default()),
            Value::Array(items) => DryRun::of_list(&items),
            _ => None,
        };
        dry_run.ok_or_else(|| D::Error::custom("must be true, false or a list of \"rate_limit\", \"quota\", \"access\""))
    }
}

impl Serialize for DryRun {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if *self == DryRun::ALL {
            return serializer.serialize_bool(true);
        }
        let names = [(self.rate_limit, "rate_limit"), (self.quota, "quota"), (self.access, "access")];
        serializer.collect_seq(names.into_iter().filter_map(|(is_set, name)| is_set.then_some(name)))
    }
}

impl JsonSchema for DryRun {
    fn schema_name() -> Cow<'static, str> {
        "DryRun".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Checks that refuse nobody: `true` for all of them, or a list.",
            "oneOf": [
                { "type": "boolean" },
                { "type": "array", "items": { "enum": ["rate_limit", "quota", "access"] } },
            ],
        })
    }
}
