//! `/tyk/configuration/sample`: live requests as records for replays, without what identifies or authenticates a caller.

use crate::api::Control;
use crate::api::answer::{ControlAnswer, Error, error, ok};
use crate::api::query::Parameters;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use serde::Serialize;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tollgate_observe::LiveRequests;
use utoipa::ToSchema;

/// Longest sample: whoever wants more asks again, and sees meanwhile what there is.
const SAMPLE_S_MAX: u64 = 30;
/// Headers of a sample.
const HEADERS_MAX: usize = 64;

/// Live requests.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::api) struct SampledRequests {
    /// Records that a replay takes.
    requests: Vec<Value>,
    /// Requests that are left out because there were too many.
    missed: u64,
}

/// Take a sample of live requests
///
/// Records for replays: method, host, path, headers by name, hash of the key, status. Parameters and headers that carry credentials, or are named like some, are masked or left out; bodies are never in it. Requests of APIs with `do_not_track` are left out.
#[utoipa::path(
    get, path = "/tyk/configuration/sample", tag = "Configuration", operation_id = "sampleRequests",
    security(("secret" = ["admin", "scope:closed"])),
    params(
        ("seconds" = String, Query, description = "How long, up to 30.", example = "1"),
        ("every" = Option<String>, Query, description = "One of this many requests; 1 by default.", example = "1"),
        ("headers" = Option<String>, Query, description = "Names of headers, with commas between them.", example = "Accept,X-Version"),
    ),
    responses(
        (status = 200, body = SampledRequests, description = "The requests, in the order in which they ended."),
        (status = 400, body = Error, description = "A parameter is unknown or has an invalid value."),
        (status = 429, body = Error, description = "Others take live requests."),
    )
)]
pub(in crate::api) async fn sample(
    State(control): State<Arc<Control>>,
    Query(query): Query<HashMap<String, String>>,
) -> ControlAnswer {
    let (time, every, headers) = match question(&query) {
        Ok(question) => question,
        Err(message) => return error(StatusCode::BAD_REQUEST, message),
    };
    let watch = &control.shared.observer.watch;
    let live = Arc::new(LiveRequests::sample(headers, watch.hash_keys));
    live.begin(time, every);
    if !watch.sample(live.clone()) {
        return error(StatusCode::TOO_MANY_REQUESTS, "others take live requests; try again");
    }
    tokio::time::sleep(time).await;
    live.end();
    let lines = live.take();
    let requests = lines.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
    ok(SampledRequests { requests: requests.collect(), missed: live.missed() })
}

fn question(query: &HashMap<String, String>) -> Result<(Duration, u32, Vec<String>), String> {
    let parameters = Parameters::new(query, &["seconds", "every", "headers"])?;
    let seconds = parameters.number("seconds")?.filter(|seconds| (1..=SAMPLE_S_MAX).contains(seconds));
    let seconds = seconds.ok_or_else(|| format!("seconds must be from 1 to {SAMPLE_S_MAX}"))?;
    let every = parameters.number("every")?.unwrap_or(1);
    let every = u32::try_from(every).map_err(|_| "every is too large".to_owned())?;
    let headers = parameters.text("headers").unwrap_or_default().split(',').map(str::trim).filter(|name| !name.is_empty());
    let headers: Vec<String> = headers.map(str::to_owned).collect();
    if headers.len() > HEADERS_MAX {
        return Err(format!("more than {HEADERS_MAX} headers"));
    }
    Ok((Duration::from_secs(seconds), every, headers))
}
