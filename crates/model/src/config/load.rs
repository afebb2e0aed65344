//! Loads a file and the environment into a validated configuration.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::environment::{self, Override};
use super::{ConnectedSecrets, GatewayConfig, KvSettings, ReferredTexts, known, kv, validate};
use crate::bounded_file;
use crate::decode::{Decoded, decode};
use crate::known_field;
use crate::openapi::openapi_problem;
use crate::problem::{Findings, Level, Problem};
use crate::readable_files::ReadableFiles;
use crate::reference::{RemoteSecrets, SecretFiles, SecretSources, resolve_references};
use tollgate_text::{byte_order_mark, yaml};

/// A larger file is probably not a configuration.
const FILE_BYTES_MAX: u64 = 16 << 20;

impl GatewayConfig {
    /// Reads a configuration file, JSON or YAML, and applies the settings of `environment`. Without a file,
    /// [`GatewayConfig::default`] is the base; `TYK_GW_OMITCONFIGFILE=true` in the environment means an empty file.
    ///
    /// The result is the configuration with its warnings and ignored settings, or all its problems. References to stores on other
    /// servers are problems: see [`GatewayConfig::load_with`].
    pub fn load(
        file: Option<&Path>,
        environment: impl Iterator<Item = (String, String)>,
    ) -> Result<(GatewayConfig, Vec<Problem>), Vec<Problem>> {
        GatewayConfig::load_with(file, environment, &|_| None)
    }

    /// The same; `connect` connects to the stores of secrets of the configuration.
    pub fn load_with(
        file: Option<&Path>,
        environment: impl Iterator<Item = (String, String)>,
        connect: &SecretConnector<'_>,
    ) -> Result<(GatewayConfig, Vec<Problem>), Vec<Problem>> {
        let environment: BTreeMap<String, String> = environment.collect();
        let omits_file = environment.get("TYK_GW_OMITCONFIGFILE").and_then(|text| environment::parse_bool(text)) == Some(true);
        let document = match file {
            _ if omits_file => Ok(Value::Object(Map::new())),
            None => Ok(serde_json::to_value(GatewayConfig::default()).unwrap_or_default()),
            Some(path) => read(path).map_err(|message| vec![Problem::new(Level::Error, "", message).within(file)]),
        }?;
        GatewayConfig::from_value(document, file, environment, connect)
    }

    /// The first existing configuration file, in Tyk's search order.
    pub fn default_file() -> Option<PathBuf> {
        let home = std::env::var_os("HOME").map(|home| Path::new(&home).join(".config/tyk/tyk.conf"));
        let places = [Some(PathBuf::from("tyk.conf")), home, Some(PathBuf::from("/etc/tyk/tyk.conf"))];
        places.into_iter().flatten().find(|path| path.is_file())
    }

    /// The values for references to secrets in definitions.
    pub fn secret_sources(&self, environment: impl Iterator<Item = (String, String)>) -> SecretSources {
        let base = if self.file.base_path.as_os_str().is_empty() { &self.kv.file.base_path } else { &self.file.base_path };
        let closed = self.closed_files();
        let closed: Vec<&Path> = closed.iter().map(PathBuf::as_path).collect();
        let directories = [base, &self.middleware_path, &self.template_path].map(Clone::clone);
        SecretSources {
            remote: self.remote_secrets.0.clone(),
            files: SecretFiles::below(base, &closed),
            named_files: ReadableFiles::new(directories, &closed),
            ..SecretSources::new(&self.secrets, environment)
        }
    }

    /// Files and directories that no document may name, whatever else it may.
    fn closed_files(&self) -> Vec<PathBuf> {
        self.tollgate.operators.audit_files().into_iter().chain([self.tollgate.data_dir.clone()]).collect()
    }

    /// The files in the directory of bundles; none if bundles come from a server.
    pub fn bundle_files(&self) -> ReadableFiles {
        let closed = self.closed_files();
        let closed: Vec<&Path> = closed.iter().map(PathBuf::as_path).collect();
        ReadableFiles::new(self.bundle_base_url.strip_prefix("file://").map(PathBuf::from), &closed)
    }

    /// File of the control API's generated secret, used if none is configured.
    pub fn made_secret_file(&self) -> PathBuf {
        self.tollgate.data_dir.join("control-secret")
    }

