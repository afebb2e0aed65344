//! `/tyk/configuration/replays`: runs recorded or live requests through the configuration in service and through another one, and says which would
//! be answered differently. Nothing is sent anywhere, and nothing counts.

use super::carry_out;
use super::content::StoredContent;
use super::written::ChangeSet;
use super::{Unchanged, digest_of};
use crate::api::Control;
use crate::api::answer::{ControlAnswer, Done, Error, error, ok};
use crate::definitions::ServedSet;
use crate::replay::{LiveQuestion, Replay, ReplayFault, ReplayReport};
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use utoipa::{IntoParams, ToSchema};

/// How long live requests may be watched at a stretch.
const LIVE_S_MAX: u64 = 24 * 3_600;

/// The replay in a path.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(in crate::api) struct ReplayId {
    /// Number of a replay.
    #[param(example = "1", min_length = 1)]
    id: String,
}

impl ReplayId {
    /// The replay, if it runs.
    fn find(&self, control: &Control) -> Option<Arc<Replay>> {
        control.replays.get(self.id.parse().ok()?)
    }
}

/// A replay that has begun.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::api) struct ReplayStarted {
    #[schema(inline)]
    status: Done,
    /// Its number.
    id: u64,
    /// Digest of the configuration in service.
    digest: String,
}

/// Begin a replay
///
/// The body is a set of changes as for `POST /tyk/configuration`; it is compiled, not made. Without changes, requests are compared with what was recorded
/// of them. A replay that gets no requests for ten minutes ends.
#[utoipa::path(
    post, path = "/tyk/configuration/replays", tag = "Configuration", operation_id = "beginReplay",
    security(("secret" = ["admin", "scope:closed"])),
    request_body(content = ChangeSet, example = json!({
        "digest": "*",
        "changes": [
            {"kind": "policy", "action": "put", "source": "policies/silver.json", "document": {"id": "silver", "org_id": "default", "rate": 5, "per": 60}}
        ]
    })),
    responses(
        (status = 200, body = ReplayStarted, description = "It takes requests."),
        (status = 400, body = Object, description = "The body is not a set of changes, or an object has an error: `problems` has source, JSON path and message of each."),
        (status = 412, body = Object, description = "The configuration has another digest by now."),
        (status = 429, body = Error, description = "Four others are running."),
        (status = 500, body = Error, description = "The store does not answer, or there is no thread."),
    )
)]
pub(in crate::api) async fn begin(State(control): State<Arc<Control>>, body: Bytes) -> ControlAnswer {
    let set = match ChangeSet::parse(&body) {
        Ok(set) => set,
        Err(problems) => return Unchanged::Problems(problems).answer(),
    };
    drop(body);
    let stored = match StoredContent::read(&control).await {
        Ok(stored) => stored,
        Err(fault) => return crate::api::oauth::silent(&fault),
    };
    let begun = tokio::task::spawn_blocking(move || begun(&control, &stored, &set)).await;
    match begun {
        Ok(Ok((replay, digest))) => {
            ok(ReplayStarted { status: Done::Ok, id: replay.id, digest }).logged("create", "replay", replay.id.to_string())
        }
        Ok(Err(NotBegun::Change(unchanged))) => unchanged.answer(),
        Ok(Err(NotBegun::Replay(fault))) => refused(&fault),
        Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, "the replay did not begin"),
    }
}

enum NotBegun {
    Change(Unchanged),
    Replay(ReplayFault),
}

fn begun(control: &Arc<Control>, stored: &StoredContent, set: &ChangeSet) -> Result<(Arc<Replay>, String), NotBegun> {
    let (sets, digest) = sides(control, stored, set).map_err(NotBegun::Change)?;
    let replay = control.replays.start(&control.shared, sets).map_err(NotBegun::Replay)?;
    Ok((replay, digest))
}

/// The configuration in service and the changed one.
fn sides(control: &Arc<Control>, stored: &StoredContent, set: &ChangeSet) -> Result<([ServedSet; 2], String), Unchanged> {
    let sides = control.definitions.before_and_after(|read| {
        let (documents, _) = carry_out::planned(control, read, stored, &set.changes, &set.digest)?;
        Ok((documents, digest_of(read, stored)))
    });
    sides.map_err(Unchanged::from)
}

