//! Changes of parts of keys: `PATCH /tyk/keys/{id}` for one, `POST /tyk/keys/bulk` for many.

use super::Control;
use super::answer::{Change, Changed, ControlAnswer, Error, changed, error, ok};
use super::failures::NoSuchKey;
use super::keys::{KeyId, KeyQuery, log_name, named};
use super::lists::{fits_key, key_row};
use super::right_fields::check_right_fields;
use super::scoping::Reach;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio::task::JoinSet;
use tollgate_access::keys::{KeyName, Keys, ListedKey, in_place_of};
use tollgate_admin::merge::merge;
use tollgate_clock::unix_s;
use tollgate_model::session::Session;
use utoipa::ToSchema;

/// Keys of one bulk change: some seconds of work, so that a caller can wait for the answer.
const KEYS_MAX: usize = 10_000;
/// More keys than this need the number of keys as a confirmation.
const UNCONFIRMED_MAX: usize = 100;
/// Keys that are read at once.
const PAGE_KEYS: usize = 1_000;
/// Changes at the same time; the store writes them together.
const AT_ONCE: usize = 32;
/// Rows of the sample, and failures, in an answer.
const SAMPLE_ROWS: usize = 10;
const FAILURES_MAX: usize = 100;

/// Change members of a key's session
///
/// The body is a merge patch (RFC 7396): its members replace those of the session, null removes them. Rates and quotas go on, unless `reset=quota`.
#[utoipa::path(
    patch, path = "/tyk/keys/{id}", tag = "Keys", operation_id = "patchKey",
    security(("secret" = ["editor", "scope:reached"])),
    params(
        KeyId,
        ("hashed" = Option<String>, Query, description = "`true`: the path has the key's hash."),
        ("by" = Option<String>, Query, description = "`id`: the path has the key's `id` of `/tyk/list/keys`."),
        ("org_id" = Option<String>, Query, description = "Organisation of a key that the path names without it."),
        ("reset" = Option<String>, Query, description = "`quota`: rates and quotas begin anew."),
    ),
    request_body(content = Object, example = json!({"alias": "renamed customer"})),
    responses(
        (status = 200, body = Changed, description = "The session applies from the next request."),
        (status = 400, body = Error, description = "The body is no patch, or the result is no session with access to something."),
        NoSuchKey,
        (status = 500, body = Error, description = "The store could not be written to."),
    )
)]
pub(super) async fn patch(
    State(control): State<Arc<Control>>,
    reach: Reach,
    Path(KeyId { id }): Path<KeyId>,
    Query(query): KeyQuery,
    body: Bytes,
) -> ControlAnswer {
    let bad = |message: String| error(StatusCode::BAD_REQUEST, message);
    let keys = &control.shared.keys;
    let patch = match serde_json::from_slice::<Value>(&body) {
        Ok(patch) if patch.is_object() => patch,
        Ok(_) => return bad("the body must be an object".to_owned()),
        Err(reason) => return bad(format!("the body is not JSON: {reason}")),
    };
    if patch.get("basic_auth_data").is_some() {
        return bad("$.basic_auth_data: passwords are changed by PUT, which hashes them".to_owned());
    }
    let (name, session) = match named(keys, &id, &query).await {
        Ok(Some((_, session))) if !reach.has_session(&session) => return error(StatusCode::NOT_FOUND, "Key is not found"),
        Ok(Some(found)) => found,
        Ok(None) => return error(StatusCode::NOT_FOUND, "Key is not found"),
        Err(fault) => return error(StatusCode::INTERNAL_SERVER_ERROR, format!("Failed to read key - {fault}")),
    };
    let changed_session = match patched(&session, &patch) {
        Ok(session) => session,
        Err(reason) => return bad(reason),
    };
    if let Err(refused) = reach.check_session(&changed_session) {
        return refused;
    }
    if let Err(refused) = check_right_fields(&control.shared.current.load(), &changed_session.access_rights) {
        return refused;
    }
    match keys.with_policies(&changed_session) {
        Ok(applied) if applied.access_rights.is_empty() && !keys.rules.allow_master_keys => {
            return bad("$.access_rights: keys must have access to something".to_owned());
        }
        Ok(_) => {}
        Err(problem) => return bad(problem.to_string()),
    }
    let keep_counters = query.get("reset").is_none_or(|reset| reset != "quota");
    let target = log_name(keys, &name);
    match keys
        .rewrite(name, keep_counters, move |old| {
            let changed = patched(&old.filter(|old| reach.has_session(old))?, &patch).ok();
            changed.filter(|session| reach.has_session(session))
        })
        .await
    {
        Ok(true) => changed(id, Change::Modified).logged("update", "key", target),
        Ok(false) => error(StatusCode::NOT_FOUND, "Key is not found"),
        Err(fault) => error(StatusCode::INTERNAL_SERVER_ERROR, format!("Failed to update key - {fault}")),
    }
}

