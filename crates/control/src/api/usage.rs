//! `/tyk/usage`: usage by API, key, path and more, from the sums per minute.

use super::Control;
use super::answer::{ControlAnswer, Error, error, ok};
use super::authority::Signed;
use super::nodes::asks_all;
use super::query::Parameters;
use super::recorded::last_minute;
use axum::Extension;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use tollgate_access::keys::Keys;
use tollgate_model::distribution::{Distribution, REQUEST_NS};
use tollgate_store::StoreFault;
use tollgate_store::usage::{UsageAnswer, UsageBy, UsageQuestion, UsageRow};
use utoipa::ToSchema;

pub(super) mod csv;
mod gather;

use csv::{CsvTimes, UsageCsv};
use gather::{Gathered, NodeSplit, gather};

/// Maximum rows of a response.
const ROWS_MAX: usize = 10_000;
/// How long an answer may take to be read; a person waits no longer.
const READ_TIME_MAX: Duration = Duration::from_secs(2);
/// Keys of an answer that are named, and the time for it; each may be a question to Redis.
const ALIASES_MAX: usize = 100;
const ALIAS_TIME_MAX: Duration = Duration::from_millis(200);
const UNREADABLE: &str = "Usage can't be read";

/// Request statistics over time.
#[derive(Serialize, ToSchema)]
pub(super) struct UsageReport {
    /// Start, in seconds since 1970.
    from: i64,
    /// End, in seconds since 1970.
    to: i64,
    /// Dimension of the rows.
    by: String,
    /// Seconds per row, with `by=time`.
    step_s: Option<i64>,
    /// Whether two seconds did not suffice: only what is after `complete_from` is in the rows.
    partial: bool,
    /// From this time on the rows are complete, in seconds since 1970.
    complete_from: i64,
    /// The gateways whose requests are in it.
    nodes: Vec<String>,
    /// Gateways that did not answer in time, or record no usage.
    missing: Vec<String>,
    rows: Vec<ShownUsage>,
}

/// One row.
#[derive(Serialize, ToSchema)]
struct ShownUsage {
    #[schema(inline)]
    value: UsageValue,
    /// The second dimension, with `split`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    split: Option<String>,
    /// Alias of the key in `value` or `split`, if it was found in time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    alias: Option<String>,
    hits: u64,
    /// Responses with a status below 400.
    success: u64,
    errors: u64,
    mean_ms: f64,
    upstream_mean_ms: f64,
    p50_ms: f64,
    p90_ms: f64,
    p99_ms: f64,
    max_ms: f64,
    request_bytes: u64,
    response_bytes: u64,
    /// When the last of these requests ended, in seconds since 1970; within a minute, an hour or a day.
    last_seen_unix_s: i64,
}

/// When a key was used last.
#[derive(Serialize, ToSchema)]
pub(super) struct LastSeen {
    key: String,
    /// Seconds since 1970, within a minute; `null` if it was not used in the time that is kept.
    last_seen_unix_s: Option<i64>,
}

/// Value of the dimension in `by`; with `by=time`, seconds since 1970.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
enum UsageValue {
    Name(String),
    UnixS(i64),
}

/// Dimensions to group by.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase", default = "api")]
#[expect(dead_code, reason = "describes a parameter that is read with the others")]
enum UsageRows {
    Api,
    Key,
    Version,
    Method,
    Path,
    Status,
    Node,
    Time,
}

