//! JSON bodies against JSON schemas. A schema has two forms: the complete one is that of the `jsonschema` crate, with mismatches in the words of
//! Tyk's validator; the quick one has the common keywords and reads bodies without copying them. The quick form lets valid bodies pass; every
//! other body is judged by the complete one. No I/O; patterns run in linear time, and no schema is fetched from elsewhere.

mod mismatch;
mod quick;
mod tree;

pub use quick::{Judgement, QuickSchema};
pub use tree::JsonTree;

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value;

/// Largest compiled size of one pattern, in bytes.
const PATTERN_BYTES_MAX: usize = 1 << 20;

/// A compiled schema.
#[derive(Debug)]
pub struct BodyValidator {
    complete: Validator,
    quick: Option<QuickSchema>,
}

/// Why a body does not pass.
#[derive(Debug)]
pub enum InvalidBody {
    /// It is not JSON.
    NotJson(serde_json::Error),
    /// All mismatches, joined by `; `.
    Mismatches(String),
}

impl BodyValidator {
    /// Compiles a schema. One without `$schema` is of draft 7, which Tyk's validator assumes.
    ///
    /// # Errors
    /// What is wrong with the schema.
    pub fn compile(document: &Value) -> Result<Self, String> {
        let complete = complete(document, draft(document)).map_err(|error| format!("not a valid schema: {error}"))?;
        Ok(BodyValidator { complete, quick: QuickSchema::compile(document) })
    }

    /// Checks a body.
    ///
    /// # Errors
    /// Why it does not pass.
    pub fn check(&self, body: &[u8]) -> Result<(), InvalidBody> {
        if let Some(quick) = &self.quick {
            let tree = JsonTree::read(body).map_err(InvalidBody::NotJson)?;
            if quick.judge(&tree) == Judgement::Valid {
                return Ok(());
            }
        }
        let document = serde_json::from_slice(body).map_err(InvalidBody::NotJson)?;
        mismatch::all(&self.complete, &document).map_or(Ok(()), |told| Err(InvalidBody::Mismatches(told)))
    }
}

/// The draft of a schema; `None` when the schema names it itself.
fn draft(document: &Value) -> Option<Draft> {
    if document.get("$schema").is_some() { None } else { Some(Draft::Draft7) }
}

fn complete(document: &Value, draft: Option<Draft>) -> Result<Validator, Box<jsonschema::ValidationError<'static>>> {
    let options = jsonschema::options().should_validate_formats(true).with_format("uuid", is_uuid);
    let options = match draft {
        Some(draft) => options.with_draft(draft),
        None => options,
    };
    options.with_pattern_options(PatternOptions::regex().size_limit(PATTERN_BYTES_MAX)).build(document).map_err(Box::new)
}

/// Tyk's validator knows this format in every draft.
fn is_uuid(text: &str) -> bool {
    let dashes = [8, 13, 18, 23];
    let fits = |(at, byte): (usize, u8)| if dashes.contains(&at) { byte == b'-' } else { byte.is_ascii_hexdigit() };
    text.len() == 36 && text.bytes().enumerate().all(fits)
}

#[cfg(test)]
mod tests;