/// A session with a patch.
fn patched(old: &Session, patch: &Value) -> Result<Session, String> {
    let mut document = serde_json::to_value(old).map_err(|failure| failure.to_string())?;
    merge(&mut document, patch.clone());
    let (mut session, _) = Session::from_value(&document).map_err(|problems| {
        problems
            .iter()
            .filter(|problem| problem.is_error())
            .map(|problem| format!("{}: {}", problem.path, problem.message))
            .collect::<Vec<_>>()
            .join("; ")
    })?;
    session.last_updated = unix_s().to_string();
    Ok(in_place_of(old, session))
}

/// A change of many keys.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BulkChange {
    #[schema(inline)]
    action: BulkAction,
    #[schema(inline)]
    select: BulkSelection,
    /// Whether to answer only what would be changed; true if it is missing.
    #[serde(default = "yes")]
    #[schema(required = false)]
    dry_run: bool,
    /// `extend`: seconds that are added to the expiry, or to now if it has passed. Keys that never expire stay so.
    #[schema(required = false, nullable = false)]
    seconds: Option<u32>,
    /// `extend`: the new expiry, in seconds since 1970; 0 for never.
    #[schema(required = false, nullable = false)]
    until: Option<u32>,
    /// The `count` of the dry run; needed for more than 100 keys.
    #[schema(required = false, nullable = false)]
    confirm: Option<usize>,
}

fn yes() -> bool {
    true
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum BulkAction {
    Extend,
    Deactivate,
    Activate,
    Revoke,
    ResetQuota,
}

impl BulkAction {
    fn name(self) -> &'static str {
        match self {
            BulkAction::Extend => "extend",
            BulkAction::Deactivate => "deactivate",
            BulkAction::Activate => "activate",
            BulkAction::Revoke => "revoke",
            BulkAction::ResetQuota => "reset_quota",
        }
    }
}

/// Which keys: exactly one member.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct BulkSelection {
    /// Each `id` of `/tyk/list/keys`.
    #[schema(required = false, nullable = false)]
    ids: Option<BTreeSet<String>>,
    /// As for `/tyk/list/keys`, at least one word.
    #[schema(required = false, nullable = false)]
    q: Option<String>,
    /// Keys with this policy.
    #[schema(required = false, nullable = false)]
    policy: Option<String>,
    /// Keys whose own rights name this API.
    #[schema(required = false, nullable = false)]
    api: Option<String>,
}

/// What a bulk change did, or would do.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BulkResult {
    dry_run: bool,
    #[schema(inline)]
    action: BulkAction,
    /// Keys that are selected.
    count: usize,
    /// Rows of the first ones, as in `/tyk/list/keys`.
    #[schema(value_type = Vec<Object>)]
    sample: Vec<Value>,
    /// Keys that were changed.
    done: usize,
    /// The first 100 failures.
    #[schema(inline)]
    failed: Vec<BulkFailure>,
    /// Number of failures that are not in `failed`.
    failed_more: usize,
}

#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct BulkFailure {
    id: String,
    message: String,
}

