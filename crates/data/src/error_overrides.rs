//! Other responses in place of errors: `error_overrides` of an API and of the configuration, compiled. An API's rules come first, among them those
//! for the status itself, then those for its class; the first rule that matches applies, as in Tyk.
//!
//! Nothing here knows where the error comes from: the gateway's refusals and the responses of upstreams have one search each.

mod json_field;

use crate::error_body::ErrorForm;
use crate::error_templates::{ErrorData, ErrorTemplate, ErrorTemplates};
use json_field::JsonField;
use regex::bytes::Regex;
use std::sync::Arc;
use tollgate_model::error_override::ErrorOverrides as WrittenOverrides;
use tollgate_model::error_override::{ErrorMatcher, ErrorOverride, ErrorResponse, StatusPattern};

/// Bytes of an upstream's body that rules look at; as in Tyk.
pub const BODY_BYTES_MAX: usize = 4096;

/// The flag that stands for any upstream's response of 5xx.
const UPSTREAM_STATUS: &str = "URS";

/// The rules that hold for an API: its own and the gateway's.
#[derive(Debug)]
pub struct CompiledOverrides {
    levels: [Arc<OverrideRules>; 2],
}

/// The rules of one document.
#[derive(Debug, Default)]
pub struct OverrideRules(Vec<(StatusPattern, Vec<OverrideRule>)>);

/// One rule.
#[derive(Debug)]
pub struct OverrideRule {
    matcher: CompiledMatcher,
    /// 0 keeps the error's own.
    status: u16,
    body: OverrideBody,
    message: String,
    headers: Vec<(String, Vec<u8>)>,
}

#[derive(Debug, Default)]
struct CompiledMatcher {
    flag: String,
    pattern: Option<Regex>,
    field: Option<(JsonField, String)>,
}

/// The body that a rule gives an error.
#[derive(Debug)]
enum OverrideBody {
    /// The error's own.
    Kept,
    /// The usual one, with the rule's message.
    Message,
    Text(String),
    Template(Arc<ErrorTemplate>),
    /// Files for both forms; one of them may be missing.
    Files {
        json: Option<Arc<ErrorTemplate>>,
        xml: Option<Arc<ErrorTemplate>>,
    },
}

/// The rule for an upstream's response, as far as it is known.
pub enum FoundRule<'o> {
    None,
    Rule(&'o OverrideRule),
    /// It depends on the body.
    NeedsBody,
}

/// What a rule makes of an error's body.
pub enum MadeBody<'o> {
    /// The error's own.
    Kept,
    /// The usual one, with this message.
    Message(&'o str),
    /// This one, with its content type.
    Made(&'o str, Vec<u8>),
}

/// A problem of a rule: where it is, below the rules, and what is wrong.
pub struct OverrideProblem {
    pub path: String,
    pub message: String,
    pub is_error: bool,
}

impl OverrideRules {
    /// Compiles rules. One with an error is left out.
    pub fn compile(written: &WrittenOverrides, templates: &ErrorTemplates) -> (Self, Vec<OverrideProblem>) {
        let mut problems = Vec::new();
        let mut compiled = Vec::new();
        for (status, rules) in written {
            // What is no status has been reported.
            let Some(pattern) = StatusPattern::parse(status) else { continue };
            let mut usable = Vec::new();
            for (index, rule) in rules.iter().enumerate() {
                let mut note = |field: &str, message: String, is_error: bool| {
                    problems.push(OverrideProblem { path: format!("[{status:?}][{index}].{field}"), message, is_error });
                };
                match OverrideRule::compile(rule, templates) {
                    Ok(rule) if rule.prints_no_message() => {
                        note("response.message", "is not set: {{.Message}} prints nothing".to_owned(), false);
                        usable.push(rule);
                    }
                    Ok(rule) => usable.push(rule),
                    Err((field, message)) => note(field, message, true),
                }
            }
            compiled.push((pattern, usable));
        }
        (OverrideRules(compiled), problems)
    }

    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|(_, rules)| rules.is_empty())
    }

    fn rules_for(&self, wanted: StatusPattern) -> impl Iterator<Item = &OverrideRule> {
        self.0.iter().filter(move |(pattern, _)| *pattern == wanted).flat_map(|(_, rules)| rules)
    }
}

