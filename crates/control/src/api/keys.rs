//! `/tyk/keys`: keys and their sessions. A change is stored before the response is sent, and takes effect with the next request.

use super::Control;
use super::answer::{Change, Changed, ControlAnswer, Done, Error, changed, error, ok};
use super::authority::Signed;
use super::failures::{ChangeNotStored, InvalidSession, NoSuchKey, SessionNotStored};
use super::right_fields::check_right_fields;
use super::scoping::{Reach, ScopeRule};
use super::{document, examples, key_events};
use axum::Extension;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use tollgate_access::digest::{Digest, parse_digest};
use tollgate_access::keys::{KeyName, KeyView, Keys, in_place_of, prepared};
use tollgate_access::secret::random_bytes;
use tollgate_clock::unix_s;
use tollgate_model::calendar::rfc3339;
use tollgate_model::events::EventKind;
use tollgate_model::policy;
use tollgate_model::session::Session;
use tollgate_store::StoreFault;
use utoipa::{IntoParams, ToSchema};

/// Error message for a failed write.
const CREATE: &str = "Failed to create key";
const UPDATE: &str = "Failed to update key";

/// A new key.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct KeyAdded {
    /// The key.
    key: String,
    #[schema(inline)]
    status: Done,
    #[schema(inline)]
    action: Added,
    /// Hash of the key, if keys are hashed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    key_hash: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum Added {
    Added,
}

/// A list of keys, or of other owners of sessions.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct KeyList {
    pub keys: Vec<String>,
}

/// The policies to apply to a key.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes a body whose members may be of any type")]
pub(super) struct KeyPolicies {
    /// Older form, for a single policy.
    #[schema(required = false)]
    policy: String,
    /// Ids of policies.
    #[schema(required = false)]
    apply_policies: Vec<String>,
}

/// The key in a path.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(super) struct KeyId {
    /// A key, or its part after the organisation.
    #[param(example = "defaultmykey", min_length = 1)]
    pub id: String,
}

/// The key in a path, by its hash.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(super) struct KeyHash {
    /// The hash of a key, or the key.
    #[param(example = "defaultmykey", min_length = 1)]
    pub hash: String,
}

pub(super) type KeyQuery = Query<HashMap<String, String>>;

/// List keys, or their hashes
#[utoipa::path(
    get, path = "/tyk/keys", tag = "Keys", operation_id = "listKeys",
    security(("secret" = ["viewer", "scope:closed"])),
    params(
        ("filter" = Option<String>, Query, description = "Only those that begin so. Has no effect if keys are hashed."),
        ("api_id" = Option<String>, Query, description = "Only those that may call this API."),
    ),
    responses(
        (status = 200, body = KeyList, description = "The list, sorted."),
        (status = 404, body = Error, description = "Keys are hashed, and `enable_hashed_keys_listing` is off."),
    )
)]
pub(super) async fn list(
    State(control): State<Arc<Control>>,
    signed: Option<Extension<Signed>>,
    Query(query): KeyQuery,
) -> ControlAnswer {
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
            // Hashes have no beginnings to search for: with them, the filter does nothing, as in Tyk.
            shown.retain(|key| keys.rules.hash_keys || key.starts_with(prefix));
            if signed.is_some() {
                // Without hashes, this list is all keys.
                shown = shown.iter().map(|key| keys.hash_of(key).into_owned()).collect();
            }
            ok(KeyList { keys: shown })
        }
        Err(fault) => failed("Failed to list keys", &fault.to_string()),
    }
}

