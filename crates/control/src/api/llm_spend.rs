//! `/tyk/llm/spend`: what language models cost, by caller, team, model and provider, and what became of requests, from the sums per hour.

use super::Control;
use super::answer::{ControlAnswer, Error, error, ok};
use super::authority::Signed;
use super::nodes::asks_all;
use super::query::Parameters;
use super::recorded::{Recorded, recorded};
use super::usage::csv::CsvTimes;
use super::usage::hides_keys;
use crate::figures_question::FiguresQuestion;
use axum::Extension;
use axum::extract::{Query, State};
use axum::http::header::ACCEPT;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tollgate_llm::PRICES_OF;
use tollgate_store::StoreFault;
use tollgate_store::spend::{OTHER, SpendAnswer, SpendBy, SpendCounts, SpendQuestion, SpendRow};
use utoipa::ToSchema;

mod csv;
mod month;

/// Maximum rows of a response.
const ROWS_MAX: usize = 10_000;
/// How long an answer may take to be read; a person waits no longer.
const READ_TIME_MAX: Duration = Duration::from_secs(2);
/// Keys of an answer that are named, and the time for it; each may be a question to Redis.
const ALIASES_MAX: usize = 100;
const ALIAS_TIME_MAX: Duration = Duration::from_millis(200);
const HOUR: i64 = 60;

/// What language models cost.
#[derive(Serialize, ToSchema)]
pub(super) struct SpendReport {
    /// Start, in seconds since 1970.
    from: i64,
    /// End, in seconds since 1970.
    to: i64,
    /// Dimension of the rows.
    by: String,
    /// Seconds per row, with `by=time`.
    step_s: Option<i64>,
    /// Whether two seconds did not suffice to read all.
    partial: bool,
    /// The gateways whose requests are in it.
    nodes: Vec<String>,
    /// Gateways that did not answer in time, or record nothing.
    missing: Vec<String>,
    rows: Vec<ShownSpend>,
    /// All rows that were asked for, also those beyond `top`.
    total: SpendSums,
    month: SpendMonth,
    /// The day of the built-in list prices, for models to which an API gives no price of its own.
    #[schema(example = "2025-12-01")]
    prices_of: &'static str,
}

/// The month in which the period ends, in UTC, and the same days of others as a measure.
#[derive(Serialize, ToSchema)]
struct SpendMonth {
    /// Its start, in seconds since 1970.
    from: i64,
    /// Its end.
    to: i64,
    /// What it has cost so far.
    cost_usd: f64,
    /// What it will cost if it goes on as in the last seven days.
    forecast_usd: f64,
}

/// One row.
#[derive(Serialize, ToSchema)]
struct ShownSpend {
    #[schema(inline)]
    value: SpendValue,
    /// The second dimension, with `split`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    split: Option<String>,
    /// Alias of the key in `value` or `split`, if it was found in time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    alias: Option<String>,
    #[serde(flatten)]
    sums: SpendSums,
}

/// Sums of requests to language models.
#[derive(Serialize, ToSchema)]
struct SpendSums {
    /// Requests, each counted where it ended.
    requests: u64,
    /// Requests to providers.
    attempts: u64,
    /// Of prompts, with those from and into providers' caches.
    input_tokens: u64,
    /// Of answers, with reasoning.
    output_tokens: u64,
    cached_tokens: u64,
    cache_write_tokens: u64,
    reasoning_tokens: u64,
    cost_usd: f64,
    /// Attempts whose provider has not told all, so that something is estimated.
    estimated: u64,
    /// The mean time until the first token of streams.
    first_token_ms: Option<f64>,
}

/// Value of the dimension in `by`; with `by=time`, seconds since 1970.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
enum SpendValue {
    Name(String),
    UnixS(i64),
}

/// Dimensions to group by.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case", default = "model")]
#[expect(dead_code, reason = "describes a parameter that is read with the others")]
enum SpendRows {
    Api,
    Org,
    Policy,
    Key,
    Model,
    Provider,
    InsteadOf,
    Outcome,
    Reason,
    Budget,
    Team,
    Time,
}