impl CompiledOverrides {
    /// The rules of an API and of the gateway; `None` when there are none.
    pub fn new(own: OverrideRules, gateway: &Arc<OverrideRules>) -> Option<Arc<Self>> {
        if own.is_empty() && gateway.is_empty() {
            return None;
        }
        Some(Arc::new(CompiledOverrides { levels: [Arc::new(own), gateway.clone()] }))
    }

    /// The rule for a refusal with this status and message.
    pub fn for_refusal(&self, status: u16, message: &str, flags: &[&str]) -> Option<&OverrideRule> {
        self.candidates(status).find(|rule| rule.matcher.fits_refusal(message, flags))
    }

    /// The rule for an upstream's response. `body` is how its body begins, once that is known.
    pub fn for_response(&self, status: u16, body: Option<&[u8]>) -> FoundRule<'_> {
        for rule in self.candidates(status) {
            if rule.matcher.needs_body() && body.is_none() {
                return FoundRule::NeedsBody;
            }
            if rule.matcher.fits_response(status, body.unwrap_or_default()) {
                return FoundRule::Rule(rule);
            }
        }
        FoundRule::None
    }

    fn candidates(&self, status: u16) -> impl Iterator<Item = &OverrideRule> {
        let patterns = [StatusPattern::Code(status), StatusPattern::Class(status / 100)];
        self.levels.iter().flat_map(move |level| patterns.into_iter().flat_map(|pattern| level.rules_for(pattern)))
    }
}

impl CompiledMatcher {
    fn compile(written: &ErrorMatcher) -> Result<Self, (&'static str, String)> {
        let pattern =
            Some(written.message_pattern.as_str()).filter(|pattern| !pattern.is_empty()).map(tollgate_re2::compile_for_bytes);
        let pattern = pattern.transpose().map_err(|error| ("match.message_pattern", format!("not a valid pattern: {error}")))?;
        let is_compared = !written.body_field.is_empty() && !written.body_value.is_empty();
        let field = is_compared.then(|| JsonField::parse(&written.body_field)).transpose();
        let field = field.map_err(|why| ("match.body_field", why))?;
        Ok(CompiledMatcher { flag: written.flag.clone(), pattern, field: field.map(|field| (field, written.body_value.clone())) })
    }

    /// As in Tyk, a refusal has no body: a rule for a field of one fits every refusal unless it says more.
    fn fits_refusal(&self, message: &str, flags: &[&str]) -> bool {
        let has_flag = !self.flag.is_empty();
        if has_flag && flags.contains(&self.flag.as_str()) {
            return true;
        }
        match &self.pattern {
            Some(pattern) => pattern.is_match(message.as_bytes()),
            None => !has_flag,
        }
    }

    fn needs_body(&self) -> bool {
        self.flag.is_empty() && (self.field.is_some() || self.pattern.is_some())
    }

    fn fits_response(&self, status: u16, body: &[u8]) -> bool {
        if !self.flag.is_empty() {
            return self.flag == UPSTREAM_STATUS && (500..=599).contains(&status);
        }
        let has_value = |(field, value): &(JsonField, String)| field.value(body).is_some_and(|found| found == *value);
        match (&self.field, &self.pattern) {
            (Some(field), _) if has_value(field) => true,
            (_, Some(pattern)) => pattern.is_match(body),
            (field, None) => field.is_none(),
        }
    }
}

impl OverrideRule {
    fn compile(written: &ErrorOverride, templates: &ErrorTemplates) -> Result<Self, (&'static str, String)> {
        let response = &written.response;
        Ok(OverrideRule {
            matcher: CompiledMatcher::compile(&written.matcher)?,
            status: response.status_code,
            body: OverrideBody::compile(response, templates)?,
            message: response.message.clone(),
            headers: response.own_headers().map(|(name, value)| (name.to_owned(), value.as_bytes().to_vec())).collect(),
        })
    }

