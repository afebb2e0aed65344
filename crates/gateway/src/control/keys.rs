//! `/tyk/keys`: keys and their sessions. A change is stored before it is answered, and in effect with the next request.

use super::Control;
use super::answer::{Answer, error};
use crate::clock::unix_s;
use crate::keys::{Digest, Keys};
use crate::secret::random_bytes;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};
use tollgate_model::policy;
use tollgate_model::session::Session;
use tollgate_store::StoreFault;

pub type Parameters = Query<HashMap<String, String>>;

/// How the keys are shown: themselves, or their hashes where listing those is allowed.
pub async fn list(State(control): State<Arc<Control>>, Query(query): Parameters) -> Answer {
    let keys = &control.shared.keys;
    if keys.rules.hash_keys && !keys.rules.lists_hashed {
        return error(StatusCode::NOT_FOUND, "Hashed key listing is disabled in config (enable_hashed_keys_listing)");
    }
    let prefix = query.get("filter").map_or("", String::as_str);
    let shown = match query.get("api_id").filter(|id| !id.is_empty()) {
        Some(id) => keys.shown_for(id).await,
        None => keys.shown().await,
    };
    match shown {
        Ok(mut shown) => {
            shown.retain(|key| key.starts_with(prefix));
            Answer(StatusCode::OK, json!({ "keys": shown }))
        }
        Err(fault) => failed("Failed to list keys", &fault.to_string()),
    }
}

/// A new key with a name of the gateway's.
pub async fn create(State(control): State<Arc<Control>>, body: Bytes) -> Answer {
    let keys = &control.shared.keys;
    // Tyk's own status for it, here and nowhere else.
    let unreadable = error(StatusCode::INTERNAL_SERVER_ERROR, "Unmarshalling failed");
    make(keys, &body, unreadable).await
}

/// The same under the path of all keys, where Tyk's status for what is no session is another.
pub async fn add_unnamed(State(control): State<Arc<Control>>, body: Bytes) -> Answer {
    make(&control.shared.keys, &body, malformed()).await
}

async fn make(keys: &Keys, body: &[u8], unreadable: Answer) -> Answer {
    let mut session = match read_session(keys, body, unreadable) {
        Ok(session) => session,
        Err(answer) => return answer,
    };
    session.date_created = date(unix_s());
    if let Some(fingerprint) = session.certificate_fingerprints().pop().filter(|_| !session.certificate.is_empty()) {
        // A certificate stands for the key: it is found by the certificate.
        if let Err(fault) = keys.refresh(&fingerprint, &session.org_id).await {
            return failed("Failed to create key", &fault.to_string());
        }
        let token = keys.named(&fingerprint, &session.org_id);
        return put(keys, &token, session, false, "added").await;
    }
    match random_bytes() {
        Ok(random) => put(keys, &keys.generate(&session.org_id, random), session, false, "added").await,
        Err(failure) => error(StatusCode::INTERNAL_SERVER_ERROR, format!("Failed to create key, {failure}")),
    }
}

/// A key with a name of the operator's, new or replaced.
pub async fn add(State(control): State<Arc<Control>>, Path(id): Path<String>, Query(query): Parameters, body: Bytes) -> Answer {
    let keys = &control.shared.keys;
    if id.len() < keys.rules.token_bytes_min {
        return error(StatusCode::BAD_REQUEST, format!("Key length must be at least {}", keys.rules.token_bytes_min));
    }
    let mut session = match read_session(keys, &body, malformed()) {
        Ok(session) => session,
        Err(answer) => return answer,
    };
    session.date_created = date(unix_s());
    if let Err(fault) = keys.refresh(&id, &session.org_id).await {
        return failed("Failed to create key", &fault.to_string());
    }
    let token = keys.named(&id, &session.org_id);
    put(keys, &token, session, suppresses_reset(&query), "added").await
}