    fn from_value(
        mut document: Value,
        file: Option<&Path>,
        environment: BTreeMap<String, String>,
        connect: &SecretConnector<'_>,
    ) -> Result<(GatewayConfig, Vec<Problem>), Vec<Problem>> {
        if document.is_null() {
            document = Value::Object(Map::new());
        }
        if !document.is_object() {
            let problem = Problem::new(Level::Error, "$", "must be an object");
            return Err(vec![problem.within(file)]);
        }
        if let Some(problem) = openapi_problem(&document) {
            return Err(vec![problem.within(file)]);
        }
        let (overrides, misfits) = environment::apply(&mut document, &environment);
        let mut findings = Findings::default();
        let written = document.clone();
        let (problems, remote) = resolve(&mut document, environment, connect);
        findings.extend(problems);
        let mut decoded: Decoded<GatewayConfig> = decode(&document);
        findings.decoded(&decoded);
        known_field::judge(&decoded.unknown, known::FIELDS, &mut findings);
        if let Some(config) = &mut decoded.value {
            config.remote_secrets = ConnectedSecrets(remote);
            changed_texts(&written, &document, &mut config.referred);
            validate::check(config, &mut findings);
        }
        for Override { variable, path } in &overrides {
            findings.attribute(path, variable);
        }
        let mut findings = findings.within(file);
        findings.extend(misfits);
        findings.conclude(decoded.value)
    }
}

fn read(path: &Path) -> Result<Value, String> {
    let text = bounded_file::read_text(path, FILE_BYTES_MAX).map_err(|error| format!("cannot be read: {error}"))?;
    let text = byte_order_mark::without_in(&text);
    if is_yaml(path, text) {
        yaml::read(text)
    } else {
        serde_json::from_str(text).map_err(|error| format!("not valid JSON: {error}"))
    }
}

/// Decides by the name, otherwise by the first character: `tyk.conf` may be either.
fn is_yaml(path: &Path, text: &str) -> bool {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("yaml" | "yml") => true,
        Some("json") => false,
        _ => !text.trim_start().starts_with(['{', '[']),
    }
}

/// Connects to stores of secrets on other servers.
pub type SecretConnector<'a> = dyn Fn(&KvSettings) -> Option<Arc<dyn RemoteSecrets>> + 'a;

/// Resolves references to secrets: first in `secrets`, because other references may refer to its entries, then in `kv`, which says
/// where the others are.
fn resolve(
    document: &mut Value,
    environment: BTreeMap<String, String>,
    connect: &SecretConnector<'_>,
) -> (Vec<Problem>, Option<Arc<dyn RemoteSecrets>>) {
    let base = text_at(document, "/file/base_path").or_else(|| text_at(document, "/kv/file/base_path"));
    let files = base.map_or(SecretFiles::Anywhere, |base| SecretFiles::below(Path::new(&base), &[]));
    let mut sources = SecretSources { environment, files, ..SecretSources::default() };
    // What is not resolved here stays, and is reported below with its full path.
    if let Some(secrets) = document.get_mut("secrets") {
        resolve_references(secrets, &|scheme, name| sources.lookup(scheme, name));
        sources.secrets = texts_of(secrets);
    }
    if let Some(kv) = document.get_mut("kv").filter(|kv| kv::is_used(kv)) {
        resolve_references(kv, &|scheme, name| sources.lookup(scheme, name));
        sources.remote = decode::<KvSettings>(kv).value.and_then(|settings| connect(&settings));
        // Entries may refer to the stores.
        if let Some(secrets) = document.get_mut("secrets") {
            resolve_references(secrets, &|scheme, name| sources.lookup(scheme, name));
            sources.secrets = texts_of(secrets);
        }
    }
    (resolve_references(document, &|scheme, name| sources.lookup(scheme, name)), sources.remote)
}

/// Adds the texts that are others in `document` than they were `written`.
fn changed_texts(written: &Value, document: &Value, changed: &mut ReferredTexts) {
    match (written, document) {
        (Value::String(before), Value::String(after)) if before != after && !after.is_empty() => {
            changed.0.insert(after.clone());
        }
        (Value::Array(before), Value::Array(after)) => {
            before.iter().zip(after).for_each(|(before, after)| changed_texts(before, after, changed));
        }
        (Value::Object(before), Value::Object(after)) => {
            let pairs = after.iter().filter_map(|(name, after)| Some((before.get(name)?, after)));
            pairs.for_each(|(before, after)| changed_texts(before, after, changed));
        }
        _ => {}
    }
}

fn texts_of(secrets: &Value) -> BTreeMap<String, String> {
    let members = secrets.as_object().into_iter().flatten();
    members.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect()
}

fn text_at<'v>(document: &'v Value, pointer: &str) -> Option<&'v str> {
    document.pointer(pointer)?.as_str().filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests;
