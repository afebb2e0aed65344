//! `/tyk/configuration`: everything that makes up the configuration of APIs as one document with a digest, and changes of several parts as one.
//! A change is made against a digest; it is carried out completely, or not at all.

mod carry_out;
mod content;
mod plan;
pub(super) mod replays;
pub(super) mod revisions;
pub(super) mod samples;
mod written;

use super::Control;
use super::answer::{ControlAnswer, Error, error, ok};
use super::definition_store::ChangeRequest;
use super::failures::StoreFailed;
use super::serving::ServingGateway;
use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use content::{ConfigurationContent, StoredContent, digest_of};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use tollgate_admin::Difference;
use utoipa::ToSchema;
use written::{ChangeSet, ObjectKind};

/// Maximum bytes of a change: the definitions of 10,000 APIs of about 12 KiB.
pub(super) const BODY_BYTES_MAX: usize = 128 << 20;

/// What a change does, or would do.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ConfigurationChanged)]
pub(super) struct ChangeReport {
    #[schema(inline)]
    status: super::answer::Done,
    /// Whether this only says what would change.
    dry_run: bool,
    /// The digest after the change; of a dry run, the digest that it was made against.
    digest: String,
    /// Revision of the definitions that gateways share, if they were changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    revision: Option<u64>,
    /// The gateways that share definitions, and whether they serve the change; for a dry run, whether they serve what it was made against. Only with
    /// `wait`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, inline)]
    gateways: Option<Vec<ServingGateway>>,
    /// What changes. Objects that are as wanted already are left out.
    #[schema(inline)]
    plan: Vec<PlannedChange>,
    /// Objects that are as wanted already.
    unchanged: usize,
    /// What is probably not meant.
    #[schema(inline)]
    warnings: Vec<SourceProblem>,
}

/// The change of one object.
#[derive(Clone, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct PlannedChange {
    #[schema(inline)]
    kind: ObjectKind,
    /// Id of the object. That of a client begins with the id of its API and a slash.
    id: String,
    #[schema(inline)]
    action: PlannedAction,
    /// `source` of the change.
    source: String,
    /// The first differences, with masked secrets; empty for objects that come or go.
    #[schema(value_type = Vec<Object>)]
    diff: Vec<Difference>,
    /// The number of further differences.
    diff_more: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum PlannedAction {
    Create,
    Update,
    Delete,
}

/// A problem of a wanted object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct SourceProblem {
    /// `source` of the change, or the file of the gateway.
    source: String,
    /// JSON path of the place; `$` for the whole document.
    path: String,
    message: String,
}

/// Why a change is not made.
enum Unchanged {
    /// Someone else changed the configuration; this is its digest now.
    Changed(String),
    /// The first problems of the wanted objects.
    Problems(Vec<SourceProblem>),
    /// Something else.
    Failed(StatusCode, String),
}

/// Problems in an answer. If there are more, the author fixes these first.
const PROBLEMS_MAX: usize = 500;

impl Unchanged {
    fn answer(self) -> ControlAnswer {
        match self {
            Unchanged::Changed(digest) => {
                let message = "The configuration was changed meanwhile; nothing was written";
                let body = json!({"status": "error", "message": message, "cause": "changed", "digest": digest});
                ControlAnswer::new(StatusCode::PRECONDITION_FAILED, body)
            }
            Unchanged::Problems(mut problems) => {
                let count = problems.len();
                problems.truncate(PROBLEMS_MAX);
                let errors = if count == 1 { "1 error".to_owned() } else { format!("{count} errors") };
                let message = format!("{errors}; nothing was changed");
                let body = json!({"status": "error", "message": message, "cause": "problems", "problems": problems});
                ControlAnswer::new(StatusCode::BAD_REQUEST, body)
            }
            Unchanged::Failed(status, message) => error(status, message),
        }
    }
}

/// The configuration of APIs
///
/// API definitions, policies, certificates, OAuth clients, templates of keys, and what the developer portal offers, with a digest of all. Secrets are masked or left out; certificates are
/// named by their fingerprints. `only` asks for some parts.
#[utoipa::path(
    get, path = "/tyk/configuration", tag = "Configuration", operation_id = "getConfiguration",
    security(("secret" = ["admin", "scope:closed"])),
    params(
        ("only" = Option<String>, Query, description = "Parts, separated by commas: `apis`, `policies`, `certificates`, `clients`, `key_templates`, `portal_products`, `portal_pages`. All by default; the digest is always of all.", example = "apis,policies"),
    ),
    responses(
        (status = 200, body = ConfigurationContent, description = "The configuration in service."),
        (status = 400, body = Error, description = "`only` names an unknown part."),
        StoreFailed,
    )
)]
pub(super) async fn show(State(control): State<Arc<Control>>, Query(query): Query<HashMap<String, String>>) -> ControlAnswer {
    let parts = match content::Parts::read(query.get("only").map_or("", String::as_str)) {
        Ok(parts) => parts,
        Err(unknown) => return error(StatusCode::BAD_REQUEST, format!("only: there is no part {unknown}")),
    };
    let stored = match StoredContent::read(&control).await {
        Ok(stored) => stored,
        Err(fault) => return super::oauth::silent(&fault),
    };
    let shown = tokio::task::spawn_blocking(move || ok(ConfigurationContent::of(&control, &stored, &parts))).await;
    shown.unwrap_or_else(|_| error(StatusCode::INTERNAL_SERVER_ERROR, "the request was not finished"))
}

/// Change several parts of the configuration as one
///
/// All changes are checked together, by compiling what would be served. Then all files are changed, and all cores take the result up at once; or nothing
/// changes. `digest` is that of the configuration that the changes were made for; `*` stands for any. With `dry_run`, the answer says what would change.
///
/// A `put` adds an object or replaces the one with its id; a mask keeps the stored secret. A `delete` of an object that does not exist changes nothing.
#[utoipa::path(
    post, path = "/tyk/configuration", tag = "Configuration", operation_id = "changeConfiguration",
    security(("secret" = ["admin", "scope:closed"])),
    request_body(content = ChangeSet, example = json!({
        "digest": "*",
        "changes": [
            {"kind": "policy", "action": "put", "source": "policies/silver.json", "document": {"id": "silver", "org_id": "default", "rate": 10, "per": 60}},
            {"kind": "policy", "action": "delete", "id": "bronze"}
        ]
    })),
    responses(
        (status = 200, body = ChangeReport, description = "The change is made and in service; or this is what it would be."),
        (status = 400, body = Object, description = "The body is not a set of changes, or an object has an error: `problems` has source, JSON path and message of each. Nothing was changed."),
        (status = 412, body = Object, description = "The configuration has another digest by now. Nothing was changed."),
        (status = 500, body = Error, description = "The store does not answer, or a file can't be written."),
        (status = 503, body = Error, description = "Another gateway changes the files at the moment."),
    )
)]
pub(super) async fn change(State(control): State<Arc<Control>>, request: ChangeRequest, body: Bytes) -> ControlAnswer {
    let set = match ChangeSet::parse(&body) {
        Ok(set) => set,
        Err(problems) => return Unchanged::Problems(problems).answer(),
    };
    drop(body);
    carry_out::carry_out(&control, request.author, set).await.map_or_else(Unchanged::answer, ok)
}

/// A digest as it is shown: 128 bits, for two that differ by accident.
fn shown_digest(digest: &blake3::Hash) -> String {
    digest.to_hex().chars().take(32).collect()
}

/// A member of a document as text; empty if it is none.
fn text_at(document: &Value, pointer: &str) -> String {
    document.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
}
