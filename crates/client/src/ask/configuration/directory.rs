//! Reads the objects of a directory: our own layout, or the one of tyk-sync. All problems are collected, each with its file.
//!
//! ```text
//! apis/NAME.json            a classic definition or an OpenAPI document; also YAML, also in folders below
//! policies/NAME.json
//! certificates/NAME.pem     a certificate; in a folder ORG it belongs to that organisation
//! certificates/ID.json      names a certificate that the gateway must have
//! clients/API/NAME.json     a client of that API's OAuth 2.0 server
//! keys/NAME.json            a template of keys
//! portal/products/NAME.json a product of the developer portal with its plans
//! portal/pages/NAME.json    a page of the developer portal
//! ```

use super::ConfigurationScope;
use super::files::{files_below, named, read_file};
use super::object::{LocalConfiguration, LocalContent, LocalObject, PartKind, api_id, has_tag, policy_id};
use super::tyk_sync;
use crate::ask::CommandFailure;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::path::Path;

/// Reads a directory.
pub(super) fn read(directory: &Path, scope: &ConfigurationScope) -> Result<LocalConfiguration, CommandFailure> {
    if !directory.is_dir() {
        return Err(CommandFailure::Refused(format!("{} is no directory", directory.display())));
    }
    let mut problems = Vec::new();
    let mut local = if directory.join(tyk_sync::SPEC).is_file() {
        tyk_sync::read(directory, &mut problems)
    } else {
        let mut local = LocalConfiguration::default();
        for kind in PartKind::ALL {
            for file in files_below(&directory.join(kind.folder()), &mut problems) {
                match object(directory, &file, kind) {
                    Ok(object) => local.objects.extend(object),
                    Err(problem) => problems.push(format!("{}: {problem}", named(directory, &file))),
                }
            }
        }
        local
    };
    local.objects.retain(|object| scope.has(object.kind));
    check(&local.objects, scope, &mut problems);
    if problems.is_empty() { Ok(local) } else { Err(CommandFailure::Refused(problems.join("\n"))) }
}

/// The object in a file; `None` if the file is something else, such as a note for people.
pub(super) fn object(directory: &Path, file: &Path, kind: PartKind) -> Result<Option<LocalObject>, String> {
    let extension = file.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let name = named(directory, file);
    let local = |id: String, content: LocalContent| Ok(Some(LocalObject { kind, id, file: name.clone(), content }));
    let stem = || file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let folder = || {
        let below = file.parent().and_then(|parent| parent.strip_prefix(directory.join(kind.folder())).ok());
        below.map(|below| below.to_string_lossy().into_owned()).unwrap_or_default()
    };
    if kind == PartKind::Certificate && ["pem", "crt", "cer"].contains(&extension.as_str()) {
        let pem = String::from_utf8(read_file(file)?).map_err(|_| "is no PEM text".to_owned())?;
        let org = folder();
        let fingerprint = fingerprint(&pem).ok_or("has no certificate and no public key")?;
        return local(format!("{org}{fingerprint}"), LocalContent::Certificate { pem, org });
    }
    if !["json", "yaml", "yml"].contains(&extension.as_str()) {
        return Ok(None);
    }
    let document = tollgate_openapi::read_text(&read_file(file)?)?;
    let (path, id) = match kind {
        PartKind::Api => api_id(&document),
        PartKind::Policy => ("$.id".to_owned(), policy_id(&document)),
        PartKind::Certificate | PartKind::PortalProduct | PartKind::PortalPage => ("$.id".to_owned(), text(&document, "id")),
        PartKind::Client => {
            let api = Some(text(&document, "api_id")).filter(|api| !api.is_empty()).unwrap_or_else(folder);
            let client = text(&document, "client_id");
            let is_complete = !api.is_empty() && !client.is_empty();
            ("$.client_id".to_owned(), if is_complete { format!("{api}/{client}") } else { String::new() })
        }
        PartKind::KeyTemplate => ("$".to_owned(), stem()),
    };
    if id.is_empty() {
        return Err(format!("{path}: must be set: it is the id of the {}", kind.name()));
    }
    let document = if kind == PartKind::Client { client_document(document)? } else { document };
    let is_certificate = kind == PartKind::Certificate;
    local(id, if is_certificate { LocalContent::Fingerprint } else { LocalContent::Document(document) })
}

/// A client, whose secret may be in the environment of this command.
fn client_document(mut document: Value) -> Result<Value, String> {
    if let Some(Value::String(secret)) = document.get_mut("secret")
        && let Some(variable) = secret.strip_prefix("env://")
    {
        *secret = std::env::var(variable).map_err(|_| format!("$.secret: the environment has no {variable}"))?;
    }
    Ok(document)
}

fn text(document: &Value, member: &str) -> String {
    document.get(member).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// The fingerprint in the id of a certificate: SHA-256 of the first certificate, or of the public key if there is none.
pub(super) fn fingerprint(pem: &str) -> Option<String> {
    let block = |label: &str| {
        let (_, rest) = pem.split_once(&format!("-----BEGIN {label}-----"))?;
        let (body, _) = rest.split_once(&format!("-----END {label}-----"))?;
        STANDARD.decode(body.split_whitespace().collect::<String>()).ok()
    };
    let der = ["CERTIFICATE", "PUBLIC KEY", "RSA PUBLIC KEY"].into_iter().find_map(block)?;
    Some(Sha256::digest(der).iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Two files for one object, and objects that do not belong to the tag.
fn check(objects: &[LocalObject], scope: &ConfigurationScope, problems: &mut Vec<String>) {
    let mut known: HashMap<(PartKind, &str), &str> = HashMap::new();
    for object in objects {
        // A description beside the certificate itself is no contradiction.
        if object.content == LocalContent::Fingerprint {
            continue;
        }
        if let Some(other) = known.insert((object.kind, &object.id), &object.file) {
            problems.push(format!("{}: {} {} is also in {other}", object.file, object.kind.name(), object.id));
        }
    }
    let Some(tag) = &scope.tag else { return };
    for object in objects {
        let LocalContent::Document(document) = &object.content else { continue };
        if object.kind != PartKind::Client && !has_tag(document, tag) {
            problems.push(format!("{}: $.tags: {} {} does not have the tag {tag}", object.file, object.kind.name(), object.id));
        }
    }
}
