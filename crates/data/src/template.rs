//! Values with `$tyk_context.x`, `$tyk_meta.x` and `$secret_conf.x`, parsed when the configuration is loaded. Secrets are resolved then and
//! become literal text; a missing secret is empty, as in Tyk.

mod variable;

use crate::exchange::Exchange;
use crate::header_names::HeaderNames;
use tollgate_http::form::encode_form;
use tollgate_model::reference::SecretSources;
use variable::Variable;
pub use variable::uses_token;

/// A header value or URL, possibly with variables.
#[derive(Clone, Debug)]
pub struct ValueTemplate {
    parts: Vec<ValuePart>,
}

#[derive(Clone, Debug, PartialEq)]
enum ValuePart {
    Literal(String),
    Variable(Variable),
}

/// What variables may refer to.
#[derive(Clone, Copy)]
pub struct VariableScope<'a> {
    /// Whether the API has context variables; otherwise they are empty.
    pub context: bool,
    pub secrets: &'a SecretSources,
}

/// A reference to a variable: its prefix, and its name without the prefix.
struct Reference<'t> {
    prefix: Prefix,
    name: &'t str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Prefix {
    Context,
    Meta,
    /// The scheme that references to this kind of secret have elsewhere in definitions.
    Secret(&'static str),
}

pub const META: &str = "$tyk_meta.";

const PREFIXES: [(&str, Prefix); 7] = [
    ("$tyk_context.", Prefix::Context),
    (META, Prefix::Meta),
    ("$secret_conf.", Prefix::Secret("secrets")),
    ("$secret_env.", Prefix::Secret("env")),
    ("$secret_file.", Prefix::Secret("file")),
    ("$secret_vault.", Prefix::Secret("vault")),
    ("$secret_consul.", Prefix::Secret("consul")),
];

impl ValueTemplate {
    /// Parses a text.
    pub fn new(text: &str, scope: VariableScope<'_>) -> Self {
        let mut template = ValueTemplate { parts: Vec::new() };
        let mut rest = text;
        while let Some((literal, Reference { prefix, name }, after)) = next_reference(rest) {
            template.push_literal(literal);
            match prefix {
                Prefix::Context => {
                    let known = if scope.context { Variable::of_context(name) } else { Variable::Nothing };
                    template.parts.push(ValuePart::Variable(known));
                }
                Prefix::Meta => template.parts.push(ValuePart::Variable(Variable::Meta(name.to_owned()))),
                Prefix::Secret(scheme) => template.push_literal(&scope.secrets.lookup(scheme, name).unwrap_or_default()),
            }
            rest = after;
        }
        template.push_literal(rest);
        template
    }

    fn push_literal(&mut self, text: &str) {
        match self.parts.last_mut() {
            Some(ValuePart::Literal(last)) => last.push_str(text),
            _ if text.is_empty() => {}
            _ => self.parts.push(ValuePart::Literal(text.to_owned())),
        }
    }

    /// The text, if it has no variables.
    pub fn literal(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [ValuePart::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// Adds the request headers that the variables read.
    pub fn header_names(&self, names: &mut HeaderNames) {
        for part in &self.parts {
            if let ValuePart::Variable(Variable::Header(name)) = part {
                names.add(name);
            }
        }
    }

    /// Renders the text for one request.
    pub fn render(&self, exchange: &Exchange<'_>) -> String {
        let render = |part: &ValuePart| match part {
            ValuePart::Literal(text) => text.clone(),
            ValuePart::Variable(variable) => variable.value(exchange),
        };
        self.parts.iter().map(render).collect()
    }

    /// Appends the text for one request to a URL; see [`append_to_url`].
    pub fn append_to_url(&self, exchange: &Exchange<'_>, url: &mut String) {
        for part in &self.parts {
            match part {
                ValuePart::Literal(text) => url.push_str(text),
                ValuePart::Variable(variable) => append_to_url(&variable.value(exchange), url),
            }
        }
    }
}

/// One variable of `$tyk_context`, for conditions: it may be absent.
#[derive(Clone, Debug)]
pub struct ContextVariable(Variable);

impl ContextVariable {
    pub fn new(name: &str, scope: VariableScope<'_>) -> Self {
        ContextVariable(if scope.context { Variable::of_context(name) } else { Variable::Nothing })
    }

    /// Adds the request header that the variable reads.
    pub fn header_names(&self, names: &mut HeaderNames) {
        if let Variable::Header(name) = &self.0 {
            names.add(name);
        }
    }

    /// The variable's value, if it has one that is a text. Lists are none.
    pub fn text(&self, exchange: &Exchange<'_>) -> Option<String> {
        match &self.0 {
            Variable::PathParts | Variable::Parameters => None,
            variable => variable.given(exchange),
        }
    }
}

/// Appends a value to a URL. It is escaped unless it starts the URL and is a URL itself. Tyk leaves every value unescaped that starts with
/// `http`, which lets clients add parameters.
pub fn append_to_url(value: &str, url: &mut String) {
    if url.is_empty() && (value.starts_with("http://") || value.starts_with("https://")) {
        url.push_str(value);
    } else {
        url.push_str(&encode_form(value));
    }
}

/// The first variable in a text as it is written, with the texts before and after it.
pub fn split_at_variable(text: &str) -> Option<(&str, &str, &str)> {
    let (before, _, after) = next_reference(text)?;
    let written = text.get(before.len()..text.len() - after.len())?;
    Some((before, written, after))
}

/// Secrets in a text that have no value: the reference, and the reason.
pub fn missing_secrets(text: &str, secrets: &SecretSources) -> Vec<(String, String)> {
    let mut missing = Vec::new();
    let mut rest = text;
    while let Some((_, Reference { prefix, name }, after)) = next_reference(rest) {
        rest = after;
        let Prefix::Secret(scheme) = prefix else { continue };
        let written = PREFIXES.iter().find(|(_, known)| *known == prefix).map_or("", |(written, _)| *written);
        let why = match secrets.lookup(scheme, name) {
            Err(why) => why,
            Ok(value) if value.chars().any(char::is_control) => "has line ends or other control characters".to_owned(),
            Ok(_) => continue,
        };
        missing.push((format!("{written}{name}"), why));
    }
    missing
}

/// The first variable in a text, with the texts before and after it.
fn next_reference(text: &str) -> Option<(&str, Reference<'_>, &str)> {
    let found = PREFIXES.iter().filter_map(|(written, prefix)| Some((text.find(written)?, written.len(), *prefix)));
    let (start, prefix_length, prefix) = found.min_by_key(|(start, _, _)| *start)?;
    let (literal, variable) = text.split_at_checked(start)?;
    let name = variable.get(prefix_length..)?;
    let is_path = matches!(prefix, Prefix::Secret("file" | "vault" | "consul"));
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.') || (is_path && c == '/');
    let (name, after) = name.split_at_checked(name.find(|c| !is_name(c)).unwrap_or(name.len()))?;
    Some((literal, Reference { prefix, name }, after))
}

#[cfg(test)]
mod tests;