/// Create a key that the gateway generates
#[utoipa::path(
    post, path = "/tyk/keys/create", tag = "Keys", operation_id = "createKey",
    security(("secret" = ["editor", "scope:reached"])),
    request_body(content = document::Session, example = json!(examples::session())),
    responses(
        (status = 200, body = KeyAdded, description = "The key is valid. If keys are hashed, `key` is shown this once."),
        (status = 400, body = Error, description = "The session has no access rights."),
        (status = 500, body = Error, description = "The body is not a session, its policies can't be applied, or the store could not be written to."),
    )
)]
pub(super) async fn create(State(control): State<Arc<Control>>, reach: Reach, body: Bytes) -> ControlAnswer {
    // Tyk's own status for this error, used only here.
    let unreadable = error(StatusCode::INTERNAL_SERVER_ERROR, "Unmarshalling failed");
    let answer = make(&control, &reach, &body, unreadable).await;
    key_events::tell_key(&control, EventKind::TokenCreated, "Key generated.", &body, answer)
}

/// Same as `POST /tyk/keys/create`
#[utoipa::path(
    post, path = "/tyk/keys", tag = "Keys", operation_id = "createKeyUnnamed",
    security(("secret" = ["editor", "scope:reached"])),
    request_body(content = document::Session, example = json!(examples::session())),
    responses(
        (status = 200, body = KeyAdded, description = "The change is in effect."),
        InvalidSession, SessionNotStored,
    )
)]
pub(super) async fn add_unnamed(State(control): State<Arc<Control>>, reach: Reach, body: Bytes) -> ControlAnswer {
    let answer = make(&control, &reach, &body, malformed()).await;
    // Tyk's words for this path.
    key_events::tell_key(&control, EventKind::TokenCreated, "Key modified.", &body, answer)
}

async fn make(control: &Control, reach: &Reach, body: &[u8], unreadable: ControlAnswer) -> ControlAnswer {
    let keys = &control.shared.keys;
    let mut session = match read_session(control, reach, body, unreadable) {
        Ok(session) => session,
        Err(answer) => return answer,
    };
    session.date_created = rfc3339(unix_s());
    if let Some(fingerprint) = session.certificate_fingerprints().pop().filter(|_| !session.certificate.is_empty()) {
        // The certificate takes the place of the key: the session is found by its fingerprint.
        return put(keys, reach, &fingerprint, session, false).await;
    }
    let token = match random_bytes() {
        Ok(random) => keys.generate(&session.org_id, random),
        Err(failure) => return error(StatusCode::INTERNAL_SERVER_ERROR, format!("Failed to create key, {failure}")),
    };
    let session = match prepared(session).await {
        Ok(session) => session,
        Err(why) => return failed(CREATE, &why),
    };
    let name = keys.new_name(&token);
    match keys.put(name.clone(), session, false).await {
        Ok(()) => added(keys, &token, name),
        Err(fault) => failed(CREATE, &fault.to_string()),
    }
}

/// Create a key with a chosen name, or replace its session
#[utoipa::path(
    post, path = "/tyk/keys/{id}", tag = "Keys", operation_id = "addKey",
    security(("secret" = ["editor", "scope:reached"])),
    params(
        KeyId,
        ("suppress_reset" = Option<String>, Query, description = "`1`: rates and quotas go on instead of beginning anew."),
    ),
    request_body(content = document::Session, example = json!(examples::session())),
    responses(
        (status = 200, body = KeyAdded, description = "The change is in effect."),
        InvalidSession, SessionNotStored,
    )
)]
pub(super) async fn add(
    State(control): State<Arc<Control>>,
    reach: Reach,
    Path(KeyId { id }): Path<KeyId>,
    Query(query): KeyQuery,
    body: Bytes,
) -> ControlAnswer {
    let keys = &control.shared.keys;
    if id.len() < keys.rules.token_bytes_min {
        return error(StatusCode::BAD_REQUEST, format!("Key length must be at least {}", keys.rules.token_bytes_min));
    }
    let mut session = match read_session(&control, &reach, &body, malformed()) {
        Ok(session) => session,
        Err(answer) => return answer,
    };
    session.date_created = rfc3339(unix_s());
    let answer = put(keys, &reach, &id, session, suppresses_reset(&query)).await;
    key_events::tell_key(&control, EventKind::TokenCreated, "Key modified.", &body, answer)
}

