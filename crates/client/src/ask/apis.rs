//! `tollgate apis`.

use super::session::shown;
use super::{CommandFailure, Gateway, document, segment, table};
use crate::visible;
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Commands about API definitions.
#[derive(Debug, Subcommand)]
pub enum Apis {
    /// List the APIs that are served.
    List,
    /// Show an API's definition, as JSON.
    Show(ApiArguments),
    /// Add definitions, or replace those with the same id.
    #[command(
        after_help = "Examples:\n  tollgate apis add hello.json\n  tollgate apis add --listen-path /hello/ --target http://127.0.0.1:9090/ \
                            --keyless"
    )]
    Add(AddApi),
    /// Make an API of a plain OpenAPI document, JSON or YAML.
    #[command(
        after_help = "Examples:\n  tollgate apis import petstore.yaml --listen-path /pets/\n  tollgate apis import https://petstore3.swagger.io/api/v3/openapi.json \
                            --upstream https://petstore3.swagger.io/api/v3 --validate\n  tollgate apis import petstore.yaml --update pets"
    )]
    Import(Box<super::import::ImportApi>),
    /// Convert a definition in a file: a classic one to an OpenAPI document, and back. Asks no gateway.
    #[command(
        after_help = "What has no counterpart is named on standard error, and nothing is written, because the result could let through what the definition \
                      refuses. Examples:\n  tollgate apis convert classic.json > openapi.json\n  tollgate apis convert openapi.yaml > classic.json"
    )]
    Convert(ConvertApi),
    /// Delete APIs and their definition files.
    #[command(visible_alias = "rm")]
    Delete(DeleteApi),
}

/// The API.
#[derive(Debug, Args)]
pub struct ApiArguments {
    /// The API's id
    #[arg(value_name = "ID")]
    id: String,
}

/// Options of `add`.
#[derive(Debug, Args)]
pub struct AddApi {
    /// Files with definitions as JSON, - for standard input
    #[arg(value_name = "FILE", required_unless_present = "listen_path", conflicts_with = "listen_path")]
    files: Vec<PathBuf>,
    /// Instead of a file: the path that clients use
    #[arg(long, value_name = "PATH", requires = "target")]
    listen_path: Option<String>,
    /// URL to forward requests to
    #[arg(long, value_name = "URL", requires = "listen_path")]
    target: Option<String>,
    /// The API's id [default: from the listen path]
    #[arg(long, value_name = "ID", requires = "listen_path")]
    id: Option<String>,
    /// A name for people [default: the id]
    #[arg(long, value_name = "TEXT", requires = "listen_path")]
    name: Option<String>,
    /// Admit everybody, without a key
    #[arg(long, requires = "listen_path")]
    keyless: bool,
}

/// Options of `convert`.
#[derive(Debug, Args)]
pub struct ConvertApi {
    /// File with a classic definition or an OpenAPI document with x-tyk-api-gateway, - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Convert also if parts have no counterpart, without them
    #[arg(long)]
    force: bool,
}

/// Options of `delete`.
#[derive(Debug, Args)]
pub struct DeleteApi {
    /// Ids of APIs
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
}

pub(super) fn run(command: Apis, gateway: &Gateway) -> Result<(), CommandFailure> {
    match command {
        Apis::List => list(gateway),
        Apis::Show(ApiArguments { id }) => show(&id, gateway),
        Apis::Add(options) => add(&options, gateway),
        Apis::Import(options) => super::import::run(&options, gateway),
        Apis::Convert(ConvertApi { file, force }) => convert(&file, force),
        Apis::Delete(DeleteApi { ids }) => {
            for id in ids {
                let answer =
                    gateway.call("DELETE", &format!("/tyk/apis/{}", segment(&id)), None).map_err(|failure| about(&id, failure))?;
                gateway.print(&answer, || format!("{id}: deleted"));
            }
            Ok(())
        }
    }
}

fn about(what: &str, failure: CommandFailure) -> CommandFailure {
    match failure {
        CommandFailure::Refused(reason) => CommandFailure::Refused(format!("{what}: {reason}")),
        other => other,
    }
}

fn convert(file: &Path, force: bool) -> Result<(), CommandFailure> {
    let about = |why: String| CommandFailure::Refused(format!("{}: {why}", file.display()));
    let definition = tollgate_openapi::read_text(&document::read(file)?).map_err(about)?;
    let converted = match tollgate_openapi::is_openapi(&definition) {
        true => tollgate_openapi::to_classic(definition),
        false => tollgate_openapi::to_openapi(&definition),
    };
    let converted = converted.map_err(about)?;
    for told in converted.losses.iter().chain(&converted.notes) {
        eprintln!("tollgate: {}: {}", file.display(), visible::text(told));
    }
    if !converted.losses.is_empty() && !force {
        let parts = converted.losses.len();
        return Err(about(format!(
            "{parts} parts have no counterpart, and without them the API may be more open: --force leaves them out"
        )));
    }
    super::print(&serde_json::to_string_pretty(&converted.document).unwrap_or_default());
    Ok(())
}

fn list(gateway: &Gateway) -> Result<(), CommandFailure> {
    // Without the parameter, Tyk leaves out proxies for the Model Context Protocol.
    let apis = gateway.get("/tyk/apis?include_types=mcp")?;
    gateway.print(&apis, || {
        let rows = apis.as_array().into_iter().flatten().map(|api| {
            let proxy = api.get("proxy").unwrap_or(&Value::Null);
            let access = match (api.get("internal"), api.get("use_keyless")) {
                (Some(Value::Bool(true)), _) => "internal",
                (_, Some(Value::Bool(true))) => "open",
                _ => "key",
            };
            vec![
                shown(api, "api_id"),
                shown(api, "name"),
                shown(proxy, "listen_path"),
                shown(proxy, "target_url"),
                access.to_owned(),
            ]
        });
        table::columns(&["id", "name", "listen path", "target", "access"], rows.collect())
    });
    Ok(())
}

fn show(id: &str, gateway: &Gateway) -> Result<(), CommandFailure> {
    let api = gateway.get(&format!("/tyk/apis/{}", segment(id)))?;
    gateway.print(&api, || serde_json::to_string_pretty(&api).unwrap_or_default());
    Ok(())
}

fn add(options: &AddApi, gateway: &Gateway) -> Result<(), CommandFailure> {
    let mut definitions = Vec::new();
    if let (Some(listen_path), Some(target)) = (&options.listen_path, &options.target) {
        definitions.push(("the API".to_owned(), definition(options, listen_path, target)));
    }
    for file in &options.files {
        definitions.push((file.display().to_string(), document::read_json(file)?));
    }
    for (source, definition) in definitions {
        let answer = gateway.call("POST", "/tyk/apis", Some(&definition)).map_err(|failure| about(&source, failure))?;
        gateway.print(&answer, || format!("{}: added", shown(&answer, "key")));
    }
    Ok(())
}

/// The minimum of an API.
fn definition(options: &AddApi, listen_path: &str, target: &str) -> Value {
    let slug = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let from_path: String = listen_path.chars().map(slug).collect();
    let from_path = from_path.trim_matches('-');
    let id = options.id.as_deref().unwrap_or(if from_path.is_empty() { "root" } else { from_path });
    json!({
        "api_id": id,
        "name": options.name.as_deref().unwrap_or(id),
        "org_id": "default",
        "use_keyless": options.keyless,
        "auth": { "auth_header_name": "Authorization" },
        "version_data": { "not_versioned": true, "versions": { "Default": { "name": "Default" } } },
        "proxy": { "listen_path": listen_path, "target_url": target, "strip_listen_path": true },
    })
}
