//! What a rule of a route asks of a request beside its host: path, method, headers, query.

use regex::Regex;
use std::cell::{Cell, OnceCell};
use std::collections::HashMap;
use tollgate_http::HeadView;
use tollgate_http::form::pairs;

/// Bytes that regular expressions may look at for one request: they take some nanoseconds each, and a request has values of some kilobytes.
const EXPRESSION_BYTES_MAX: usize = 1 << 20;

/// A request as rules see it.
pub struct RoutedRequest<'r> {
    pub method: &'r str,
    /// `None` for what has no headers.
    pub headers: Option<HeadView<'r>>,
    pub query: Option<&'r str>,
    /// The first value of each query parameter, once a rule has asked for one.
    parameters: OnceCell<HashMap<String, String>>,
    /// What is left for regular expressions; `None` if it was not enough.
    left: Cell<Option<usize>>,
}

/// The path of a match.
#[derive(Clone, Debug)]
pub enum RulePath {
    /// The whole path.
    Exact(String),
    /// Whole segments at its beginning, without a slash at their end; empty for every path.
    Prefix(String),
    /// Characters at its beginning.
    Start(String),
    /// An expression for the whole path.
    Pattern(Regex),
}

/// The other parts of a match.
#[derive(Clone, Debug, Default)]
pub struct RuleConditions {
    /// `None` for any.
    pub method: Option<String>,
    pub headers: Vec<ValueCondition>,
    pub query: Vec<ValueCondition>,
}

/// A header or query parameter with a value.
#[derive(Clone, Debug)]
pub struct ValueCondition {
    pub name: String,
    pub pattern: ValuePattern,
}

/// What a value must be.
#[derive(Clone, Debug)]
pub enum ValuePattern {
    Exact(String),
    /// An expression for the whole value.
    Expression(Regex),
}

impl<'r> RoutedRequest<'r> {
    #[inline]
    pub fn new(method: &'r str, headers: HeadView<'r>, query: Option<&'r str>) -> Self {
        RoutedRequest { headers: Some(headers), query, ..RoutedRequest::bare(method) }
    }

    /// One that has no headers and no query.
    pub fn bare(method: &'r str) -> Self {
        let left = Cell::new(Some(EXPRESSION_BYTES_MAX));
        RoutedRequest { method, headers: None, query: None, parameters: OnceCell::new(), left }
    }

    /// Whether a regular expression may look at so many bytes. Once one may not, none may, and the request belongs to no rule: another one than
    /// its own could have less protection.
    pub(super) fn may_look_at(&self, bytes: usize) -> bool {
        self.left.set(self.left.get().and_then(|left| left.checked_sub(bytes)));
        !self.is_too_costly()
    }

    /// Whether the rules could not all be compared with the request.
    pub fn is_too_costly(&self) -> bool {
        self.left.get().is_none()
    }

    /// The first value of a query parameter.
    fn parameter(&self, name: &str) -> Option<&str> {
        let parameters = self.parameters.get_or_init(|| {
            let mut first = HashMap::new();
            for (name, value) in self.query.into_iter().flat_map(pairs) {
                first.entry(name).or_insert(value);
            }
            first
        });
        parameters.get(name).map(String::as_str)
    }
}

/// An expression for a whole text.
fn whole_expression(written: &str) -> Result<Regex, String> {
    // Checked by itself: it could end the group that it is put into.
    tollgate_re2::compile(written)?;
    tollgate_re2::compile(&format!("^(?:{written})$"))
}

impl RulePath {
    /// An expression for the whole path. `Err` says why it is none.
    pub fn pattern(written: &str) -> Result<Self, String> {
        whole_expression(written).map(RulePath::Pattern)
    }

    /// Length of what a decoded path begins with, without a slash at its end, if the path matches.
    pub fn matches(&self, path: &str, request: &RoutedRequest<'_>) -> Option<usize> {
        match self {
            RulePath::Exact(exact) => (path == exact).then_some(path.len()),
            RulePath::Prefix(prefix) => {
                let rest = path.strip_prefix(prefix.as_str())?;
                (rest.is_empty() || rest.starts_with('/')).then_some(prefix.len())
            }
            RulePath::Start(start) => path.starts_with(start.as_str()).then(|| start.strip_suffix('/').unwrap_or(start).len()),
            RulePath::Pattern(pattern) => (request.may_look_at(path.len()) && pattern.is_match(path)).then_some(path.len()),
        }
    }
}

impl RuleConditions {
    /// Whether a request meets all of them.
    #[inline]
    pub fn hold(&self, request: &RoutedRequest<'_>) -> bool {
        self.method.as_ref().is_none_or(|method| method == request.method)
            && self.headers.iter().all(|header| request.headers.is_some_and(|headers| header.is_met_by_header(headers, request)))
            && self.query.iter().all(|parameter| {
                request.parameter(&parameter.name).is_some_and(|value| parameter.pattern.fits(value.as_bytes(), request))
            })
    }
}

impl ValueCondition {
    /// Lines with one name are one value, with commas between them (RFC 9110 §5.2).
    fn is_met_by_header(&self, headers: HeadView<'_>, request: &RoutedRequest<'_>) -> bool {
        let mut lines = headers.all(&self.name);
        let Some(first) = lines.next() else { return false };
        let Some(second) = lines.next() else { return self.pattern.fits(first, request) };
        let mut value = [first, b", ", second].concat();
        for line in lines {
            value.extend_from_slice(b", ");
            value.extend_from_slice(line);
        }
        self.pattern.fits(&value, request)
    }
}

impl ValuePattern {
    /// An expression for the whole value. `Err` says why it is none.
    pub fn expression(written: &str) -> Result<Self, String> {
        whole_expression(written).map(ValuePattern::Expression)
    }

    fn fits(&self, value: &[u8], request: &RoutedRequest<'_>) -> bool {
        match self {
            ValuePattern::Exact(exact) => exact.as_bytes() == value,
            ValuePattern::Expression(expression) => {
                request.may_look_at(value.len()) && std::str::from_utf8(value).is_ok_and(|value| expression.is_match(value))
            }
        }
    }
}

#[cfg(test)]
mod tests;
