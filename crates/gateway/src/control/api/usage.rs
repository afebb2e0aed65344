//! `/tyk/usage`: usage by API, key, path and more, from the sums per minute.

use super::Control;
use super::answer::{ControlAnswer, Error, error, ok};
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use tollgate_model::distribution::{Distribution, REQUEST_NS};
use tollgate_store::StoreFault;
use tollgate_store::usage::{Usage, UsageAnswer, UsageBy, UsageQuestion, UsageRow};
use utoipa::ToSchema;

mod csv;

use csv::UsageCsv;

/// Maximum rows of a response.
const ROWS_MAX: usize = 10_000;
/// How long an answer may take to be read; a person waits no longer.
const READ_TIME_MAX: Duration = Duration::from_secs(2);
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
    Time,
}

/// Request statistics over time, by API, key, path and more
///
/// Computed from sums per minute, which are kept for `tollgate.analytics.usage_days`.
#[utoipa::path(
    get, path = "/tyk/usage", tag = "Figures", operation_id = "getUsage",
    security(("secret" = ["viewer"])),
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
pub(super) async fn usage(State(control): State<Arc<Control>>, Query(query): Query<HashMap<String, String>>) -> Response {
    let Some(usage) = recorded(&control) else { return not_recorded().into_response() };
    let asked = question(&query, SystemTime::now()).and_then(|asked| Ok((asked, UsageCsv::asked_for(&query)?)));
    let ((question, step_s), csv) = match asked {
        Ok(asked) => asked,
        Err(message) => return error(StatusCode::BAD_REQUEST, message).into_response(),
    };
    let asked = question.clone();
    let found = tokio::task::spawn_blocking(move || usage.answer(&asked, Some(Instant::now() + READ_TIME_MAX))).await;
    match found {
        Ok(Ok(found)) => {
            let report = answer(&question, step_s, &found, &query);
            csv.map_or_else(|| ok(&report).into_response(), |csv| csv.write(&report))
        }
        Ok(Err(fault)) => unreadable(&fault).into_response(),
        Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, UNREADABLE).into_response(),
    }
}

/// When a key was used last
#[utoipa::path(
    get, path = "/tyk/usage/last_seen", tag = "Figures", operation_id = "getLastSeen",
    security(("secret" = ["viewer"])),
    params(("key" = String, Query, description = "The key, as it is shown in records.", example = "0123abcd")),
    responses(
        (status = 200, body = LastSeen, description = "The time, if it was used."),
        (status = 400, body = Error, description = "`key` is missing."),
        (status = 404, body = Error, description = "Usage is not recorded."),
    )
)]
pub(super) async fn last_seen(State(control): State<Arc<Control>>, Query(query): Query<HashMap<String, String>>) -> ControlAnswer {
    let Some(usage) = recorded(&control) else { return not_recorded() };
    let Some(key) = query.get("key").filter(|key| !key.is_empty()).cloned() else {
        return error(StatusCode::BAD_REQUEST, "key is missing");
    };
    let asked = key.clone();
    match tokio::task::spawn_blocking(move || usage.last_seen(&asked)).await {
        Ok(Ok(minute)) => ok(LastSeen { key, last_seen_unix_s: minute.map(|minute| minute * 60) }),
        Ok(Err(fault)) => unreadable(&fault),
        Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, UNREADABLE),
    }
}

fn recorded(control: &Control) -> Option<Usage> {
    control.shared.observer.recording.as_ref()?.usage.clone()
}

fn not_recorded() -> ControlAnswer {
    error(StatusCode::NOT_FOUND, "Usage is not recorded: enable_analytics and tollgate.analytics.usage")
}

fn unreadable(fault: &StoreFault) -> ControlAnswer {
    tracing::error!(%fault, "usage can't be read");
    error(StatusCode::INTERNAL_SERVER_ERROR, UNREADABLE)
}