/// Replace a key's session
#[utoipa::path(
    put, path = "/tyk/keys/{id}", tag = "Keys", operation_id = "updateKey",
    security(("secret" = ["editor", "scope:reached"])),
    params(
        KeyId,
        ("hashed" = Option<String>, Query, description = "`true`: the path has the key's hash."),
        ("by" = Option<String>, Query, description = "`id`: the path has the key's `id` of `/tyk/list/keys`."),
        ("suppress_reset" = Option<String>, Query, description = "`1`: rates and quotas go on instead of beginning anew."),
    ),
    request_body(content = document::Session, example = json!(examples::session())),
    responses(
        (status = 200, body = Changed, description = "The session applies from the next request."),
        InvalidSession, SessionNotStored, NoSuchKey,
    )
)]
pub(super) async fn update(
    State(control): State<Arc<Control>>,
    reach: Reach,
    Path(KeyId { id }): Path<KeyId>,
    Query(query): KeyQuery,
    body: Bytes,
) -> ControlAnswer {
    let keys = &control.shared.keys;
    let session = match read_session(&control, &reach, &body, malformed()) {
        Ok(session) => session,
        Err(answer) => return answer,
    };
    let view = match keys.view(&asked_for(keys, &id, &query), &session.org_id).await {
        Ok(view) => view,
        Err(fault) => return failed(UPDATE, &fault.to_string()),
    };
    let (token, name) = if is_by_id(&query) {
        let digest = find(keys, &view, &id, &query).1.first().copied();
        (id.clone(), digest.and_then(|digest| Some(KeyName { digest, shown: view.shown_of(&digest)? })))
    } else if wants_hash(&query) {
        let digest = view.digests_of_hash(&id).first().copied();
        (id.clone(), digest.map(|digest| KeyName { digest, shown: id }))
    } else {
        let token = view.known(&id, &session.org_id);
        let name = token.as_deref().map(|token| view.name_of(token));
        (token.unwrap_or_else(|| id.clone()), name)
    };
    let Some(name) = name else { return error(StatusCode::NOT_FOUND, "Key is not found") };
    let keeps_quotas = keys.keeps_quotas(&session);
    let session = match prepared(session).await {
        Ok(session) => session,
        Err(why) => return failed(UPDATE, &why),
    };
    let replace = move |old: Option<Session>| {
        let old = old.filter(|old| reach.has_session(old))?;
        let session = Session { date_created: old.date_created.clone(), ..session.clone() };
        Some(in_place_of(&old, session))
    };
    let keep_counters = suppresses_reset(&query) || keeps_quotas;
    let target = log_name(keys, &name);
    match keys.rewrite(name, keep_counters, replace).await {
        Ok(true) => {
            let answer = changed(token, Change::Modified).logged("update", "key", target);
            key_events::tell_key(&control, EventKind::TokenUpdated, "Key modified.", &body, answer)
        }
        Ok(false) => error(StatusCode::NOT_FOUND, "Key is not found"),
        Err(fault) => failed(UPDATE, &fault.to_string()),
    }
}

