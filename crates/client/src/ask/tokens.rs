//! `tollgate tokens`.

use super::session::shown;
use super::span::whole_seconds;
use super::{CommandFailure, Gateway, segment, table};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use tollgate_model::calendar;

/// Commands about tokens for automation.
#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// List the tokens, with their last use.
    List,
    /// Make a token and print it, this once.
    #[command(
        after_help = "Examples:\n  tollgate tokens create ci --role editor --tag team-a --expires-in 30d\n  TOLLGATE_SECRET=$(cat \
                            token) tollgate apis list"
    )]
    Create(CreateToken),
    /// Revoke tokens: all gateways refuse them from the next call on.
    #[command(visible_alias = "rm")]
    Revoke(RevokeToken),
}

/// Options of `create`.
#[derive(Debug, Args)]
pub struct CreateToken {
    /// A name for people
    #[arg(value_name = "NAME")]
    name: String,
    /// What it may do
    #[arg(long, value_name = "ROLE", value_parser = ["viewer", "editor", "admin"], default_value = "viewer")]
    role: String,
    /// Only APIs with this tag, and what belongs to them; repeat for several
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Only APIs of this organisation, and what belongs to them; repeat for several
    #[arg(long = "org", value_name = "ID")]
    orgs: Vec<String>,
    /// Its life: seconds, or 12h, 30d, 366d at most [default: 90d]
    #[arg(long, value_name = "TIME", value_parser = whole_seconds)]
    expires_in: Option<i64>,
}

/// Options of `revoke`.
#[derive(Debug, Args)]
pub struct RevokeToken {
    /// Names or ids of tokens
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
}

pub(super) fn run(command: TokenCommand, gateway: &Gateway) -> Result<(), CommandFailure> {
    match command {
        TokenCommand::List => list(gateway),
        TokenCommand::Create(options) => create(&options, gateway),
        TokenCommand::Revoke(RevokeToken { names }) => {
            for name in names {
                let answer = gateway.call("DELETE", &format!("/tyk/tokens/{}", segment(&name)), None)?;
                gateway.print(&answer, || format!("{name}: revoked"));
            }
            Ok(())
        }
    }
}

fn list(gateway: &Gateway) -> Result<(), CommandFailure> {
    let tokens = gateway.get("/tyk/tokens")?;
    gateway.print(&tokens, || {
        let rows = tokens.get("tokens").and_then(Value::as_array).into_iter().flatten().map(|token| {
            let time = |name: &str| token.get(name).and_then(Value::as_u64).map_or_else(|| "-".to_owned(), calendar::rfc3339);
            vec![
                shown(token, "name"),
                shown(token, "role"),
                scope(token),
                time("expires"),
                time("last_used"),
                shown(token, "last_address"),
                shown(token, "made_by"),
            ]
        });
        table::columns(&["name", "role", "scope", "expires", "last used", "from", "made by"], rows.collect())
    });
    Ok(())
}

/// `tag a, org b`, or `everything`.
fn scope(token: &Value) -> String {
    let names = |member: &str| token.pointer(&format!("/scope/{member}")).and_then(Value::as_array).cloned().unwrap_or_default();
    let told = |member: &str, word: &str| {
        names(member).iter().filter_map(Value::as_str).map(|name| format!("{word} {name}")).collect::<Vec<_>>()
    };
    let all = [told("tags", "tag"), told("orgs", "org")].concat();
    if all.is_empty() { "everything".to_owned() } else { all.join(", ") }
}

fn create(options: &CreateToken, gateway: &Gateway) -> Result<(), CommandFailure> {
    let mut body = json!({"name": options.name, "role": options.role});
    if let Value::Object(members) = &mut body {
        if !options.tags.is_empty() || !options.orgs.is_empty() {
            members.insert("scope".to_owned(), json!({"tags": options.tags, "orgs": options.orgs}));
        }
        if let Some(seconds) = options.expires_in {
            members.insert("expires_in_s".to_owned(), seconds.into());
        }
    }
    let answer = gateway.call("POST", "/tyk/tokens", Some(&body))?;
    gateway.print(&answer, || shown(&answer, "token"));
    Ok(())
}