/// Parses the query; also returns the length of its time span in seconds.
fn question(query: &HashMap<String, String>, now: SystemTime) -> Result<(UsageQuestion, i64), String> {
    const KNOWN: [&str; 15] = [
        "from", "to", "last", "api_id", "key", "path", "version", "method", "status", "by", "step", "top", "split", "format", "tz",
    ];
    if let Some(name) = query.keys().find(|name| !KNOWN.contains(&name.as_str())) {
        return Err(format!("unknown parameter {name}; known are {}", KNOWN.join(", ")));
    }
    let text = |name: &str| query.get(name).map(String::as_str).filter(|text| !text.is_empty());
    let whole =
        |name: &str| text(name).map(|text| text.parse::<i64>().map_err(|_| format!("{name} must be a whole number"))).transpose();
    let now = now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX));
    let to = whole("to")?.unwrap_or(now + 60);
    let last = text("last").map(|text| span_s(text).ok_or("last must be such as 30m, 24h or 7d".to_owned())).transpose()?;
    let from = whole("from")?.unwrap_or(to.saturating_sub(last.unwrap_or(3600)));
    if from >= to {
        return Err("from must be before to".to_owned());
    }
    let step_s =
        text("step").map(|text| span_s(text).ok_or("step must be such as 1m, 5m or 1h".to_owned())).transpose()?.unwrap_or(60);
    let minutes = u32::try_from((step_s / 60).max(1)).map_err(|_| "step is too long".to_owned())?;
    let by = match text("by").unwrap_or("api") {
        "time" => UsageBy::Time(minutes),
        name => {
            dimension(name).ok_or_else(|| format!("by is {name:?}; it must be api, key, version, method, path, status or time"))?
        }
    };
    let split = text("split").map(|name| {
        dimension(name).ok_or_else(|| format!("split is {name:?}; it must be api, key, version, method, path or status"))
    });
    let rows =
        whole("top")?.map_or(if matches!(by, UsageBy::Time(_)) { ROWS_MAX } else { 10 }, |top| usize::try_from(top).unwrap_or(0));
    let question = UsageQuestion {
        from: from.div_euclid(60),
        to: to.div_euclid(60) + i64::from(to.rem_euclid(60) > 0),
        api: text("api_id").map(str::to_owned),
        key: text("key").map(str::to_owned),
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

fn dimension(name: &str) -> Option<UsageBy> {
    Some(match name {
        "api" => UsageBy::Api,
        "key" => UsageBy::Key,
        "version" => UsageBy::Version,
        "method" => UsageBy::Method,
        "path" => UsageBy::Path,
        "status" => UsageBy::Status,
        _ => return None,
    })
}

/// First and last status of `404` or `5xx`.
fn statuses(text: &str) -> Option<(u16, u16)> {
    if let Some(class) = text.strip_suffix("xx") {
        let class: u16 = class.parse().ok().filter(|class| (1..=5).contains(class))?;
        return Some((class * 100, class * 100 + 99));
    }
    let code = text.parse().ok().filter(|code| (100..=999).contains(code))?;
    Some((code, code))
}

/// Parses `90s`, `30m`, `24h` or `7d` into seconds.
fn span_s(text: &str) -> Option<i64> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let unit_s = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return None,
    };
    number.parse::<i64>().ok().filter(|number| *number > 0)?.checked_mul(unit_s)
}

fn answer(question: &UsageQuestion, step_s: i64, found: &UsageAnswer, query: &HashMap<String, String>) -> UsageReport {
    let is_time = matches!(question.by, UsageBy::Time(_));
    let value = |row: &UsageRow| match row.value.parse::<i64>() {
        Ok(minute) if is_time => UsageValue::UnixS(minute * 60),
        _ => UsageValue::Name(row.value.clone()),
    };
    UsageReport {
        from: question.from * 60,
        to: question.to * 60,
        by: query.get("by").map_or("api", String::as_str).to_owned(),
        step_s: is_time.then_some(step_s),
        partial: found.partial_from.is_some(),
        complete_from: found.partial_from.unwrap_or(question.from) * 60,
        rows: found.rows.iter().map(|row| shown(value(row), row)).collect(),
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
