//! Sessions as messages and back, as Tyk converts them.

use crate::message::{AccessDefinition, AccessSpec, MapEntry, PasswordData, QuotaMonitor, RightEntry, SessionState, TokenData};
use serde_json::{Value, json};
use tollgate_model::session::{AccessRight, AllowedUrl, BasicAuthData, JwtData, Session};

/// A session as a plugin sees it.
pub(crate) fn message(session: Session, token: Option<&str>) -> SessionState {
    let limits = session.monitor.get("trigger_limits").and_then(Value::as_array);
    let trigger_limits = limits.into_iter().flatten().filter_map(Value::as_f64).collect();
    SessionState {
        last_check: session.last_check,
        allowance: session.allowance,
        rate: session.rate,
        per: session.per,
        expires: session.expires,
        quota_max: session.quota_max,
        quota_renews: session.quota_renews,
        quota_remaining: session.quota_remaining,
        quota_renewal_rate: session.quota_renewal_rate,
        access_rights: session.access_rights.into_iter().map(right_entry).collect(),
        org_id: session.org_id,
        oauth_client_id: session.oauth_client_id,
        oauth_keys: session.oauth_keys.into_iter().map(|(key, value)| MapEntry { key, value }).collect(),
        basic_auth_data: Some(PasswordData { password: session.basic_auth_data.password, hash: session.basic_auth_data.hash_type }),
        jwt_data: Some(TokenData { secret: session.jwt_data.secret }),
        hmac_enabled: session.hmac_enabled,
        hmac_secret: session.hmac_string,
        is_inactive: session.is_inactive,
        apply_policy_id: session.apply_policy_id,
        data_expires: session.data_expires,
        monitor: Some(QuotaMonitor { trigger_limits }),
        enable_detailed_recording: session.enable_detailed_recording || session.enable_detail_recording,
        metadata: session.meta_data.into_iter().map(metadata_entry).collect(),
        tags: session.tags,
        alias: session.alias,
        last_updated: session.last_updated,
        id_extractor_deadline: session.id_extractor_deadline,
        session_lifetime: session.session_lifetime,
        apply_policies: session.apply_policies,
        // As in Tyk, which does not send these two.
        certificate: String::new(),
        max_query_depth: 0,
        key_id: token.unwrap_or_default().to_owned(),
        post_expiry_action: session.post_expiry_action,
        post_expiry_grace_period: session.post_expiry_grace_period,
    }
}

/// A value of the metadata: texts as they are, all others as JSON.
fn metadata_entry((key, value): (String, Value)) -> MapEntry {
    let value = match value {
        Value::String(text) => text,
        other => other.to_string(),
    };
    MapEntry { key, value }
}

fn right_entry((key, right): (String, AccessRight)) -> RightEntry {
    let urls = right.allowed_urls.into_iter();
    let value = AccessDefinition {
        api_name: right.api_name,
        api_id: right.api_id,
        versions: right.versions,
        allowed_urls: urls.map(|allowed| AccessSpec { url: allowed.url, methods: allowed.methods }).collect(),
    };
    RightEntry { key, value: Some(value) }
}

/// The session that a plugin returned.
pub(crate) fn session(message: SessionState) -> Session {
    let password = message.basic_auth_data.unwrap_or_default();
    let limits = message.monitor.unwrap_or_default().trigger_limits;
    Session {
        last_check: message.last_check,
        allowance: message.allowance,
        rate: message.rate,
        per: message.per,
        max_query_depth: message.max_query_depth,
        expires: message.expires,
        quota_max: message.quota_max,
        quota_renews: message.quota_renews,
        quota_remaining: message.quota_remaining,
        quota_renewal_rate: message.quota_renewal_rate,
        access_rights: message.access_rights.into_iter().map(right).collect(),
        org_id: message.org_id,
        oauth_client_id: message.oauth_client_id,
        oauth_keys: message.oauth_keys.into_iter().map(|entry| (entry.key, entry.value)).collect(),
        certificate: message.certificate,
        basic_auth_data: BasicAuthData { password: password.password, hash_type: password.hash, ..BasicAuthData::default() },
        jwt_data: JwtData { secret: message.jwt_data.unwrap_or_default().secret, ..JwtData::default() },
        hmac_enabled: message.hmac_enabled,
        hmac_string: message.hmac_secret,
        is_inactive: message.is_inactive,
        apply_policy_id: message.apply_policy_id,
        apply_policies: message.apply_policies,
        data_expires: message.data_expires,
        monitor: if limits.is_empty() { Value::Null } else { json!({ "trigger_limits": limits }) },
        enable_detailed_recording: message.enable_detailed_recording,
        meta_data: message.metadata.into_iter().map(|entry| (entry.key, Value::String(entry.value))).collect(),
        tags: message.tags,
        alias: message.alias,
        last_updated: message.last_updated,
        id_extractor_deadline: message.id_extractor_deadline,
        session_lifetime: message.session_lifetime,
        post_expiry_action: message.post_expiry_action,
        post_expiry_grace_period: message.post_expiry_grace_period,
        ..Session::default()
    }
}

fn right(entry: RightEntry) -> (String, AccessRight) {
    let message = entry.value.unwrap_or_default();
    let allowed = |spec: AccessSpec| AllowedUrl { url: spec.url, methods: spec.methods, ..AllowedUrl::default() };
    let right = AccessRight {
        api_name: message.api_name,
        api_id: message.api_id,
        versions: message.versions,
        allowed_urls: message.allowed_urls.into_iter().map(allowed).collect(),
        ..AccessRight::default()
    };
    (entry.key, right)
}
