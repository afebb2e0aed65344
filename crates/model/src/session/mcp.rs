//! What a key may do with an MCP proxy, and how often: by methods of JSON-RPC, and by tools, resources and prompts.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::rate_limit::RateLimit;
use super::unknown::KeepsUnknown;
use crate::json_path::{JsonPath, PathStep};
use crate::number::is_zero;
use crate::problem::Findings;

/// What an MCP server offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PrimitiveKind {
    /// A function that a model may call; it has a name.
    Tool,
    /// Data that a model may read; it has a URI.
    Resource,
    /// A template for messages; it has a name.
    Prompt,
}

/// An entry of `json_rpc_methods`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MethodLimit {
    /// The method, such as `tools/call`.
    pub name: String,
    /// Its limit.
    #[serde(skip_serializing_if = "is_zero")]
    pub limit: RateLimit,
    /// Unknown fields.
    #[serde(flatten, skip_deserializing)]
    pub extra: Map<String, Value>,
}

/// An entry of `mcp_primitives`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PrimitiveLimit {
    /// `tool`, `resource` or `prompt`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Name of the tool or prompt, or URI of the resource.
    pub name: String,
    /// Its limit.
    #[serde(skip_serializing_if = "is_zero")]
    pub limit: RateLimit,
    /// Unknown fields.
    #[serde(flatten, skip_deserializing)]
    pub extra: Map<String, Value>,
}

/// Names that are allowed and names that are blocked, as regular expressions for the whole name.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct NameRules {
    /// If not empty, only these names are allowed.
    #[serde(skip_serializing_if = "is_zero")]
    pub allowed: Vec<String>,
    /// These names are not allowed, even if `allowed` has them.
    #[serde(skip_serializing_if = "is_zero")]
    pub blocked: Vec<String>,
    /// Unknown fields.
    #[serde(flatten, skip_deserializing)]
    pub extra: Map<String, Value>,
}

/// `mcp_access_rights`: rules for each kind of primitive.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PrimitiveRights {
    /// Names of tools.
    #[serde(skip_serializing_if = "is_zero")]
    pub tools: NameRules,
    /// URIs of resources.
    #[serde(skip_serializing_if = "is_zero")]
    pub resources: NameRules,
    /// Names of prompts.
    #[serde(skip_serializing_if = "is_zero")]
    pub prompts: NameRules,
    /// Unknown fields.
    #[serde(flatten, skip_deserializing)]
    pub extra: Map<String, Value>,
}

impl PrimitiveKind {
    /// How the path of a method of JSON-RPC begins.
    pub const METHOD_PATH_PREFIX: &str = "/json-rpc-method:";

    /// All of them.
    pub const ALL: [PrimitiveKind; 3] = [PrimitiveKind::Tool, PrimitiveKind::Resource, PrimitiveKind::Prompt];

    /// The kind as documents and records name it.
    pub const fn name(self) -> &'static str {
        match self {
            PrimitiveKind::Tool => "tool",
            PrimitiveKind::Resource => "resource",
            PrimitiveKind::Prompt => "prompt",
        }
    }

    /// The member of `mcp_access_rights` with its rules.
    pub const fn plural(self) -> &'static str {
        match self {
            PrimitiveKind::Tool => "tools",
            PrimitiveKind::Resource => "resources",
            PrimitiveKind::Prompt => "prompts",
        }
    }

    /// How the path begins under which definitions and usage name it.
    pub const fn path_prefix(self) -> &'static str {
        match self {
            PrimitiveKind::Tool => "/mcp-tool:",
            PrimitiveKind::Resource => "/mcp-resource:",
            PrimitiveKind::Prompt => "/mcp-prompt:",
        }
    }

    /// Whether a path names a method, or something of one of these kinds.
    pub fn is_call_path(path: &str) -> bool {
        path.starts_with(PrimitiveKind::METHOD_PATH_PREFIX)
            || PrimitiveKind::ALL.iter().any(|kind| path.starts_with(kind.path_prefix()))
    }

    /// The kind of this name.
    pub fn named(name: &str) -> Option<Self> {
        PrimitiveKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for PrimitiveKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl PrimitiveLimit {
    /// `None` for a kind that is none: the entry limits nothing.
    pub fn kind(&self) -> Option<PrimitiveKind> {
        PrimitiveKind::named(&self.kind)
    }
}

impl NameRules {
    /// Whether every name is allowed.
    pub fn is_empty(&self) -> bool {
        self.allowed.is_empty() && self.blocked.is_empty()
    }
}

impl PrimitiveRights {
    /// Whether every primitive is allowed.
    pub fn is_empty(&self) -> bool {
        PrimitiveKind::ALL.into_iter().all(|kind| self.of(kind).is_empty())
    }

    /// The rules for a kind.
    pub fn of(&self, kind: PrimitiveKind) -> &NameRules {
        match kind {
            PrimitiveKind::Tool => &self.tools,
            PrimitiveKind::Resource => &self.resources,
            PrimitiveKind::Prompt => &self.prompts,
        }
    }
}

/// Adds a warning for each entry of `mcp_primitives` whose kind does not exist.
pub(super) fn check_primitives(at: &JsonPath, limits: &[PrimitiveLimit], findings: &mut Findings) {
    for (index, _) in limits.iter().enumerate().filter(|(_, limit)| limit.kind().is_none()) {
        let message = r#"limits nothing: must be one of "tool", "resource", "prompt""#;
        findings.warning(&at.key("mcp_primitives").index(index).key("type"), message);
    }
}

impl KeepsUnknown for MethodLimit {
    fn extra_at(&mut self, place: &[PathStep]) -> Option<&mut Map<String, Value>> {
        match place {
            [] => Some(&mut self.extra),
            [PathStep::Key(_)] => Some(&mut self.limit.extra),
            _ => None,
        }
    }
}

impl KeepsUnknown for PrimitiveLimit {
    fn extra_at(&mut self, place: &[PathStep]) -> Option<&mut Map<String, Value>> {
        match place {
            [] => Some(&mut self.extra),
            [PathStep::Key(_)] => Some(&mut self.limit.extra),
            _ => None,
        }
    }
}

impl KeepsUnknown for PrimitiveRights {
    fn extra_at(&mut self, place: &[PathStep]) -> Option<&mut Map<String, Value>> {
        let [PathStep::Key(kind)] = place else { return place.is_empty().then_some(&mut self.extra) };
        match kind.to_ascii_lowercase().as_str() {
            "tools" => Some(&mut self.tools.extra),
            "resources" => Some(&mut self.resources.extra),
            "prompts" => Some(&mut self.prompts.extra),
            _ => None,
        }
    }
}
