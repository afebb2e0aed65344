//! Variables and their values for one request. An unknown name has an empty value.

use crate::exchange::Exchange;
use tollgate_access::jwt::{CLAIM, value_text};
use tollgate_http::form;
use tollgate_model::api::ApiDefinition;

/// A variable of `$tyk_context` or `$tyk_meta`.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Variable {
    Path,
    /// The path's segments, joined by commas.
    PathParts,
    RemoteAddress,
    RequestId,
    TraceId,
    Header(String),
    Cookie(String),
    Parameter(String),
    /// All query parameters.
    Parameters,
    /// A claim of the token that authenticated the request.
    Claim(String),
    /// The key that authenticated the request.
    Token,
    /// A member of the key's metadata.
    Meta(String),
    Quota(Figure),
    Rate(Figure),
    /// One that a middleware sets.
    Set(String),
    Nothing,
}

/// A figure of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Figure {
    Limit,
    Remaining,
    Reset,
}

impl Variable {
    /// The variable of `$tyk_context` with a name.
    pub(super) fn of_context(name: &str) -> Variable {
        let prefixed = |prefix: &str| name.strip_prefix(prefix).map(str::to_owned);
        match name {
            "path" => Variable::Path,
            "path_parts" => Variable::PathParts,
            "remote_addr" => Variable::RemoteAddress,
            "request_id" => Variable::RequestId,
            "tyk_trace_id" => Variable::TraceId,
            "request_data" => Variable::Parameters,
            "token" => Variable::Token,
            _ => prefixed("headers_")
                // Header names are written with `_` in place of `-`.
                .map(|name| Variable::Header(name.replace('_', "-")))
                .or_else(|| prefixed("cookies_").map(Variable::Cookie))
                .or_else(|| prefixed("request_data_").map(Variable::Parameter))
                .or_else(|| prefixed(CLAIM).map(Variable::Claim))
                .or_else(|| Figure::named(name.strip_prefix("quota_")?).map(Variable::Quota))
                .or_else(|| Figure::named(name.strip_prefix("rate_limit_")?).map(Variable::Rate))
                .unwrap_or_else(|| Variable::Set(name.to_owned())),
        }
    }

    /// The variable's value; empty if it has none.
    pub(super) fn value(&self, exchange: &Exchange<'_>) -> String {
        self.given(exchange).unwrap_or_default()
    }

    /// The variable's value, if it has one.
    pub(super) fn given(&self, exchange: &Exchange<'_>) -> Option<String> {
        let headers = exchange.received();
        match self {
            Variable::Path => Some(exchange.arrival.full_path.to_owned()),
            Variable::PathParts => Some(path_parts(exchange.arrival.full_path)),
            Variable::RemoteAddress => Some(exchange.arrival.client_ip.to_string()),
            Variable::RequestId => Some(exchange.arrival.request_id.to_string()),
            Variable::TraceId => exchange.arrival.trace.map(|trace| trace.id.to_string()),
            Variable::Header(name) => headers.get(name).map(|value| String::from_utf8_lossy(value).into_owned()),
            Variable::Cookie(name) => headers
                .get("cookie")
                .and_then(|value| form::first_cookie(std::str::from_utf8(value).ok()?, |found| is_called(found, name)))
                .map(str::to_owned),
            Variable::Parameter(name) => {
                let mut given = exchange.form().into_iter().chain(exchange.query());
                given.find_map(|given| form::first_value(given, |found| is_called(found, name)))
            }
            Variable::Parameters => Some(parameters(exchange.form().into_iter().chain(exchange.query()))),
            Variable::Claim(name) => exchange.caller.claims.as_ref().and_then(|claims| claims.get(name)).map(str::to_owned),
            Variable::Token => exchange.caller.token.as_deref().map(str::to_owned),
            Variable::Meta(name) => exchange.caller.meta_data().and_then(|meta| meta.get(name)).map(value_text),
            Variable::Quota(figure) => exchange.quota_figures().map(|figures| figure.of(figures)),
            Variable::Rate(figure) => exchange.rate_figures().map(|figures| figure.of(figures)),
            Variable::Set(name) => exchange.notes.variables.as_deref().and_then(|set| set.get(name)).map(value_text),
            Variable::Nothing => None,
        }
    }
}

impl Figure {
    fn named(name: &str) -> Option<Figure> {
        match name {
            "limit" => Some(Figure::Limit),
            "remaining" => Some(Figure::Remaining),
            "reset" => Some(Figure::Reset),
            _ => None,
        }
    }

    fn of(self, [limit, remaining, reset]: [i64; 3]) -> String {
        match self {
            Figure::Limit => limit.to_string(),
            Figure::Remaining => remaining.to_string(),
            Figure::Reset => reset.to_string(),
        }
    }
}

/// Whether a definition uses `$tyk_context.token`, or the names of cached responses in Redis contain the key: authentication then keeps it.
pub fn uses_token(definition: &ApiDefinition) -> bool {
    let stands_there = || {
        let text = definition.raw.to_string();
        text.contains("$tyk_context.token") || text.contains("\"token\":")
    };
    let sees_key =
        definition.has_bundle() || definition.custom_middleware.has_known_driver() && definition.custom_middleware.is_used();
    sees_key || definition.cache_options.enable_cache || definition.enable_context_vars && stands_there()
}

/// Whether a name, in which `_` stands for `-`, means this cookie or parameter.
fn is_called(found: &str, name: &str) -> bool {
    let same = |(a, b): (u8, u8)| a == b || (a == b'-' && b == b'_');
    found.len() == name.len() && found.bytes().zip(name.bytes()).all(same)
}

fn path_parts(path: &str) -> String {
    path.strip_prefix('/').unwrap_or(path).replace('/', ",")
}

/// Formats as `name:value,value;name:value`, sorted by name.
fn parameters<'a>(given: impl Iterator<Item = &'a str>) -> String {
    let mut values: std::collections::BTreeMap<String, Vec<String>> = Default::default();
    for (name, value) in given.flat_map(form::pairs) {
        values.entry(name).or_default().push(value);
    }
    values.iter().map(|(name, values)| format!("{name}:{}", values.join(","))).collect::<Vec<_>>().join(";")
}
