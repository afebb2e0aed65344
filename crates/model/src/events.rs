//! Events, and what the gateway does when they happen: `event_handlers` of a definition and of the gateway configuration.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::json_path::JsonPath;
use crate::problem::Findings;
use crate::token::{is_header_value, is_token};

/// `event_handlers`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct EventHandlers {
    /// Handlers by the name of the event.
    pub events: BTreeMap<String, Vec<EventHandler>>,
}

/// What happens after an event.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct EventHandler {
    /// `eh_web_hook_handler`, `eh_log_handler`, or in a definition `eh_dynamic_handler` for a script and `cp_dynamic_handler` for a plugin.
    pub handler_name: String,
    /// The handler's settings.
    pub handler_meta: EventHandlerMeta,
}

/// The settings of a handler.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct EventHandlerMeta {
    /// Disables the handler.
    pub disabled: bool,
    /// Its id; cosmetic.
    pub id: String,
    /// A name for people; of a script or plugin, the name of its handler.
    pub name: String,
    /// Method of the webhook: `GET` (also if empty), `PUT`, `POST`, `DELETE` or `PATCH`.
    pub method: String,
    /// URL of the webhook.
    pub target_path: String,
    /// File with the template of the webhook's body; empty for the default template.
    pub template_path: String,
    /// Header lines of the webhook.
    pub header_map: BTreeMap<String, String>,
    /// Seconds in which the same event is sent once; 0 for 60.
    pub event_timeout: i64,
    /// What each line of the log handler starts with.
    pub prefix: String,
    /// File of a handler in JavaScript.
    pub path: String,
}

/// An event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventKind {
    /// A request over its key's quota.
    QuotaExceeded,
    /// A request over the rate of its key or API.
    RateLimitExceeded,
    /// A request over its organisation's quota.
    OrgQuotaExceeded,
    /// A request over its organisation's rate.
    OrgRateLimitExceeded,
    /// A request whose credentials or address are refused.
    AuthFailure,
    /// A request with an expired or inactive key.
    KeyExpired,
    /// A request for a version or path that is refused.
    VersionFailure,
    /// A circuit breaker has opened or closed.
    BreakerTriggered,
    /// A circuit breaker has opened.
    BreakerTripped,
    /// A circuit breaker has closed.
    BreakerReset,
    /// An uptime test finds a target down.
    HostDown,
    /// An uptime test finds a target up again.
    HostUp,
    /// A quota has been used to a configured share.
    TriggerExceeded,
    /// A key was created.
    TokenCreated,
    /// A key was changed.
    TokenUpdated,
    /// A key was removed.
    TokenDeleted,
    /// A certificate ends soon.
    CertificateExpiringSoon,
    /// A certificate has ended.
    CertificateExpired,
    /// The smoothed rate of a key has risen.
    RateLimitSmoothingUp,
    /// The smoothed rate of a key has fallen.
    RateLimitSmoothingDown,
    /// The gateway has no token for an upstream.
    UpstreamOAuthError,
    /// Somebody did something at the developer portal, such as asking for a plan.
    PortalChange,
    /// Somebody changed something over the control API, or signed in to the console.
    OperatorChange,
    /// A request that the web application firewall denies.
    WafDenied,
}

impl EventKind {
    /// All events.
    pub const ALL: [EventKind; 24] = [
        EventKind::QuotaExceeded,
        EventKind::RateLimitExceeded,
        EventKind::OrgQuotaExceeded,
        EventKind::OrgRateLimitExceeded,
        EventKind::AuthFailure,
        EventKind::KeyExpired,
        EventKind::VersionFailure,
        EventKind::BreakerTriggered,
        EventKind::BreakerTripped,
        EventKind::BreakerReset,
        EventKind::HostDown,
        EventKind::HostUp,
        EventKind::TriggerExceeded,
        EventKind::TokenCreated,
        EventKind::TokenUpdated,
        EventKind::TokenDeleted,
        EventKind::CertificateExpiringSoon,
        EventKind::CertificateExpired,
        EventKind::RateLimitSmoothingUp,
        EventKind::RateLimitSmoothingDown,
        EventKind::UpstreamOAuthError,
        EventKind::PortalChange,
        EventKind::OperatorChange,
        EventKind::WafDenied,
    ];

