//! `/tyk/schema`: a JSON Schema of API definitions, for editors and validation. As in Tyk, `oasVersion` selects that of OpenAPI documents with
//! `x-tyk-api-gateway`; without it, it is the schema of the classic definition.

use super::answer::{ControlAnswer, json, ok};
use axum::extract::Query;
use axum::http::StatusCode;
use serde::Serialize;
use serde_json::Value;
use std::collections::HashMap;
use tollgate_model::DocumentSchema;
use tollgate_openapi::extension_schema;
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
/// It describes the classic definition, or OpenAPI documents with `x-tyk-api-gateway` of the given version, in draft 2020-12.
#[utoipa::path(
    get, path = "/tyk/schema", tag = "Documents", operation_id = "getSchema",
    security(("secret" = ["viewer", "scope:open"])),
    params(
        ("oasVersion" = Option<String>, Query, description = "A version of OpenAPI, such as `3.0` or `3.0.3`; without it the schema of the classic definition is meant.", example = "3.0.3"),
    ),
    responses(
        (status = 200, body = SchemaFound, description = "The schema."),
        (status = 404, body = SchemaMissing, description = "There is no schema for this version."),
    )
)]
pub(super) async fn schema(Query(query): Query<HashMap<String, String>>) -> ControlAnswer {
    let version = query.get("oasVersion").filter(|version| !version.is_empty());
    match version.map_or_else(|| Some(DocumentSchema::Definition.whole()), |version| extension_schema(version)) {
        Some(schema) => ok(SchemaFound { status: FoundStatus::Success, schema }),
        None => {
            let message = format!("Schema not found for version {:?}", version.map_or("", String::as_str));
            ControlAnswer::new(StatusCode::NOT_FOUND, json(SchemaMissing { status: MissingStatus::Failed, message }))
        }
    }
}