/// What language models cost, by caller, team, model and provider
///
/// Computed from sums per hour, which are kept for `tollgate.analytics.usage_days`, and sums per day, which are kept for 800 days.
#[utoipa::path(
    get, path = "/tyk/llm/spend", tag = "Figures", operation_id = "getLlmSpend",
    security(("secret" = ["viewer", "scope:query:api_id"])),
    params(
        ("by" = inline(Option<SpendRows>), Query, description = "What a row stands for. `instead_of` is the provider that was asked before and gave no answer.", example = "model"),
        ("split" = inline(Option<SpendRows>), Query, description = "What each row is split by, unless it is `time`. The seven dearest values keep their names."),
        ("last" = Option<String>, Query, description = "How long back, such as 24h or 30d.", example = "30d"),
        ("from" = Option<String>, Query, description = "Seconds since 1970, instead of `last`."),
        ("to" = Option<String>, Query, description = "Seconds since 1970; now by default."),
        ("step" = Option<String>, Query, description = "Width of a row of time, in hours or days, such as 1h or 1d."),
        ("top" = Option<String>, Query, description = "How many rows at most.", example = "20"),
        ("nodes" = Option<String>, Query, description = "`all`: sums over all gateways that share the Redis."),
        ("format" = Option<String>, Query, description = "`json` or `csv`; else by the header `Accept`."),
        ("tz" = Option<String>, Query, description = "Zone of times in CSV: `UTC` or an offset such as `+01:00`."),
        ("api_id" = Option<String>, Query, description = "Of one API."),
        ("org" = Option<String>, Query, description = "Of one organisation."),
        ("policy" = Option<String>, Query, description = "Of keys with these policies."),
        ("key" = Option<String>, Query, description = "Of one key, as it is shown in records."),
        ("model" = Option<String>, Query, description = "Of one model, by its name at the provider."),
        ("provider" = Option<String>, Query, description = "Of one provider."),
        ("outcome" = Option<String>, Query, description = "Of requests with one outcome, such as `ok` or `no_budget`.", example = "ok"),
        ("budget" = Option<String>, Query, description = "Of requests that one budget refused or ended."),
        ("team" = Option<String>, Query, description = "Of one team; of no team if it is empty."),
    ),
    responses(
        (status = 200, description = "The rows, dearest first; with `by=time` in order of time.", content((SpendReport = "application/json"), (String = "text/csv"))),
        (status = 400, body = Error, description = "A parameter is unknown or has an invalid value."),
        (status = 404, body = Error, description = "It is not recorded: `enable_analytics` or `tollgate.analytics.usage` is off."),
    )
)]
pub(super) async fn spend(
    State(control): State<Arc<Control>>,
    signed: Option<Extension<Signed>>,
    headers: HeaderMap,
    Query(query): Query<HashMap<String, String>>,
) -> Response {
    let accepts_csv =
        headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).is_some_and(|accept| accept.starts_with("text/csv"));
    let asked = SpendAsked::read(&query, tollgate_clock::unix_s());
    let asked = asked.and_then(|asked| Ok((asked, CsvTimes::asked_for(&query, accepts_csv)?.map(csv::SpendCsv))));
    let (mut asked, csv) = match asked {
        Ok(asked) => asked,
        Err(message) => return error(StatusCode::BAD_REQUEST, message).into_response(),
    };
    let hides_keys = hides_keys(&control, signed.is_some());
    let answered = match asked.find_key(&control, hides_keys).await {
        Ok(()) => report(&control, &asked).await,
        Err(fault) => Err(fault),
    };
    match answered {
        Ok(Some(mut report)) => {
            report.by = query.get("by").map_or("model", String::as_str).to_owned();
            report.name_keys(&control, &asked.question, hides_keys).await;
            csv.map_or_else(|| ok(&report).into_response(), |csv| csv.write(&report))
        }
        Ok(None) => not_recorded().into_response(),
        Err(fault) => {
            tracing::error!(%fault, "spend can't be read");
            error(StatusCode::INTERNAL_SERVER_ERROR, "Spend can't be read").into_response()
        }
    }
}

fn not_recorded() -> ControlAnswer {
    error(StatusCode::NOT_FOUND, "Spend is not recorded: enable_analytics and tollgate.analytics.usage")
}

/// What was asked.
struct SpendAsked {
    question: SpendQuestion,
    /// Width of a row of time.
    step_s: i64,
    /// Of all gateways.
    is_for_all: bool,
}

