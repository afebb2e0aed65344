//! A body transform of Tyk: its input, the data that its template sees, and its result. Reads the `template_data` of `transform` and
//! `transform_response`.

use crate::exchange::Exchange;
use crate::middleware::MiddlewareSource;
use crate::template::{ValueTemplate as Variables, split_at_variable};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value as Json;
use std::path::Path;
use tollgate_gotemplate::{RenderLimits, Template, Value};
use tollgate_model::api::TemplateData;
use tollgate_model::bounded_file;
use tollgate_observe::template_host::GatewayTemplateHost;

/// Largest template file, in bytes; nobody writes a larger template by hand.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Encloses the number of a variable in a rendered text: a character that nobody sends.
const MARK: char = '\u{10FFFE}';

/// A compiled transform.
pub(crate) struct CompiledBodyTemplate {
    template: Template,
    input: TemplateInput,
    enable_session: bool,
    context: bool,
    /// Whether the template uses `_tyk_context`.
    names_context: bool,
    /// Variables such as `$tyk_context.x` outside of the template's actions.
    variables: Vec<Variables>,
}

/// Format of the bodies that a transform reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TemplateInput {
    Json,
    Xml,
}

/// Data that a template sees besides the body, captured while the request is available.
#[derive(Clone, Debug, Default)]
pub(crate) struct TemplateSurroundings {
    meta: Option<Json>,
    context: Option<Json>,
}

impl CompiledBodyTemplate {
    /// Compiles a transform. `Err` is the field of `template_data` and the reason. `replaces_variables`: whether variables outside of
    /// actions are replaced.
    pub(crate) fn new(
        data: &TemplateData,
        source: &MiddlewareSource<'_, '_>,
        replaces_variables: bool,
    ) -> Result<Self, (&'static str, String)> {
        const SOURCE: &str = "template_data.template_source";
        let input = match data.input_type.as_str() {
            "xml" => TemplateInput::Xml,
            // A response transform reads JSON in Tyk, whatever is configured.
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
        let names_context = text.contains("_tyk_context");
        let template = Template::parse(&text).map_err(|error| (SOURCE, format!("not a template: {error}")))?;
        let context = source.definition.enable_context_vars;
        Ok(CompiledBodyTemplate { template, input, enable_session: data.enable_session, context, names_context, variables })
    }

    /// A template for responses. If the API has a shared cache, its result must not depend on the request.
    pub(crate) fn for_responses(data: &TemplateData, source: &MiddlewareSource<'_, '_>) -> Result<Self, (&'static str, String)> {
        let compiled = CompiledBodyTemplate::new(data, source, false)?;
        if source.definition.tollgate.cache.is_none() {
            return Ok(compiled);
        }
        let field = match () {
            () if compiled.enable_session => "template_data.enable_session",
            () if compiled.context && compiled.names_context => "template_data.template_source",
            // A template that shows all data that it has is given none of the request.
            () => return Ok(CompiledBodyTemplate { context: false, ..compiled }),
        };
        Err((field, "makes another response of each request, which tollgate.cache would give to all".to_owned()))
    }

    /// Captures the request data that the template uses.
    pub(crate) fn surroundings(&self, exchange: &Exchange<'_>) -> TemplateSurroundings {
        let meta = if self.enable_session { super::tyk_meta(exchange) } else { None };
        let context = self.context.then(|| super::tyk_context(exchange));
        TemplateSurroundings { meta: meta.map(Json::Object), context: context.map(Json::Object) }
    }

    /// Parses a body into a map. `Err` says why it does not have the configured format.
    pub(crate) fn parse(&self, body: &[u8]) -> Result<Value, String> {
        let read = match self.input {
            TemplateInput::Xml => {
                let text = std::str::from_utf8(body).map_err(|error| error.to_string())?;
                Value::from_xml(if text.is_empty() { "<_/>" } else { text })?
            }
            TemplateInput::Json => {
                let body = if body.is_empty() { b"{}" } else { body };
                Value::read_json(body).map_err(|error| error.to_string())?
            }
        };
        Ok(match read {
            Value::List(_) if self.input == TemplateInput::Json => Value::map([("array", read)]),
            read if read.is_map() => read,
            // Tyk's templates see nothing of a plain text or number.
            _ => CompiledBodyTemplate::nothing(),
        })
    }

    /// What a template sees of a body that has no members.
    pub(crate) fn nothing() -> Value {
        Value::map::<&str>([])
    }

    /// Renders the new body.
    pub(crate) fn render(
        &self,
        document: &Value,
        surroundings: &TemplateSurroundings,
        limits: RenderLimits,
    ) -> Result<String, String> {
        for (name, value) in [("_tyk_meta", &surroundings.meta), ("_tyk_context", &surroundings.context)] {
            if let Some(value) = value {
                document.set_member(name, Value::from_json(value));
            }
        }
        self.template.render(document, limits, &GatewayTemplateHost).map_err(|error| error.to_string())
    }

    /// Replaces the request's variables in a rendered text.
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

/// Replaces variables outside of actions by marks; returns the text and the variables. Tyk replaces variables in the rendered text, where a
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
    bounded_file::read_text(Path::new(path), FILE_BYTES_MAX).map_err(|error| format!("{path} cannot be read: {error}"))
}
