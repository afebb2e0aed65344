//! `/tyk/list`: pages of APIs, keys and policies, with search. An answer comes within a time limit, if need be with the rows that
//! were found until then; `next` continues the search.

use super::Control;
use super::answer::{ControlAnswer, Error, error, ok};
use super::scoping::Reach;
use crate::definitions::{DocumentClass, SharedDefinitions};
use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tollgate_access::keys::{Keys, ListedKey};
use tollgate_clock::unix_s;
use tollgate_data::snapshot::CompiledApi;
use tollgate_model::policy::Policy;
use tollgate_model::session::Session;
use tollgate_store::StoreFault;
use utoipa::ToSchema;

/// Time for a search; with the rest of the request, an answer takes at most 200 ms.
const SEARCH_TIME_MAX: Duration = Duration::from_millis(150);
/// Rows of a page, if the request does not say.
const ROWS: usize = 100;
/// Rows of a page at most.
const ROWS_MAX: usize = 1_000;
/// Keys that a search looks at in one go.
const SEARCHED_KEYS: usize = 500;
/// Bytes of a part of a key's listed form that a search finds.
const SHOWN_PART_BYTES_MIN: usize = 6;
/// Bytes of a search at most.
const SEARCH_BYTES_MAX: usize = 1_024;

/// A page of a list.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListPage {
    /// The rows.
    #[schema(value_type = Vec<Object>)]
    pub rows: Vec<Value>,
    /// `after` of the next page; empty on the last one. There may be a next page although this one has no rows.
    pub next: String,
    /// Number of rows without a search; null if it is not known.
    #[schema(required)]
    pub total: Option<usize>,
    /// Number of rows that were looked at for this page.
    pub scanned: usize,
}

/// What a request asks for.
pub(super) struct Asked {
    words: Vec<String>,
    sort: String,
    is_descending: bool,
    pub limit: usize,
    pub after: String,
}

impl Asked {
    pub(super) fn read(query: &HashMap<String, String>, columns: &[&str]) -> Result<Self, ControlAnswer> {
        let bad = |message: String| Err(error(StatusCode::BAD_REQUEST, message));
        let text = |name: &str| query.get(name).map_or("", String::as_str);
        if text("q").len() > SEARCH_BYTES_MAX {
            return bad(format!("q is longer than {SEARCH_BYTES_MAX} bytes"));
        }
        let (sort, is_descending) = match text("sort") {
            "" => (columns.first().copied().unwrap_or_default(), false),
            sort => sort.strip_prefix('-').map_or((sort, false), |column| (column, true)),
        };
        if !columns.contains(&sort) {
            return bad(format!("sort is {sort:?}; it must be one of {}", columns.join(", ")));
        }
        let limit = match text("limit") {
            "" => ROWS,
            written => match written.parse() {
                Ok(limit) if (1..=ROWS_MAX).contains(&limit) => limit,
                _ => return bad(format!("limit must be a number from 1 to {ROWS_MAX}")),
            },
        };
        let words = text("q").to_lowercase().split_whitespace().map(str::to_owned).collect();
        Ok(Asked { words, sort: sort.to_owned(), is_descending, limit, after: text("after").to_owned() })
    }

