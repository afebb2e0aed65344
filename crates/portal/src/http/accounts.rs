//! Accounts: who is signed in, signing in and out, signing up, passwords.

use super::{PortalAnswer, PortalCall, PortalResult};
use crate::developer::{Developer, plain_name};
use crate::portal::Portal;
use crate::sessions;
use serde::Deserialize;
use serde_json::{Value, json};
use tollgate_model::config::PortalSignUpRule;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SignInBody {
    mail: String,
    password: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConnectionBody {
    token: String,
    password: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SignUpBody {
    mail: String,
    name: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ForgottenBody {
    mail: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PasswordBody {
    token: String,
    password: String,
    name: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PasswordChangeBody {
    old: String,
    new: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NameBody {
    name: String,
}

/// What pages need to know first.
pub(super) async fn show(call: PortalCall) -> PortalResult {
    Ok(PortalAnswer::of(described(&call.portal, call.developer.as_ref())))
}

pub(super) async fn sign_in(call: PortalCall) -> PortalResult {
    let SignInBody { mail, password } = call.body()?;
    let (developer, token) = call.portal.sign_in(call.address, &mail, password).await?;
    entered(&call, &developer, token).await
}

/// Connects a provider with an account that exists, for whoever has its password.
pub(super) async fn connect(call: PortalCall) -> PortalResult {
    let ConnectionBody { token, password } = call.body()?;
    let (developer, token) = call.portal.connect(call.address, &token, password).await?;
    entered(&call, &developer, token).await
}

pub(super) async fn sign_out(call: PortalCall) -> PortalResult {
    let entrance = match &call.session {
        Some(token) => sessions::sign_out(&call.portal.documents, token).await?,
        None => None,
    };
    let go_to = match &entrance {
        Some(entrance) => call.portal.sign_out_place(entrance).await,
        None => None,
    };
    Ok(PortalAnswer::of(json!({"status": "ok", "go_to": go_to})).with_session(String::new()))
}

pub(super) async fn sign_up(call: PortalCall) -> PortalResult {
    let SignUpBody { mail, name } = call.body()?;
    call.portal.sign_up(call.address, &mail, &name).await?;
    Ok(PortalAnswer::of(json!({"status": "ok", "message": "Look into your mail: it has a link to go on with"})))
}

pub(super) async fn forgot(call: PortalCall) -> PortalResult {
    let ForgottenBody { mail } = call.body()?;
    call.portal.forgot(call.address, &mail).await?;
    Ok(PortalAnswer::of(json!({"status": "ok", "message": "If there is an account with this address, a mail is on its way"})))
}

pub(super) async fn choose_password(call: PortalCall) -> PortalResult {
    let PasswordBody { token, password, name } = call.body()?;
    let (developer, token) = call.portal.choose_password(call.address, &token, name.as_deref(), password).await?;
    entered(&call, &developer, token).await
}

/// Another password for whoever has the old one; the provider at which they have signed in is kept.
pub(super) async fn change_password(call: PortalCall) -> PortalResult {
    let PasswordChangeBody { old, new } = call.body()?;
    let developer = call.portal.change_password(call.address, call.developer()?, old, new).await?;
    let entrance = match &call.session {
        Some(token) => sessions::sign_out(&call.portal.documents, token).await?,
        None => None,
    };
    let token = sessions::start_from(&call.portal.documents, &developer, entrance, Portal::now()).await?;
    Ok(PortalAnswer::of(described(&call.portal, Some(&developer))).with_session(token))
}

pub(super) async fn rename(call: PortalCall) -> PortalResult {
    let NameBody { name } = call.body()?;
    let name = plain_name("name", &name)?;
    let id = call.developer()?.id();
    let developer = call.portal.change_developer(&id, |old| Ok(Developer { name: name.clone(), ..old })).await?;
    Ok(PortalAnswer::of(described(&call.portal, Some(&developer))))
}

/// Somebody is signed in from now on. The session that the browser had before ends: nobody else may have known it.
async fn entered(call: &PortalCall, developer: &Developer, token: String) -> PortalResult {
    if let Some(before) = &call.session {
        sessions::end(&call.portal.documents, before).await?;
    }
    Ok(PortalAnswer::of(described(&call.portal, Some(developer))).with_session(token))
}

fn described(portal: &Portal, developer: Option<&Developer>) -> Value {
    let settings = &portal.settings;
    json!({
        "portal": {
            "name": settings.name,
            "gateway_url": settings.gateway_url,
            "try_it": settings.try_it,
            "has_logo": portal.logo.is_some(),
            "signs_up": settings.sign_up.by != PortalSignUpRule::Invitation,
            "domains": if settings.sign_up.by == PortalSignUpRule::Domain { settings.sign_up.domains.clone() } else { Vec::new() },
            "has_mail": portal.mail.is_there(),
            "providers": settings.providers.iter().map(|one| json!({"name": one.name, "title": one.shown()})).collect::<Vec<_>>(),
        },
        "developer": developer.map(|developer| json!({
            "id": developer.id(),
            "mail": developer.mail,
            "name": developer.name,
            "teams": developer.teams.keys().collect::<Vec<_>>(),
            "has_password": !developer.password_hash.is_empty(),
        })),
    })
}