/// Extend, deactivate, activate or revoke many keys, or reset their quotas
///
/// At most 10,000 at a time; a dry run counts more. Without `dry_run: false`, nothing is changed.
#[utoipa::path(
    post, path = "/tyk/keys/bulk", tag = "Keys", operation_id = "changeKeys",
    security(("secret" = ["editor", "scope:closed"])),
    request_body(content = BulkChange, example = json!({"action": "extend", "seconds": 86400, "select": {"policy": "gold"}, "dry_run": true})),
    responses(
        (status = 200, body = BulkResult, description = "The change is carried out, or counted."),
        (status = 400, body = Error, description = "The body is no such change, or selects too many keys."),
        (status = 409, body = Error, description = "More than 100 keys, and `confirm` is not their number."),
        (status = 500, body = Error, description = "The keys can't be read."),
    )
)]
pub(super) async fn bulk(State(control): State<Arc<Control>>, body: Bytes) -> ControlAnswer {
    let bad = |message: String| error(StatusCode::BAD_REQUEST, message);
    let asked: BulkChange = match serde_json::from_slice(&body) {
        Ok(asked) => asked,
        Err(reason) => return bad(format!("the body is no change of keys: {reason}")),
    };
    let members = [asked.select.ids.is_some(), asked.select.q.is_some(), asked.select.policy.is_some(), asked.select.api.is_some()];
    if members.into_iter().filter(|is_there| *is_there).count() != 1 {
        return bad("$.select: must have exactly one of ids, q, policy and api".to_owned());
    }
    if asked.select.q.as_ref().is_some_and(|q| q.trim().is_empty()) {
        return bad("$.select.q: must have a word".to_owned());
    }
    let has_time = asked.seconds.is_some() != asked.until.is_some();
    if asked.action == BulkAction::Extend && !has_time {
        return bad("extend needs either seconds or until".to_owned());
    }
    let keys = &control.shared.keys;
    let (selected, count) = match selected(keys, &asked.select).await {
        Ok(found) => found,
        Err(message) => return error(StatusCode::INTERNAL_SERVER_ERROR, message),
    };
    let now = unix_s();
    let sample = selected.iter().take(SAMPLE_ROWS).map(|key| key_row(keys, &key.id, &key.shown, key.session.as_ref(), now));
    let sample = sample.collect();
    let mut result =
        BulkResult { dry_run: asked.dry_run, action: asked.action, count, sample, done: 0, failed: Vec::new(), failed_more: 0 };
    if asked.dry_run {
        return ok(result);
    }
    if count > KEYS_MAX {
        return bad(format!("$.select: {count} keys; at most {KEYS_MAX} can be changed at a time"));
    }
    if count > UNCONFIRMED_MAX && asked.confirm != Some(count) {
        return error(StatusCode::CONFLICT, format!("{count} keys are selected: confirm must be that number"));
    }
    let mut running = JoinSet::new();
    let mut waiting = selected.into_iter();
    loop {
        while running.len() < AT_ONCE
            && let Some(key) = waiting.next()
        {
            let (keys, change) = (keys.clone(), (asked.action, asked.seconds, asked.until));
            running.spawn(async move { (key.id, carry_out(&keys, key.name, change, now).await) });
        }
        match running.join_next().await {
            Some(Ok((_, Ok(())))) => result.done += 1,
            Some(Ok((id, Err(message)))) if result.failed.len() < FAILURES_MAX => result.failed.push(BulkFailure { id, message }),
            Some(_) => result.failed_more += 1,
            None => {
                let target = format!("{} {} keys", result.action.name(), result.done);
                return ok(result).logged("bulk", "key", target);
            }
        }
    }
}

/// The selected keys, as many as can be changed, and how many there are.
async fn selected(keys: &Keys, select: &BulkSelection) -> Result<(Vec<ListedKey>, usize), String> {
    let words: Option<Vec<String>> = select.q.as_ref().map(|q| q.to_lowercase().split_whitespace().map(str::to_owned).collect());
    let is_selected = |key: &ListedKey| {
        let session = key.session.as_ref();
        let policies = session.map(Session::policy_ids).unwrap_or_default();
        let by_ids = select.ids.as_ref().is_none_or(|ids| ids.contains(&key.id));
        let by_words = words.as_ref().is_none_or(|words| {
            let alias = session.map_or("", |session| session.alias.as_str());
            fits_key(words, alias, &key.shown, &policies)
        });
        let by_policy = select.policy.as_ref().is_none_or(|policy| policies.contains(&policy.as_str()));
        let by_api = select.api.as_ref().is_none_or(|api| session.is_some_and(|session| session.access_rights.contains_key(api)));
        by_ids && by_words && by_policy && by_api
    };
    let (mut found, mut count, mut after) = (Vec::new(), 0, String::new());
    loop {
        let (some, next) = keys.listed_after(&after, PAGE_KEYS).await.map_err(|fault| format!("keys can't be read: {fault}"))?;
        for key in some.into_iter().filter(is_selected) {
            count += 1;
            if found.len() < KEYS_MAX {
                found.push(key);
            }
        }
        match next {
            Some(next) => after = next,
            None => return Ok((found, count)),
        }
        tokio::task::yield_now().await;
    }
}

async fn carry_out(
    keys: &Arc<Keys>,
    name: KeyName,
    (action, seconds, until): (BulkAction, Option<u32>, Option<u32>),
    now_unix_s: u64,
) -> Result<(), String> {
    if action == BulkAction::Revoke {
        let removed = keys.remove(name).await.map_err(|fault| fault.to_string())?;
        return if removed { Ok(()) } else { Err("it does not exist any more".to_owned()) };
    }
    let now = i64::try_from(now_unix_s).unwrap_or(i64::MAX);
    let change = move |old: Option<Session>| {
        let mut session = old?;
        match action {
            BulkAction::Deactivate => session.is_inactive = true,
            BulkAction::Activate => session.is_inactive = false,
            BulkAction::Extend => {
                if let Some(until) = until {
                    session.expires = i64::from(until);
                } else if session.expires > 0 {
                    session.expires = session.expires.max(now).saturating_add(i64::from(seconds.unwrap_or_default()));
                }
            }
            BulkAction::ResetQuota | BulkAction::Revoke => {}
        }
        session.last_updated = now.to_string();
        Some(session)
    };
    match keys.rewrite(name, action != BulkAction::ResetQuota, change).await {
        Ok(true) => Ok(()),
        Ok(false) => Err("it does not exist any more".to_owned()),
        Err(fault) => Err(fault.to_string()),
    }
}