    /// Whether a row with these texts has all words.
    pub(super) fn fits<'t>(&self, texts: impl Iterator<Item = &'t str> + Clone) -> bool {
        fits(&self.words, texts)
    }

    /// Sorts rows by the column that is asked for, then by id.
    pub(super) fn sort(&self, rows: &mut Vec<Value>) {
        let sorted = self.sorted(std::mem::take(rows), |row, column| SortKey::of(row.get(column)));
        rows.extend(sorted);
    }

    /// The same for anything that has columns. Each key is made once, not in each comparison.
    fn sorted<T>(&self, rows: Vec<T>, key: impl Fn(&T, &str) -> SortKey) -> impl Iterator<Item = T> {
        let keyed = |row| (key(&row, &self.sort), key(&row, "id"), row);
        let mut keyed: Vec<(SortKey, SortKey, T)> = rows.into_iter().map(keyed).collect();
        keyed.sort_by(|(one, one_id, _), (other, other_id, _)| {
            let order = one.compare(other);
            let order = if self.is_descending { order.reverse() } else { order };
            order.then_with(|| one_id.compare(other_id))
        });
        keyed.into_iter().map(|(_, _, row)| row)
    }

    /// A page of rows that are all in memory: sorted by a column, then by id.
    pub(super) fn page(&self, rows: Vec<Value>, total: usize) -> ControlAnswer {
        self.page_of(rows, total, |row, column| SortKey::of(row.get(column)), |row| row)
    }

    /// A page of anything that is in memory. `finish` makes the rows of the page.
    fn page_of<T>(
        &self,
        rows: Vec<T>,
        total: usize,
        key: impl Fn(&T, &str) -> SortKey,
        finish: impl Fn(T) -> Value,
    ) -> ControlAnswer {
        let begin = match self.after.parse::<usize>() {
            Ok(begin) => begin,
            Err(_) if self.after.is_empty() => 0,
            Err(_) => return error(StatusCode::BAD_REQUEST, "after must be the next of another answer"),
        };
        let found = rows.len();
        let rows: Vec<Value> = self.sorted(rows, key).skip(begin).take(self.limit).map(finish).collect();
        let end = begin.saturating_add(rows.len());
        let next = if end < found && !rows.is_empty() { end.to_string() } else { String::new() };
        ok(ListPage { rows, next, total: Some(total), scanned: total })
    }
}

/// What a row is sorted by.
enum SortKey {
    Number(f64),
    /// In lower case.
    Text(String),
    Missing,
    Other,
}

impl SortKey {
    fn of(value: Option<&Value>) -> Self {
        match value {
            Some(Value::Number(number)) => SortKey::Number(number.as_f64().unwrap_or_default()),
            Some(Value::String(text)) => SortKey::text(text),
            None | Some(Value::Null) => SortKey::Missing,
            Some(_) => SortKey::Other,
        }
    }

    fn text(text: &str) -> Self {
        SortKey::Text(text.to_lowercase())
    }

    /// Numbers by size, texts without letter case, and what is missing at the end.
    fn compare(&self, other: &SortKey) -> Ordering {
        match (self, other) {
            (SortKey::Number(one), SortKey::Number(other)) => one.total_cmp(other),
            (SortKey::Text(one), SortKey::Text(other)) => one.cmp(other),
            (SortKey::Missing, SortKey::Missing) => Ordering::Equal,
            (SortKey::Missing, _) => Ordering::Greater,
            (_, SortKey::Missing) => Ordering::Less,
            _ => Ordering::Equal,
        }
    }
}

/// Whether some of the texts contain all words, which are in lower case.
fn fits<'t>(words: &[String], texts: impl Iterator<Item = &'t str> + Clone) -> bool {
    words.iter().all(|word| texts.clone().any(|text| text.to_lowercase().contains(word)))
}

/// Whether a key has all words. A short word is in most hashes, so it is not searched there.
pub(super) fn fits_key(words: &[String], alias: &str, shown: &str, policies: &[&str]) -> bool {
    let (alias, shown) = (alias.to_lowercase(), shown.to_lowercase());
    let has = |word: &String| {
        alias.contains(word)
            || policies.iter().any(|policy| policy.to_lowercase().contains(word))
            || (word.len() >= SHOWN_PART_BYTES_MIN && shown.contains(word))
    };
    words.iter().all(has)
}

