//! What an AuthenticationPolicy makes of definitions.

use super::key_ring::{KeyFromSecret, KeyQuota, keys, ring_name};
use super::{Effect, invalid, members, merge, version};
use crate::cluster::Cluster;
use crate::compile::certificates::{ReasonNames, authorities, authorities_of, text_of};
use crate::compile::grants::Referrer;
use crate::compile::http::milliseconds;
use crate::conditions::Fault;
use crate::objects::{
    ApiKeySettings, AuthenticationSettings, BasicUserSettings, ClientAuthorities, CredentialPlace, ExternalCheck, JwtSettings, Key,
    KeyQuotaSettings, Metadata, ObjectRef, OidcSettings, TokenAlgorithms,
};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// # Errors
/// It can't act.
pub(super) fn effect(
    cluster: &Cluster,
    metadata: &Metadata,
    settings: &AuthenticationSettings,
    rings: &mut BTreeMap<String, Vec<KeyFromSecret>>,
) -> Result<Effect, Fault> {
    let mut document = json!({"strip_auth_data": !settings.forward_credentials});
    let (mut methods, mut unresolved) = (Vec::new(), None);
    if let Some(written) = &settings.api_keys {
        methods.push("authToken");
        let (keys, own) = api_keys(cluster, metadata, written)?;
        merge(&mut document, own);
        if let Some((keys, fault)) = keys {
            rings.insert(ring_name(&metadata.key()), keys);
            unresolved = fault;
        }
    }
    if let Some(written) = &settings.jwt {
        methods.push("jwt");
        merge(&mut document, jwt(written)?);
    }
    if let Some(written) = &settings.oidc {
        methods.push("oidc");
        merge(&mut document, oidc(written)?);
    }
    if let Some(written) = &settings.external {
        methods.push("forward");
        merge(&mut document, external(written)?);
    }
    let is_open = methods.is_empty();
    if let Some(written) = &settings.basic {
        if !is_open {
            return Err(invalid("basic does not go with apiKeys, jwt, oidc and external"));
        }
        merge(&mut document, basic(cluster, metadata, written, settings.forward_credentials)?);
    }
    if let Some(written) = &settings.client_certificates {
        merge(&mut document, client_certificates(cluster, metadata, written)?);
    }
    if is_open && settings.basic.is_none() && settings.client_certificates.is_none() {
        return Err(invalid("It names no method"));
    }
    merge(&mut document, json!({"use_keyless": is_open}));
    if methods.len() > 1 {
        let alternatives: Vec<[&str; 1]> = methods.iter().map(|method| [*method]).collect();
        merge(&mut document, json!({"tollgate": {"auth_alternatives": alternatives}}));
    }
    let is_for_tokens = !is_open && settings.api_keys.is_none() && settings.external.is_none();
    if let Some(scopes) = settings.required_scopes.as_ref().filter(|scopes| !scopes.is_empty()) {
        if !is_for_tokens {
            return Err(invalid("requiredScopes are for tokens: they go with jwt and oidc alone"));
        }
        merge(&mut document, json!({"tollgate": {"scope_check": {"alternatives": [scopes]}}}));
    }
    if let Some(headers) = settings.claim_headers.as_ref().filter(|headers| !headers.is_empty()) {
        let set: BTreeMap<&str, String> =
            headers.iter().map(|written| (written.header.as_str(), format!("$tyk_context.jwt_claims_{}", written.claim))).collect();
        merge(&mut document, json!({"enable_context_vars": true, "version_data": version(json!({"global_headers": set}))}));
    }
    Ok(Effect { members: members(document), unresolved, ..Effect::default() })
}

type FoundKeys = (Vec<KeyFromSecret>, Option<Fault>);