/// A key's session with its policies and the remaining quotas
#[utoipa::path(
    get, path = "/tyk/keys/{id}", tag = "Keys", operation_id = "getKey",
    security(("secret" = ["viewer", "scope:reached"])),
    params(
        KeyId,
        ("hashed" = Option<String>, Query, description = "`true`: the path has the key's hash."),
        ("by" = Option<String>, Query, description = "`id`: the path has the key's `id` of `/tyk/list/keys`."),
        ("org_id" = Option<String>, Query, description = "Organisation of a key that the path names without it."),
        ("username" = Option<String>, Query, description = "`true`: the path has the name of a user."),
        ("api_id" = Option<String>, Query, description = "An API of the key's organisation, in place of `org_id`."),
    ),
    responses(
        (status = 200, body = document::Session, description = "The session."),
        (status = 400, body = Error, description = "The request names the key by its hash, but keys are not hashed."),
        NoSuchKey,
    )
)]
pub(super) async fn show(
    State(control): State<Arc<Control>>,
    reach: Reach,
    Path(KeyId { id }): Path<KeyId>,
    Query(mut query): KeyQuery,
) -> ControlAnswer {
    let keys = &control.shared.keys;
    if wants_hash(&query) && !keys.rules.hash_keys {
        return error(StatusCode::BAD_REQUEST, "Key requested by hash but key hashing is not enabled");
    }
    let snapshot = control.shared.current.load();
    let api = query.get("api_id").and_then(|id| snapshot.api(id));
    if let Some(org) = api.and_then(|api| api.raw.get("org_id")).and_then(Value::as_str) {
        query.insert("org_id".to_owned(), org.to_owned());
    }
    drop(snapshot);
    let view = match keys.view(&asked_for(keys, &id, &query), org(&query)).await {
        Ok(view) => view,
        Err(fault) => return failed("Failed to read key", &fault.to_string()),
    };
    let is_reached = |digest: &&Digest| view.session(digest).is_some_and(|session| reach.has_session(&session));
    let session =
        find(keys, &view, &id, &query).1.first().filter(is_reached).and_then(|digest| view.live_session(digest, unix_s()));
    match session {
        Some(mut session) => {
            // Access to keys does not include passwords, not even hashed ones.
            session.basic_auth_data.password.clear();
            // What is read may be written back: budgets of policies must not become the key's own.
            session.llm_budgets.retain(|budget| budget.policy.is_none());
            ok(session)
        }
        None => error(StatusCode::NOT_FOUND, "Key not found"),
    }
}

/// The session of the key that a request names, as it is stored.
pub(super) async fn stored(keys: &Keys, id: &str, query: &HashMap<String, String>) -> Option<Value> {
    let (_, session) = named(keys, id, query).await.ok()??;
    serde_json::to_value(session).ok()
}

/// Name and session of the key that a request names.
pub(crate) async fn named(
    keys: &Keys,
    id: &str,
    query: &HashMap<String, String>,
) -> Result<Option<(KeyName, Session)>, StoreFault> {
    let view = keys.view(&asked_for(keys, id, query), org(query)).await?;
    let digest = find(keys, &view, id, query).1.first().copied();
    let found = |digest| Some((KeyName { digest, shown: view.shown_of(&digest)? }, view.session(&digest)?));
    Ok(digest.and_then(found))
}

/// What is shown of the key that a request names, and its session with its policies.
pub(crate) async fn live(keys: &Keys, id: &str, query: &HashMap<String, String>) -> Result<Option<(String, Session)>, StoreFault> {
    let view = keys.view(&asked_for(keys, id, query), org(query)).await?;
    let digest = find(keys, &view, id, query).1.first().copied();
    Ok(digest.and_then(|digest| Some((view.shown_of(&digest)?, view.live_session(&digest, unix_s())?))))
}

/// The alias of the key that records name so, if it has one.
pub(super) async fn alias(keys: &Keys, shown: &str) -> Option<String> {
    let session = of_recorded(keys, shown, |view, digest| view.session(digest)).await.ok()??;
    Some(session.alias).filter(|alias| !alias.is_empty())
}

/// The session, with its policies and what is left of its limits, of the key that records name so.
pub(crate) async fn live_recorded(keys: &Keys, shown: &str) -> Result<Option<Session>, StoreFault> {
    of_recorded(keys, shown, |view, digest| view.live_session(digest, unix_s())).await
}

