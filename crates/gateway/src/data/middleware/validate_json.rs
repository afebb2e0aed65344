//! Request bodies that must match a JSON schema. Reads `validate_json`. The client sees 422, or the entry's `error_response_code`, with
//! every mismatch, and 400 `JSON parsing error: …` for a body that is not JSON. An entry without a schema refuses with 500, as in Tyk.
//!
//! A request is held until its body has arrived; a body that is too large gets 400, and a compressed one is decompressed. The schema is
//! compiled when the definition is loaded. Patterns run in linear time, and no schema is fetched from elsewhere.

mod mismatch;

use super::{Middleware, MiddlewareSource};
use crate::data::endpoints::EndpointList;
use crate::data::exchange::{Exchange, Step};
use crate::data::middleware::bodies::parse_error;
use crate::data::refusal::{self, RefusalText};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value;
use tollgate_model::api::BodySchema;

/// Largest compiled size of one pattern, in bytes.
const PATTERN_BYTES_MAX: usize = 1 << 20;

pub(super) struct ValidateJson {
    by_endpoint: EndpointList<Schema>,
}

struct Schema {
    /// `None` when the entry has no schema.
    validator: Option<Box<Validator>>,
    /// Status of a refusal.
    status: u16,
}

impl ValidateJson {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let entries = &source.info.extended_paths.validate_json;
        let by_endpoint = source.checked_endpoints("validate_json", entries, |_, entry| Schema::new(entry));
        if by_endpoint.is_empty() { None } else { Some(Box::new(ValidateJson { by_endpoint })) }
    }
}

impl Schema {
    /// Compiles the schema; `Err` is the field and the reason.
    fn new(entry: &BodySchema) -> Result<Self, (&'static str, String)> {
        let status = if entry.error_response_code == 0 { 422 } else { entry.error_response_code };
        let (field, document) = match &entry.schema {
            Some(schema) => ("schema", Some(Value::Object(schema.clone()))),
            None if entry.schema_b64.is_empty() => ("schema", None),
            None => ("schema_b64", Some(decoded(&entry.schema_b64).map_err(|why| ("schema_b64", why))?)),
        };
        let validator = document.map(|document| {
            // Draft 7 is what Tyk's validator assumes for a schema without a version.
            let options = jsonschema::options().should_validate_formats(true).with_format("uuid", is_uuid);
            let options = if document.get("$schema").is_some() { options } else { options.with_draft(Draft::Draft7) };
            let patterns = PatternOptions::regex().size_limit(PATTERN_BYTES_MAX);
            let built = options.with_pattern_options(patterns).build(&document);
            built.map(Box::new).map_err(|error| (field, format!("not a valid schema: {error}")))
        });
        Ok(Schema { validator: validator.transpose()?, status })
    }
}

/// Tyk's validator knows this format in every draft.
fn is_uuid(text: &str) -> bool {
    let dashes = [8, 13, 18, 23];
    let fits = |(at, byte): (usize, u8)| if dashes.contains(&at) { byte == b'-' } else { byte.is_ascii_hexdigit() };
    text.len() == 36 && text.bytes().enumerate().all(fits)
}

fn decoded(base64: &str) -> Result<Value, String> {
    let bytes = STANDARD.decode(base64).map_err(|error| format!("not Base64: {error}"))?;
    serde_json::from_slice(&bytes).map_err(|error| format!("not JSON: {error}"))
}

impl Middleware for ValidateJson {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let Some(schema) = self.by_endpoint.find(exchange.hits, &exchange.method) else { return Step::Next };
        let Some(validator) = &schema.validator else { return Step::Refuse(refusal::SCHEMA_MISSING) };
        if let Err(step) = exchange.read_body() {
            return step;
        }
        let body = exchange.body();
        let document = match serde_json::from_slice(body) {
            Ok(document) => document,
            Err(error) => return refused(400, "body_not_json", format!("JSON parsing error: {}", parse_error(body, &error))),
        };
        match mismatch::all(validator, &document) {
            None => Step::Next,
            Some(mismatches) => refused(schema.status, "body_invalid", mismatches),
        }
    }
}

fn refused(status: u16, cause: &'static str, message: String) -> Step {
    Step::Refuse(RefusalText { status, cause, message: message.into(), id: None }.into())
}

#[cfg(test)]
mod tests;
