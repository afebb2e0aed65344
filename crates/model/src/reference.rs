//! References to secrets inside documents: `env://NAME`, `secrets://name`, `file://path`, `vault://path.field`, `consul://key` and
//! `kv://store/path` instead of a text. They are resolved when a document is loaded, so that it need not contain secrets. Whoever
//! reads a store on another server is given by the caller: see [`RemoteSecrets`].

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use crate::json_path::JsonPath;
use crate::problem::{Level, Problem};
use crate::readable_files::ReadableFiles;

/// Supported schemes.
const SCHEMES: [&str; 6] = ["env", "secrets", "file", "vault", "consul", "kv"];
/// Those whose name is the rest of the text.
const WHOLE_SCHEMES: [&str; 4] = ["file", "vault", "consul", "kv"];
/// Prefixes of the variables that may be referred to.
const VARIABLE_PREFIXES: [&str; 2] = ["TYK_SECRET_", "TOLLGATE_SECRET_"];
/// A secret is a key, a certificate or a password, not a data set.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Stores of secrets on other servers.
pub trait RemoteSecrets: Send + Sync + std::fmt::Debug {
    /// The secret at a path of a store, or a field of it. `Err` says why there is none, and never contains a secret.
    fn secret(&self, store: &str, path: &str, field: Option<&str>) -> Result<String, SecretFault>;

    /// Grows whenever a secret that was asked for has another value, or has one at last.
    fn generation(&self) -> u64;

    /// Reads all secrets again that were asked for, if the last time is not just over. A store that does not answer changes nothing.
    fn refresh(&self);

    /// What is known of the stores.
    fn states(&self) -> Vec<SecretStoreState>;
}

/// What is known of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretStoreState {
    /// Its name in references.
    pub name: String,
    /// Whether it answered the last question.
    pub is_up: bool,
    /// Questions that it answered.
    pub answers: u64,
    /// Questions that it did not answer.
    pub faults: u64,
}

/// Why there is no secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretFault {
    /// The store answers that there is none.
    Missing,
    /// The store does not answer, or not with a secret.
    Unavailable(String),
}

/// What finds the secret of a scheme and a name. `Err` says why there is none.
pub type SecretLookup<'a> = dyn Fn(&str, &str) -> Result<String, String> + 'a;

/// Where Tyk looks for the `vault://` and `consul://` references of definitions before it looks elsewhere.
const DEFINITIONS: &str = "tyk-apis";
/// The engine in Vault where it does so.
const DEFINITIONS_ENGINE: &str = "secret";

const NO_VALUE: &str = "has no value";

/// Replaces every text in `value` that starts with a reference. `lookup` gets the scheme (`env`, `secrets`, `file`, ...) and the name.
/// Text after the name of an `env` or `secrets` reference stays: `env://HOST:8080/x` is the value of `HOST`, followed by `:8080/x`.
/// A reference without a value is an error.
pub fn resolve_references(value: &mut Value, lookup: &SecretLookup<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    resolve_below(value, &JsonPath::root(), lookup, &mut problems);
    problems
}