/// Request statistics over time, by API, key, path and more
///
/// Computed from sums per minute, which are kept for `tollgate.analytics.usage_days`.
#[utoipa::path(
    get, path = "/tyk/usage", tag = "Figures", operation_id = "getUsage",
    security(("secret" = ["viewer", "scope:query:api_id"])),
    params(
        ("by" = inline(Option<UsageRows>), Query, description = "What a row stands for.", example = "path"),
        ("last" = Option<String>, Query, description = "How long back, such as 30m, 24h or 7d.", example = "24h"),
        ("from" = Option<String>, Query, description = "Seconds since 1970, instead of `last`."),
        ("to" = Option<String>, Query, description = "Seconds since 1970; now by default."),
        ("split" = inline(Option<UsageRows>), Query, description = "What each row is split by, unless it is `time`. The seven most used values keep their names."),
        ("format" = Option<String>, Query, description = "`json` or `csv`."),
        ("tz" = Option<String>, Query, description = "Zone of times in CSV: `UTC` or an offset such as `+01:00`."),
        ("step" = Option<String>, Query, description = "Width of a row of time, such as 5m."),
        ("top" = Option<String>, Query, description = "How many rows at most.", example = "20"),
        ("nodes" = Option<String>, Query, description = "`all`: sums over all gateways that share the Redis."),
        ("api_id" = Option<String>, Query, description = "Of one API.", example = "quick"),
        ("key" = Option<String>, Query, description = "Of one key, as it is shown in records."),
        ("path" = Option<String>, Query, description = "Of one path."),
        ("version" = Option<String>, Query, description = "Of one version."),
        ("method" = Option<String>, Query, description = "Of one method."),
        ("status" = Option<String>, Query, description = "Of one status code or class, such as 404 or 5xx.", example = "2xx"),
    ),
    responses(
        (status = 200, description = "The rows, busiest first; with `by=time` in order of time.", content((UsageReport = "application/json"), (String = "text/csv"))),
        (status = 400, body = Error, description = "A parameter is unknown or has an invalid value."),
        (status = 404, body = Error, description = "Usage is not recorded: `enable_analytics` or `tollgate.analytics.usage` is off."),
    )
)]
pub(super) async fn usage(
    State(control): State<Arc<Control>>,
    signed: Option<Extension<Signed>>,
    Query(query): Query<HashMap<String, String>>,
) -> Response {
    let asked = UsageAsked::read(&query, SystemTime::now())
        .and_then(|asked| Ok((asked, CsvTimes::asked_for(&query, false)?.map(UsageCsv))));
    let (mut asked, csv) = match asked {
        Ok(asked) => asked,
        Err(message) => return error(StatusCode::BAD_REQUEST, message).into_response(),
    };
    let hides_keys = hides_keys(&control, signed.is_some());
    if hides_keys && let Err(fault) = asked.find_key(&control).await {
        return unreadable(&fault).into_response();
    }
    match gather(&control, &asked).await {
        Ok(Some(gathered)) => {
            let mut report = answer(&asked, gathered, &query);
            add_aliases(&control, &asked.question, &mut report).await;
            if hides_keys {
                report.hash_keys(&control.shared.keys, &asked.question);
            }
            csv.map_or_else(|| ok(&report).into_response(), |csv| csv.write(&report))
        }
        Ok(None) => not_recorded().into_response(),
        Err(fault) => unreadable(&fault).into_response(),
    }
}

/// When a key was used last
#[utoipa::path(
    get, path = "/tyk/usage/last_seen", tag = "Figures", operation_id = "getLastSeen",
    security(("secret" = ["viewer", "scope:closed"])),
    params(
        ("key" = String, Query, description = "The key, as it is shown in records.", example = "0123abcd"),
        ("by" = Option<String>, Query, description = "`id`: `key` is the key's `id` of `/tyk/list/keys`."),
        ("nodes" = Option<String>, Query, description = "`all`: on any gateway that shares the Redis."),
    ),
    responses(
        (status = 200, body = LastSeen, description = "The time, if it was used."),
        (status = 400, body = Error, description = "`key` is missing, or a parameter is unknown."),
        (status = 404, body = Error, description = "Usage is not recorded."),
    )
)]
pub(super) async fn last_seen(State(control): State<Arc<Control>>, Query(query): Query<HashMap<String, String>>) -> ControlAnswer {
    let asked = Parameters::new(&query, &["key", "by", "nodes"]).and_then(|known| Ok((known.text("key"), asks_all(&known)?)));
    let (key, is_for_all) = match asked {
        Ok((Some(key), is_for_all)) => (key.to_owned(), is_for_all),
        Ok((None, _)) => return error(StatusCode::BAD_REQUEST, "key is missing"),
        Err(message) => return error(StatusCode::BAD_REQUEST, message),
    };
    let recorded = match query.get("by").map(String::as_str) {
        Some("id") => match super::keys::named(&control.shared.keys, &key, &query).await {
            Ok(Some((name, _))) => name.shown,
            Ok(None) => return error(StatusCode::NOT_FOUND, "Key not found"),
            Err(fault) => return unreadable(&fault),
        },
        _ => key.clone(),
    };
    match last_minute(&control.nodes, recorded, is_for_all).await {
        Ok(Some(minute)) => ok(LastSeen { key, last_seen_unix_s: minute.map(|minute| minute * 60) }),
        Ok(None) => not_recorded(),
        Err(fault) => unreadable(&fault),
    }
}