/// A page of the APIs
///
/// Rows have `id`, `name`, `listen_path`, `host`, `target`, `auth`, `active`, `internal`, `versions`, `org_id`, `tags`, `requests` and `errors` since the start of this gateway, `p99_ms`, `shared`, `file`.
#[utoipa::path(
    get, path = "/tyk/list/apis", tag = "Lists", operation_id = "searchApis",
    security(("secret" = ["viewer", "scope:reached"])),
    params(
        ("q" = Option<String>, Query, description = "Words that must all be in the name, id, listen path, host, target or tags, in any letter case.", example = "quick"),
        ("sort" = Option<String>, Query, description = "`name`, `id`, `listen_path`, `requests`, `errors` or `p99_ms`; `-` before it for descending.", example = "-requests"),
        ("limit" = Option<String>, Query, description = "Rows, 1 to 1000; 100 by default.", example = "20"),
        ("after" = Option<String>, Query, description = "`next` of the page before."),
    ),
    responses(
        (status = 200, body = ListPage, description = "The page."),
        (status = 400, body = Error, description = "A parameter has an invalid value."),
    )
)]
pub(super) async fn apis(
    State(control): State<Arc<Control>>,
    reach: Reach,
    Query(query): Query<HashMap<String, String>>,
) -> ControlAnswer {
    let asked = match Asked::read(&query, &["name", "id", "listen_path", "requests", "errors", "p99_ms"]) {
        Ok(asked) => asked,
        Err(answer) => return answer,
    };
    let snapshot = control.shared.current.load_full();
    let target_of = |api: &CompiledApi| api.raw.pointer("/proxy/target_url").and_then(Value::as_str).unwrap_or_default().to_owned();
    let fits = |api: &&Arc<CompiledApi>| {
        let (host, target) = (api.host.as_deref().unwrap_or_default(), target_of(api));
        let tags = api.tags.iter().map(String::as_str);
        asked.fits([api.name.as_str(), &api.id, &api.listen_path, host, &target].into_iter().chain(tags))
    };
    let reached: Vec<&Arc<CompiledApi>> = snapshot.apis.iter().filter(|api| reach.has_api(api)).collect();
    let total = reached.len();
    let found: Vec<&Arc<CompiledApi>> = reached.into_iter().filter(fits).collect();
    let key = |api: &&Arc<CompiledApi>, column: &str| match column {
        "name" => SortKey::text(&api.name),
        "id" => SortKey::text(&api.id),
        "listen_path" => SortKey::text(&api.listen_path),
        column => SortKey::of(counts(&control, api).get(column)),
    };
    let shared = control.definitions.shared_definitions().map(SharedDefinitions::known);
    let files = control.definitions.files_by_id();
    let problems = control.shared.observer.reloads.problems();
    let mut faults: HashMap<&Path, [usize; 2]> = HashMap::new();
    for problem in problems.iter() {
        let Some(file) = problem.file.as_deref() else { continue };
        let [errors, warnings] = faults.entry(file).or_default();
        *(if problem.is_error() { errors } else { warnings }) += 1;
    }
    asked.page_of(found, total, key, |api| {
        let raw = |name: &str| api.raw.get(name).cloned().unwrap_or_default();
        let versions = api.raw.pointer("/version_data/versions").and_then(Value::as_object).map_or(1, serde_json::Map::len);
        let path = files.get(&api.id);
        let file = path.and_then(|file| file.file_name());
        let [errors, warnings] = path.and_then(|path| faults.get(path.as_path())).copied().unwrap_or_default();
        let mut row = json!({
            "id": api.id,
            "name": api.name,
            "listen_path": api.listen_path,
            "host": api.host,
            "target": api.raw.pointer("/proxy/target_url"),
            "auth": auth_of(&api.raw),
            "active": raw("active") != Value::Bool(false),
            "internal": api.internal,
            "versions": versions,
            "org_id": raw("org_id"),
            "tags": api.tags,
            "shared": shared.as_ref().is_some_and(|shared| shared.has(DocumentClass::Api, &api.id)),
            "file": file.map(|name| name.to_string_lossy().into_owned()),
            "problems": {"errors": errors, "warnings": warnings},
        });
        if let Value::Object(members) = &mut row {
            members.extend(counts(&control, api));
        }
        row
    })
}