async fn of_recorded(
    keys: &Keys,
    shown: &str,
    read: impl FnOnce(&KeyView<'_>, &Digest) -> Option<Session>,
) -> Result<Option<Session>, StoreFault> {
    let view = keys.view(shown, "").await?;
    let digest = if keys.rules.hash_keys { view.digests_of_hash(shown).first().copied() } else { view.digest_of(shown) };
    Ok(digest.and_then(|digest| read(&view, &digest)))
}

/// Remove a key
///
/// With `hashed`, removes every key with this hash.
#[utoipa::path(
    delete, path = "/tyk/keys/{id}", tag = "Keys", operation_id = "deleteKey",
    security(("secret" = ["editor", "scope:reached"])),
    params(
        KeyId,
        ("hashed" = Option<String>, Query, description = "`true`: the path has the key's hash."),
        ("by" = Option<String>, Query, description = "`id`: the path has the key's `id` of `/tyk/list/keys`."),
        ("org_id" = Option<String>, Query, description = "Organisation of a key that the path names without it."),
    ),
    responses(
        (status = 200, body = Changed, description = "The key is removed. The next request with it is refused."),
        (status = 400, body = Error, description = "The removal failed."),
        NoSuchKey,
    )
)]
pub(super) async fn remove(
    State(control): State<Arc<Control>>,
    reach: Reach,
    Path(KeyId { id }): Path<KeyId>,
    Query(query): KeyQuery,
) -> ControlAnswer {
    let keys = &control.shared.keys;
    let removed = async {
        let view = keys.view(&asked_for(keys, &id, &query), org(&query)).await?;
        let (token, digests) = find(keys, &view, &id, &query);
        let mut removed = None;
        let is_reached = |digest: &Digest| view.session(digest).map_or(reach.is_whole(), |session| reach.has_session(&session));
        for digest in digests.into_iter().filter(is_reached) {
            let name = KeyName { digest, shown: view.shown_of(&digest).unwrap_or_default() };
            let target = log_name(keys, &name);
            if keys.remove(name).await? {
                removed = Some(target);
            }
        }
        Ok::<_, StoreFault>(removed.map(|target| (token, target)))
    };
    match removed.await {
        Ok(Some((token, target))) => {
            let answer = changed(token, Change::Deleted).logged("delete", "key", target);
            key_events::tell_removed(&control, org(&query), answer)
        }
        Ok(None) => error(StatusCode::NOT_FOUND, "There is no such key found"),
        Err(fault) => unremoved(&fault),
    }
}

/// Response to a failed removal. Tyk sends 400, although the caller cannot do anything about it.
pub(super) fn unremoved(fault: &StoreFault) -> ControlAnswer {
    tracing::error!(%fault, "a key can't be removed");
    failed("Failed to remove the key", &fault.to_string())
}

/// Preview a session with its policies applied
#[utoipa::path(
    post, path = "/tyk/keys/preview", tag = "Keys", operation_id = "previewKey",
    security(("secret" = ["viewer", "scope:reached"])),
    request_body(content = document::Session, example = json!(examples::session())),
    responses(
        (status = 200, body = document::Session, description = "The session. No key is made."),
        (status = 500, body = Error, description = "The body is not a session."),
    )
)]
pub(super) async fn preview(State(control): State<Arc<Control>>, reach: Reach, body: Bytes) -> ControlAnswer {
    let Ok((mut session, _)) = Session::parse(&body) else {
        return error(StatusCode::INTERNAL_SERVER_ERROR, "Unmarshalling failed");
    };
    if let Err(refused) = reach.check_session(&session) {
        return refused;
    }
    session.last_updated = unix_s().to_string();
    session.date_created = rfc3339(unix_s());
    // Policies that cannot be applied leave the session unchanged, as in Tyk.
    let applied = control.shared.keys.with_policies(&session).unwrap_or(session);
    ok(applied)
}

