//! `/tyk/openapi.json`: the control API as an OpenAPI 3.1 document, for clients and client generators. It is assembled from the
//! descriptions at the handlers, the types of their responses and the model's schemas. Tests run its examples.

use super::answer::{ControlAnswer, Error, ok};
use super::{endpoints, figures, health, large, operators};
use serde_json::Value;
use tollgate_model::DocumentSchema;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, SecurityScheme};
use utoipa::openapi::{Content, Ref, Response};
use utoipa::{Modify, OpenApi, ToSchema};
use utoipa_axum::router::OpenApiRouter;

/// The document apart from its endpoints. The endpoints listed here have configurable names.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Tollgate control API",
        description = "Tyk Gateway's control API, as Tollgate answers it. Every path under `/tyk` needs the header `x-tyk-authorization`; a slash at \
            the end makes no difference. A change is stored and in effect when its answer comes. Answers are one line of JSON. In documents that \
            are sent, null counts as not set, and unknown members are kept.",
        license(name = "Apache-2.0", identifier = "Apache-2.0")
    ),
    servers((url = "http://127.0.0.1:8080", description = "The gateway's port, or `control_api_port` if there is one")),
    security(("secret" = [])),
    tags(
        (name = "Health"),
        (name = "Reload"),
        (name = "APIs"),
        (name = "OpenAPI"),
        (name = "MCP proxies"),
        (name = "Keys"),
        (name = "Organisations"),
        (name = "Policies"),
        (name = "Certificates"),
        (name = "Portal"),
        (name = "OAuth"),
        (name = "Cache"),
        (name = "Figures"),
        (name = "Language models"),
        (name = "Lists"),
        (name = "Configuration"),
        (name = "Checks"),
        (name = "Users"),
        (name = "Documents"),
    ),
    paths(health::hello, health::ready, health::live, operators::providers)
)]
struct Description;

/// This document
#[utoipa::path(
    get, path = "/tyk/openapi.json", tag = "Documents", operation_id = "getOpenApi",
    security(("secret" = ["viewer", "scope:open"])),
    responses(
        (status = 200, body = Object, description = "The document, in OpenAPI 3.1."),
    )
)]
pub(super) async fn document() -> ControlAnswer {
    ok(described())
}

/// The whole document.
pub fn described() -> Value {
    let routes = OpenApiRouter::with_openapi(Description::openapi()).merge(endpoints()).merge(large()).merge(figures());
    let mut document = routes.into_openapi();
    SecretScheme.modify(&mut document);
    let mut document = serde_json::to_value(document).unwrap_or_default();
    if let Some(Value::Object(schemas)) = document.pointer_mut("/components/schemas") {
        schemas.extend(DocumentSchema::components());
    }
    document
}

/// Adds the secret, which is required unless an endpoint says otherwise, and the response to requests without it.
struct SecretScheme;

impl Modify for SecretScheme {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let place = "`secret` of the configuration, or the one in the data directory.";
        let secret = SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::with_description("x-tyk-authorization", place)));
        let denied = Response::builder()
            .description("The secret is missing or wrong.")
            .content("application/json", Content::new(Some(Ref::from_schema_name(Error::name()))));
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("secret", secret);
        components.responses.insert("Denied".to_owned(), denied.build().into());
        for item in document.paths.paths.values_mut() {
            let operations = [&mut item.get, &mut item.post, &mut item.put, &mut item.patch, &mut item.delete];
            let is_open = |operation: &Operation| operation.security.as_ref().is_some_and(Vec::is_empty);
            operations.into_iter().flatten().filter(|operation| !is_open(operation)).for_each(add_denied);
        }
    }
}

fn add_denied(operation: &mut Operation) {
    let answers = &mut operation.responses.responses;
    answers.entry("403".to_owned()).or_insert_with(|| Ref::from_response_name("Denied").into());
}

#[cfg(test)]
mod tests;