/// `requests` and `errors` since the start, and `p99_ms`.
fn counts(control: &Control, api: &CompiledApi) -> Map<String, Value> {
    let sum = Some(api).filter(|_| control.shared.observer.metrics).and_then(|api| api.meter.sum());
    let requests = sum.as_ref().map(|sum| sum.requests.iter().flatten().sum::<u64>());
    let errors = sum.as_ref().map(|sum| sum.upstream_errors.values().sum::<u64>() + sum.refusals.values().sum::<u64>());
    let p99_ms = sum
        .as_ref()
        .filter(|_| requests > Some(0))
        .map(|sum| sum.request_time.quantile_ns(&tollgate_model::distribution::REQUEST_NS, 0.99) as f64 / 1e6);
    let members = [("requests", requests.into()), ("errors", errors.into()), ("p99_ms", p99_ms.into())];
    members.map(|(name, value)| (name.to_owned(), value)).into_iter().collect()
}

/// The ways to authenticate that a definition switches on.
fn auth_of(raw: &Value) -> Vec<&'static str> {
    let is_on = |name: &str| raw.get(name) == Some(&Value::Bool(true));
    if is_on("use_keyless") {
        return vec!["keyless"];
    }
    let ways = [
        ("use_oauth2", "oauth"),
        ("enable_jwt", "jwt"),
        ("use_basic_auth", "basic"),
        ("enable_signature_checking", "hmac"),
        ("use_openid", "openid"),
        ("use_mutual_tls_auth", "certificate"),
        ("use_standard_auth", "token"),
    ];
    let on: Vec<&str> = ways.into_iter().filter(|(field, _)| is_on(field)).map(|(_, name)| name).collect();
    if on.is_empty() { vec!["token"] } else { on }
}

/// A page of the policies
///
/// Rows have `id`, `name`, `org_id`, `state`, `apis`, `rate`, `per`, `quota_max`, `quota_renewal_rate`.
#[utoipa::path(
    get, path = "/tyk/list/policies", tag = "Lists", operation_id = "searchPolicies",
    security(("secret" = ["viewer", "scope:reached"])),
    params(
        ("q" = Option<String>, Query, description = "Words that must all be in the name or id, in any letter case."),
        ("sort" = Option<String>, Query, description = "`name` or `id`; `-` before it for descending.", example = "id"),
        ("limit" = Option<String>, Query, description = "Rows, 1 to 1000; 100 by default."),
        ("after" = Option<String>, Query, description = "`next` of the page before."),
    ),
    responses(
        (status = 200, body = ListPage, description = "The page."),
        (status = 400, body = Error, description = "A parameter has an invalid value."),
    )
)]
pub(super) async fn policies(
    State(control): State<Arc<Control>>,
    reach: Reach,
    Query(query): Query<HashMap<String, String>>,
) -> ControlAnswer {
    let asked = match Asked::read(&query, &["name", "id"]) {
        Ok(asked) => asked,
        Err(answer) => return answer,
    };
    let policies = control.shared.keys.policies();
    let reached: Vec<&Policy> = policies.iter().filter(|policy| reach.has_policy(policy)).collect();
    let total = reached.len();
    let fitting = reached.into_iter().filter(|policy| asked.fits([policy.id(), policy.name.as_str()].into_iter()));
    let rows = fitting.map(|policy| {
        let state = if policy.is_inactive { "inactive" } else { "active" };
        json!({
            "id": policy.id(), "name": policy.name, "org_id": policy.org_id, "state": state,
            "apis": policy.access_rights.keys().collect::<Vec<_>>(),
            "rate": policy.rate, "per": policy.per, "quota_max": policy.quota_max, "quota_renewal_rate": policy.quota_renewal_rate,
        })
    });
    let rows = rows.collect();
    asked.page(rows, total)
}