/// Whether keys are told by their hashes: where they are not hashed, their names in records are the keys.
pub(super) fn hides_keys(control: &Control, is_user: bool) -> bool {
    is_user && !control.shared.keys.rules.hash_keys
}

fn not_recorded() -> ControlAnswer {
    error(StatusCode::NOT_FOUND, "Usage is not recorded: enable_analytics and tollgate.analytics.usage")
}

fn unreadable(fault: &StoreFault) -> ControlAnswer {
    tracing::error!(%fault, "usage can't be read");
    error(StatusCode::INTERNAL_SERVER_ERROR, UNREADABLE)
}

/// What was asked.
struct UsageAsked {
    question: UsageQuestion,
    /// Width of a row of time.
    step_s: i64,
    /// What stands for gateways, which the question itself knows nothing of.
    by_node: NodeSplit,
    /// Of all gateways.
    is_for_all: bool,
}

impl UsageAsked {
    fn read(query: &HashMap<String, String>, now: SystemTime) -> Result<Self, String> {
        const KNOWN: [&str; 16] = [
            "from", "to", "last", "api_id", "key", "path", "version", "method", "status", "by", "step", "top", "split", "format",
            "tz", "nodes",
        ];
        let parameters = Parameters::new(query, &KNOWN)?;
        let by_node = NodeSplit { rows: parameters.text("by") == Some(NODE), parts: parameters.text("split") == Some(NODE) };
        let (question, step_s) = question(&parameters, now)?;
        Ok(UsageAsked { question, step_s, by_node, is_for_all: asks_all(&parameters)? })
    }
}

impl UsageAsked {
    /// Asks for the key whose hash was named.
    async fn find_key(&mut self, control: &Control) -> Result<(), StoreFault> {
        let Some(hash) = self.question.key.take() else { return Ok(()) };
        let question = UsageQuestion { by: UsageBy::Key, split: None, rows_max: ROWS_MAX, ..self.question.clone() };
        let all = UsageAsked { question, step_s: 0, by_node: NodeSplit::default(), is_for_all: self.is_for_all };
        let rows = gather(control, &all).await?.map(|gathered| gathered.found.rows).unwrap_or_default();
        let named = rows.into_iter().find(|row| control.shared.keys.hash_of(&row.value) == hash);
        self.question.key = Some(named.map_or(hash, |row| row.value));
        Ok(())
    }
}

impl UsageReport {
    /// Replaces keys by their hashes.
    fn hash_keys(&mut self, keys: &Keys, question: &UsageQuestion) {
        for row in &mut self.rows {
            if let (UsageBy::Key, UsageValue::Name(name)) = (question.by, &mut row.value) {
                *name = keys.hash_of(name).into_owned();
            }
            if let (Some(UsageBy::Key), Some(name)) = (question.split, &mut row.split) {
                *name = keys.hash_of(name).into_owned();
            }
        }
    }
}

/// The dimension that only the gateways themselves know.
const NODE: &str = "node";

/// The question that each gateway answers, and the width of a row of time in seconds.
fn question(parameters: &Parameters<'_>, now: SystemTime) -> Result<(UsageQuestion, i64), String> {
    let text = |name: &str| parameters.text(name);
    let now = now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX));
    let (from, to) = parameters.period(now + 60, 3600, "30m, 24h or 7d")?;
    let step_s = parameters.span_s("step", "1m, 5m or 1h")?.unwrap_or(60);
    let minutes = u32::try_from((step_s / 60).max(1)).map_err(|_| "step is too long".to_owned())?;
    let by = match text("by").unwrap_or("api") {
        "time" => UsageBy::Time(minutes),
        // Few rows, which are summed.
        NODE => UsageBy::Method,
        name => UsageBy::of_name(name).ok_or_else(|| format!("by is {name:?}; it must be one of {DIMENSIONS}, time"))?,
    };
    let split = text("split").filter(|name| *name != NODE);
    let split =
        split.map(|name| UsageBy::of_name(name).ok_or_else(|| format!("split is {name:?}; it must be one of {DIMENSIONS}")));
    let rows = parameters
        .whole("top")?
        .map_or(if matches!(by, UsageBy::Time(_)) { ROWS_MAX } else { 10 }, |top| usize::try_from(top).unwrap_or(0));
    let question = UsageQuestion {
        from: from.div_euclid(60),
        to: to.div_euclid(60) + i64::from(to.rem_euclid(60) > 0),
        api: text("api_id").map(str::to_owned),
        key: text("key").map(str::to_owned),
        keys: Vec::new(),
        path: text("path").map(str::to_owned),
        version: text("version").map(str::to_owned),
        method: text("method").map(str::to_ascii_uppercase),
        status: text("status").map(|text| statuses(text).ok_or("status must be such as 404 or 5xx".to_owned())).transpose()?,
        by,
        split: split.transpose()?,
        rows_max: rows.min(ROWS_MAX),
    };
    Ok((question, i64::from(minutes) * 60))
}

