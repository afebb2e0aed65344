//! Definitions of Ingresses: one for what an Ingress serves, one for what it redirects to https.

use super::draft::IngressDraft;
use super::settings::IngressSettings;
use crate::objects::Metadata;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Rules of one definition; a route has room for no more than 256.
const RULES_MAX: usize = 200;
/// How long the service that decides about access may take.
const AUTH_MS: u64 = 10_000;

/// What a definition is for. Of equal matches, the redirect comes first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Redirect,
    Serve,
}

/// Adds the definitions of an Ingress with these rules, at these listeners.
pub(super) fn add(
    definitions: &mut BTreeMap<String, Value>,
    draft: &IngressDraft<'_>,
    purpose: Purpose,
    listeners: &[String],
    rules: &[Value],
) {
    let metadata = &draft.object.metadata;
    for (number, rules) in rules.chunks(RULES_MAX).enumerate() {
        let mut id = format!("k8s-ingress-{}.{}", metadata.namespace, metadata.name);
        if purpose == Purpose::Redirect {
            id.push_str("~https");
        }
        if number > 0 {
            id.push_str(&format!("~{}", number + 1));
        }
        let attached: Vec<Value> = listeners.iter().map(|listener| json!({"listener": listener})).collect();
        let mut definition = base(&id, &format!("Ingress {}", metadata.key()), &precedence(metadata, purpose), &attached, rules);
        if purpose == Purpose::Serve && draft.settings.closed.is_none() {
            protect(&mut definition, draft);
        }
        definitions.insert(id, Value::Object(definition));
    }
}

/// Routes of the Gateway API come before Ingresses: their texts begin with a digit.
fn precedence(metadata: &Metadata, purpose: Purpose) -> String {
    let order = if purpose == Purpose::Redirect { 0 } else { 1 };
    format!("~{}/{}/{order}", metadata.creation_timestamp, metadata.key())
}

pub(super) fn base(id: &str, name: &str, precedence: &str, attached: &[Value], rules: &[Value]) -> Map<String, Value> {
    let document = json!({
        "name": name,
        "api_id": id,
        "org_id": "",
        "active": true,
        "use_keyless": true,
        "version_data": {"not_versioned": true, "versions": {"Default": {"name": "Default", "use_extended_paths": true}}},
        "proxy": {"listen_path": "/", "target_url": ""},
        "tollgate": {"route": {"kind": "http", "precedence": precedence, "attached": attached, "rules": rules}},
    });
    match document {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// Adds what keeps somebody out.
fn protect(definition: &mut Map<String, Value>, draft: &IngressDraft<'_>) {
    let settings = &draft.settings;
    if !settings.allowed.is_empty() {
        definition.insert("allowed_ips".to_owned(), json!(settings.allowed));
        definition.insert("enable_ip_whitelisting".to_owned(), json!(true));
    }
    if !settings.denied.is_empty() {
        definition.insert("blacklisted_ips".to_owned(), json!(settings.denied));
        definition.insert("enable_ip_blacklisting".to_owned(), json!(true));
    }
    if let Some(bytes) = settings.body_bytes_max.filter(|bytes| *bytes > 0)
        && let Some(Value::Object(version)) =
            definition.get_mut("version_data").and_then(|data| data.pointer_mut("/versions/Default"))
    {
        version.insert("global_size_limit".to_owned(), json!(i64::try_from(bytes).unwrap_or(i64::MAX)));
    }
    let forward_auth = draft.auth_url.as_ref().map(|url| forward_auth(url, settings));
    if forward_auth.is_some() {
        definition.insert("use_keyless".to_owned(), json!(false));
    }
    let Some(Value::Object(own)) = definition.get_mut("tollgate") else { return };
    let rates = settings.request_limits();
    if !rates.is_empty() {
        own.insert("request_limits".to_owned(), Value::Array(rates));
    }
    if !draft.basic_users.is_empty() {
        own.insert("user_passwords".to_owned(), json!(draft.basic_users));
    }
    own.extend(forward_auth.map(|rules| ("forward_auth".to_owned(), rules)));
}

fn forward_auth(url: &str, settings: &IngressSettings) -> Value {
    let signin = settings.signin.as_ref().map(|signin| {
        let parameter = settings.signin_parameter.as_deref().unwrap_or("rd");
        let has_parameter = signin.split_once('?').is_some_and(|(_, query)| query.contains(&format!("{parameter}=")));
        let joint = if signin.contains('?') { "&" } else { "?" };
        if has_parameter { signin.clone() } else { format!("{signin}{joint}{parameter}={{escaped_url}}") }
    });
    json!({
        "url": url,
        "post": settings.auth_posts,
        "timeout_ms": AUTH_MS,
        "request_headers": ["*"],
        "response_headers": settings.auth_headers,
        "signin_url": signin.unwrap_or_default(),
    })
}