fn resolve_below(value: &mut Value, path: &JsonPath, lookup: &SecretLookup<'_>, problems: &mut Vec<Problem>) {
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
                // A directory of bundles, as in Tyk, not a secret in a file.
                let is_directory = key == "bundle_base_url" && member.as_str().is_some_and(|url| url.starts_with("file://"));
                if !is_directory {
                    resolve_below(member, &path.key(key), lookup, problems);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The replacement of `text`, `None` if it is not a reference.
///
/// # Errors
/// The reference has no value.
pub fn resolved(text: &str, lookup: &SecretLookup<'_>) -> Result<Option<String>, String> {
    let Some((scheme, rest)) = text.split_once("://") else {
        return Ok(None);
    };
    if !SCHEMES.contains(&scheme) {
        return Ok(None);
    }
    let (name, after) = match scheme {
        scheme if WHOLE_SCHEMES.contains(&scheme) => (rest, ""),
        _ => rest
            .find(|c: char| !c.is_ascii_alphanumeric() && !"_-.".contains(c))
            .and_then(|end| rest.split_at_checked(end))
            .unwrap_or((rest, "")),
    };
    match lookup(scheme, name) {
        Ok(secret) => Ok(Some(secret + after)),
        Err(why) => Err(format!("{scheme}://{name} {why}")),
    }
}

/// The sources of a gateway's secrets; pass [`SecretSources::lookup`] to [`resolve_references`].
#[derive(Debug, Clone, Default)]
pub struct SecretSources {
    /// The process environment. `env://NAME` is `TYK_SECRET_NAME` or `TOLLGATE_SECRET_NAME`.
    pub environment: BTreeMap<String, String>,
    /// `secrets` of the gateway configuration.
    pub secrets: BTreeMap<String, String>,
    /// Which files `file://` reads.
    pub files: SecretFiles,
    /// Which files other fields of documents may name.
    pub named_files: ReadableFiles,
    /// Stores on other servers, if any are configured.
    pub remote: Option<Arc<dyn RemoteSecrets>>,
}

/// Which files `file://` reads.
#[derive(Debug, Clone, Default)]
pub enum SecretFiles {
    /// None, until the configuration names a directory.
    #[default]
    Nowhere,
    /// Those below `file.base_path` of the gateway configuration, and of them only the readable ones.
    Below(PathBuf, ReadableFiles),
    /// All: the gateway configuration is written by whoever runs the process.
    Anywhere,
}

impl SecretFiles {
    /// Files below `base`, but not those of `closed` and not below these.
    pub fn below(base: &Path, closed: &[&Path]) -> Self {
        match base.as_os_str().is_empty() {
            true => SecretFiles::Nowhere,
            false => SecretFiles::Below(base.to_owned(), ReadableFiles::new([base.to_owned()], closed)),
        }
    }

    /// The text of a file. A trailing line end is not part of it.
    fn text(&self, name: &str) -> Result<String, String> {
        let name = Path::new(name);
        let path = match self {
            SecretFiles::Nowhere => return Err("is not read: the gateway configuration has no file.base_path".to_owned()),
            SecretFiles::Anywhere => name.to_path_buf(),
            SecretFiles::Below(base, files) => {
                let relative = name.strip_prefix("/").unwrap_or(name);
                files.admit(&base.join(relative)).map_err(|_| NO_VALUE.to_owned())?
            }
        };
        // Opening a pipe would wait for its writer.
        let is_file = std::fs::metadata(&path).is_ok_and(|facts| facts.is_file());
        let mut text = String::new();
        let read = |file: File| file.take(FILE_BYTES_MAX).read_to_string(&mut text).ok();
        is_file.then(|| File::open(path).ok()).flatten().and_then(read).ok_or(NO_VALUE)?;
        text.truncate(text.trim_end_matches(['\r', '\n']).len());
        Ok(text)
    }
}

impl SecretSources {
    /// The sources of a gateway. Keeps only the variables that can be referred to.
    pub fn new(secrets: &BTreeMap<String, String>, environment: impl Iterator<Item = (String, String)>) -> SecretSources {
        let is_secret = |name: &str| VARIABLE_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
        SecretSources {
            environment: environment.filter(|(name, _)| is_secret(name)).collect(),
            secrets: secrets.clone(),
            ..SecretSources::default()
        }
    }

    /// The secret of a reference.
    ///
    /// # Errors
    /// Why there is none.
    pub fn lookup(&self, scheme: &str, name: &str) -> Result<String, String> {
        let local = match scheme {
            "env" => self.variable(name),
            "secrets" => self.secrets.get(name).cloned(),
            "file" => return self.files.text(name),
            "vault" => return self.remote("vault", name, '.').map_err(told),
            "consul" => return self.remote("consul", name, '\0').map_err(told),
            "kv" => return self.of_store(name),
            _ => None,
        };
        local.ok_or_else(|| NO_VALUE.to_owned())
    }

    /// The secret of a reference in an API definition. As in Tyk, `vault://name` is first the field `name` of `secret/tyk-apis`, and
    /// `consul://name` the key `tyk-apis/name`.
    ///
    /// # Errors
    /// Why there is none.
    pub fn lookup_in_definition(&self, scheme: &str, name: &str) -> Result<String, String> {
        let Some(remote) = &self.remote else { return self.lookup(scheme, name) };
        let first = match scheme {
            "vault" => remote.secret("vault", &format!("{DEFINITIONS_ENGINE}/{DEFINITIONS}"), Some(name)),
            "consul" => remote.secret("consul", &format!("{DEFINITIONS}/{name}"), None),
            _ => return self.lookup(scheme, name),
        };
        match first {
            Ok(secret) => Ok(secret),
            // A store that is not there is not there for the other place either.
            Err(SecretFault::Unavailable(why)) => Err(why),
            Err(SecretFault::Missing) => self.lookup(scheme, name),
        }
    }

    /// `store/path#field`
    fn of_store(&self, name: &str) -> Result<String, String> {
        let (store, path) = name.split_once('/').ok_or("must name a store and a path: kv://store/path")?;
        match store {
            "env" | "secrets" | "file" => self.lookup(store, path),
            store => self.remote(store, path, '#').map_err(told),
        }
    }

    /// `separator` stands before the name of a field.
    fn remote(&self, store: &str, name: &str, separator: char) -> Result<String, SecretFault> {
        let Some(remote) = &self.remote else {
            return Err(SecretFault::Unavailable(format!("can't be read: no store {store:?} is configured")));
        };
        match name.split_once(separator) {
            Some((path, field)) => remote.secret(store, path, Some(field)),
            None => remote.secret(store, name, None),
        }
    }

    fn variable(&self, name: &str) -> Option<String> {
        [name.to_owned(), name.to_uppercase()]
            .iter()
            .flat_map(|name| VARIABLE_PREFIXES.map(|prefix| format!("{prefix}{name}")))
            .find_map(|variable| self.environment.get(&variable).cloned())
    }
}

fn told(fault: SecretFault) -> String {
    match fault {
        SecretFault::Missing => NO_VALUE.to_owned(),
        SecretFault::Unavailable(why) => why,
    }
}

#[cfg(test)]
mod tests;
