//! The files that a definition names: templates, scripts, modules, certificates. One outside of the directories whose files documents may name
//! makes the definition unusable, before anything has looked at the file; so does a certificate in the definition that can't be read. Handlers of events protect nothing: whoever reads their files asks for itself. Files of `file://` references have the same rule where they are read.

use serde_json::Value;
use std::path::Path;
use tollgate_data::middleware::Context;
use tollgate_model::api::ApiDefinition;
use tollgate_model::reference::resolved;
use tollgate_tls::{Certificate, Library, is_identifier};

/// Whether a definition names only files that it may name; reports the others. `directory` has the files of its plugins.
pub(super) fn check(definition: &ApiDefinition, directory: &Path, context: &mut Context<'_>) -> bool {
    let (mut named, mut certificates) = (Vec::new(), Vec::new());
    for (name, member) in definition.raw.as_object().into_iter().flatten() {
        let path = format!("$.{name}");
        match name.as_str() {
            "certificates" | "client_certificates" | "upstream_certificates" => add_certificates(member, &path, &mut certificates),
            // With those of a bundle, below.
            "custom_middleware" => {}
            _ => add_below(member, &path, &mut named),
        }
    }
    let mut outside: Vec<(String, String)> = Vec::new();
    let secrets = &context.settings.documents.secrets;
    let files = &secrets.named_files;
    let mut note = |at: String, result: Result<(), String>| outside.extend(result.err().map(|why| (at, why)));
    let lookup = |scheme: &str, name: &str| secrets.lookup_in_definition(scheme, name);
    // What a reference stands for counts. One without a value is an error of its own.
    let meant = |name: &str| resolved(name, &lookup).unwrap_or_default().unwrap_or_else(|| name.to_owned());
    for (at, name) in named {
        note(at, files.admit(Path::new(&meant(name))).map(drop));
    }
    for (at, name) in certificates {
        match meant(name) {
            name if name.is_empty() || is_identifier(&name) => {}
            text if Library::is_text(&text) => {
                note(at, Certificate::parse(text.replace("\\n", "\n").as_bytes(), None, None).map(drop));
            }
            name => note(at, files.admit(Path::new(&name)).map(drop)),
        }
    }
    let record_plugin = definition.record_plugin();
    let record_plugin = record_plugin.iter().filter_map(|declared| Some((declared.place.to_owned(), declared.file()?.to_owned())));
    let hooks = definition.custom_middleware.files().into_iter().map(|(at, file)| (at, file.to_owned()));
    for (at, file) in hooks.chain(record_plugin) {
        // Drivers look in the working directory or in the directory of plugins.
        let file = Path::new(&file);
        note(at, if file.is_file() { files.admit(file) } else { files.admit(&directory.join(file)) }.map(drop));
    }
    for (at, why) in &outside {
        context.error(at.clone(), why.clone());
    }
    outside.is_empty()
}

/// Certificates in files, and those that are written in the definition; others have identifiers.
fn add_certificates<'d>(value: &'d Value, path: &str, named: &mut Vec<(String, &'d str)>) {
    match value {
        Value::String(name) => {
            named.push((path.to_owned(), name));
        }
        _ => each_below(value, path, &mut |member, path| add_certificates(member, path, named)),
    }
}

fn add_below<'d>(value: &'d Value, path: &str, named: &mut Vec<(String, &'d str)>) {
    if let Value::Object(members) = value {
        let text = |name: &str| members.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let mut add =
            |name: &str, is_file: bool| named.extend(text(name).filter(|_| is_file).map(|file| (format!("{path}.{name}"), file)));
        add("template_source", text("template_mode") == Some("file"));
        add("function_source_uri", text("function_source_type") == Some("file"));
    }
    each_below(value, path, &mut |member, path| add_below(member, path, named));
}

fn each_below<'d>(value: &'d Value, path: &str, visit: &mut dyn FnMut(&'d Value, &str)) {
    match value {
        Value::Array(items) => items.iter().enumerate().for_each(|(index, item)| visit(item, &format!("{path}[{index}]"))),
        Value::Object(members) => members.iter().for_each(|(name, member)| visit(member, &format!("{path}.{name}"))),
        _ => {}
    }
}