fn api_keys(cluster: &Cluster, metadata: &Metadata, written: &ApiKeySettings) -> Result<(Option<FoundKeys>, Value), Fault> {
    let mut document = json!({"use_standard_auth": true, "auth_configs": {"authToken": place(written.from.as_ref())}});
    let labels = written.match_labels.as_ref().filter(|labels| !labels.is_empty());
    let Some(labels) = labels else {
        return if written.stored { Ok((None, document)) } else { Err(invalid("apiKeys name no Secrets: matchLabels is empty")) };
    };
    let ring = json!({"name": ring_name(&metadata.key()), "stored_keys": written.stored});
    merge(&mut document, json!({"tollgate": {"key_ring": ring}}));
    let quota = written.quota.as_ref().map(key_quota).transpose()?;
    Ok((Some(keys(cluster, metadata, labels, quota)), document))
}

fn key_quota(written: &KeyQuotaSettings) -> Result<KeyQuota, Fault> {
    let window_ms = milliseconds(&written.window).map_err(|fault| invalid(fault.message))?;
    if written.requests < 1 || window_ms < 1_000 {
        return Err(invalid("A quota must have at least 1 request, and a window of at least 1s"));
    }
    Ok(KeyQuota { requests: written.requests, renewal_s: i64::try_from(window_ms / 1_000).unwrap_or(i64::MAX) })
}

/// The lines of all Secrets. One without users closes the route: whoever is in it can't pass, and nobody would know why.
fn basic(cluster: &Cluster, metadata: &Metadata, written: &BasicUserSettings, forwards: bool) -> Result<Value, Fault> {
    let mut users: Vec<String> = Vec::new();
    for name in &written.secrets {
        let key = Key::new(&metadata.namespace, name);
        let at = |why: &str| invalid(format!("The Secret {key} {why}"));
        let secret = cluster.secrets.get(&key).ok_or_else(|| at("does not exist"))?;
        let text = text_of(&secret.spec, "auth").map_err(|why| at(&why))?;
        let is_user = |line: &&str| {
            !line.starts_with('#') && line.split_once(':').is_some_and(|(user, hash)| !user.is_empty() && !hash.is_empty())
        };
        let before = users.len();
        users.extend(text.lines().map(str::trim).filter(is_user).map(str::to_owned));
        if users.len() == before {
            return Err(at("has no users"));
        }
    }
    if users.is_empty() {
        return Err(invalid("basic names no Secrets"));
    }
    let mut document = json!({"tollgate": {"user_passwords": users}});
    if !forwards {
        merge(&mut document, json!({"version_data": version(json!({"global_headers_remove": ["Authorization"]}))}));
    }
    Ok(document)
}

/// The authorities, each as a certificate of its own.
fn client_certificates(cluster: &Cluster, metadata: &Metadata, written: &ClientAuthorities) -> Result<Value, Fault> {
    let mut certificates: Vec<String> = Vec::new();
    for name in written.secrets.iter().flatten() {
        let key = Key::new(&metadata.namespace, name);
        let at = |why: &str| invalid(format!("The Secret {key} {why}"));
        let secret = cluster.secrets.get(&key).ok_or_else(|| at("does not exist"))?;
        let text = authorities_of(&secret.spec).map_err(|why| at(&why))?;
        certificates.extend(single_certificates(&text));
    }
    let from = Referrer { kind: "AuthenticationPolicy", namespace: &metadata.namespace };
    for name in written.config_maps.iter().flatten() {
        let to = ObjectRef { kind: Some("ConfigMap".to_owned()), name: name.clone(), ..ObjectRef::default() };
        let names = ReasonNames { invalid: "Invalid", invalid_kind: "Invalid" };
        certificates.extend(single_certificates(&authorities(cluster, from, &to, &names)?));
    }
    if certificates.is_empty() {
        return Err(invalid("clientCertificates name no authorities"));
    }
    Ok(json!({"use_mutual_tls_auth": true, "client_certificates": certificates}))
}

/// The certificates of a text in PEM.
fn single_certificates(text: &str) -> Vec<String> {
    const END: &str = "-----END CERTIFICATE-----";
    let parts = text.split_inclusive(END).filter(|part| part.ends_with(END));
    parts.filter_map(|part| Some(part.get(part.find("-----BEGIN CERTIFICATE-----")?..)?.to_owned())).collect()
}

