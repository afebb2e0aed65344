//! Handlers in JavaScript and in plugins, as their events see them. What runs them is given by those who know scripts and plugins.

use super::event::{EventFacts, GatewayEvent};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use tollgate_model::readable_files::ReadableFiles;

/// What can handle the events of an API, beside webhooks and the log.
#[derive(Clone, Copy, Default)]
pub struct HandlerSources<'a> {
    /// Scripts, if they may run.
    pub scripts: Option<&'a dyn EventScripts>,
    /// Plugins.
    pub plugins: Option<&'a dyn EventPlugins>,
    /// The files that handlers may name; all if it is missing, as for the gateway's own events.
    pub files: Option<&'a ReadableFiles>,
}

impl HandlerSources<'_> {
    /// The path of a file that a handler names.
    pub(super) fn admit(&self, path: &Path) -> Result<PathBuf, String> {
        self.files.map_or_else(|| Ok(path.to_owned()), |files| files.admit(path))
    }
}

/// Finds handlers in plugins.
pub trait EventPlugins {
    /// The plugin's handler with this name, or why there is none.
    fn handler(&self, name: &str) -> Result<Box<dyn EventScript>, String>;
}

/// Loads handlers in JavaScript of one API.
pub trait EventScripts {
    /// The script's handler with this name; `Err` is the field of its settings and the reason.
    fn load(&self, name: &str, file: &Path, text: String) -> Result<Box<dyn EventScript>, (&'static str, String)>;
}

/// A handler in JavaScript, or in a plugin.
pub trait EventScript: Send + Sync {
    /// Calls it with an event as JSON; the result is why it failed.
    fn call(&self, event: String) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;
}

impl GatewayEvent {
    /// The event as Go writes it.
    pub(super) fn to_json(&self) -> String {
        let mut meta = json!({"Message": self.message, "OriginatingRequest": self.request});
        let own = self.facts.to_json();
        if let (Value::Object(meta), Value::Object(own)) = (&mut meta, own) {
            meta.extend(own);
        }
        json!({"Type": self.kind.name(), "Meta": meta, "TimeStamp": self.time()}).to_string()
    }
}

impl EventFacts {
    fn to_json(&self) -> Value {
        match self {
            EventFacts::Key { path, origin, key } => json!({"Path": path, "Origin": origin, "Key": key}),
            EventFacts::Version { path, origin, reason } => json!({"Path": path, "Origin": origin, "Key": "", "Reason": reason}),
            EventFacts::Breaker { path, api, is_open } => {
                json!({"Path": path, "APIID": api, "CircuitEvent": i32::from(!is_open)})
            }
            EventFacts::Host { check, host, api, status, is_tcp_error } => {
                let data = json!({"api_id": api, "host_name": host, "target_url": check});
                json!({"HostInfo": {"CheckURL": check, "ResponseCode": status, "IsTCPError": is_tcp_error, "MetaData": data}})
            }
            EventFacts::Trigger { org, key, limit, usage } => {
                json!({"org_id": org, "key": key, "trigger_limit": limit, "usage_percentage": usage})
            }
            EventFacts::Portal { what, application, grant, product, plan, developer } => json!({
                "What": what, "Application": application, "Grant": grant, "Product": product, "Plan": plan, "Developer": developer,
            }),
            EventFacts::Operator { user, address, action, kind, target, status, place } => json!({
                "User": user, "Address": address, "Action": action, "Kind": kind, "Target": target, "Status": status,
                "Seq": place.number, "Prev": place.previous, "Hash": place.hash,
            }),
            EventFacts::Token { org, key } => json!({"Org": org, "Key": key}),
            EventFacts::Certificate { id, name, api, .. } => json!({"CertID": id, "CertName": name, "APIID": api}),
            EventFacts::UpstreamToken { api } => json!({"APIID": api}),
        }
    }
}
