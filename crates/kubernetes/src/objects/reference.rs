//! References from one object to another.

use super::GATEWAY_GROUP;
use serde::Deserialize;
use serde_json::Value;

/// What a route wants to be attached to.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(from = "Value")]
pub(crate) struct ParentRef {
    pub group: String,
    pub kind: String,
    /// Empty for the route's own.
    pub namespace: String,
    pub name: String,
    pub section_name: Option<String>,
    pub port: Option<u16>,
    /// As it is written: the status names it so.
    pub written: Value,
}

impl From<Value> for ParentRef {
    fn from(written: Value) -> Self {
        let text = |name: &str| written.get(name).and_then(Value::as_str);
        ParentRef {
            group: text("group").unwrap_or(GATEWAY_GROUP).to_owned(),
            kind: text("kind").unwrap_or("Gateway").to_owned(),
            namespace: text("namespace").unwrap_or_default().to_owned(),
            name: text("name").unwrap_or_default().to_owned(),
            section_name: text("sectionName").filter(|name| !name.is_empty()).map(str::to_owned),
            port: written.get("port").and_then(Value::as_u64).and_then(|port| u16::try_from(port).ok()).filter(|port| *port > 0),
            written,
        }
    }
}

/// An object of another kind. Kind and group are those of the core unless they are written.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ObjectRef {
    pub group: String,
    pub kind: Option<String>,
    pub namespace: Option<String>,
    pub name: String,
}

impl ObjectRef {
    pub(crate) fn kind_or<'r>(&'r self, usual: &'r str) -> &'r str {
        self.kind.as_deref().unwrap_or(usual)
    }

    /// The namespace in which it is looked for.
    pub(crate) fn namespace_from<'r>(&'r self, own: &'r str) -> &'r str {
        self.namespace.as_deref().filter(|namespace| !namespace.is_empty()).unwrap_or(own)
    }
}

/// A kind of routes that a listener lets in.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct RouteKind {
    #[serde(default = "gateway_group")]
    pub group: String,
    pub kind: String,
}

fn gateway_group() -> String {
    GATEWAY_GROUP.to_owned()
}
