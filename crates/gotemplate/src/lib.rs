//! Go's `text/template` language with the functions of the `sprig` library, as used by Tyk's body transforms, error pages and
//! webhooks. A template is parsed once; a function that this crate does not have is a parse error with its line. Rendering has
//! maximum steps, depth and output. The crate has no I/O, clock or randomness: the caller gives them as a [`TemplateHost`]. It depends on
//! nothing of the gateway.
//!
//! The semantics are those of Go 1.25 for data from JSON: numbers are `float64`, missing members print `<no value>`.

mod arguments;
mod ast;
mod builtins;
mod compare;
mod duration;
mod fields;
mod float;
mod functions;
mod go_url;
mod gotime;
mod host;
mod json;
mod lexer;
mod methods;
mod native;
mod number;
mod parser;
mod pattern;
mod print;
mod read;
mod render;
mod semver;
mod sprig;
mod times;
mod value;
mod xml;

pub use host::TemplateHost;
pub use render::{RenderError, RenderLimits};
pub use value::Value;

use std::collections::{BTreeSet, HashMap};

/// A parsed template, with the templates that it defines.
#[derive(Debug)]
pub struct Template {
    main: Vec<ast::TemplateNode>,
    defined: HashMap<String, Vec<ast::TemplateNode>>,
}

/// The reason why a text cannot be parsed as a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Line in the text, starting at 1.
    pub line: usize,
    /// The error, with the name of the function or the word.
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
    /// The first error: syntax, an unknown function or variable, or a `template` action whose name is not defined.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        parser::parse(text)
    }

    /// The names of the members that the template reads of its data: `A` for `{{.A.B}}` and `{{$.A}}`. A name that it reads of another dot, in
    /// `with` or `range`, is among them.
    pub fn field_names(&self) -> BTreeSet<&str> {
        fields::of_template(self)
    }

    /// Renders the template with `data` as its dot and `$`.
    ///
    /// # Errors
    /// The error that Go's `Execute` would return, or a maximum that was reached. The output so far is dropped.
    pub fn render(&self, data: &Value, limits: RenderLimits, host: &dyn TemplateHost) -> Result<String, RenderError> {
        render::render(self, data, limits, host, false)
    }

    /// The same with Go's `html/template` for a text without tags, such as JSON: printed values are escaped for HTML, and a missing value
    /// prints nothing. Tyk renders the bodies of its webhooks in this way.
    ///
    /// # Errors
    /// As [`Template::render`].
    pub fn render_html(&self, data: &Value, limits: RenderLimits, host: &dyn TemplateHost) -> Result<String, RenderError> {
        render::render(self, data, limits, host, true)
    }

    /// Every chain of names that the template reads: `["A", "B"]` for `{{.A.B}}` and for `{{$x.A.B}}`, whatever the dot or the variable
    /// is there.
    pub fn field_paths(&self) -> BTreeSet<&[String]> {
        fields::paths_of_template(self)
    }
}
