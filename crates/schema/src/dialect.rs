//! The dialects of schemas: what differs between drafts of JSON Schema and versions of OpenAPI.

use serde_json::Value;

/// What a schema's keywords mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dialect {
    /// Draft 4.
    Draft4,
    /// Draft 6.
    Draft6,
    /// Draft 7.
    Draft7,
    /// Draft 7, with `id` and the exclusive bounds of draft 4 too: what Tyk's validator assumes of a schema that names no draft.
    Unnamed,
    /// 2019-09.
    Draft2019,
    /// 2020-12.
    Draft2020,
    /// OpenAPI 3.0, with `nullable`.
    OpenApi3_0,
    /// OpenAPI 3.1: 2020-12, with what OpenAPI adds.
    OpenApi3_1,
}

impl Dialect {
    /// The dialect that a schema names.
    ///
    /// # Errors
    /// The name, if it is none of a known draft.
    pub fn named(document: &Value) -> Result<Self, String> {
        let Some(written) = document.get("$schema") else { return Ok(Dialect::Unnamed) };
        let name = written.as_str().unwrap_or_default().trim_end_matches('#');
        let name = name.strip_prefix("http://").or_else(|| name.strip_prefix("https://")).unwrap_or(name);
        Ok(match name {
            "json-schema.org/draft-04/schema" => Dialect::Draft4,
            "json-schema.org/draft-06/schema" => Dialect::Draft6,
            "json-schema.org/draft-07/schema" | "json-schema.org/schema" => Dialect::Draft7,
            "json-schema.org/draft/2019-09/schema" => Dialect::Draft2019,
            "json-schema.org/draft/2020-12/schema" => Dialect::Draft2020,
            _ => return Err(format!("$schema: {written} is none of the known drafts")),
        })
    }

    /// Whether it is a draft of JSON Schema rather than OpenAPI's.
    pub(crate) fn is_draft(self) -> bool {
        self < Dialect::OpenApi3_0
    }

    pub(crate) fn is_3_0(self) -> bool {
        self == Dialect::OpenApi3_0
    }

    /// Whether nothing beside a reference counts.
    pub(crate) fn references_stand_alone(self) -> bool {
        self < Dialect::Draft2019 || self.is_3_0()
    }

    /// The keyword that gives a schema its address.
    pub(crate) fn address_keywords(self) -> &'static [&'static str] {
        match self {
            Dialect::Draft4 => &["id"],
            Dialect::Unnamed => &["$id", "id"],
            _ => &["$id"],
        }
    }

    /// Whether `exclusiveMinimum` may be `true`.
    pub(crate) fn has_exclusive_flags(self) -> bool {
        matches!(self, Dialect::Draft4 | Dialect::Unnamed | Dialect::OpenApi3_0)
    }

    /// Whether `exclusiveMinimum` may be a number.
    pub(crate) fn has_exclusive_bounds(self) -> bool {
        !matches!(self, Dialect::Draft4 | Dialect::OpenApi3_0)
    }

    /// Whether it has `const`, `contains`, `propertyNames` and more.
    pub(crate) fn has_draft_6(self) -> bool {
        !matches!(self, Dialect::Draft4 | Dialect::OpenApi3_0)
    }

    /// Whether it has `if`.
    pub(crate) fn has_conditions(self) -> bool {
        // OpenAPI 3.0 has none; documents that use them meant them.
        !matches!(self, Dialect::Draft4 | Dialect::Draft6)
    }

    /// Whether it has `unevaluatedProperties`, `dependentRequired` and more.
    pub(crate) fn has_draft_2019(self) -> bool {
        matches!(self, Dialect::Draft2019 | Dialect::Draft2020 | Dialect::OpenApi3_1)
    }

    /// Whether it has `prefixItems`.
    pub(crate) fn has_prefix_items(self) -> bool {
        matches!(self, Dialect::Draft2020 | Dialect::OpenApi3_1)
    }
}
