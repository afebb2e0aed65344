//! Values with `$tyk_context.x` and `$tyk_meta.x` in them, cut into parts when configuration is loaded.

mod form;

use crate::exchange::Exchange;
use crate::jwt::CLAIM;
pub use form::{cookie, decode_form, encode_form, parameter, without_parameter};

/// A header value or URL, possibly with variables.
#[derive(Clone, Debug)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Literal(String),
    Variable(Variable),
}

/// What a variable stands for. Names that nobody knows, and metadata of sessions that do not exist, are empty.
#[derive(Clone, Debug, PartialEq)]
enum Variable {
    Path,
    RemoteAddress,
    RequestId,
    Header(String),
    Cookie(String),
    Parameter(String),
    /// A claim of the token that the request was let in with.
    Claim(String),
    Nothing,
}

const CONTEXT: &str = "$tyk_context.";
pub const META: &str = "$tyk_meta.";

impl Template {
    /// Cuts a text; with context variables switched off they are empty.
    pub fn new(text: &str, context_enabled: bool) -> Self {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(start) = [rest.find(CONTEXT), rest.find(META)].into_iter().flatten().min() {
            let (literal, variable) = rest.split_at_checked(start).unwrap_or((rest, ""));
            let is_context = variable.starts_with(CONTEXT);
            let name_start = if is_context { CONTEXT.len() } else { META.len() };
            let name = variable.get(name_start..).unwrap_or_default();
            let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
            let length = name.find(|c| !is_name(c)).unwrap_or(name.len());
            let (name, after) = name.split_at_checked(length).unwrap_or((name, ""));
            if !literal.is_empty() {
                parts.push(Part::Literal(literal.to_owned()));
            }
            let known = if is_context && context_enabled { Variable::named(name) } else { Variable::Nothing };
            parts.push(Part::Variable(known));
            rest = after;
        }
        if !rest.is_empty() {
            parts.push(Part::Literal(rest.to_owned()));
        }
        Template { parts }
    }

    /// The text, if it has no variables.
    pub fn literal(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [Part::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// The text for one request. `escape` is applied to the values of variables.
    pub fn render(&self, exchange: &Exchange<'_>, escape: impl Fn(String) -> String) -> String {
        let render = |part: &Part| match part {
            Part::Literal(text) => text.clone(),
            Part::Variable(variable) => escape(variable.value(exchange)),
        };
        self.parts.iter().map(render).collect()
    }
}

impl Variable {
    fn named(name: &str) -> Variable {
        let prefixed = |prefix: &str| name.strip_prefix(prefix).map(str::to_owned);
        match name {
            "path" => Variable::Path,
            "remote_addr" => Variable::RemoteAddress,
            "request_id" => Variable::RequestId,
            _ => prefixed("headers_")
                // Header names are written with `_` in place of `-`.
                .map(|name| Variable::Header(name.replace('_', "-")))
                .or_else(|| prefixed("cookies_").map(Variable::Cookie))
                .or_else(|| prefixed("request_data_").map(Variable::Parameter))
                .or_else(|| prefixed(CLAIM).map(Variable::Claim))
                .unwrap_or(Variable::Nothing),
        }
    }

    fn value(&self, exchange: &Exchange<'_>) -> String {
        let headers = &exchange.request.headers;
        match self {
            Variable::Path => exchange.full_path.to_owned(),
            Variable::RemoteAddress => exchange.client_ip.to_string(),
            Variable::RequestId => exchange.request_id.to_string(),
            Variable::Header(name) => {
                headers.get(name).map(|value| String::from_utf8_lossy(value).into_owned()).unwrap_or_default()
            }
            Variable::Cookie(name) => headers
                .get("cookie")
                .and_then(|value| cookie(std::str::from_utf8(value).ok()?, name))
                .unwrap_or_default()
                .to_owned(),
            Variable::Parameter(name) => exchange.query().and_then(|query| parameter(query, name)).unwrap_or_default(),
            Variable::Claim(name) => exchange.claims.as_ref().and_then(|claims| claims.get(name)).unwrap_or_default().to_owned(),
            Variable::Nothing => String::new(),
        }
    }
}

#[cfg(test)]
mod tests;