    /// Tyk's name of it, if it has one.
    pub fn name(self) -> &'static str {
        match self {
            EventKind::QuotaExceeded => "QuotaExceeded",
            EventKind::RateLimitExceeded => "RatelimitExceeded",
            EventKind::OrgQuotaExceeded => "OrgQuotaExceeded",
            EventKind::OrgRateLimitExceeded => "OrgRateLimitExceeded",
            EventKind::AuthFailure => "AuthFailure",
            EventKind::KeyExpired => "KeyExpired",
            EventKind::VersionFailure => "VersionFailure",
            EventKind::BreakerTriggered => "BreakerTriggered",
            EventKind::BreakerTripped => "BreakerTripped",
            EventKind::BreakerReset => "BreakerReset",
            EventKind::HostDown => "HostDown",
            EventKind::HostUp => "HostUp",
            EventKind::TriggerExceeded => "TriggerExceeded",
            EventKind::TokenCreated => "TokenCreated",
            EventKind::TokenUpdated => "TokenUpdated",
            EventKind::TokenDeleted => "TokenDeleted",
            EventKind::CertificateExpiringSoon => "CertificateExpiringSoon",
            EventKind::CertificateExpired => "CertificateExpired",
            EventKind::RateLimitSmoothingUp => "RateLimitSmoothingUp",
            EventKind::RateLimitSmoothingDown => "RateLimitSmoothingDown",
            EventKind::UpstreamOAuthError => "UpstreamOAuthError",
            EventKind::PortalChange => "PortalChange",
            EventKind::OperatorChange => "OperatorChange",
            EventKind::WafDenied => "WafDenied",
        }
    }

    /// The event with this name. Letter case does not matter: Tyk's documentation and its code differ in it.
    pub fn from_name(name: &str) -> Option<EventKind> {
        EventKind::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name))
    }

    /// Whether handlers of the gateway's configuration get the event.
    pub fn is_of_gateway(self) -> bool {
        let is_of_certificate = matches!(self, EventKind::CertificateExpiringSoon | EventKind::CertificateExpired);
        let is_of_key = matches!(self, EventKind::TokenCreated | EventKind::TokenUpdated | EventKind::TokenDeleted);
        is_of_certificate || is_of_key || matches!(self, EventKind::PortalChange | EventKind::OperatorChange)
    }

    /// Whether handlers of a definition get the event.
    pub fn is_of_api(self) -> bool {
        let is_of_key = matches!(self, EventKind::TokenCreated | EventKind::TokenUpdated | EventKind::TokenDeleted);
        !is_of_key && !matches!(self, EventKind::TriggerExceeded | EventKind::PortalChange | EventKind::OperatorChange)
    }
}

/// Whose handlers they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HandlerOwner {
    Api,
    Gateway,
}

/// What a handler does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandlerAction {
    /// `eh_web_hook_handler`
    Webhook,
    /// `eh_log_handler`
    Log,
    /// `eh_dynamic_handler`
    Script,
    /// `cp_dynamic_handler`
    Plugin,
}

impl EventHandler {
    /// What the handler does; `None` if it is not supported.
    pub fn action(&self) -> Option<HandlerAction> {
        match self.handler_name.as_str() {
            "eh_web_hook_handler" => Some(HandlerAction::Webhook),
            "eh_log_handler" => Some(HandlerAction::Log),
            "eh_dynamic_handler" => Some(HandlerAction::Script),
            "cp_dynamic_handler" => Some(HandlerAction::Plugin),
            _ => None,
        }
    }
}

