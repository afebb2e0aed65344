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
            trust(&mut definition, draft);
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

/// Hosts outside of the cluster with TLS are trusted as ingress-nginx trusts them.
fn trust(definition: &mut Map<String, Value>, draft: &IngressDraft<'_>) {
    let is_elsewhere = |rule: &Value| {
        let backends = rule.get("backends").and_then(Value::as_array).into_iter().flatten();
        backends.filter_map(|backend| backend.get("url")?.as_str()).any(|url| url.starts_with("https://"))
    };
    let rules = definition.get("tollgate").and_then(|own| own.pointer("/route/rules")).and_then(Value::as_array);
    if rules.into_iter().flatten().any(is_elsewhere)
        && let Some(Value::Object(proxy)) = definition.get_mut("proxy")
    {
        proxy.insert("transport".to_owned(), json!({"ssl_insecure_skip_verify": !draft.settings.backend.is_verified}));
    }
}

/// The definition of connections that nothing inspects.
pub(super) fn of_stream(metadata: &Metadata, number: usize, listener: &str, backend: &str) -> (String, Value) {
    let mut id = format!("k8s-ingress-{}.{}~tls", metadata.namespace, metadata.name);
    if number > 0 {
        id.push_str(&format!("~{}", number + 1));
    }
    let attached = [json!({"listener": listener})];
    let rules = [json!({"backends": [{"backend": backend}]})];
    let name = format!("Ingress {}", metadata.key());
    let mut definition = base(&id, &name, &precedence(metadata, Purpose::Serve), &attached, &rules);
    if let Some(route) = definition.get_mut("tollgate").and_then(|own| own.pointer_mut("/route")).and_then(Value::as_object_mut) {
        route.insert("kind".to_owned(), json!("stream"));
    }
    (id, Value::Object(definition))
}

/// In the place of definitions that check callers or requests, in case the gateway does not take them: what protects must not be missing.
pub(super) fn all_refusing(definitions: &BTreeMap<String, Value>) -> BTreeMap<String, Value> {
    let checks =
        |definition: &Value| definition.get("use_keyless") == Some(&json!(false)) || definition.pointer("/tollgate/waf").is_some();
    let protected = definitions.iter().filter(|(_, definition)| checks(definition));
    protected.filter_map(|(id, definition)| Some((id.clone(), refusing(definition)?))).collect()
}

/// The same definition with nothing but refusals.
fn refusing(definition: &Value) -> Option<Value> {
    let route = definition.pointer("/tollgate/route")?;
    let rules = route.get("rules")?.as_array()?.iter().map(|rule| {
        let mut closed = json!({"answer": {"status": 503, "message": "not served: the gateway does not take its definition"}});
        if let Value::Object(members) = &mut closed {
            members.extend(["hosts", "matches"].iter().filter_map(|name| Some(((*name).to_owned(), rule.get(*name)?.clone()))));
        }
        closed
    });
    let text = |of: &Value, name: &str| of.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let attached = route.get("attached")?.as_array()?;
    let rules: Vec<Value> = rules.collect();
    Some(Value::Object(base(&text(definition, "api_id"), &text(definition, "name"), &text(route, "precedence"), attached, &rules)))
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
    if let Some(most) = settings.concurrent_max {
        own.insert("concurrency".to_owned(), json!({"per_address": most, "exempt": settings.exempt}));
    }
    own.extend(settings.firewall.document.clone().map(|waf| ("waf".to_owned(), waf)));
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