/// Replaces a key's session.
pub async fn update(State(control): State<Arc<Control>>, Path(id): Path<String>, Query(query): Parameters, body: Bytes) -> Answer {
    let keys = &control.shared.keys;
    let mut session = match read_session(keys, &body, malformed()) {
        Ok(session) => session,
        Err(answer) => return answer,
    };
    if let Err(fault) = keys.refresh(&id, &session.org_id).await {
        return failed("Failed to update key", &fault.to_string());
    }
    if wants_hash(&query) {
        let Some(digest) = keys.digests_of_hash(&id).first().copied() else {
            return error(StatusCode::NOT_FOUND, "Key is not found");
        };
        session.date_created = keys.session(&digest).map(|old| old.date_created).unwrap_or_default();
        let session = match keys.prepared(Some(digest), session).await {
            Ok(session) => session,
            Err(why) => return failed("Failed to update key", &why),
        };
        return match keys.put_digest(digest, &id, session, suppresses_reset(&query)).await {
            Ok(()) => Answer(StatusCode::OK, json!({ "key": id, "status": "ok", "action": "modified" })),
            Err(fault) => failed("Failed to update key", &fault.to_string()),
        };
    }
    let token = keys.named(&id, &session.org_id);
    let Some(old) = keys.digest_of(&token).and_then(|digest| keys.session(&digest)) else {
        return error(StatusCode::NOT_FOUND, "Key is not found");
    };
    session.date_created = old.date_created;
    put(keys, &token, session, suppresses_reset(&query), "modified").await
}

/// A key's session with its policies and what is left of its quotas.
pub async fn show(State(control): State<Arc<Control>>, Path(id): Path<String>, Query(query): Parameters) -> Answer {
    let keys = &control.shared.keys;
    if wants_hash(&query) && !keys.rules.hash_keys {
        return error(StatusCode::BAD_REQUEST, "Key requested by hash but key hashing is not enabled");
    }
    if let Err(fault) = refresh(keys, &id, &query).await {
        return failed("Failed to read key", &fault.to_string());
    }
    let session = find(keys, &id, &query).1.first().and_then(|digest| keys.live_session(digest, unix_s()));
    match session {
        Some(mut session) => {
            // Whoever may see keys has no business with passwords, not even hashed ones.
            session.basic_auth_data.password.clear();
            Answer(StatusCode::OK, session.to_json())
        }
        None => error(StatusCode::NOT_FOUND, "Key not found"),
    }
}

/// Removes a key, or every key that is shown by a hash.
pub async fn remove(State(control): State<Arc<Control>>, Path(id): Path<String>, Query(query): Parameters) -> Answer {
    let keys = &control.shared.keys;
    if let Err(fault) = refresh(keys, &id, &query).await {
        return unremoved(&fault);
    }
    let (name, digests) = find(keys, &id, &query);
    if digests.is_empty() {
        return error(StatusCode::NOT_FOUND, "There is no such key found");
    }
    for digest in digests {
        if let Err(fault) = keys.remove(&digest).await {
            return unremoved(&fault);
        }
    }
    Answer(StatusCode::OK, json!({ "key": name, "status": "ok", "action": "deleted" }))
}

/// Tyk says 400 for this, as if the caller could do something about it.
pub fn unremoved(fault: &StoreFault) -> Answer {
    tracing::error!(%fault, "a key can't be removed");
    failed("Failed to remove the key", &fault.to_string())
}

/// A session as it would be with its policies.
pub async fn preview(State(control): State<Arc<Control>>, body: Bytes) -> Answer {
    let Ok((mut session, _)) = Session::parse(&body) else {
        return error(StatusCode::INTERNAL_SERVER_ERROR, "Unmarshalling failed");
    };
    session.last_updated = unix_s().to_string();
    session.date_created = date(unix_s());
    match control.shared.keys.with_policies(&session) {
        Ok(session) => Answer(StatusCode::OK, session.to_json()),
        Err(problem) => failed("Failed to preview key", &problem.to_string()),
    }
}

