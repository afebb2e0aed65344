//! `tollgate clients`.

use super::session::shown;
use super::{CommandFailure, Gateway, segment, table};
use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

/// Commands about the clients of the OAuth 2.0 server.
#[derive(Debug, Subcommand)]
pub enum ClientCommand {
    /// List the clients of an API.
    List(ApiArgument),
    /// Show a client with its secret.
    Show(ClientArguments),
    /// Create a client, or replace the one with the same id.
    #[command(
        after_help = "Examples:\n  tollgate clients create --api orders --policy gold --redirect-uri https://app.example.com/callback\n  \
                            tollgate clients create --policy gold\n  \
                            tollgate clients create --api orders --policy gold --public --redirect-uri com.example.app:/callback"
    )]
    Create(CreateClient),
    /// Replace the secret of a client.
    Rotate(ClientArguments),
    /// List the valid tokens of a client.
    Tokens(ClientArguments),
    /// Revoke all tokens of a client.
    Revoke(ClientArguments),
    /// Delete a client and all its tokens.
    #[command(visible_alias = "rm")]
    Delete(ClientArguments),
}

/// The API.
#[derive(Debug, Args)]
pub struct ApiArgument {
    /// The API's id
    #[arg(value_name = "API")]
    api: String,
}

/// The client.
#[derive(Debug, Args)]
pub struct ClientArguments {
    /// The API's id
    #[arg(value_name = "API")]
    api: String,
    /// The client's id
    #[arg(value_name = "ID")]
    id: String,
}

/// Options of `create`.
#[derive(Debug, Args)]
pub struct CreateClient {
    /// The API that the client is for [default: all APIs of the policy]
    #[arg(long, value_name = "ID", required_unless_present = "policy")]
    api: Option<String>,
    /// The policy of its tokens
    #[arg(long, value_name = "ID")]
    policy: Option<String>,
    /// URL to redirect its users to
    #[arg(long, value_name = "URL")]
    redirect_uri: Option<String>,
    /// The client's id [default: a random one]
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// A description for people
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// The client cannot keep a secret, like an app on a phone or in a browser: it gets none, and uses codes with PKCE
    #[arg(long)]
    public: bool,
}

pub(super) fn run(command: ClientCommand, gateway: &Gateway) -> Result<(), CommandFailure> {
    match command {
        ClientCommand::List(ApiArgument { api }) => list(&api, gateway),
        ClientCommand::Show(named) => {
            let client = gateway.get(&named.path())?;
            gateway.print(&client, || details(&client));
            Ok(())
        }
        ClientCommand::Create(options) => create(options, gateway),
        ClientCommand::Rotate(named) => {
            let client = gateway.call("PUT", &format!("{}/rotate", named.path()), None)?;
            gateway.print(&client, || details(&client));
            Ok(())
        }
        ClientCommand::Tokens(named) => tokens(&named, gateway),
        ClientCommand::Revoke(named) => {
            let answer = gateway.call("DELETE", &format!("{}/tokens", named.path()), None)?;
            gateway.print(&answer, || format!("{}: all tokens revoked", named.id));
            Ok(())
        }
        ClientCommand::Delete(named) => {
            // The gateway, like Tyk, reports "deleted" even for an unknown id.
            if gateway.find(&named.path())?.is_none() {
                return Err(CommandFailure::Refused(format!("the API {} has no client with the id {}", named.api, named.id)));
            }
            let answer = gateway.call("DELETE", &named.path(), None)?;
            gateway.print(&answer, || format!("{}: deleted", named.id));
            Ok(())
        }
    }
}

impl ClientArguments {
    fn path(&self) -> String {
        format!("/tyk/oauth/clients/{}/{}", segment(&self.api), segment(&self.id))
    }
}

fn list(api: &str, gateway: &Gateway) -> Result<(), CommandFailure> {
    let answer = gateway.get(&format!("/tyk/oauth/clients/{}", segment(api)))?;
    gateway.print(&answer, || {
        let rows = answer
            .as_array()
            .into_iter()
            .flatten()
            .map(|client| ["client_id", "policy_id", "redirect_uri", "description"].map(|name| shown(client, name)).to_vec());
        table::columns(&["id", "policy", "redirect uri", "description"], rows.collect())
    });
    Ok(())
}

fn create(options: CreateClient, gateway: &Gateway) -> Result<(), CommandFailure> {
    let fields = [
        ("client_id", options.id),
        ("redirect_uri", options.redirect_uri),
        ("api_id", options.api),
        ("policy_id", options.policy),
        ("description", options.description),
    ];
    let mut written: Map<String, Value> =
        fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), json!(value?)))).collect();
    if options.public {
        written.insert("public".to_owned(), json!(true));
    }
    let client = gateway.call("POST", "/tyk/oauth/clients/create", Some(&Value::Object(written)))?;
    gateway.print(&client, || details(&client));
    Ok(())
}

fn tokens(named: &ClientArguments, gateway: &Gateway) -> Result<(), CommandFailure> {
    let answer = gateway.get(&format!("{}/tokens", named.path()))?;
    gateway.print(&answer, || {
        let rows = answer.as_array().into_iter().flatten().map(|token| vec![shown(token, "code"), shown(token, "expires")]);
        table::columns(&["token", "expires"], rows.collect())
    });
    Ok(())
}

fn details(client: &Value) -> String {
    let of = |name: &str| shown(client, name);
    let is_public = client.get("public") == Some(&Value::Bool(true));
    let secret = if is_public { "none: a public client".to_owned() } else { of("secret") };
    table::pairs(vec![
        ("id", of("client_id")),
        ("secret", secret),
        ("redirect uri", of("redirect_uri")),
        ("policy", of("policy_id")),
        ("description", of("description")),
    ])
}
