//! Bodies taken apart: forms, multipart, JSON, XML. Every reader takes time that is linear in the body.

mod json;
mod multipart;
mod xml;

use crate::budget::{InspectionBudget, TooMuchWork};
use crate::parameters::parameters;
use crate::source::ValueSource;
use crate::values::ValueStore;

/// Why a body was not taken apart.
pub(crate) enum BodyFault {
    Unreadable(String),
    TooMuchWork,
}

impl From<TooMuchWork> for BodyFault {
    fn from(_: TooMuchWork) -> Self {
        BodyFault::TooMuchWork
    }
}

/// What reads bodies of a content type, unless a rule says otherwise; empty for nothing.
pub(crate) fn default_processor(content_type: &[u8]) -> &'static str {
    let content_type = content_type.to_ascii_lowercase();
    let media_type = content_type.split(|b| *b == b';').next().unwrap_or_default().trim_ascii();
    let ends = |end: &[u8]| media_type.ends_with(end);
    match media_type {
        b"application/x-www-form-urlencoded" => "URLENCODED",
        b"multipart/form-data" => "MULTIPART",
        b"application/json" | b"text/json" | b"application/x-json" => "JSON",
        b"application/xml" | b"text/xml" => "XML",
        _ if ends(b"+json") => "JSON",
        _ if ends(b"+xml") => "XML",
        _ => "",
    }
}

/// Fills the values of the body as the processor reads it. `is_forced`: the whole is a value, whatever it is.
pub(crate) fn fill(
    body: &[u8],
    content_type: &[u8],
    is_forced: bool,
    values: &mut ValueStore,
    budget: &mut InspectionBudget,
) -> Result<(), BodyFault> {
    let processor = values.single(ValueSource::BodyProcessor);
    let processor = processor.map(|found| String::from_utf8_lossy(found).into_owned()).unwrap_or_default();
    budget.look(body.len(), 4)?;
    values.set(ValueSource::RequestBodyLength, body.len().to_string().as_bytes());
    if body.is_empty() {
        return Ok(());
    }
    if is_forced || processor == "URLENCODED" {
        values.add(ValueSource::RequestBody, b"", body, budget)?;
    }
    match processor.as_str() {
        "URLENCODED" => {
            for (name, value) in parameters(body) {
                values.add(ValueSource::ArgsPost, &name, &value, budget)?;
            }
            Ok(())
        }
        "MULTIPART" => multipart::fill(body, content_type, values, budget),
        "JSON" => json::fill(body, values, budget),
        "XML" => xml::fill(body, values, budget),
        _ => Ok(()),
    }
}
