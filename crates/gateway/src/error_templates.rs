//! The operator's own error bodies: `error.json`, `error.xml` and one per status (`error_401.json`) in `template_path`.
//! Of Go's template language they may use `{{.Message}}` and `{{.StatusCode}}`; another action makes a file unusable, with
//! a warning, and the built-in body stays.

use std::path::Path;
use tollgate_model::{Level, Problem};

/// A file above this size is not an error body.
const FILE_BYTES_MAX: u64 = 64 * 1024;

/// The templates of one directory.
#[derive(Clone, Debug, Default)]
pub struct ErrorTemplates(Vec<ErrorTemplate>);

/// One file, cut into parts.
#[derive(Clone, Debug)]
pub struct ErrorTemplate {
    /// The status it is for; `None` stands for every one without its own.
    status: Option<u16>,
    is_xml: bool,
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Literal(String),
    Message,
    Status,
}

impl ErrorTemplates {
    /// Reads a directory; one that is not there has no templates.
    pub fn load(directory: &Path) -> (Self, Vec<Problem>) {
        let mut templates = Vec::new();
        let mut problems = Vec::new();
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        let mut files: Vec<_> = entries.map(|entry| entry.path()).collect();
        files.sort();
        for file in files {
            let Some((status, is_xml)) = file.file_name().and_then(|name| what_for(name.to_str()?)) else { continue };
            match read(&file).and_then(|text| cut(&text)) {
                Ok(parts) => templates.push(ErrorTemplate { status, is_xml, parts }),
                Err(why) => {
                    let message = format!("{why}; the built-in body is used instead");
                    problems.push(Problem::new(Level::Warning, "", message).within(Some(&file)));
                }
            }
        }
        // Those for one status come first, so that the first match is the right one.
        templates.sort_by_key(|template| template.status.is_none());
        (ErrorTemplates(templates), problems)
    }

    /// The template for an answer.
    pub fn find(&self, status: u16, is_xml: bool) -> Option<&ErrorTemplate> {
        self.0.iter().find(|template| template.is_xml == is_xml && template.status.is_none_or(|own| own == status))
    }
}

impl ErrorTemplate {
    /// Appends the body. `escape` writes the message as the format needs it.
    pub fn write(&self, status: u16, message: &str, escape: fn(&str, &mut Vec<u8>), body: &mut Vec<u8>) {
        for part in &self.parts {
            match part {
                Part::Literal(text) => body.extend_from_slice(text.as_bytes()),
                Part::Message => escape(message, body),
                Part::Status => body.extend_from_slice(status.to_string().as_bytes()),
            }
        }
    }
}

/// The status and the format that a file name stands for.
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

fn cut(text: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((literal, after)) = rest.split_once("{{") {
        let (action, after) = after.split_once("}}").ok_or("an action that begins with {{ has no end")?;
        if !literal.is_empty() {
            parts.push(Part::Literal(literal.to_owned()));
        }
        parts.push(match action.trim() {
            ".Message" => Part::Message,
            ".StatusCode" => Part::Status,
            other => return Err(format!("the action {{{{{other}}}}} is not known; {{{{.Message}}}} and {{{{.StatusCode}}}} are")),
        });
        rest = after;
    }
    if !rest.is_empty() {
        parts.push(Part::Literal(rest.to_owned()));
    }
    Ok(parts)
}

#[cfg(test)]
mod tests;
