//! `/tyk/schema`: a JSON Schema of API definitions, for editors and checks. Tyk has one of its OpenAPI extension there, by `oasVersion`;
//! here it is that of the classic definition, and of OpenAPI there is none.

use super::answer::Answer;
use axum::extract::Query;
use axum::http::StatusCode;
use serde_json::json;
use std::collections::HashMap;
use tollgate_model::DocumentSchema;

pub async fn schema(Query(query): Query<HashMap<String, String>>) -> Answer {
    match query.get("oasVersion").filter(|version| !version.is_empty()) {
        Some(version) => {
            let message = format!("Schema not found for version {version:?}");
            Answer(StatusCode::NOT_FOUND, json!({ "status": "Failed", "message": message }))
        }
        None => Answer(StatusCode::OK, json!({ "status": "Success", "schema": DocumentSchema::Definition.whole() })),
    }
}
