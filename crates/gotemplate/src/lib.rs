//! Go's `text/template` language with the functions of the `sprig` library, as Tyk's body transforms, error pages and webhooks use it.
//! A template is parsed once; what it uses and this crate does not have is an error then, with its line. Rendering is bounded in
//! steps, depth and output. No I/O, no clock, no randomness: nothing of the gateway is below this crate.
//!
//! The semantics are those of Go 1.25 for data that came from JSON: numbers are `float64`, missing members print `<no value>`.

mod arguments;
mod ast;
mod builtins;
mod compare;
mod float;
mod functions;
mod json;
mod lexer;
mod number;
mod parser;
mod print;
mod render;
mod sprig;
mod value;
mod xml;

pub use render::{Limits, RenderError};
pub use value::Value;

use std::collections::HashMap;

/// A parsed template with the templates that it defines.
#[derive(Debug)]
pub struct Template {
    main: Vec<ast::Node>,
    defined: HashMap<String, Vec<ast::Node>>,
}

/// Why a text is not a template that can be rendered here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Line in the text, from 1.
    pub line: usize,
    /// What is wrong, naming the function or the word.
    pub message: String,
}

impl std::fmt::Display for ParseError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ParseError {}

impl Template {
    /// Parses a text.
    ///
    /// # Errors
    /// The first mistake: syntax, an unknown function or variable, or a `template` action whose name is not defined.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        parser::parse(text)
    }

    /// Renders the template with `data` as its dot and `$`.
    ///
    /// # Errors
    /// What Go's `Execute` would return as an error, or a limit that was reached. What was rendered so far is dropped.
    pub fn render(&self, data: &Value, limits: Limits) -> Result<String, RenderError> {
        render::render(self, data, limits)
    }
}
