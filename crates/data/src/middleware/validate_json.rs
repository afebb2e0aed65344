//! Request bodies that must match a JSON schema. Reads `validate_json`. The client sees 422, or the entry's `error_response_code`, with
//! every mismatch, and 400 `JSON parsing error: …` for a body that is not JSON. An entry without a schema refuses with 500, as in Tyk.
//!
//! A request is held until its body has arrived; a body that is too large gets 400, and a compressed one is decompressed. The schema is
//! compiled when the definition is loaded. What takes more than a brief budget runs on another thread; a body that takes more than the budget
//! of its size is refused like one that does not match.

use super::{Middleware, MiddlewareSource};
use crate::endpoints::EndpointList;
use crate::exchange::{Exchange, Step};
use crate::middleware::bodies::parse_error;
use crate::offload::{BodyThreads, HERE_BYTES_MAX, OFFLOAD_TIME_MAX};
use crate::refusal::{self, RefusalText};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use std::sync::Arc;
use tollgate_model::api::BodySchema;
use tollgate_offload::StartedOnce;
use tollgate_schema::{BodyValidator, Budget, InvalidBody};
use tollgate_text::byte_order_mark;

pub(super) struct ValidateJson {
    by_endpoint: EndpointList<Schema>,
    threads: Arc<StartedOnce<BodyThreads>>,
}

struct Schema {
    /// `None` when the entry has no schema.
    validator: Option<Arc<BodyValidator>>,
    /// Status of a refusal.
    status: u16,
}

impl ValidateJson {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let entries = &source.info.extended_paths.validate_json;
        let by_endpoint = source.checked_endpoints("validate_json", entries, |_, entry| Schema::new(entry));
        if by_endpoint.is_empty() {
            return None;
        }
        let threads = source.context.registry.body_threads.clone();
        Some(Box::new(ValidateJson { by_endpoint, threads }))
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
        let validator = document.map(|document| BodyValidator::compile(&document).map(Arc::new).map_err(|why| (field, why)));
        Ok(Schema { validator: validator.transpose()?, status })
    }
}

fn decoded(base64: &str) -> Result<Value, String> {
    let bytes = STANDARD.decode(base64).map_err(|error| format!("not Base64: {error}"))?;
    serde_json::from_slice(byte_order_mark::without(&bytes)).map_err(|error| format!("not JSON: {error}"))
}

impl Middleware for ValidateJson {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let Some(schema) = self.by_endpoint.find(exchange.hits, &exchange.method) else { return Step::Next };
        let Some(validator) = &schema.validator else { return Step::Refuse(refusal::SCHEMA_MISSING) };
        if let Err(step) = exchange.read_body() {
            return step;
        }
        let body = exchange.body();
        if body.len() <= HERE_BYTES_MAX {
            match validator.check(body, Budget::brief()) {
                Ok(()) => return Step::Next,
                Err(InvalidBody::TooMuchWork) => {}
                Err(why) => return schema.refuse(body, &why),
            }
        }
        let Some(threads) = self.threads.get() else { return Step::Refuse(refusal::BODY_WORK_BUSY) };
        let (validator, body) = (validator.clone(), exchange.shared_body());
        let checked = threads.run(exchange.arrival.body_sender(), move || validator.check(&body, Budget::of_body(body.len())));
        Step::work(self, checked, OFFLOAD_TIME_MAX, |this, exchange, checked| match checked {
            None => Step::Refuse(refusal::BODY_WORK_BUSY),
            Some(Ok(())) => Step::Next,
            Some(Err(why)) => match this.by_endpoint.find(exchange.hits, &exchange.method) {
                Some(schema) => schema.refuse(exchange.body(), &why),
                None => Step::Next,
            },
        })
    }
}

impl Schema {
    fn refuse(&self, body: &[u8], why: &InvalidBody) -> Step {
        Step::Refuse(match why {
            InvalidBody::NotJson(error) => {
                refusal::body_not_json(400, format!("{}{}", refusal::NOT_JSON, parse_error(body, error)))
            }
            InvalidBody::Mismatches(mismatches) => refusal::body_invalid(self.status, mismatches.clone()),
            InvalidBody::TooMuchWork => {
                RefusalText::new(self.status, "body_too_much_work", "the body takes too long to validate".to_owned()).into()
            }
        })
    }
}

#[cfg(test)]
mod tests;
