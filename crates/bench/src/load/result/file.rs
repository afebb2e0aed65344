//! Reads results from files.

use super::{FORMAT, LoadResult, VERSION};
use std::path::Path;

/// Reads the result in `path`.
pub(crate) fn read(path: &Path) -> Result<LoadResult, String> {
    let wrong = |what: &dyn std::fmt::Display| format!("{}: {what}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| wrong(&error))?;
    let value: serde_json::Value = serde_json::from_str(&text).map_err(|error| wrong(&error))?;
    if value.get("format").and_then(|format| format.as_str()) != Some(FORMAT) {
        return Err(wrong(&format!("not a result of `load --json`, whose `format` is {FORMAT}")));
    }
    if value.get("version").and_then(|version| version.as_u64()) != Some(u64::from(VERSION)) {
        return Err(wrong(&format!("another version of the format; this program reads version {VERSION}")));
    }
    serde_json::from_value(value).map_err(|error| wrong(&error))
}
