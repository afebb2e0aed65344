//! The operator's own error bodies: `error.json`, `error.xml` and one per status (`error_401.json`) in `template_path`, in Go's template
//! language with `{{.Message}}` and `{{.StatusCode}}`. `error_overrides` can use any file whose name begins with `error`. A file
//! that can't be parsed or rendered is skipped with a warning, and the built-in body is used.

use std::path::Path;
use std::sync::Arc;
use tollgate_gotemplate::{RenderLimits, Template, Value};
use tollgate_model::{Level, Problem, bounded_file};
use tollgate_observe::template_host::GatewayTemplateHost;

/// Largest template file, in bytes; a larger file is not an error body.
const FILE_BYTES_MAX: u64 = 64 * 1024;

/// Rendering limits; an error body is rendered for every rejected request.
const LIMITS: RenderLimits = RenderLimits { bytes_max: 256 * 1024, steps_max: 10_000 };

/// The fields that a template can use: Tyk's.
const FIELDS: [&str; 3] = [MESSAGE, STATUS, INVALID_PARAMS];
const MESSAGE: &str = "Message";
const STATUS: &str = "StatusCode";
const INVALID_PARAMS: &str = "InvalidParams";

/// The templates of one directory.
#[derive(Clone, Debug, Default)]
pub struct ErrorTemplates(Arc<Vec<TemplateFile>>);

/// One template file.
#[derive(Debug)]
struct TemplateFile {
    name: String,
    use_for: Option<TemplateUse>,
    template: Arc<ErrorTemplate>,
}

/// The errors for which a file is used without being named in a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TemplateUse {
    /// `None` for every status without its own file.
    status: Option<u16>,
    is_xml: bool,
}

/// The template of an error's body.
#[derive(Debug)]
pub struct ErrorTemplate(Template);

/// The data for one rendering.
#[derive(Clone, Copy, Debug)]
pub struct ErrorData<'a> {
    pub status: u16,
    pub message: &'a str,
    /// The validation errors of a request body; empty for other errors.
    pub invalid_params: &'a str,
}

impl ErrorTemplates {
    /// Reads the templates of a directory; none when the directory does not exist.
    pub fn load(directory: &Path) -> (Self, Vec<Problem>) {
        let mut templates = Vec::new();
        let mut problems = Vec::new();
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        let mut files: Vec<_> = entries.map(|entry| entry.path()).collect();
        files.sort();
        for file in files {
            let Some(name) = file.file_name().and_then(|name| name.to_str()).filter(|name| name.starts_with("error")) else {
                continue;
            };
            match read(&file).and_then(|text| ErrorTemplate::parse(&text)) {
                Ok(template) => {
                    templates.push(TemplateFile { name: name.to_owned(), use_for: use_for(name), template: Arc::new(template) });
                }
                Err(why) => {
                    let message = format!("{why}; the built-in body is used instead");
                    problems.push(Problem::new(Level::Warning, "", message).within(Some(&file)));
                }
            }
        }
        // Templates for one status come first, so that the first match is the right one.
        templates.sort_by_key(|file| file.use_for.is_none_or(|use_for| use_for.status.is_none()));
        (ErrorTemplates(Arc::new(templates)), problems)
    }

    /// The template for an error answer.
    pub fn find(&self, status: u16, is_xml: bool) -> Option<&ErrorTemplate> {
        let is_for = |use_for: TemplateUse| use_for.is_xml == is_xml && use_for.status.is_none_or(|own| own == status);
        self.0.iter().find(|file| file.use_for.is_some_and(is_for)).map(|file| &*file.template)
    }

    /// The template in the file of this name.
    pub fn named(&self, name: &str) -> Option<Arc<ErrorTemplate>> {
        self.0.iter().find(|file| file.name == name).map(|file| file.template.clone())
    }
}

impl ErrorTemplate {
    /// Parses a template and renders it once: a template that fails with these fields always fails.
    pub fn parse(text: &str) -> Result<Self, String> {
        let template = Template::parse(text).map_err(|error| error.to_string())?;
        template.render(&value(500, "message", "message"), LIMITS, &GatewayTemplateHost).map_err(|error| error.to_string())?;
        if let Some(unknown) = template.field_names().into_iter().find(|name| !FIELDS.contains(name)) {
            return Err(format!("{unknown:?} is not a field; the fields are {}", FIELDS.join(", ")));
        }
        Ok(ErrorTemplate(template))
    }

    /// Whether the template uses the message.
    pub fn uses_message(&self) -> bool {
        self.0.field_names().contains(MESSAGE)
    }

    /// Appends the rendered body; nothing when rendering fails. `escape` encodes texts for the format.
    pub fn write(&self, data: &ErrorData<'_>, escape: fn(&str, &mut Vec<u8>), body: &mut Vec<u8>) {
        let escaped = |text: &str| {
            let mut escaped = Vec::with_capacity(text.len());
            escape(text, &mut escaped);
            String::from_utf8_lossy(&escaped).into_owned()
        };
        let value = value(data.status, &escaped(data.message), &escaped(data.invalid_params));
        body.extend_from_slice(self.0.render(&value, LIMITS, &GatewayTemplateHost).unwrap_or_default().as_bytes());
    }
}

fn value(status: u16, message: &str, invalid_params: &str) -> Value {
    let status = Value::from(i64::from(status));
    Value::map([(MESSAGE, Value::from(message)), (STATUS, status), (INVALID_PARAMS, Value::from(invalid_params))])
}

/// The status and the format that a file name selects.
fn use_for(name: &str) -> Option<TemplateUse> {
    let (stem, extension) = name.rsplit_once('.')?;
    let is_xml = match extension {
        "json" => false,
        "xml" => true,
        _ => return None,
    };
    match stem.strip_prefix("error")? {
        "" => Some(TemplateUse { status: None, is_xml }),
        status => Some(TemplateUse { status: Some(status.strip_prefix('_')?.parse().ok()?), is_xml }),
    }
}

fn read(file: &Path) -> Result<String, String> {
    bounded_file::read_text(file, FILE_BYTES_MAX).map_err(|error| format!("cannot be read: {error}"))
}

#[cfg(test)]
mod tests;