/// Set the policies of a key
#[utoipa::path(
    post, path = "/tyk/keys/policy/{hash}", tag = "Keys", operation_id = "setKeyPolicies",
    security(("secret" = ["editor", "scope:reached"])),
    params(KeyHash),
    request_body(content = KeyPolicies, example = json!({"apply_policies": ["gold"]})),
    responses(
        (status = 200, body = Changed, description = "The policies apply. A key with an unknown policy is refused until that policy exists."),
        (status = 400, body = Error, description = "The body is not a JSON object."),
        NoSuchKey, ChangeNotStored,
    )
)]
pub(super) async fn set_policies(
    State(control): State<Arc<Control>>,
    reach: Reach,
    Path(KeyHash { hash: id }): Path<KeyHash>,
    body: Bytes,
) -> ControlAnswer {
    let keys = &control.shared.keys;
    let Ok(Value::Object(asked)) = serde_json::from_slice(&body) else {
        return error(StatusCode::BAD_REQUEST, "Couldn't decode instruction");
    };
    let view = match keys.view(&id, "").await {
        Ok(view) => view,
        Err(fault) => return failed(UPDATE, &fault.to_string()),
    };
    let digest = view.digests_of_hash(&id).first().copied().or_else(|| view.digest_of(&id));
    let name = digest.and_then(|digest| Some(KeyName { digest, shown: view.shown_of(&digest)? }));
    let Some(name) = name else { return error(StatusCode::NOT_FOUND, "Key not found") };
    let listed = asked.get("apply_policies").and_then(Value::as_array).into_iter().flatten();
    let one = asked.get("policy").filter(|id| id.as_str() != Some(""));
    let policies: Vec<String> = listed.chain(one).filter_map(|id| id.as_str().map(str::to_owned)).collect();
    // Unknown policies may be added later, as in Tyk; until then the key is rejected.
    let with_policies = move |session: Session| Session {
        apply_policy_id: String::new(),
        apply_policies: policies.clone(),
        last_updated: unix_s().to_string(),
        ..session
    };
    let target = log_name(keys, &name);
    let replace = move |old: Option<Session>| {
        let session = with_policies(old.filter(|old| reach.has_session(old))?);
        Some(session).filter(|session| reach.has_session(session))
    };
    match keys.rewrite(name, true, replace).await {
        Ok(true) => changed(id, Change::Updated).logged("update", "key", target),
        Ok(false) => error(StatusCode::NOT_FOUND, "Key not found"),
        Err(fault) => failed(UPDATE, &fault.to_string()),
    }
}

/// Parses a session. What is wrong with its budgets of models, which Tyk does not have, is named with its place.
pub(super) fn parsed_session(body: &[u8], malformed: ControlAnswer) -> Result<Session, ControlAnswer> {
    let (session, problems) = match Session::parse(body) {
        Ok((session, problems)) => (Some(session), problems),
        Err(problems) => (None, problems),
    };
    let of_budgets = problems.iter().filter(|problem| problem.path.starts_with("$.llm_budgets"));
    let named: Vec<String> = of_budgets.map(|problem| format!("{}: {}", problem.path, problem.message)).collect();
    match session {
        _ if !named.is_empty() => Err(error(StatusCode::BAD_REQUEST, named.join("; "))),
        Some(session) => Ok(session),
        None => Err(malformed),
    }
}