/// A page of the keys
///
/// Rows have `id`, `by`, `hash`, `alias`, `org_id`, `policies`, `apis`, `state`, `expires`, `rate`, `per`, `quota_max`, `created`. The key is found by
/// `id` with the query `by`, such as `/tyk/keys/{id}?by=id`; `hash` is its name in the live tail. Neither is a secret, whether keys are hashed or not.
#[utoipa::path(
    get, path = "/tyk/list/keys", tag = "Lists", operation_id = "searchKeys",
    security(("secret" = ["viewer", "scope:reached"])),
    params(
        ("q" = Option<String>, Query, description = "Words that must all be in the alias, a policy's id, or (from 6 characters on) the listed form, in any letter case."),
        ("sort" = Option<String>, Query, description = "`id`.", example = "id"),
        ("limit" = Option<String>, Query, description = "Rows, 1 to 1000; 100 by default."),
        ("after" = Option<String>, Query, description = "`next` of the page before."),
    ),
    responses(
        (status = 200, body = ListPage, description = "The page."),
        (status = 400, body = Error, description = "A parameter has an invalid value."),
        (status = 500, body = Error, description = "The store does not answer."),
    )
)]
pub(super) async fn keys(
    State(control): State<Arc<Control>>,
    reach: Reach,
    Query(query): Query<HashMap<String, String>>,
) -> ControlAnswer {
    match asked_keys(&query) {
        Ok(asked) => key_page(&control, &reach, &asked, None).await,
        Err(answer) => answer,
    }
}

fn asked_keys(query: &HashMap<String, String>) -> Result<Asked, ControlAnswer> {
    match Asked::read(query, &["id"]) {
        Ok(asked) if !asked.is_descending => Ok(asked),
        Ok(_) => Err(error(StatusCode::BAD_REQUEST, "keys are sorted by id, ascending")),
        Err(answer) => Err(answer),
    }
}

/// A search for keys, in a body.
#[derive(Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct KeySearch {
    /// Words as in the query of `GET`. A single word may also be a whole key.
    #[schema(required = false, example = "customer")]
    q: String,
    /// A whole key; its row comes first.
    #[schema(required = false)]
    key: String,
    /// `id`.
    #[schema(required = false, example = "id")]
    sort: String,
    /// Rows, 1 to 1000; 100 by default.
    #[schema(required = false, example = 20)]
    limit: Option<usize>,
    /// `next` of the page before.
    #[schema(required = false)]
    after: String,
}

/// A page of the keys, with the search in a body
///
/// The same as `GET`, for a search by a whole key: a secret belongs into no URL, because URLs are logged.
#[utoipa::path(
    post, path = "/tyk/list/keys", tag = "Lists", operation_id = "findKeys",
    security(("secret" = ["viewer", "scope:reached"])),
    request_body(content = KeySearch, example = json!({"key": "default0123456789abcdef", "limit": 20})),
    responses(
        (status = 200, body = ListPage, description = "The page."),
        (status = 400, body = Error, description = "The body is no search, or a member has an invalid value."),
        (status = 500, body = Error, description = "The store does not answer."),
    )
)]
pub(super) async fn find_keys(State(control): State<Arc<Control>>, reach: Reach, body: Bytes) -> ControlAnswer {
    let search: KeySearch = match serde_json::from_slice(&body) {
        Ok(search) => search,
        Err(failure) => return error(StatusCode::BAD_REQUEST, format!("the body is no search: {failure}")),
    };
    let limit = search.limit.map(|limit| limit.to_string()).unwrap_or_default();
    let members = [("q", &search.q), ("sort", &search.sort), ("limit", &limit), ("after", &search.after)];
    let query = members.into_iter().map(|(name, value)| (name.to_owned(), value.clone())).collect();
    let asked = match asked_keys(&query) {
        Ok(asked) => asked,
        Err(answer) => return answer,
    };
    let word = search.q.trim();
    let whole = if search.key.is_empty() { word } else { search.key.as_str() };
    let is_first = asked.after.is_empty() && !whole.is_empty() && (!search.key.is_empty() || !word.contains(char::is_whitespace));
    match is_first {
        true => key_page(&control, &reach, &asked, Some(whole)).await,
        false => key_page(&control, &reach, &asked, None).await,
    }
}

