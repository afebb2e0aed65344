//! `tollgate cache`.

use super::session::shown;
use super::{CommandFailure, Gateway, segment, table};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

/// Commands about cached responses.
#[derive(Debug, Subcommand)]
pub enum CacheCommand {
    /// Purge some responses of an API on all gateways, by path, prefix or tag.
    Purge(PurgeArguments),
    /// Purge all responses of an API on all gateways.
    Clear(ClearArguments),
    /// Show what the cache holds and did, by API.
    Status(StatusArguments),
}

/// What is purged.
#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("what").required(true).multiple(true)))]
#[command(
    after_help = "Examples:\n  tollgate cache purge shop --path '/shop/products/1?page=2'\n  tollgate cache purge shop --prefix /shop/images/\n  \
                        tollgate cache purge shop --tag shoes --tag sale --soft"
)]
pub struct PurgeArguments {
    /// Id of the API
    #[arg(value_name = "API")]
    api: String,
    /// A path with its query, as clients ask for it; repeatable
    #[arg(long, value_name = "PATH", group = "what")]
    path: Vec<String>,
    /// A path and everything below it; repeatable
    #[arg(long, value_name = "PATH", group = "what")]
    prefix: Vec<String>,
    /// A tag in Surrogate-Key, xkey or Cache-Tag of responses; repeatable
    #[arg(long, value_name = "TAG", group = "what")]
    tag: Vec<String>,
    /// Mark responses as stale instead of dropping them
    #[arg(long)]
    soft: bool,
}

/// Whose cache is emptied.
#[derive(Debug, Args)]
pub struct ClearArguments {
    /// Ids of APIs
    #[arg(required = true, value_name = "API")]
    apis: Vec<String>,
    /// Mark responses as stale instead of dropping them
    #[arg(long)]
    soft: bool,
}

/// Whose figures are shown.
#[derive(Debug, Args)]
pub struct StatusArguments {
    /// Only these APIs
    #[arg(value_name = "API")]
    apis: Vec<String>,
}

pub(super) fn run(command: CacheCommand, gateway: &Gateway) -> Result<(), CommandFailure> {
    match command {
        CacheCommand::Purge(PurgeArguments { api, path, prefix, tag, soft }) => {
            let scope = json!({ "urls": path, "prefixes": prefix, "tags": tag, "soft": soft });
            purge(&api, &scope, gateway)
        }
        CacheCommand::Clear(ClearArguments { apis, soft }) => {
            apis.iter().try_for_each(|api| purge(api, &json!({ "everything": true, "soft": soft }), gateway))
        }
        CacheCommand::Status(StatusArguments { apis }) => status(&apis, gateway),
    }
}

fn purge(api: &str, scope: &Value, gateway: &Gateway) -> Result<(), CommandFailure> {
    // The gateway purges what is stored under any id; here it is more likely a mistake.
    if gateway.find(&format!("/tyk/apis/{}", segment(api)))?.is_none() {
        return Err(CommandFailure::Refused(format!("there is no API with the id {api}")));
    }
    let answer = gateway.call("POST", &format!("/tyk/cache/{}/purge", segment(api)), Some(scope))?;
    gateway.print(&answer, || format!("{api}: purged"));
    Ok(())
}

fn status(only: &[String], gateway: &Gateway) -> Result<(), CommandFailure> {
    let mut report = gateway.get("/tyk/cache")?;
    let is_known = |api: &String| apis(&report).any(|line| line.get("api_id").and_then(Value::as_str) == Some(api));
    if let Some(unknown) = only.iter().find(|api| !is_known(api)) {
        return Err(CommandFailure::Refused(format!("no API with the id {unknown} uses the cache")));
    }
    if let Some(lines) = report.get_mut("apis").and_then(Value::as_array_mut).filter(|_| !only.is_empty()) {
        lines.retain(|line| line.get("api_id").and_then(Value::as_str).is_some_and(|id| only.iter().any(|api| api == id)));
    }
    gateway.print(&report, || {
        let names = ["hits", "misses", "stale", "coalesced", "entries", "bytes", "evicted"];
        let rows = apis(&report).map(|line| {
            let ratio = line.get("hit_ratio").and_then(Value::as_f64);
            let ratio = ratio.map_or("-".to_owned(), |ratio| format!("{:.1}%", ratio * 100.0));
            [shown(line, "api_id"), ratio].into_iter().chain(names.iter().map(|name| shown(line, name))).collect()
        });
        let rows: Vec<Vec<String>> = rows.collect();
        let header: Vec<&str> = ["api", "hit ratio"].into_iter().chain(names).collect();
        let memory = format!("{} of {} bytes", shown(&report, "bytes"), shown(&report, "bytes_max"));
        let gateways = report.get("gateways").and_then(Value::as_array).map_or(0, Vec::len);
        let shared = if gateways == 0 { String::new() } else { format!(", purges reach {gateways} gateways") };
        format!("{}\n\n{memory}{shared}", table::columns(&header, rows))
    });
    Ok(())
}

fn apis(report: &Value) -> impl Iterator<Item = &Value> {
    report.get("apis").and_then(Value::as_array).into_iter().flatten()
}