impl SpendAsked {
    fn read(query: &HashMap<String, String>, now_unix_s: u64) -> Result<Self, String> {
        const KNOWN: [&str; 19] = [
            "by", "split", "last", "from", "to", "step", "top", "nodes", "format", "tz", "api_id", "org", "policy", "key", "model",
            "provider", "outcome", "budget", "team",
        ];
        let parameters = Parameters::new(query, &KNOWN)?;
        let now = i64::try_from(now_unix_s).unwrap_or(i64::MAX);
        let (from, to) = parameters.period(now, 30 * 86_400, "24h or 30d")?;
        let step_s = parameters.span_s("step", "1h or 1d")?.unwrap_or(86_400);
        if step_s < 3_600 || step_s % 3_600 != 0 || (step_s > 86_400 && step_s % 86_400 != 0) {
            return Err("step must be hours, or days, such as 1h or 1d".to_owned());
        }
        let minutes = u32::try_from(step_s / 60).map_err(|_| "step is too long".to_owned())?;
        let dimension = |parameter: &str, name: &str, more: &str| {
            let names = || SpendBy::NAMED.map(SpendBy::name).join(", ");
            SpendBy::of_name(name).ok_or_else(|| format!("{parameter} is {name:?}; it must be one of {}{more}", names()))
        };
        let by = match parameters.text("by").unwrap_or("model") {
            "time" => SpendBy::Time(minutes),
            name => dimension("by", name, ", time")?,
        };
        let split = parameters.text("split").map(|name| dimension("split", name, ""));
        let filters = ["api_id", "org", "policy", "key", "model", "provider", "outcome", "budget", "team"];
        let only = filters
            .into_iter()
            .filter_map(|name| Some((SpendBy::of_name(name.trim_end_matches("_id"))?, query.get(name)?.clone())));
        let top = parameters.number("top")?.map_or(100, |top| usize::try_from(top).unwrap_or(ROWS_MAX));
        let question = SpendQuestion {
            from: from.div_euclid(3_600) * HOUR,
            to: (to - 1).div_euclid(3_600).saturating_add(1) * HOUR,
            only: only.collect(),
            by,
            split: split.transpose()?,
            rows_max: top.min(ROWS_MAX),
        };
        Ok(SpendAsked { question, step_s, is_for_all: asks_all(&parameters)? })
    }

    /// Asks for the key whose hash was named.
    async fn find_key(&mut self, control: &Control, hides_keys: bool) -> Result<(), StoreFault> {
        let Some((_, hash)) = self.question.only.iter().find(|(by, value)| hides_keys && *by == SpendBy::Key && !value.is_empty())
        else {
            return Ok(());
        };
        let hash = hash.clone();
        let of_key = |(by, _): &&(SpendBy, String)| *by != SpendBy::Key;
        let only = self.question.only.iter().filter(of_key).cloned().collect();
        let question = SpendQuestion { only, by: SpendBy::Key, split: None, rows_max: ROWS_MAX, ..self.question.clone() };
        let found = gather(control, &question, self.is_for_all).await?;
        let rows = found.map(|found| found.answer.rows).unwrap_or_default();
        let named = rows.into_iter().find(|row| control.shared.keys.hash_of(&row.value) == hash);
        for (_, value) in self.question.only.iter_mut().filter(|(by, _)| *by == SpendBy::Key) {
            *value = named.as_ref().map_or(&hash, |row| &row.value).clone();
        }
        Ok(())
    }
}

/// What was recorded, and by which gateways.
struct Gathered {
    answer: SpendAnswer,
    nodes: Vec<String>,
    missing: Vec<String>,
}

/// Asks this gateway, or all. `None` if none of them records it.
async fn gather(control: &Control, question: &SpendQuestion, is_for_all: bool) -> Result<Option<Gathered>, StoreFault> {
    // The rows that are the dearest of all may be cheap here.
    let part = SpendQuestion { rows_max: if is_for_all { ROWS_MAX } else { question.rows_max }, ..question.clone() };
    let others = is_for_all.then(|| FiguresQuestion::Spend { question: part.clone() });
    let Recorded { answers, missing } = recorded(
        &control.nodes,
        control.shared.observer.node(),
        move |own| own.spend(&part, Instant::now() + READ_TIME_MAX),
        others,
    )
    .await?;
    if answers.is_empty() {
        return Ok(None);
    }
    let (nodes, answers): (Vec<_>, Vec<_>) = answers.into_iter().unzip();
    Ok(Some(Gathered { answer: SpendAnswer::merged(question, answers), nodes, missing }))
}

