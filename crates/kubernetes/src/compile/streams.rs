//! Rules of TLSRoutes, TCPRoutes and UDPRoutes: only backends.

use super::http::backends;
use super::rule_context::RuleContext;
use crate::conditions::Fault;
use crate::objects::StreamRule;
use serde_json::{Map, Value, json};

/// One rule of the document.
///
/// # Errors
/// Never; other kinds of rules can't always act.
pub(super) fn rule(rule: &StreamRule, context: &mut RuleContext<'_, '_>) -> Result<Value, Fault> {
    let mut document = Map::new();
    if let Some(name) = &rule.name {
        document.insert("name".to_owned(), json!(name));
    }
    document.insert("backends".to_owned(), Value::Array(backends(&rule.backend_refs, context)?));
    Ok(Value::Object(document))
}
