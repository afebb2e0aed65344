//! The body of a webhook: a template in Go's language, with Tyk's names. A template that fails with the events that it is for is an error when
//! it is loaded, not when an event happens.

use super::event::GatewayEvent;
use crate::template_host::GatewayTemplateHost;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use tollgate_gotemplate::{RenderLimits, Template};
use tollgate_model::bounded_file;
use tollgate_model::events::EventKind;

/// Largest template file, in bytes; a larger file is not the body of a webhook.
const FILE_BYTES_MAX: u64 = 64 << 10;

/// A body has one event.
const LIMITS: RenderLimits = RenderLimits { bytes_max: 256 << 10, steps_max: 20_000 };

/// All names of Tyk's events.
const NAMES: [&str; 43] = [
    "Type",
    "Meta",
    "TimeStamp",
    "EventMetaDefault",
    "Message",
    REQUEST,
    "Path",
    "Origin",
    "Key",
    "Reason",
    "APIID",
    "CircuitEvent",
    "HostInfo",
    "CheckURL",
    FREE,
    "ResponseCode",
    "IsTCPError",
    "OrgID",
    "TriggerLimit",
    "UsagePercentage",
    "Org",
    "CertID",
    "CertName",
    "ExpiresAt",
    "ExpiredAt",
    "DaysRemaining",
    "DaysSinceExpiry",
    "CertRole",
    "What",
    "Application",
    "Grant",
    "Product",
    "Plan",
    "Developer",
    "User",
    "Address",
    "Action",
    "Kind",
    "Target",
    "Status",
    "Seq",
    "Prev",
    "Hash",
];
const REQUEST: &str = "OriginatingRequest";
/// The member that has any names.
const FREE: &str = "MetaData";

/// The template for webhooks without one.
const BUILT_IN: &str = r#"{{ $meta := .Meta -}}
{{ define "start" -}}
{
    "event": "{{ .Type }}",
    "message": "{{ .Meta.Message }}",
{{- end -}}
{{ template "start" . }}
{{- if or (eq .Type "HostDown") (eq .Type "HostUp") }}
    "url": "{{ $meta.HostInfo.CheckURL }}",
    "response_code": "{{ $meta.HostInfo.ResponseCode }}",
    "tcp_error": "{{ $meta.HostInfo.IsTCPError }}",
    "host": "{{ $meta.HostInfo.MetaData.host_name }}",
    "api_id": "{{ $meta.HostInfo.MetaData.api_id }}"
{{- else if eq .Type "TriggerExceeded" }}
    "org": "{{ $meta.OrgID }}",
    "key": "{{ $meta.Key }}",
    "trigger_limit": "{{ $meta.TriggerLimit }}"
{{- else if or (eq .Type "TokenCreated") (eq .Type "TokenUpdated") (eq .Type "TokenDeleted") }}
    "org": "{{ $meta.Org }}",
    "key": "{{ $meta.Key }}"
{{- else if or (eq .Type "BreakerTriggered") (eq .Type "BreakerTripped") (eq .Type "BreakerReset") }}
    "api_id": "{{ $meta.APIID }}",
    "path": "{{ $meta.Path }}"
    {{- if eq .Type "BreakerTriggered" }},
    "Status": "{{ $meta.CircuitEvent }}"
    {{- end }}
{{- else if eq .Type "UpstreamOAuthError" }}
    "api_id": "{{ $meta.APIID }}"
{{- else if eq .Type "PortalChange" }}
    "what": "{{ $meta.What }}",
    "application": "{{ $meta.Application }}",
    "grant": "{{ $meta.Grant }}",
    "product": "{{ $meta.Product }}",
    "plan": "{{ $meta.Plan }}",
    "developer": "{{ $meta.Developer }}"
{{- else if eq .Type "OperatorChange" }}
    "user": "{{ $meta.User }}",
    "address": "{{ $meta.Address }}",
    "action": "{{ $meta.Action }}",
    "kind": "{{ $meta.Kind }}",
    "target": "{{ $meta.Target }}",
    "status": {{ $meta.Status }}
    {{- if $meta.Hash }},
    "seq": {{ $meta.Seq }},
    "prev": "{{ $meta.Prev }}",
    "hash": "{{ $meta.Hash }}"
    {{- end }}
{{- else if or (eq .Type "CertificateExpiringSoon") (eq .Type "CertificateExpired") }}
    "cert_id": "{{ $meta.CertID }}",
    "cert_name": "{{ $meta.CertName }}",
    {{- if eq .Type "CertificateExpired" }}
    "expired_at": "{{ $meta.ExpiredAt | as_rfc3339 }}",
    "days_since_expiry": {{ $meta.DaysSinceExpiry }},
    {{- else }}
    "expires_at": "{{ $meta.ExpiresAt | as_rfc3339 }}",
    "days_remaining": {{ $meta.DaysRemaining }},
    {{- end }}
    "cert_role": "{{ $meta.CertRole }}",
    {{- if $meta.APIID }}
    "api_id": "{{ $meta.APIID }}",
    {{- end }}
    "timestamp": "{{ .TimeStamp | as_rfc3339_from_string }}"
{{- else }}
    "path": "{{ $meta.Path }}",
    "origin": "{{ $meta.Origin }}",
    "key": "{{ $meta.Key }}"
{{- end }}
}
"#;

