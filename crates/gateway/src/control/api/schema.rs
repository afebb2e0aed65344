//! `/tyk/schema`: a JSON Schema of API definitions, for editors and validation. Tyk serves schemas of its OpenAPI extension there,
//! selected by `oasVersion`; here it is the schema of the classic definition, and there is none for OpenAPI.

use super::answer::{ControlAnswer, json, ok};
use axum::extract::Query;
use axum::http::StatusCode;
use serde::Serialize;
use serde_json::Value;
use std::collections::HashMap;
use tollgate_model::DocumentSchema;
use utoipa::ToSchema;

/// A schema.
#[derive(Serialize, ToSchema)]
pub(super) struct SchemaFound {
    #[schema(inline)]
    status: FoundStatus,
    #[schema(value_type = Object)]
    schema: Value,
}

#[derive(Serialize, ToSchema)]
enum FoundStatus {
    Success,
}

/// There is no such schema.
#[derive(Serialize, ToSchema)]
pub(super) struct SchemaMissing {
    #[schema(inline)]
    status: MissingStatus,
    message: String,
}

#[derive(Serialize, ToSchema)]
enum MissingStatus {
    Failed,
}

/// A JSON Schema of API definitions
///
/// It describes the classic definition, in draft 2020-12. There is none for OpenAPI, regardless of the requested version.
#[utoipa::path(
    get, path = "/tyk/schema", tag = "Documents", operation_id = "getSchema",
    security(("secret" = ["viewer"])),
    params(
        ("oasVersion" = Option<String>, Query, description = "A version of OpenAPI, as Tyk has them; without it the schema of the classic definition is meant."),
    ),
    responses(
        (status = 200, body = SchemaFound, description = "The schema."),
        (status = 404, body = SchemaMissing, description = "There is no schema for this version."),
    )
)]
pub(super) async fn schema(Query(query): Query<HashMap<String, String>>) -> ControlAnswer {
    match query.get("oasVersion").filter(|version| !version.is_empty()) {
        Some(version) => {
            let message = format!("Schema not found for version {version:?}");
            ControlAnswer(StatusCode::NOT_FOUND, json(SchemaMissing { status: MissingStatus::Failed, message }))
        }
        None => ok(SchemaFound { status: FoundStatus::Success, schema: DocumentSchema::Definition.whole() }),
    }
}
