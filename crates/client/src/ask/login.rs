//! `tollgate login` and `tollgate logout`: a person signs in at a provider of OpenID Connect, in a browser (RFC 8252) or with a code on another
//! machine (RFC 8628). The tokens are kept in the user's own directory, for each gateway; commands renew them.

mod callback;
mod flow;
mod kept;

use super::{CommandFailure, Gateway, GatewayOptions, TlsOf, print};
use clap::Args;
use kept::{Login, Logins};
use serde_json::Value;
use std::time::{SystemTime, UNIX_EPOCH};

/// An identity token that ends sooner is renewed.
const RENEWED_BEFORE_S: u64 = 60;

/// Options of `login`.
#[derive(Debug, Args)]
#[command(
    after_help = "The gateway's configuration names the providers, in tollgate.operators. Examples:\n  tollgate login --url \
                        https://gateway.example.com\n  tollgate login --device"
)]
pub struct LoginCommand {
    /// Name of the provider, if the gateway has several
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// Show a code to enter in a browser of another machine
    #[arg(long)]
    device: bool,
    #[allow(missing_docs)] // a comment would be taken for help
    #[command(flatten)]
    gateway: GatewayOptions,
}

pub(super) fn login(command: &LoginCommand, tls: TlsOf) -> Result<(), CommandFailure> {
    let (gateway, _) = Gateway::anonymous(&command.gateway, tls)?;
    let answer = gateway.get("/tyk/operators/providers")?;
    let providers = answer.get("providers").and_then(Value::as_array).cloned().unwrap_or_default();
    let name = |provider: &Value| provider.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let names = providers.iter().map(name).collect::<Vec<_>>().join(", ");
    let provider = match &command.provider {
        Some(wanted) => providers.iter().find(|provider| name(provider) == *wanted),
        None if providers.len() > 1 => {
            return Err(CommandFailure::Usage(format!("the gateway has several providers: --provider with one of {names}")));
        }
        None => providers.first(),
    };
    let Some(provider) = provider else {
        let hint = if names.is_empty() { "none for commands".to_owned() } else { names };
        return Err(CommandFailure::Refused(format!("the gateway has no such provider (it has {hint})")));
    };
    let text = |member: &str| provider.get(member).and_then(Value::as_str).unwrap_or_default();
    let scopes = provider.get("scopes").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let scope = std::iter::once("openid").chain(scopes).collect::<Vec<_>>().join(" ");
    let provider = flow::Provider::discover(text("issuer"), text("client_id"), &scope, tls)?;
    let login = if command.device { provider.device()? } else { provider.browser()? };
    let address = gateway.connection.address().to_string();
    let alone = kept::locked()?;
    let mut logins = Logins::read()?;
    logins.set(&address, Some(login.clone()));
    logins.write()?;
    drop(alone);
    let gateway = Gateway { secret: Some(login.id_token), ..gateway };
    // Whether the gateway lets this person in, it alone knows.
    gateway.get("/tyk/schema").map_err(|failure| match failure {
        CommandFailure::Secret(_) => CommandFailure::Secret(format!(
            "you are signed in at {}, but the gateway at {address} does not let you in",
            text("name")
        )),
        other => other,
    })?;
    print(&format!("signed in at {}, for the gateway at {address}", text("name")));
    Ok(())
}

pub(super) fn logout(options: &GatewayOptions, tls: TlsOf) -> Result<(), CommandFailure> {
    let (gateway, _) = Gateway::anonymous(options, tls)?;
    let address = gateway.connection.address().to_string();
    let _alone = kept::locked()?;
    let mut logins = Logins::read()?;
    let Some(login) = logins.get(&address).cloned() else {
        print(&format!("not signed in, for the gateway at {address}"));
        return Ok(());
    };
    logins.set(&address, None);
    logins.write()?;
    match flow::revoke(&login, tls) {
        Ok(()) => print(&format!("signed out, for the gateway at {address}")),
        Err(why) => print(&format!("signed out, for the gateway at {address}; the provider was not told: {why}")),
    }
    Ok(())
}

/// The identity token for a gateway, renewed if it ends; `None` if nobody is signed in.
pub(super) fn identity_token(address: &str, tls: TlsOf) -> Result<Option<String>, CommandFailure> {
    let fresh = |login: &Login| login.expires_unix_s > unix_s() + RENEWED_BEFORE_S;
    let Some(login) = Logins::read()?.get(address).cloned() else { return Ok(None) };
    if fresh(&login) {
        return Ok(Some(login.id_token));
    }
    // One command renews it: a provider may take the same token a second time for a stolen one.
    let _alone = kept::locked()?;
    let mut logins = Logins::read()?;
    let Some(login) = logins.get(address).cloned() else { return Ok(None) };
    if fresh(&login) {
        return Ok(Some(login.id_token));
    }
    match flow::renewed(&login, tls) {
        Ok(renewed) => {
            let token = renewed.id_token.clone();
            logins.set(address, Some(renewed));
            logins.write()?;
            Ok(Some(token))
        }
        Err(CommandFailure::Secret(why)) => {
            let hint = format!("your sign-in for the gateway at {address} has ended: {why} (tollgate login begins a new one)");
            Err(CommandFailure::Secret(hint))
        }
        Err(other) => Err(other),
    }
}

fn unix_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
