//! `monitor`: tells somebody when quotas are used to a share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::events::{EventHandlerMeta, check_webhook};
use crate::json_path::JsonPath;
use crate::problem::Findings;

/// `monitor`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MonitorSettings {
    /// Whether quotas are watched.
    pub enable_trigger_monitors: bool,
    /// The webhook that gets the events `TriggerExceeded`.
    pub configuration: EventHandlerMeta,
    /// The use of a quota in percent from which on it is told; 0 for none but those of `monitor.trigger_limits` of sessions.
    pub global_trigger_limit: f64,
    /// Watch the quotas of keys.
    pub monitor_user_keys: bool,
    /// Watch the quotas of organisations.
    pub monitor_org_keys: bool,
}

impl MonitorSettings {
    /// Adds the problems of these settings to `findings`.
    pub(super) fn check(&self, enforces_org_quotas: bool, findings: &mut Findings) {
        if !self.enable_trigger_monitors {
            return;
        }
        let at = JsonPath::of("monitor");
        check_webhook(&self.configuration, &at.key("configuration"), findings);
        if !(0.0..=100.0).contains(&self.global_trigger_limit) {
            findings.error(&at.key("global_trigger_limit"), "must be a percentage from 0 to 100");
        }
        if !self.monitor_user_keys && !self.monitor_org_keys {
            findings.warning(&at, "watches nothing: neither monitor_user_keys nor monitor_org_keys is set");
        }
        if self.monitor_org_keys && !enforces_org_quotas {
            findings.warning(&at.key("monitor_org_keys"), "has no effect without enforce_org_quotas");
        }
    }
}
