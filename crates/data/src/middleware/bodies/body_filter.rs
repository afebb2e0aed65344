//! A body transform by a jq filter: what the filter sees, and what its result says of the message. Reads the `filter` of `transform_jq` and
//! `transform_jq_response`.

use super::parse_error;
use crate::exchange::Exchange;
use crate::middleware::MiddlewareSource;
use serde_json::{Map, Value as Json};
use tollgate_http::{is_token, is_value};
use tollgate_jq::{FilterFailure, JqFilter, JqValue};
use tollgate_model::api::BodyFilter;
use tollgate_model::is_framing_header;

/// Tyk's words for a result that is no object.
const NO_OBJECT: &str = "Invalid JSON object returned by JQ filter. Allowed field are 'body', 'rewrite_headers' and 'tyk_context'";

/// A filter, ready to use.
pub(crate) struct CompiledBodyFilter {
    filter: JqFilter,
    context: bool,
}

/// What a filter makes of a message.
pub(crate) struct FilteredBody {
    pub body: Vec<u8>,
    /// Headers to set, which may stand in a message.
    pub headers: Vec<(String, Vec<u8>)>,
    /// Variables to set.
    pub context: Map<String, Json>,
}

/// Why a filter makes nothing of a message.
pub(crate) enum BodyFilterError {
    /// The body is no JSON, and what is wrong with it.
    NotJson(String),
    /// The filter fails for this body.
    Failed(String),
    /// The filter was stopped, or its result is too large.
    Limit(String),
}

impl std::fmt::Display for BodyFilterError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (BodyFilterError::NotJson(text) | BodyFilterError::Failed(text) | BodyFilterError::Limit(text)) = self;
        formatter.write_str(text)
    }
}

impl CompiledBodyFilter {
    /// An error names the field and says what is wrong.
    pub(crate) fn new(entry: &BodyFilter, source: &MiddlewareSource<'_, '_>) -> Result<Self, (&'static str, String)> {
        let filter = JqFilter::compile(&entry.filter).map_err(|error| ("filter", format!("not a jq filter: {error}")))?;
        Ok(CompiledBodyFilter { filter, context: source.definition.enable_context_vars })
    }

    /// The same for responses. A response that a shared cache stores must not depend on its request.
    pub(crate) fn for_responses(entry: &BodyFilter, source: &MiddlewareSource<'_, '_>) -> Result<Self, (&'static str, String)> {
        let compiled = CompiledBodyFilter::new(entry, source)?;
        if source.definition.tollgate.cache.is_none() {
            return Ok(compiled);
        }
        if compiled.context && entry.filter.contains("_tyk_context") {
            return Err(("filter", "makes another response of each request, which tollgate.cache would give to all".to_owned()));
        }
        Ok(CompiledBodyFilter { context: false, ..compiled })
    }

    /// What the filter sees of the request beside a body; nothing without context variables, as in Tyk.
    pub(crate) fn context(&self, exchange: &Exchange<'_>) -> Json {
        Json::Object(if self.context { super::tyk_context(exchange) } else { Map::new() })
    }

    /// The filter's variables act.
    pub(crate) fn sets_context(&self) -> bool {
        self.context
    }

    /// The value of a body; `None` for an empty one.
    pub(crate) fn parse(body: &[u8]) -> Result<Option<JqValue>, BodyFilterError> {
        JqValue::read(body).map_err(|error| BodyFilterError::NotJson(parse_error(body, &error)))
    }

    /// What the filter makes of an input, with a body of at most so many bytes. `is_brief`: within about a millisecond.
    pub(crate) fn apply(
        &self,
        input: JqValue,
        unix_s: u64,
        bytes_max: usize,
        is_brief: bool,
    ) -> Result<FilteredBody, BodyFilterError> {
        let now = unix_s as f64;
        let made = if is_brief { self.filter.run_briefly(input, now) } else { self.filter.run(input, now) };
        let made = made.map_err(|failure| match failure {
            FilterFailure::Limit(limit) => BodyFilterError::Limit(limit.to_string()),
            failure => BodyFilterError::Failed(format!("Error while applying JQ transformation: {failure}")),
        })?;
        if made.members().is_none() {
            return Err(BodyFilterError::Failed(NO_OBJECT.to_owned()));
        }
        let body = made.member("body").unwrap_or(&JqValue::Null).write(bytes_max);
        let body = body.ok_or_else(|| BodyFilterError::Limit(format!("the filter makes a body of more than {bytes_max} bytes")))?;
        let context = made.member("tyk_context").and_then(JqValue::members).into_iter().flatten();
        let context = context.map(|(name, value)| (name.to_owned(), Json::from(value))).collect();
        let headers = made.member("rewrite_headers").and_then(JqValue::members).into_iter().flatten();
        // Values that are no strings are left out, as in Tyk, and so is what must not stand in a head.
        let header = |(name, value): (&str, &JqValue)| Some((name.to_owned(), value.as_str()?.as_bytes().to_vec()));
        let allowed = |(name, value): &(String, Vec<u8>)| is_token(name.as_bytes()) && !is_framing_header(name) && is_value(value);
        Ok(FilteredBody { body, headers: headers.filter_map(header).filter(allowed).collect(), context })
    }
}
