//! Who sends requests, as servers see them.

use serde_json::{Map, Value, json};
use std::time::Duration;

/// What a client may be able to do that matters to servers, and the parts of each.
const CAPABILITIES: [(&str, &[&str]); 3] =
    [("elicitation", &["form", "url"]), ("roots", &["listChanged"]), ("sampling", &["context", "tools"])];

/// How long a client, and whoever sits before it, may think about a question.
pub(crate) const THINKING_MAX: Duration = Duration::from_secs(300);

/// For whom requests are sent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Client {
    /// Its caller, empty if that is not known; `None` for the gateway itself, which looks what a server offers.
    pub caller: Option<String>,
    /// What it can do, as JSON.
    pub capabilities: String,
}

impl Client {
    /// The gateway itself. Servers show some tools only to those who can answer questions.
    pub(crate) fn looking() -> Self {
        Client { caller: None, capabilities: all_capabilities().to_string() }
    }
}

/// What some client may be able to do.
pub(crate) fn all_capabilities() -> Value {
    json!({"sampling": {}, "elicitation": {"form": {}, "url": {}}, "roots": {"listChanged": true}})
}

/// The known part of what a client says that it can do.
pub(crate) fn known_capabilities(said: &Value) -> Value {
    let part = |all: &Value, name: &str| match all.get(name)? {
        Value::Object(_) => Some((name.to_owned(), json!({}))),
        yes @ Value::Bool(_) => Some((name.to_owned(), yes.clone())),
        _ => None,
    };
    let known = CAPABILITIES.iter().filter_map(|(name, parts)| {
        let capability = said.get(*name).filter(|capability| capability.is_object())?;
        let parts: Map<String, Value> = parts.iter().filter_map(|name| part(capability, name)).collect();
        Some(((*name).to_owned(), Value::Object(parts)))
    });
    Value::Object(known.collect())
}

/// The capability that a client needs to answer a request of a server; `None` for a request that no client answers.
pub(crate) fn capability_for(method: &str) -> Option<&'static str> {
    match method {
        "elicitation/create" => Some("elicitation"),
        "roots/list" => Some("roots"),
        "sampling/createMessage" => Some("sampling"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::known_capabilities;
    use serde_json::json;

    #[test]
    fn only_what_is_known_of_capabilities_is_kept() {
        let said = json!({"elicitation": {"form": {"a": 1}, "x": {}}, "roots": {"listChanged": true}, "sampling": 1, "y": {}});
        assert_eq!(known_capabilities(&said), json!({"elicitation": {"form": {}}, "roots": {"listChanged": true}}));
        assert_eq!(known_capabilities(&json!(null)), json!({}));
    }
}