/// A page of the keys. The row of the key `whole` comes first, if there is one.
async fn key_page(control: &Control, reach: &Reach, asked: &Asked, whole: Option<&str>) -> ControlAnswer {
    let keys = &control.shared.keys;
    let is_shared = keys.shared_keys().is_some();
    let now = unix_s();
    let end = Instant::now() + SEARCH_TIME_MAX;
    let mut rows = Vec::new();
    let mut first = None;
    if let Some(whole) = whole {
        match super::keys::named(keys, whole, &HashMap::new()).await {
            Ok(Some((name, session))) if reach.has_session(&session) => {
                let id = keys.listed_id(&name);
                rows.push(key_row(keys, &id, &name.shown, Some(&session), now));
                first = Some(id);
            }
            Ok(_) => {}
            Err(fault) => return unlisted(&fault),
        }
    }
    let mut scanned = 0;
    let mut next = asked.after.clone();
    // A search looks at many keys for a row. Each look at the embedded store begins with all ids.
    let batch = if asked.words.is_empty() { asked.limit } else { asked.limit.max(SEARCHED_KEYS) };
    loop {
        let (some, following) = match keys.listed_after(&next, batch).await {
            Ok(some) => some,
            Err(fault) => return unlisted(&fault),
        };
        for ListedKey { id, shown, session, place, .. } in some {
            next = place;
            if !session.as_ref().map_or(reach.is_whole(), |session| reach.has_session(session)) {
                continue;
            }
            scanned += 1;
            let policies = session.as_ref().map(Session::policy_ids).unwrap_or_default();
            let alias = session.as_ref().map_or("", |session| session.alias.as_str());
            if first.as_ref() != Some(&id) && fits_key(&asked.words, alias, &shown, &policies) {
                rows.push(key_row(keys, &id, &shown, session.as_ref(), now));
            }
            if rows.len() >= asked.limit {
                break;
            }
        }
        let is_last = following.is_none() && rows.len() < asked.limit;
        if is_last {
            next.clear();
        }
        if is_last || rows.len() >= asked.limit || Instant::now() >= end {
            let total = if is_shared || !reach.is_whole() { None } else { Some(keys.len()) };
            return ok(ListPage { rows, next, total, scanned });
        }
    }
}

fn unlisted(fault: &StoreFault) -> ControlAnswer {
    error(StatusCode::INTERNAL_SERVER_ERROR, format!("keys can't be listed: {fault}"))
}

/// A key as a row.
pub(super) fn key_row(keys: &Keys, id: &str, shown: &str, session: Option<&Session>, now_unix_s: u64) -> Value {
    let (by, hash) = (keys.listed_by(), keys.hash_of(shown));
    let Some(session) = session else { return json!({"id": id, "by": by, "hash": hash, "state": "bad"}) };
    let is_expired = session.expires > 0 && u64::try_from(session.expires).is_ok_and(|ends| ends <= now_unix_s);
    let state = match (session.is_inactive, is_expired) {
        (true, _) => "inactive",
        (_, true) => "expired",
        _ => "active",
    };
    json!({
        "id": id, "by": by, "hash": hash, "alias": session.alias, "org_id": session.org_id, "policies": session.policy_ids(),
        "apis": session.access_rights.keys().collect::<Vec<_>>(), "state": state, "expires": session.expires,
        "rate": session.rate, "per": session.per, "quota_max": session.quota_max, "created": session.date_created,
    })
}