const DIMENSIONS: &str = "api, key, version, method, path, status, node";

/// First and last status of `404` or `5xx`.
fn statuses(text: &str) -> Option<(u16, u16)> {
    if let Some(class) = text.strip_suffix("xx") {
        let class: u16 = class.parse().ok().filter(|class| (1..=5).contains(class))?;
        return Some((class * 100, class * 100 + 99));
    }
    let code = text.parse().ok().filter(|code| (100..=999).contains(code))?;
    Some((code, code))
}

fn answer(asked: &UsageAsked, gathered: Gathered, query: &HashMap<String, String>) -> UsageReport {
    let UsageAsked { question, step_s, .. } = asked;
    let is_time = matches!(question.by, UsageBy::Time(_));
    let value = |row: &UsageRow| match row.value.parse::<i64>() {
        Ok(minute) if is_time => UsageValue::UnixS(minute * 60),
        _ => UsageValue::Name(row.value.clone()),
    };
    let Gathered { found: UsageAnswer { rows, partial_from }, nodes, missing } = gathered;
    UsageReport {
        from: question.from * 60,
        to: question.to * 60,
        by: query.get("by").map_or("api", String::as_str).to_owned(),
        step_s: is_time.then_some(*step_s),
        partial: partial_from.is_some(),
        complete_from: partial_from.unwrap_or(question.from) * 60,
        nodes,
        missing,
        rows: rows.iter().map(|row| shown(value(row), row)).collect(),
    }
}

/// Names the keys of the first rows.
async fn add_aliases(control: &Control, question: &UsageQuestion, report: &mut UsageReport) {
    let (is_row, is_part) = (question.by == UsageBy::Key, question.split == Some(UsageBy::Key));
    if !is_row && !is_part {
        return;
    }
    let end = Instant::now() + ALIAS_TIME_MAX;
    let mut known: HashMap<String, Option<String>> = HashMap::new();
    for row in &mut report.rows {
        let key = match &row.value {
            UsageValue::Name(name) if is_row => name.clone(),
            _ => row.split.clone().unwrap_or_default(),
        };
        row.alias = match known.get(&key) {
            Some(alias) => alias.clone(),
            None if key.is_empty() || known.len() >= ALIASES_MAX || Instant::now() >= end => None,
            None => known.entry(key.clone()).or_insert(super::keys::alias(&control.shared.keys, &key).await).clone(),
        };
    }
}

fn shown(value: UsageValue, row: &UsageRow) -> ShownUsage {
    let (counts, good) = (&row.counts, row.good);
    let times = Distribution { buckets: counts.buckets, sum_ns: 0 };
    // The end of a bucket may exceed the longest duration that occurred.
    let quantile_ms = |share| (times.quantile_ns(&REQUEST_NS, share) / 1_000).min(counts.max_us) as f64 / 1_000.0;
    let mean_ms = |sum_us: u64| sum_us as f64 / counts.hits.max(1) as f64 / 1_000.0;
    ShownUsage {
        value,
        split: row.split.clone(),
        alias: None,
        hits: counts.hits,
        success: good,
        errors: counts.hits - good.min(counts.hits),
        mean_ms: mean_ms(counts.total_us),
        upstream_mean_ms: mean_ms(counts.upstream_us),
        p50_ms: quantile_ms(0.5),
        p90_ms: quantile_ms(0.9),
        p99_ms: quantile_ms(0.99),
        max_ms: counts.max_us as f64 / 1_000.0,
        request_bytes: counts.request_bytes,
        response_bytes: counts.response_bytes,
        last_seen_unix_s: row.last_minute * 60,
    }
}

#[cfg(test)]
mod tests;
