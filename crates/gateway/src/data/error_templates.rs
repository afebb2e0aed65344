//! The operator's own error bodies: `error.json`, `error.xml` and one per status (`error_401.json`) in `template_path`, in Go's template
//! language with `{{.Message}}` and `{{.StatusCode}}`. A file that can't be parsed or rendered is skipped with a warning, and the built-in
//! body is used.

use std::path::Path;
use std::sync::Arc;
use tollgate_gotemplate::{RenderLimits, Template, Value};
use tollgate_model::{Level, Problem};

/// Largest template file, in bytes; a larger file is not an error body.
const FILE_BYTES_MAX: u64 = 64 * 1024;

/// The templates of one directory.
#[derive(Clone, Debug, Default)]
pub(crate) struct ErrorTemplates(Arc<Vec<ErrorTemplate>>);

/// One template file.
#[derive(Debug)]
pub(crate) struct ErrorTemplate {
    /// Status that the template is for; `None` for every status without its own.
    status: Option<u16>,
    is_xml: bool,
    template: Template,
}

impl ErrorTemplates {
    /// Reads the templates of a directory; none when the directory does not exist.
    pub(crate) fn load(directory: &Path) -> (Self, Vec<Problem>) {
        let mut templates = Vec::new();
        let mut problems = Vec::new();
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        let mut files: Vec<_> = entries.map(|entry| entry.path()).collect();
        files.sort();
        for file in files {
            let Some((status, is_xml)) = file.file_name().and_then(|name| what_for(name.to_str()?)) else { continue };
            match read(&file).and_then(|text| parse(&text)) {
                Ok(template) => templates.push(ErrorTemplate { status, is_xml, template }),
                Err(why) => {
                    let message = format!("{why}; the built-in body is used instead");
                    problems.push(Problem::new(Level::Warning, "", message).within(Some(&file)));
                }
            }
        }
        // Templates for one status come first, so that the first match is the right one.
        templates.sort_by_key(|template| template.status.is_none());
        (ErrorTemplates(Arc::new(templates)), problems)
    }

    /// The template for an error answer.
    pub(crate) fn find(&self, status: u16, is_xml: bool) -> Option<&ErrorTemplate> {
        self.0.iter().find(|template| template.is_xml == is_xml && template.status.is_none_or(|own| own == status))
    }
}

impl ErrorTemplate {
    /// Appends the rendered body; nothing when rendering fails. `escape` encodes the message for the format.
    pub(crate) fn write(&self, status: u16, message: &str, escape: fn(&str, &mut Vec<u8>), body: &mut Vec<u8>) {
        let mut escaped = Vec::with_capacity(message.len());
        escape(message, &mut escaped);
        let rendered = self.template.render(&data(status, &String::from_utf8_lossy(&escaped)), LIMITS);
        body.extend_from_slice(rendered.unwrap_or_default().as_bytes());
    }
}

/// Rendering limits; an error body is rendered for every rejected request.
const LIMITS: RenderLimits = RenderLimits { bytes_max: 256 * 1024, steps_max: 10_000 };

/// The data for a template: Tyk's two fields.
fn data(status: u16, message: &str) -> Value {
    Value::map([("Message", Value::from(message)), ("StatusCode", Value::from(i64::from(status)))])
}

/// Parses a template and renders it once: a template that fails with these fields always fails.
fn parse(text: &str) -> Result<Template, String> {
    let template = Template::parse(text).map_err(|error| error.to_string())?;
    template.render(&data(500, "message"), LIMITS).map_err(|error| error.to_string())?;
    Ok(template)
}

/// The status and the format that a file name selects.
fn what_for(name: &str) -> Option<(Option<u16>, bool)> {
    let (stem, extension) = name.rsplit_once('.')?;
    let is_xml = match extension {
        "json" => false,
        "xml" => true,
        _ => return None,
    };
    match stem.strip_prefix("error")? {
        "" => Some((None, is_xml)),
        status => Some((Some(status.strip_prefix('_')?.parse().ok()?), is_xml)),
    }
}

fn read(file: &Path) -> Result<String, String> {
    let unreadable = |error: std::io::Error| format!("cannot be read: {error}");
    if std::fs::metadata(file).map_err(unreadable)?.len() > FILE_BYTES_MAX {
        return Err(format!("larger than {FILE_BYTES_MAX} bytes"));
    }
    std::fs::read_to_string(file).map_err(unreadable)
}

#[cfg(test)]
mod tests;
