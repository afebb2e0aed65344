//! Documents for a command: a file, or standard input for `-`.

use super::CommandFailure;
use serde_json::Value;
use std::io::{IsTerminal, Read};
use std::path::Path;
use tollgate_model::json_document;

/// The bytes of a file, or of standard input.
pub(super) fn read(file: &Path) -> Result<Vec<u8>, CommandFailure> {
    let outcome = if file == Path::new("-") {
        if std::io::stdin().is_terminal() {
            eprintln!("reading from standard input; end with Ctrl-D");
        }
        let mut text = Vec::new();
        std::io::stdin().read_to_end(&mut text).map(|_| text)
    } else {
        std::fs::read(file)
    };
    outcome.map_err(|error| CommandFailure::Refused(format!("{} cannot be read: {error}", name(file))))
}

/// A JSON object.
pub(super) fn read_json(file: &Path) -> Result<Value, CommandFailure> {
    let text = read(file)?;
    let wrong = |reason: String| CommandFailure::Refused(format!("{} {reason}", name(file)));
    let document: Value = json_document::from_slice(&text).map_err(|error| wrong(format!("is not valid JSON: {error}")))?;
    if document.is_object() { Ok(document) } else { Err(wrong("must be a JSON object".to_owned())) }
}

/// Puts a member into an object.
pub(super) fn put(object: &mut Value, name: &str, value: impl Into<Value>) {
    if let Value::Object(members) = object {
        members.insert(name.to_owned(), value.into());
    }
}

fn name(file: &Path) -> String {
    if file == Path::new("-") { "standard input".to_owned() } else { file.display().to_string() }
}
