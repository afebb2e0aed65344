//! Parameters in a query: unknown ones and bad values get an answer that names them.

use std::collections::HashMap;

/// The parameters of a request.
pub(super) struct Parameters<'a>(&'a HashMap<String, String>);

impl<'a> Parameters<'a> {
    /// Only these names may occur.
    pub(super) fn new(query: &'a HashMap<String, String>, known: &[&str]) -> Result<Self, String> {
        match query.keys().find(|name| !known.contains(&name.as_str())) {
            Some(name) => Err(format!("unknown parameter {name}; known are {}", known.join(", "))),
            None => Ok(Parameters(query)),
        }
    }

    /// A text that is not empty.
    pub(super) fn text(&self, name: &str) -> Option<&'a str> {
        self.0.get(name).map(String::as_str).filter(|text| !text.is_empty())
    }

    /// A whole number.
    pub(super) fn number(&self, name: &str) -> Result<Option<u64>, String> {
        self.text(name).map(|text| text.parse().map_err(|_| format!("{name} must be a whole number"))).transpose()
    }
}