/// Give requests to a replay
///
/// The body has one recorded request per line, as JSON: `method` and `path` with its query, and as far as they are known `time_ms` (Unix time), `host`,
/// `headers` (a list of names and values), `key` (as the gateway lists it, usually its hash), `client_ip`, `status`, `cause`, `api_id`, `content_length`
/// and `body` (base64). The answer comes when all of them are decided. With `live`, the replay takes the gateway's own requests meanwhile instead, with their
/// headers, which never leave the process.
#[utoipa::path(
    post, path = "/tyk/configuration/replays/{id}/requests", tag = "Configuration", operation_id = "replayRequests",
    security(("secret" = ["admin", "scope:closed"])),
    params(
        ReplayId,
        ("live" = Option<String>, Query, description = "Seconds for which the live requests of this gateway are run through the replay, instead of those in the body."),
        ("every" = Option<String>, Query, description = "Take one of this many live requests.", example = "1"),
    ),
    request_body(content = String, content_type = "application/x-ndjson", example = "{\"method\": \"GET\", \"path\": \"/quick/things\"}"),
    responses(
        (status = 200, body = ReplayReport, description = "What the replay has found so far."),
        (status = 400, body = Error, description = "`live` or `every` is no number."),
        (status = 404, body = Error, description = "There is no such replay."),
        (status = 429, body = Error, description = "It still works on earlier requests."),
    )
)]
pub(in crate::api) async fn requests(
    State(control): State<Arc<Control>>,
    Path(id): Path<ReplayId>,
    Query(query): Query<HashMap<String, String>>,
    body: Bytes,
) -> ControlAnswer {
    let Some(replay) = id.find(&control) else { return unknown() };
    let number = |name: &str| query.get(name).map(|digits| digits.parse::<u32>()).transpose();
    let (Ok(live), Ok(every)) = (number("live"), number("every")) else {
        return error(StatusCode::BAD_REQUEST, "live and every must be numbers");
    };
    if let Some(seconds) = live {
        let time = Duration::from_secs(u64::from(seconds).min(LIVE_S_MAX));
        replay.watch(&control.shared.observer.watch, &LiveQuestion { time, every: every.unwrap_or(1) });
        return ok(replay.report());
    }
    prepare_keys(&control, &body).await;
    match replay.take(body) {
        Ok(done) => match done.await {
            Ok(()) => ok(replay.report()),
            Err(_) => unknown(),
        },
        Err(fault) => refused(&fault),
    }
}

/// Reads the sessions of the requests' keys from a shared store.
async fn prepare_keys(control: &Control, lines: &[u8]) {
    #[derive(Deserialize)]
    struct Keyed<'l> {
        #[serde(borrow, default)]
        key: std::borrow::Cow<'l, str>,
    }
    if control.shared.keys.shared_keys().is_none() {
        return;
    }
    let keyed = lines.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Keyed<'_>>(line).ok());
    let keys: HashSet<_> = keyed.map(|keyed| keyed.key).filter(|key| !key.is_empty()).collect();
    for key in keys {
        control.shared.keys.prepare_recorded(&key).await;
    }
}

/// What a replay has found
#[utoipa::path(
    get, path = "/tyk/configuration/replays/{id}", tag = "Configuration", operation_id = "getReplay",
    security(("secret" = ["admin", "scope:closed"])),
    params(ReplayId),
    responses(
        (status = 200, body = ReplayReport, description = "What it has found so far."),
        (status = 404, body = Error, description = "There is no such replay."),
    )
)]
pub(in crate::api) async fn report(State(control): State<Arc<Control>>, Path(id): Path<ReplayId>) -> ControlAnswer {
    match id.find(&control) {
        Some(replay) => ok(replay.report()).logged("delete", "replay", replay.id.to_string()),
        None => unknown(),
    }
}

/// End a replay
#[utoipa::path(
    delete, path = "/tyk/configuration/replays/{id}", tag = "Configuration", operation_id = "endReplay",
    security(("secret" = ["admin", "scope:closed"])),
    params(ReplayId),
    responses(
        (status = 200, body = ReplayReport, description = "It has ended; what it has found."),
        (status = 404, body = Error, description = "There is no such replay."),
    )
)]
pub(in crate::api) async fn end(State(control): State<Arc<Control>>, Path(id): Path<ReplayId>) -> ControlAnswer {
    match id.find(&control).and_then(|replay| control.replays.end(replay.id)) {
        Some(replay) => ok(replay.report()).logged("delete", "replay", replay.id.to_string()),
        None => unknown(),
    }
}

fn unknown() -> ControlAnswer {
    error(StatusCode::NOT_FOUND, "There is no such replay")
}

fn refused(fault: &ReplayFault) -> ControlAnswer {
    let status = match fault {
        ReplayFault::Full | ReplayFault::Busy => StatusCode::TOO_MANY_REQUESTS,
        ReplayFault::Gone => StatusCode::NOT_FOUND,
        ReplayFault::Unusable(_) | ReplayFault::System(_) => StatusCode::INTERNAL_SERVER_ERROR,
    };
    error(status, fault.to_string())
}