    fn prints_no_message(&self) -> bool {
        let uses = |template: &Arc<ErrorTemplate>| template.uses_message();
        self.message.is_empty()
            && match &self.body {
                OverrideBody::Template(template) => uses(template),
                OverrideBody::Files { json, xml } => json.iter().chain(xml).any(uses),
                OverrideBody::Kept | OverrideBody::Message | OverrideBody::Text(_) => false,
            }
    }

    /// The status that the client sees of an error with this one.
    pub fn status(&self, own: u16) -> u16 {
        if self.status == 0 { own } else { self.status }
    }

    /// The headers that the response gets in place of its own.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.headers.iter().map(|(name, value)| (name.as_str(), value.as_slice()))
    }

    /// The body for a client of this form. `status` is the one that it sees.
    pub fn body<'o>(&'o self, form: ErrorForm<'o>, status: u16, invalid_params: &str) -> MadeBody<'o> {
        let own_form = without_problem(form);
        let made = |template: &ErrorTemplate, form: ErrorForm<'o>| {
            let mut body = Vec::new();
            template.write(&ErrorData { status, message: &self.message, invalid_params }, form.escape(), &mut body);
            MadeBody::Made(form.content_type(), body)
        };
        match &self.body {
            OverrideBody::Kept => MadeBody::Kept,
            OverrideBody::Message => MadeBody::Message(&self.message),
            OverrideBody::Text(text) => MadeBody::Made(own_form.content_type(), text.clone().into_bytes()),
            OverrideBody::Template(template) => made(template, own_form),
            OverrideBody::Files { json, xml } => match (own_form, json, xml) {
                (ErrorForm::Xml(_), _, Some(template)) => made(template, own_form),
                (ErrorForm::Xml(_), Some(template), None) | (_, Some(template), _) => made(template, ErrorForm::Json),
                (_, None, Some(template)) => made(template, ErrorForm::Xml("application/xml")),
                (_, None, None) => MadeBody::Message(&self.message),
            },
        }
    }
}

/// As in Tyk, what a rule writes is XML to a request that was XML, but not SOAP, and else JSON.
fn without_problem(form: ErrorForm<'_>) -> ErrorForm<'_> {
    match form {
        ErrorForm::Xml(xml_type) => {
            let essence = xml_type.split(';').next().unwrap_or_default().trim();
            if essence.eq_ignore_ascii_case("application/soap+xml") { ErrorForm::Json } else { ErrorForm::Xml(essence) }
        }
        ErrorForm::Json | ErrorForm::Problem | ErrorForm::Rpc(_) => ErrorForm::Json,
    }
}

impl OverrideBody {
    fn compile(written: &ErrorResponse, templates: &ErrorTemplates) -> Result<Self, (&'static str, String)> {
        if written.body.contains("{{.") {
            let template =
                ErrorTemplate::parse(&written.body).map_err(|why| ("response.body", format!("not a template: {why}")))?;
            return Ok(OverrideBody::Template(Arc::new(template)));
        }
        if !written.body.is_empty() {
            return Ok(OverrideBody::Text(written.body.clone()));
        }
        if !written.template.is_empty() {
            return OverrideBody::of_files(&written.template, templates).map_err(|why| ("response.template", why));
        }
        Ok(if written.message.is_empty() { OverrideBody::Kept } else { OverrideBody::Message })
    }

    fn of_files(name: &str, templates: &ErrorTemplates) -> Result<Self, String> {
        let file = |extension: &str| templates.named(&format!("{name}.{extension}")).or_else(|| templates.named(name));
        let (json, xml) = (file("json"), file("xml"));
        // The built-in bodies have no files.
        if json.is_none() && xml.is_none() && name != "error" {
            return Err(format!("there is no usable {name}.json or {name}.xml in template_path; its name must begin with error"));
        }
        Ok(OverrideBody::Files { json, xml })
    }
}

#[cfg(test)]
mod tests;