/// The teams of an API that spent the most in the past 31 days on all gateways, with none for requests of no team; without those that are summed together.
pub(super) async fn dearest_teams(control: &Control, api: &str, teams_max: usize) -> Vec<String> {
    let hour = i64::try_from(tollgate_clock::unix_s() / 3_600).unwrap_or_default();
    let only = vec![(SpendBy::Api, api.to_owned())];
    let (from, to) = ((hour - 31 * 24) * HOUR, (hour + 1) * HOUR);
    let question = SpendQuestion { from, to, only, by: SpendBy::Team, split: None, rows_max: teams_max };
    match gather(control, &question, true).await {
        Ok(found) => {
            let rows = found.map(|found| found.answer.rows).unwrap_or_default();
            rows.into_iter().map(|row| row.value).filter(|team| team != OTHER).collect()
        }
        Err(fault) => {
            tracing::error!(%fault, "spend can't be read");
            Vec::new()
        }
    }
}

async fn report(control: &Control, asked: &SpendAsked) -> Result<Option<SpendReport>, StoreFault> {
    let question = &asked.question;
    let Some(found) = gather(control, question, asked.is_for_all).await? else { return Ok(None) };
    // One row for all.
    let whole = SpendQuestion { by: SpendBy::Time(u32::MAX), split: None, ..question.clone() };
    let total = gather(control, &whole, asked.is_for_all).await?;
    let total = total.map(|found| sum(&found.answer.rows)).unwrap_or_default();
    let days = gather(control, &month::question(question), asked.is_for_all).await?;
    let days = days.map(|found| found.answer.rows).unwrap_or_default();
    let is_time = matches!(question.by, SpendBy::Time(_));
    let value = |row: &SpendRow| match row.value.parse::<i64>() {
        Ok(minute) if is_time => SpendValue::UnixS(minute * 60),
        _ => SpendValue::Name(row.value.clone()),
    };
    let rows = found.answer.rows.iter();
    Ok(Some(SpendReport {
        from: question.from * 60,
        to: question.to * 60,
        by: String::new(),
        step_s: is_time.then_some(asked.step_s),
        partial: found.answer.is_partial,
        rows: rows
            .map(|row| ShownSpend { value: value(row), split: row.split.clone(), alias: None, sums: shown(&row.counts) })
            .collect(),
        total: shown(&total),
        month: month::of(question.to, tollgate_clock::unix_s(), &days),
        prices_of: PRICES_OF,
        nodes: found.nodes,
        missing: found.missing,
    }))
}

fn sum(rows: &[SpendRow]) -> SpendCounts {
    rows.iter().fold(SpendCounts::default(), |mut sum, row| {
        sum.add(&row.counts);
        sum
    })
}

fn shown(counts: &SpendCounts) -> SpendSums {
    SpendSums {
        requests: counts.requests,
        attempts: counts.attempts,
        input_tokens: counts.input_tokens,
        output_tokens: counts.output_tokens,
        cached_tokens: counts.cached_tokens,
        cache_write_tokens: counts.cache_write_tokens,
        reasoning_tokens: counts.reasoning_tokens,
        cost_usd: counts.cost_micro_usd as f64 / 1e6,
        estimated: counts.estimated,
        first_token_ms: (counts.streams > 0).then(|| (counts.first_token_us / counts.streams) as f64 / 1e3),
    }
}

impl SpendReport {
    /// Names the first keys, and replaces keys by their hashes.
    async fn name_keys(&mut self, control: &Control, question: &SpendQuestion, hides_keys: bool) {
        let (is_row, is_part) = (question.by == SpendBy::Key, question.split == Some(SpendBy::Key));
        if !is_row && !is_part {
            return;
        }
        let keys = &control.shared.keys;
        let end = Instant::now() + ALIAS_TIME_MAX;
        let mut known: HashMap<String, Option<String>> = HashMap::new();
        for row in &mut self.rows {
            let key = match &row.value {
                SpendValue::Name(name) if is_row => name.clone(),
                _ => row.split.clone().unwrap_or_default(),
            };
            row.alias = match known.get(&key) {
                Some(alias) => alias.clone(),
                None if key.is_empty() || known.len() >= ALIASES_MAX || Instant::now() >= end => None,
                None => known.entry(key.clone()).or_insert(super::keys::alias(keys, &key).await).clone(),
            };
            if hides_keys && !key.is_empty() {
                let hash = keys.hash_of(&key).into_owned();
                if is_row { row.value = SpendValue::Name(hash) } else { row.split = Some(hash) }
            }
        }
    }
}

#[cfg(test)]
mod tests;
