//! `oas_config`: how strictly OpenAPI documents are checked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `oas_config`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct OasConfig {
    /// A document whose examples do not fit its schemas is unusable.
    pub validate_examples: bool,
    /// A document whose defaults do not fit their schemas is unusable.
    pub validate_schema_defaults: bool,
}