/// Parses a session, and checks that its rights fit their APIs, that its policies can be applied and that it has access to some API;
/// `malformed` is the response to invalid JSON.
fn read_session(control: &Control, reach: &Reach, body: &[u8], malformed: ControlAnswer) -> Result<Session, ControlAnswer> {
    let keys = &control.shared.keys;
    let mut session = parsed_session(body, malformed)?;
    reach.check_session(&session)?;
    check_right_fields(&control.shared.current.load(), &session.access_rights)?;
    let applied = keys.with_policies(&session).map_err(|problem| failed(CREATE, &problem.to_string()))?;
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

/// Stores a session, new or replaced, for the key with this id.
async fn put(keys: &Arc<Keys>, reach: &Reach, id: &str, session: Session, keep_counters: bool) -> ControlAnswer {
    let view = match keys.view(id, &session.org_id).await {
        Ok(view) => view,
        Err(fault) => return failed(CREATE, &fault.to_string()),
    };
    let token = view.named(id, &session.org_id);
    let keep_counters = keep_counters || keys.keeps_quotas(&session);
    let session = match prepared(session).await {
        Ok(session) => session,
        Err(why) => return failed(CREATE, &why),
    };
    let own = reach.clone();
    let put = move |old: Option<Session>| {
        let session = session.clone();
        match old {
            Some(old) => own.has_session(&old).then(|| in_place_of(&old, session)),
            None => Some(session),
        }
    };
    let name = view.name_of(&token);
    match keys.rewrite(name.clone(), keep_counters, put).await {
        // Only a key of someone else is left as it was.
        Ok(false) if !reach.is_whole() => reach.refusal(ScopeRule::Reached),
        Ok(_) => added(keys, &token, name),
        Err(fault) => failed(CREATE, &fault.to_string()),
    }
}

fn added(keys: &Keys, token: &str, name: KeyName) -> ControlAnswer {
    let target = log_name(keys, &name);
    let key_hash = keys.rules.hash_keys.then_some(name.shown);
    ok(KeyAdded { key: token.to_owned(), status: Done::Ok, action: Added::Added, key_hash }).logged("create", "key", target)
}

/// A key as the log of changes names it: by its hash. A key that is not hashed is a secret.
pub(super) fn log_name(keys: &Keys, name: &KeyName) -> String {
    if keys.rules.hash_keys { name.shown.clone() } else { tollgate_admin::MASK.to_owned() }
}

/// The keys that a request names, directly or by hash, and the name to use for them in messages.
fn find(keys: &Keys, view: &KeyView<'_>, id: &str, query: &HashMap<String, String>) -> (String, Vec<Digest>) {
    if is_by_id(query) {
        let digest = match keys.opened(id) {
            Cow::Owned(name) => view.digest_of(&name),
            Cow::Borrowed(id) => parse_digest(id).filter(|digest| view.shown_of(digest).is_some()),
        };
        return (id.to_owned(), digest.into_iter().collect());
    }
    if wants_hash(query) {
        return (id.to_owned(), view.digests_of_hash(id));
    }
    if let Some(digest) = view.digest_of(id) {
        return (id.to_owned(), vec![digest]);
    }
    let known = view.known(id, org(query));
    let digest = known.as_deref().and_then(|token| view.digest_of(token));
    (known.unwrap_or_else(|| id.to_owned()), digest.into_iter().collect())
}

/// The text that a request names a key by.
fn asked_for<'t>(keys: &Keys, id: &'t str, query: &HashMap<String, String>) -> Cow<'t, str> {
    if is_by_id(query) { keys.opened(id) } else { Cow::Borrowed(id) }
}

/// Whether the path has an id of a list.
fn is_by_id(query: &HashMap<String, String>) -> bool {
    query.get("by").is_some_and(|by| by == "id")
}

/// The organisation in a query.
fn org(query: &HashMap<String, String>) -> &str {
    query.get("org_id").map_or("", String::as_str)
}

/// Whether the query asks for hashes. Tyk accepts any value as yes, even a no.
fn wants_hash(query: &HashMap<String, String>) -> bool {
    query.get("hashed").is_some_and(|value| !matches!(value.as_str(), "" | "0" | "false"))
}

fn suppresses_reset(query: &HashMap<String, String>) -> bool {
    query.get("suppress_reset").is_some_and(|value| value == "1")
}

fn malformed() -> ControlAnswer {
    error(StatusCode::BAD_REQUEST, "Request malformed")
}

fn failed(what: &str, why: &str) -> ControlAnswer {
    error(StatusCode::INTERNAL_SERVER_ERROR, format!("{what} - {why}"))
}
