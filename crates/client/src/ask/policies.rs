//! `tollgate policies`.

use super::session::{self, SessionGrants, shown};
use super::span::whole_seconds;
use super::{CommandFailure, Gateway, document, segment, table};
use clap::{Args, Subcommand};
use serde_json::{Map, Value};
use std::path::PathBuf;

/// Commands about policies.
#[derive(Debug, Subcommand)]
pub enum PolicyCommand {
    /// List the policies.
    List,
    /// Show a policy.
    Show(PolicyArguments),
    /// Create a policy, or replace the one with the same id.
    #[command(after_help = "Examples:\n  tollgate policies create --id gold --api hello --rate 100 --per 60 --quota 10000\n  \
                            tollgate policies create --file gold.json")]
    Create(Box<CreatePolicy>),
    /// Delete policies: keys without another policy are refused.
    #[command(visible_alias = "rm")]
    Delete(DeletePolicy),
}

/// The policy.
#[derive(Debug, Args)]
pub struct PolicyArguments {
    /// The policy's id
    #[arg(value_name = "ID")]
    id: String,
}

/// Options of `create`.
#[derive(Debug, Args)]
pub struct CreatePolicy {
    /// The policy's id [default: a random one]
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// A name for people
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    #[command(flatten)]
    grants: SessionGrants,
    /// Lifetime of new keys with this policy
    #[arg(long, value_name = "TIME", value_parser = whole_seconds)]
    keys_expire_in: Option<i64>,
    /// File with the whole policy as JSON, - for standard input; other options override it
    #[arg(long, short, value_name = "FILE")]
    file: Option<PathBuf>,
}

/// Options of `delete`.
#[derive(Debug, Args)]
pub struct DeletePolicy {
    /// Ids of policies
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
}

pub(super) fn run(command: PolicyCommand, gateway: &Gateway) -> Result<(), CommandFailure> {
    match command {
        PolicyCommand::List => list(gateway),
        PolicyCommand::Show(PolicyArguments { id }) => show(&id, gateway),
        PolicyCommand::Create(options) => create(*options, gateway),
        PolicyCommand::Delete(DeletePolicy { ids }) => {
            for id in ids {
                let path = format!("/tyk/policies/{}", segment(&id));
                if gateway.find(&path)?.is_none() {
                    return Err(CommandFailure::Refused(format!("there is no policy with the id {id}")));
                }
                let answer = gateway.call("DELETE", &path, None)?;
                gateway.print(&answer, || format!("{id}: deleted"));
            }
            Ok(())
        }
    }
}

fn list(gateway: &Gateway) -> Result<(), CommandFailure> {
    let policies = gateway.get("/tyk/policies")?;
    gateway.print(&policies, || {
        let rows = policies.as_array().into_iter().flatten().map(|policy| {
            vec![
                id(policy),
                shown(policy, "name"),
                shown(policy, "org_id"),
                session::apis(policy),
                session::rate(policy),
                session::quota(policy),
            ]
        });
        table::columns(&["id", "name", "organisation", "apis", "rate", "quota"], rows.collect())
    });
    Ok(())
}

fn id(policy: &Value) -> String {
    let database_id = policy.get("_id").map(|id| id.get("$oid").unwrap_or(id)).and_then(Value::as_str);
    policy.get("id").and_then(Value::as_str).or(database_id).unwrap_or_default().to_owned()
}

fn show(id: &str, gateway: &Gateway) -> Result<(), CommandFailure> {
    let policy = gateway.get(&format!("/tyk/policies/{}", segment(id)))?;
    gateway.print(&policy, || serde_json::to_string_pretty(&policy).unwrap_or_default());
    Ok(())
}

fn create(options: CreatePolicy, gateway: &Gateway) -> Result<(), CommandFailure> {
    let mut policy = match &options.file {
        Some(file) => match document::read_json(file)? {
            Value::Object(members) => members,
            _ => Map::new(),
        },
        None if options.grants.name_apis() => Map::new(),
        None => {
            return Err(CommandFailure::Usage("a policy needs something that keys may call with it: --api or --file".to_owned()));
        }
    };
    options.grants.apply(&mut policy, gateway)?;
    policy.entry("org_id").or_insert_with(|| "default".into());
    if options.file.is_none() {
        policy.entry("quota_max").or_insert_with(|| (-1).into());
        policy.insert("active".to_owned(), true.into());
    }
    for (field, value) in [("id", &options.id), ("name", &options.name)] {
        if let Some(value) = value {
            policy.insert(field.to_owned(), value.as_str().into());
        }
    }
    if let Some(seconds) = options.keys_expire_in {
        policy.insert("key_expires_in".to_owned(), seconds.into());
    }
    let answer = gateway.call("POST", "/tyk/policies", Some(&policy.into()))?;
    gateway.print(&answer, || shown(&answer, "key"));
    Ok(())
}