/// A template for bodies.
#[derive(Debug)]
pub(super) struct EventTemplate {
    template: Template,
    digest: blake3::Hash,
}

/// Why there is no template.
#[derive(Debug)]
pub(super) enum TemplateFault {
    /// The file can't be read.
    Unreadable(String),
    /// Its text is not a template for events.
    Wrong(String),
}

impl EventTemplate {
    /// The template for webhooks without one.
    pub(super) fn built_in() -> Arc<EventTemplate> {
        static TEMPLATE: LazyLock<Arc<EventTemplate>> = LazyLock::new(|| {
            let made = EventTemplate::parse(BUILT_IN).or_else(|_| EventTemplate::parse(""));
            // A test renders it for every event.
            Arc::new(made.unwrap_or_else(|_| unreachable!("an empty text is a template")))
        });
        TEMPLATE.clone()
    }

    /// Reads a file.
    pub(super) fn load(file: &Path) -> Result<EventTemplate, TemplateFault> {
        let unreadable = |error: std::io::Error| TemplateFault::Unreadable(format!("cannot be read: {error}"));
        EventTemplate::parse(&bounded_file::read_text(file, FILE_BYTES_MAX).map_err(unreadable)?).map_err(TemplateFault::Wrong)
    }

    /// Parses a text. A name that no event has is an error: it is a typing error, in a branch that may never have been taken.
    pub(super) fn parse(text: &str) -> Result<EventTemplate, String> {
        let template = Template::parse(text).map_err(|error| error.to_string())?;
        // After `with`, the members of a free one can't be told from other names; these are the members that there are.
        let is_known = |name: &str| NAMES.contains(&name) || matches!(name, "api_id" | "host_name" | "target_url");
        let unknown = template.field_paths().into_iter().find_map(|path| {
            let mut names = path.iter().take_while(|name| *name != FREE);
            names.find(|name| !is_known(name)).cloned()
        });
        match unknown {
            Some(unknown) => Err(format!("{unknown:?} is not a name of any event")),
            None => Ok(EventTemplate { template, digest: blake3::hash(text.as_bytes()) }),
        }
    }

    /// Renders the template once with an event of this kind: one that fails with it always fails.
    pub(super) fn check(&self, kind: EventKind) -> Result<(), String> {
        let rendered = self.render(&GatewayEvent::sample(kind));
        rendered.map(drop).map_err(|error| format!("fails with {} events: {error}", kind.name()))
    }

    /// Digest of its text.
    pub(super) fn digest(&self) -> blake3::Hash {
        self.digest
    }

    /// Whether it uses the request behind an event.
    pub(super) fn uses_request(&self) -> bool {
        self.template.field_paths().into_iter().flatten().any(|name| name == REQUEST)
    }

    /// The body for an event.
    pub(super) fn render(&self, event: &GatewayEvent) -> Result<String, String> {
        self.template.render_html(&event.value(), LIMITS, &GatewayTemplateHost).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests;