fn jwt(written: &JwtSettings) -> Result<Value, Fault> {
    let method = match written.algorithms {
        None | Some(TokenAlgorithms::Rsa) => "rsa",
        Some(TokenAlgorithms::Ecdsa) => "ecdsa",
        Some(TokenAlgorithms::EdDsa) => "eddsa",
    };
    let keys = match (&written.jwks_uris, &written.public_key) {
        (Some(uris), None) if !uris.is_empty() => {
            uris.iter().try_for_each(|uri| web_url(uri))?;
            let uris: Vec<Value> = uris.iter().map(|uri| json!({"url": uri})).collect();
            json!({"jwt_jwks_uris": uris})
        }
        (None, Some(key)) if !key.trim().is_empty() => json!({"jwt_source": STANDARD.encode(key)}),
        _ => return Err(invalid("jwt must name either jwksUris or a publicKey")),
    };
    let mut document = json!({
        "enable_jwt": true,
        "jwt_signing_method": method,
        "auth_configs": {"jwt": place(written.from.as_ref())},
        "tollgate": {"jwt": {"policies_optional": true, "allowed_issuers": written.issuers, "allowed_audiences": written.audiences}},
    });
    merge(&mut document, keys);
    if let Some(claim) = &written.subject_claim {
        merge(&mut document, json!({"tollgate": {"jwt": {"subject_claims": [claim]}}}));
    }
    Ok(document)
}

fn oidc(written: &OidcSettings) -> Result<Value, Fault> {
    if written.providers.is_empty() {
        return Err(invalid("oidc names no providers"));
    }
    let mut providers = Vec::with_capacity(written.providers.len());
    for provider in &written.providers {
        web_url(&provider.issuer)?;
        // A client without a policy: its users may call this route.
        let clients: BTreeMap<String, &str> = provider.clients.iter().map(|client| (STANDARD.encode(client), "")).collect();
        providers.push(json!({"issuer": provider.issuer, "client_ids": clients}));
    }
    Ok(json!({
        "use_openid": true,
        "openid_options": {"providers": providers},
        "auth_configs": {"oidc": place(written.from.as_ref())},
        "tollgate": {"jwt": {"policies_optional": true}},
    }))
}

fn external(written: &ExternalCheck) -> Result<Value, Fault> {
    web_url(&written.url)?;
    let timeout_ms = written.timeout.as_deref().map(milliseconds).transpose().map_err(|fault| invalid(fault.message))?;
    Ok(json!({"tollgate": {"forward_auth": {
        "url": written.url,
        "timeout_ms": timeout_ms.unwrap_or_default(),
        "request_headers": written.request_headers,
        "response_headers": written.response_headers,
        "identity_header": written.identity_header.as_deref().unwrap_or_default(),
    }}}))
}

/// Where a method finds its credential.
fn place(written: Option<&CredentialPlace>) -> Value {
    let Some(written) = written else { return json!({}) };
    let mut place = json!({"disable_header": written.header.is_none()});
    let used = [
        ("auth_header_name", None, &written.header),
        ("param_name", Some("use_param"), &written.query),
        ("cookie_name", Some("use_cookie"), &written.cookie),
    ];
    for (name, switch, value) in used {
        if let (Some(value), Value::Object(members)) = (value, &mut place) {
            members.insert(name.to_owned(), json!(value));
            members.extend(switch.map(|switch| (switch.to_owned(), json!(true))));
        }
    }
    place
}

fn web_url(url: &str) -> Result<(), Fault> {
    let is_web = ["http://", "https://"].iter().any(|scheme| url.strip_prefix(scheme).is_some_and(|rest| !rest.is_empty()));
    if is_web { Ok(()) } else { Err(invalid(format!("`{url}` is no URL of HTTP"))) }
}
