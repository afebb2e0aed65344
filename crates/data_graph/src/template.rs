//! Texts with variables, as sources of a data graph have them: `{{.arguments.id}}`, `{{.object.owner.id}}`, `{{.request.headers.X-Tenant}}`.
//! Values come from clients and servers, so each is written in a form that stays inside its place: escaped in a path or a JSON text, whole as
//! a JSON value.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

/// A text with variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourceTemplate {
    parts: Vec<SourceTemplatePart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum SourceTemplatePart {
    Literal(String),
    Variable { variable: SourceVariable, form: ValueForm },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourceVariable {
    pub scope: VariableSource,
    /// Name of the argument, member or header, and members in it.
    pub path: Vec<String>,
}

/// Where a variable's value is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VariableSource {
    Arguments,
    Object,
    Headers,
}

/// What a text is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TemplateKind {
    Url,
    /// A header, or a value of the query.
    Value,
    /// A body in JSON.
    Body,
}

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueForm {
    Plain,
    /// One segment of a path.
    Segment,
    /// Part of a text in JSON.
    JsonText,
    Json,
}

/// Why a text is no template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceTemplateFault(pub String);

/// The values for a template.
pub(crate) trait TemplateValues {
    /// `None` if there is none.
    fn value(&self, variable: &SourceVariable) -> Option<Value>;
    /// A piece of text between variables, in which the caller may have replaced something.
    fn literal<'t>(&'t self, text: &'t str) -> &'t str;
}

impl SourceTemplate {
    pub(crate) fn parse(text: &str, kind: TemplateKind) -> Result<Self, SourceTemplateFault> {
        let mut parts = Vec::new();
        let mut rest = text;
        let mut quotes = JsonQuotes::default();
        while let Some(start) = rest.find("{{") {
            let (literal, after) = rest.split_at(start);
            let end = after.find("}}").ok_or_else(|| SourceTemplateFault(format!("{after:?} does not end with }}}}")))?;
            let (inner, behind) = (after.get(2..end).unwrap_or_default(), after.get(end + 2..).unwrap_or_default());
            quotes.pass(literal);
            if !literal.is_empty() {
                parts.push(SourceTemplatePart::Literal(literal.to_owned()));
            }
            let variable = SourceVariable::parse(inner)?;
            let form = match kind {
                TemplateKind::Url if !has_authority(text.get(..text.len() - after.len()).unwrap_or_default()) => {
                    return Err(SourceTemplateFault("a variable must not be part of the scheme or the host".to_owned()));
                }
                TemplateKind::Url => ValueForm::Segment,
                TemplateKind::Value => ValueForm::Plain,
                TemplateKind::Body if quotes.is_inside => ValueForm::JsonText,
                TemplateKind::Body => ValueForm::Json,
            };
            parts.push(SourceTemplatePart::Variable { variable, form });
            rest = behind;
        }
        if !rest.is_empty() {
            parts.push(SourceTemplatePart::Literal(rest.to_owned()));
        }
        Ok(SourceTemplate { parts })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The text with its values; what has none is `null`, or nothing in a text of JSON.
    pub(crate) fn render(&self, values: &impl TemplateValues) -> String {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                SourceTemplatePart::Literal(text) => out.push_str(values.literal(text)),
                SourceTemplatePart::Variable { variable, form } => form.write(values.value(variable).unwrap_or_default(), &mut out),
            }
        }
        out
    }

    /// The values of a parameter: several if the template is nothing but a variable with a list; none if a variable has no value.
    pub(crate) fn render_all(&self, values: &impl TemplateValues) -> Vec<String> {
        if let [SourceTemplatePart::Variable { variable, form }] = self.parts.as_slice()
            && let Some(Value::Array(items)) = values.value(variable)
        {
            let written = |item: Value| {
                let mut out = String::new();
                form.write(item, &mut out);
                out
            };
            return items.into_iter().map(written).collect();
        }
        let has_value = |variable: &SourceVariable| values.value(variable).is_some_and(|value| !value.is_null());
        if self.variables().all(has_value) { vec![self.render(values)] } else { Vec::new() }
    }

    pub(crate) fn variables(&self) -> impl Iterator<Item = &SourceVariable> {
        self.parts
            .iter()
            .filter_map(|part| if let SourceTemplatePart::Variable { variable, .. } = part { Some(variable) } else { None })
    }

    /// Whether it has variables from this place.
    pub(crate) fn uses(&self, scope: VariableSource) -> bool {
        self.variables().any(|variable| variable.scope == scope)
    }

    pub(crate) fn literals(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| if let SourceTemplatePart::Literal(text) = part { Some(text.as_str()) } else { None })
    }
}

/// Whether a text has a whole authority, so that what follows is path or query.
fn has_authority(text: &str) -> bool {
    text.split_once("://").is_some_and(|(_, rest)| rest.contains('/') || rest.contains('?'))
}

/// Whether a place in a JSON text is inside quotes.
#[derive(Default)]
struct JsonQuotes {
    is_inside: bool,
    is_escaped: bool,
}

impl JsonQuotes {
    fn pass(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                _ if self.is_escaped => self.is_escaped = false,
                '\\' => self.is_escaped = self.is_inside,
                '"' => self.is_inside = !self.is_inside,
                _ => {}
            }
        }
    }
}

impl SourceVariable {
    fn parse(inner: &str) -> Result<Self, SourceTemplateFault> {
        let name = inner.trim().trim_start_matches('.');
        let unknown =
            || SourceTemplateFault(format!("{{{{{inner}}}}} is neither .arguments.NAME, .object.NAME nor .request.headers.NAME"));
        let (scope, rest) = match name.split_once('.').ok_or_else(unknown)? {
            ("arguments", rest) => (VariableSource::Arguments, rest),
            ("object", rest) => (VariableSource::Object, rest),
            ("request", rest) => match rest.split_once('.').ok_or_else(unknown)? {
                ("headers" | "header", rest) => (VariableSource::Headers, rest),
                _ => return Err(unknown()),
            },
            _ => return Err(unknown()),
        };
        let path: Vec<String> = match scope {
            VariableSource::Headers => vec![rest.to_ascii_lowercase()],
            _ => rest.split('.').map(str::to_owned).collect(),
        };
        if path.iter().any(String::is_empty) { Err(unknown()) } else { Ok(SourceVariable { scope, path }) }
    }
}

impl ValueForm {
    fn write(self, value: Value, out: &mut String) {
        let text = match (self, value) {
            (ValueForm::Json, value) => return out.push_str(&value.to_string()),
            (ValueForm::JsonText, Value::Null) => return,
            (_, Value::String(text)) => text,
            (_, value) => value.to_string(),
        };
        match self {
            ValueForm::Plain | ValueForm::Json => out.push_str(&text),
            ValueForm::JsonText => {
                let quoted = Value::String(text).to_string();
                out.push_str(quoted.get(1..quoted.len() - 1).unwrap_or_default());
            }
            ValueForm::Segment => write_segment(&text, out),
        }
    }
}

/// What a segment of a path may have as it is. A colon and an `@` are harmless behind the authority.
const PLAIN: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b':').remove(b'@').remove(b',');

/// Writes a text as one segment of a path: whatever is in it, it adds no segment, no query, and no step up.
fn write_segment(text: &str, out: &mut String) {
    match text {
        "." => out.push_str("%2E"),
        ".." => out.push_str("%2E%2E"),
        text => out.extend(utf8_percent_encode(text, PLAIN)),
    }
}

#[cfg(test)]
mod tests;
