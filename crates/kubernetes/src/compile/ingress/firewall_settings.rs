//! What annotations ask of the firewall.

use serde_json::Value;

#[derive(Default)]
pub(super) struct FirewallSettings {
    pub is_on: Option<bool>,
    pub has_core_rules: bool,
    pub snippet: Option<String>,
    /// `tollgate.waf`, made of the others.
    pub document: Option<Value>,
}
