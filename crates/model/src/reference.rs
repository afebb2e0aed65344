//! References to secrets inside documents: `env://NAME`, `secrets://name` and `file://path` instead of a text. They are resolved
//! when a document is loaded, so that it need not contain secrets.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use crate::json_path::JsonPath;
use crate::problem::{Level, Problem};

/// Supported schemes.
const SCHEMES: [&str; 3] = ["env", "secrets", "file"];
/// Tyk's schemes for services that Tollgate does not query.
const UNSUPPORTED_SCHEMES: [&str; 3] = ["consul", "vault", "kv"];
/// Prefixes of the variables that may be referred to.
const VARIABLE_PREFIXES: [&str; 2] = ["TYK_SECRET_", "TOLLGATE_SECRET_"];
/// A secret is a key, a certificate or a password, not a data set.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Replaces every text in `value` that starts with a reference. `lookup` gets the scheme (`env`, `secrets`, `file`) and the name.
/// Text after the name of an `env` or `secrets` reference stays: `env://HOST:8080/x` is the value of `HOST`, followed by `:8080/x`.
/// A reference without a value is an error.
pub fn resolve_references(value: &mut Value, lookup: &dyn Fn(&str, &str) -> Option<String>) -> Vec<Problem> {
    let mut problems = Vec::new();
    resolve_below(value, &JsonPath::root(), lookup, &mut problems);
    problems
}

fn resolve_below(value: &mut Value, path: &JsonPath, lookup: &dyn Fn(&str, &str) -> Option<String>, problems: &mut Vec<Problem>) {
    match value {
        Value::String(text) => match resolved(text, lookup) {
            Ok(None) => {}
            Ok(Some(new)) => *text = new,
            Err(message) => problems.push(Problem::new(Level::Error, path.to_string(), message)),
        },
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                resolve_below(item, &path.index(index), lookup, problems);
            }
        }
        Value::Object(members) => {
            for (key, member) in members.iter_mut() {
                resolve_below(member, &path.key(key), lookup, problems);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The replacement of `text`, `None` if it is not a reference.
fn resolved(text: &str, lookup: &dyn Fn(&str, &str) -> Option<String>) -> Result<Option<String>, String> {
    let Some((scheme, rest)) = text.split_once("://") else {
        return Ok(None);
    };
    if UNSUPPORTED_SCHEMES.contains(&scheme) {
        return Err(format!("{scheme}:// references are not supported"));
    }
    if !SCHEMES.contains(&scheme) {
        return Ok(None);
    }
    let (name, after) = match scheme {
        "file" => (rest, ""),
        _ => rest
            .find(|c: char| !c.is_ascii_alphanumeric() && !"_-.".contains(c))
            .and_then(|end| rest.split_at_checked(end))
            .unwrap_or((rest, "")),
    };
    match lookup(scheme, name) {
        Some(secret) => Ok(Some(secret + after)),
        None => Err(format!("{scheme}://{name} has no value")),
    }
}

/// The sources of a gateway's secrets; pass [`SecretSources::lookup`] to [`resolve_references`].
#[derive(Debug, Clone, Default)]
pub struct SecretSources {
    /// The process environment. `env://NAME` is `TYK_SECRET_NAME` or `TOLLGATE_SECRET_NAME`.
    pub environment: BTreeMap<String, String>,
    /// `secrets` of the gateway configuration.
    pub secrets: BTreeMap<String, String>,
    /// `file.base_path` of the gateway configuration: if set, `file://` reads only below it.
    pub file_base: Option<PathBuf>,
}

impl SecretSources {
    /// The sources of a gateway. Keeps only the variables that can be referred to; an empty `file_base` means none.
    pub fn new(
        secrets: &BTreeMap<String, String>,
        file_base: &Path,
        environment: impl Iterator<Item = (String, String)>,
    ) -> SecretSources {
        let is_secret = |name: &str| VARIABLE_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
        SecretSources {
            environment: environment.filter(|(name, _)| is_secret(name)).collect(),
            secrets: secrets.clone(),
            file_base: Some(file_base.to_owned()).filter(|path| !path.as_os_str().is_empty()),
        }
    }

    /// The secret of a reference. A trailing line end of a file is not part of the secret.
    pub fn lookup(&self, scheme: &str, name: &str) -> Option<String> {
        match scheme {
            "env" => self.variable(name),
            "secrets" => self.secrets.get(name).cloned(),
            "file" => self.file(name),
            _ => None,
        }
    }

    fn variable(&self, name: &str) -> Option<String> {
        [name.to_owned(), name.to_uppercase()]
            .iter()
            .flat_map(|name| VARIABLE_PREFIXES.map(|prefix| format!("{prefix}{name}")))
            .find_map(|variable| self.environment.get(&variable).cloned())
    }

    fn file(&self, name: &str) -> Option<String> {
        let name = Path::new(name);
        let path = match &self.file_base {
            None => name.to_path_buf(),
            Some(base) => {
                let relative = name.strip_prefix("/").unwrap_or(name);
                let stays_below = relative.components().all(|c| matches!(c, Component::Normal(_)));
                stays_below.then(|| base.join(relative))?
            }
        };
        let mut text = String::new();
        File::open(path).ok()?.take(FILE_BYTES_MAX).read_to_string(&mut text).ok()?;
        text.truncate(text.trim_end_matches(['\r', '\n']).len());
        Some(text)
    }
}

#[cfg(test)]
mod tests;