/// Gives a key other policies.
pub async fn set_policies(State(control): State<Arc<Control>>, Path(id): Path<String>, body: Bytes) -> Answer {
    let keys = &control.shared.keys;
    let Ok(Value::Object(asked)) = serde_json::from_slice(&body) else {
        return error(StatusCode::BAD_REQUEST, "Couldn't decode instruction");
    };
    if let Err(fault) = keys.refresh(&id, "").await {
        return failed("Failed to update key", &fault.to_string());
    }
    let digest = keys.digests_of_hash(&id).first().copied().or_else(|| keys.digest_of(&id));
    let Some((digest, mut session)) = digest.and_then(|digest| Some((digest, keys.session(&digest)?))) else {
        return error(StatusCode::NOT_FOUND, "Key not found");
    };
    let mut policies: Vec<String> = asked.get("policy").and_then(Value::as_str).map(str::to_owned).into_iter().collect();
    policies.retain(|id| !id.is_empty());
    let more = asked.get("apply_policies").and_then(Value::as_array).into_iter().flatten();
    policies.extend(more.filter_map(|id| id.as_str().map(str::to_owned)));
    session.apply_policy_id.clear();
    session.apply_policies = policies;
    if let Err(problem) = keys.with_policies(&session) {
        return failed("Failed to update key", &problem.to_string());
    }
    let shown = keys.shown_of(&digest).unwrap_or_else(|| id.clone());
    match keys.put_digest(digest, &shown, session, true).await {
        Ok(()) => Answer(StatusCode::OK, json!({ "key": id, "status": "ok", "action": "updated" })),
        Err(fault) => failed("Failed to update key", &fault.to_string()),
    }
}

/// Reads a session and checks that its policies can be applied and that it is let in somewhere; `malformed` is the answer to what is
/// no session.
fn read_session(keys: &Keys, body: &[u8], malformed: Answer) -> Result<Session, Answer> {
    let Ok((mut session, _)) = Session::parse(body) else { return Err(malformed) };
    let applied = keys.with_policies(&session).map_err(|problem| failed("Failed to create key", &problem.to_string()))?;
    if applied.access_rights.is_empty() && !keys.rules.allow_master_keys {
        let message = "Failed to create key, keys must have at least one Access Rights record set.";
        return Err(error(StatusCode::BAD_REQUEST, message));
    }
    let policies = keys.policies();
    if session.expires == 0
        && let Some(seconds) = policy::key_expires_in(&session.policy_ids(), &|id| policies.get(id))
    {
        session.expires = i64::try_from(unix_s()).unwrap_or_default().saturating_add(seconds);
    }
    session.last_updated = unix_s().to_string();
    Ok(session)
}

async fn put(keys: &Keys, token: &str, session: Session, keep_counters: bool, action: &str) -> Answer {
    let session = match keys.prepared(keys.digest_of(token), session).await {
        Ok(session) => session,
        Err(why) => return failed("Failed to create key", &why),
    };
    if let Err(fault) = keys.put(token, session, keep_counters).await {
        return failed("Failed to create key", &fault.to_string());
    }
    let mut answer = json!({ "key": token, "status": "ok", "action": action });
    if let (Some(hash), true, Value::Object(fields)) = (keys.shown_hash(token), action == "added", &mut answer) {
        fields.insert("key_hash".to_owned(), hash.into());
    }
    Answer(StatusCode::OK, answer)
}

/// Reads the keys that a request names, so that [`find`] finds them as they are now.
async fn refresh(keys: &Keys, id: &str, query: &HashMap<String, String>) -> Result<(), StoreFault> {
    keys.refresh(id, query.get("org_id").map_or("", String::as_str)).await
}

/// The keys that a request names, by hash or by themselves, and how they are told of.
fn find(keys: &Keys, id: &str, query: &HashMap<String, String>) -> (String, Vec<Digest>) {
    if wants_hash(query) {
        return (id.to_owned(), keys.digests_of_hash(id));
    }
    if let Some(digest) = keys.digest_of(id) {
        return (id.to_owned(), vec![digest]);
    }
    let name = keys.named(id, query.get("org_id").map_or("", String::as_str));
    let digest = keys.digest_of(&name);
    (name, digest.into_iter().collect())
}

/// Tyk takes any value for a yes, also a no.
fn wants_hash(query: &HashMap<String, String>) -> bool {
    query.get("hashed").is_some_and(|value| !matches!(value.as_str(), "" | "0" | "false"))
}

/// RFC 3339, to the second.
fn date(unix_s: u64) -> String {
    humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_secs(unix_s)).to_string()
}

fn suppresses_reset(query: &HashMap<String, String>) -> bool {
    query.get("suppress_reset").is_some_and(|value| value == "1")
}

fn malformed() -> Answer {
    error(StatusCode::BAD_REQUEST, "Request malformed")
}

fn failed(what: &str, why: &str) -> Answer {
    error(StatusCode::INTERNAL_SERVER_ERROR, format!("{what} - {why}"))
}