/// Adds the problems of `event_handlers` at a place to `findings`.
pub(crate) fn check(handlers: &EventHandlers, at: &JsonPath, owner: HandlerOwner, findings: &mut Findings) {
    for (name, list) in &handlers.events {
        let at = at.key("events").key(name);
        match EventKind::from_name(name) {
            _ if list.is_empty() => {}
            None => findings.warning(&at, format!("{name:?} is no event: its handlers are never called")),
            Some(EventKind::TriggerExceeded) => {
                findings.warning(&at, "is sent to monitor.configuration of the gateway's configuration only, as in Tyk");
            }
            Some(kind) if !kind.is_of_api() && owner == HandlerOwner::Api => {
                findings.warning(&at, "belongs to the gateway: only event_handlers of its configuration get it, as in Tyk");
            }
            Some(kind) if !kind.is_of_gateway() && owner == HandlerOwner::Gateway => {
                findings.warning(&at, "belongs to APIs: only event_handlers of their definitions get it, as in Tyk");
            }
            Some(_) => {}
        }
        for (index, handler) in list.iter().enumerate().filter(|(_, handler)| !handler.handler_meta.disabled) {
            let at = at.index(index);
            match owner {
                HandlerOwner::Gateway => check_handler(handler, &at, owner, findings),
                // An event protects nothing: the API is served without it.
                HandlerOwner::Api => {
                    let mut own = Findings::default();
                    check_handler(handler, &at, owner, &mut own);
                    findings.extend(own.without("the handler is never called"));
                }
            }
        }
    }
}

impl EventHandler {
    /// Whether an API can call it: its settings have no error.
    pub fn is_usable(&self) -> bool {
        let mut findings = Findings::default();
        check_handler(self, &JsonPath::root(), HandlerOwner::Api, &mut findings);
        !findings.has_error()
    }
}

fn check_handler(handler: &EventHandler, at: &JsonPath, owner: HandlerOwner, findings: &mut Findings) {
    match handler.action() {
        Some(HandlerAction::Webhook) => check_webhook(&handler.handler_meta, &at.key("handler_meta"), findings),
        Some(HandlerAction::Log) => {}
        Some(HandlerAction::Script | HandlerAction::Plugin) if owner == HandlerOwner::Gateway => {
            findings.warning(&at.key("handler_name"), "handlers in plugins belong to APIs: it is never called, as in Tyk");
        }
        Some(HandlerAction::Script) => {
            for (name, value) in [("name", &handler.handler_meta.name), ("path", &handler.handler_meta.path)] {
                if value.is_empty() {
                    findings.error(&at.key("handler_meta").key(name), "must not be empty");
                }
            }
        }
        Some(HandlerAction::Plugin) => {
            if handler.handler_meta.name.is_empty() {
                findings.error(&at.key("handler_meta").key("name"), "must not be empty");
            }
        }
        None => findings.error(&at.key("handler_name"), "must be eh_web_hook_handler or eh_log_handler"),
    }
}

/// Adds the problems of a webhook.
pub(crate) fn check_webhook(meta: &EventHandlerMeta, at: &JsonPath, findings: &mut Findings) {
    let method = meta.method.to_ascii_uppercase();
    if !matches!(method.as_str(), "" | "GET" | "PUT" | "POST" | "DELETE" | "PATCH") {
        findings.warning(&at.key("method"), "must be GET, PUT, POST, DELETE or PATCH: GET is used, as in Tyk");
    }
    if !is_web_url(&meta.target_path) {
        findings.error(&at.key("target_path"), "must be an absolute http or https URL");
    }
    if meta.event_timeout < 0 {
        findings.error(&at.key("event_timeout"), "must not be negative");
    }
    for (name, value) in &meta.header_map {
        if !is_token(name) || !is_header_value(value) {
            findings.error(&at.key("header_map").key(name), "is not a valid header line");
        }
    }
}

/// Whether a text is an absolute URL that a webhook can be sent to.
fn is_web_url(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else { return false };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let is_web = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    is_web && !host.is_empty() && url.chars().all(|c| c.is_ascii_graphic())
}

#[cfg(test)]
mod tests;
