//! A body transform of Tyk: what is read, what the template sees of it, and what it makes. Reads the `template_data` of `transform` and
//! `transform_response`.

use crate::data::exchange::Exchange;
use crate::data::middleware::MiddlewareSource;
use crate::data::template::{ValueTemplate as Variables, split_at_variable};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value as Json};
use std::fs;
use tollgate_gotemplate::{RenderLimits, Template, Value};
use tollgate_model::api::TemplateData;

/// A file above this size is no template that somebody wrote.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Around the number of a variable, in the text that a template makes: no character that anybody sends.
const MARK: char = '\u{10FFFE}';

/// A transform, ready to use.
pub(crate) struct CompiledBodyTemplate {
    template: Template,
    input: TemplateInput,
    enable_session: bool,
    context: bool,
    /// `$tyk_context.x` and the like outside of the template's actions.
    variables: Vec<Variables>,
}

/// What bodies are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TemplateInput {
    Json,
    Xml,
}

/// What a template sees beside the body, taken down while the request is at hand.
#[derive(Clone, Debug, Default)]
pub(crate) struct Surroundings {
    meta: Option<Value>,
    context: Option<Value>,
}

impl CompiledBodyTemplate {
    /// An error names the field of `template_data` and says what is wrong. `replaces_variables`: variables outside of actions act.
    pub(crate) fn new(
        data: &TemplateData,
        source: &MiddlewareSource<'_, '_>,
        replaces_variables: bool,
    ) -> Result<Self, (&'static str, String)> {
        const SOURCE: &str = "template_data.template_source";
        let input = match data.input_type.as_str() {
            "xml" => TemplateInput::Xml,
            // A response's is JSON in Tyk, whatever is written.
            "json" => TemplateInput::Json,
            _ if !replaces_variables => TemplateInput::Json,
            other => return Err(("template_data.input_type", format!("{other:?} is neither json nor xml"))),
        };
        let text = match data.template_mode.as_str() {
            "blob" => {
                let bytes = STANDARD.decode(&data.template_source).map_err(|error| (SOURCE, format!("not Base64: {error}")))?;
                String::from_utf8(bytes).map_err(|_| (SOURCE, "not UTF-8".to_owned()))?
            }
            "file" => read(&data.template_source).map_err(|why| (SOURCE, why))?,
            other => return Err(("template_data.template_mode", format!("{other:?} is neither file nor blob"))),
        };
        let (text, variables) = match replaces_variables {
            true => marked(&text, |written| Variables::new(written, source.variable_scope())),
            false => (text, Vec::new()),
        };
        let template = Template::parse(&text).map_err(|error| (SOURCE, format!("not a template: {error}")))?;
        let context = source.definition.enable_context_vars;
        Ok(CompiledBodyTemplate { template, input, enable_session: data.enable_session, context, variables })
    }

    /// What the template needs to know of the request.
    pub(crate) fn surroundings(&self, exchange: &Exchange<'_>) -> Surroundings {
        let meta = if self.enable_session { super::tyk_meta(exchange) } else { None };
        let context = self.context.then(|| super::tyk_context(exchange));
        let value = |members: Map<String, Json>| Value::from_json(&Json::Object(members));
        Surroundings { meta: meta.map(value), context: context.map(value) }
    }

    /// What is in a body. An error says why it is not what was said.
    pub(crate) fn parse(&self, body: &[u8]) -> Result<Vec<(String, Value)>, String> {
        let read = match self.input {
            TemplateInput::Xml => {
                let text = std::str::from_utf8(body).map_err(|error| error.to_string())?;
                Value::from_xml(if text.is_empty() { "<_/>" } else { text })?
            }
            TemplateInput::Json => {
                let body = if body.is_empty() { b"{}" } else { body };
                let document: Json = serde_json::from_slice(body).map_err(|error| error.to_string())?;
                match document {
                    Json::Array(_) => return Ok(vec![("array".to_owned(), Value::from_json(&document))]),
                    document => Value::from_json(&document),
                }
            }
        };
        // A text or a number alone is nothing that Tyk's templates see.
        Ok(read.members().unwrap_or_default())
    }

    /// The new body.
    pub(crate) fn render(&self, members: Vec<(String, Value)>, surroundings: &Surroundings) -> Result<String, String> {
        let named = |name: &str, value: &Option<Value>| value.clone().map(|value| (name.to_owned(), value));
        let around = named("_tyk_meta", &surroundings.meta).into_iter().chain(named("_tyk_context", &surroundings.context));
        let data = Value::map(members.into_iter().chain(around));
        self.template.render(&data, RenderLimits::default()).map_err(|error| error.to_string())
    }

    /// A text that the template made with the variables of the request put in.
    pub(crate) fn with_variables(&self, text: String, exchange: &Exchange<'_>) -> String {
        if self.variables.is_empty() {
            return text;
        }
        let mut out = String::with_capacity(text.len());
        for (index, piece) in text.split(MARK).enumerate() {
            let variable = if index % 2 == 1 { piece.parse::<usize>().ok().and_then(|at| self.variables.get(at)) } else { None };
            match variable {
                Some(variable) => {
                    let mut value = String::new();
                    variable.append_to_url(exchange, &mut value);
                    out.push_str(&value);
                }
                None => out.push_str(piece),
            }
        }
        out
    }
}

/// The text with marks in place of variables outside of actions, and the variables. Where Tyk replaces them in what the template made, a
/// client could write them into its body and read what it must not.
fn marked(text: &str, make: impl Fn(&str) -> Variables) -> (String, Vec<Variables>) {
    let mut out = String::with_capacity(text.len());
    let mut variables = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (literal, action) = rest.split_at_checked(rest.find("{{").unwrap_or(rest.len())).unwrap_or((rest, ""));
        let mut literal = literal;
        while let Some((before, written, after)) = split_at_variable(literal) {
            out.push_str(before);
            out.push_str(&format!("{MARK}{}{MARK}", variables.len()));
            variables.push(make(written));
            literal = after;
        }
        out.push_str(literal);
        let end = action.find("}}").map_or(action.len(), |at| at + 2);
        let (action, after) = action.split_at_checked(end).unwrap_or((action, ""));
        out.push_str(action);
        rest = after;
    }
    (out, variables)
}

fn read(path: &str) -> Result<String, String> {
    let unreadable = |error: std::io::Error| format!("{path} cannot be read: {error}");
    if fs::metadata(path).map_err(unreadable)?.len() > FILE_BYTES_MAX {
        return Err(format!("{path} is larger than {FILE_BYTES_MAX} bytes"));
    }
    fs::read_to_string(path).map_err(unreadable)
}
