//! Who is signed in to the console. Sessions are in the store: any gateway that shares it knows them, and they outlive a restart. Each depends on
//! what let its operator in, and ends on all gateways when that changes.

use super::Console;
use crate::api::Control;
use crate::api::operators::{OperatorDoor, has_ended};
use serde::{Deserialize, Serialize};
use tollgate_admin::operator::IDLE_S_MAX;
use tollgate_admin::{Operator, User, users};
use tollgate_clock::unix_s;
use tollgate_model::hexadecimal;
use tollgate_signin::{PeopleSessions, SessionLife};
use tollgate_store::{DocumentSpace, StoreFault};

/// Who has a session.
#[derive(Serialize, Deserialize)]
struct ConsolePerson {
    operator: Operator,
    /// The identity token with which the operator signs out at the provider too; empty for none.
    logout_hint: String,
}

/// The sessions.
fn sessions(control: &Control) -> PeopleSessions<'_> {
    PeopleSessions::new(control.shared.keys.store(), DocumentSpace::Console)
}

/// A session that is to start.
pub(super) struct NewConsoleSession<'o> {
    pub operator: &'o Operator,
    /// What it depends on.
    pub bound_to: &'o str,
    /// When it ends in any case.
    pub life_s: u64,
    /// See [`SignInProvider::logout_hint`](tollgate_signin::SignInProvider::logout_hint).
    pub logout_hint: &'o str,
}

/// Starts a session, and returns its token. It is over at once if what lets the operator in has changed meanwhile.
pub(super) async fn start(control: &Control, new: &NewConsoleSession<'_>) -> Result<String, StoreFault> {
    let NewConsoleSession { operator, bound_to, life_s, logout_hint } = *new;
    let holder = match &operator.provider {
        // Who is called the same at a provider is not the same.
        Some(provider) => format!("{}:{}", provider.provider, provider.subject),
        None => operator.name.clone(),
    };
    let life = SessionLife { life_s, idle_s: IDLE_S_MAX };
    let person = ConsolePerson { operator: operator.clone(), logout_hint: logout_hint.to_owned() };
    sessions(control).start(&holder, &person, bound_to, life, unix_s()).await
}

/// Who has a session's token, and when it ends at the latest. `is_use`: a person did something, which keeps the session going.
pub(super) async fn find(
    control: &Control,
    console: &Console,
    token: &str,
    is_use: bool,
) -> Result<Option<(Operator, u64)>, StoreFault> {
    let now = unix_s();
    let Some(session) = sessions(control).find::<ConsolePerson>(token, now).await? else { return Ok(None) };
    let operator = &session.person.operator;
    let is_bound = bound_to(control, console, operator).await?.is_some_and(|text| session.is_bound_to(&text));
    if !is_bound || has_ended(control, operator, session.begun_unix_s).await? {
        return Ok(None);
    }
    // A store that can be read but not written locks nobody out.
    if is_use && let Err(fault) = sessions(control).note_use(&session, now).await {
        tracing::warn!(%fault, "the use of a session of the console can't be noted");
    }
    Ok(Some((session.person.operator, session.ends_unix_s)))
}

/// Ends a session.
pub(super) async fn end(control: &Control, token: &str) -> Result<(), StoreFault> {
    sessions(control).end(token, unix_s()).await
}

/// Ends a session. Returns where its browser signs out at the provider too, if it does.
pub(super) async fn sign_out(control: &Control, token: &str) -> Result<Option<String>, StoreFault> {
    let found = sessions(control).find::<ConsolePerson>(token, unix_s()).await?;
    end(control, token).await?;
    let Some(ConsolePerson { operator, logout_hint }) = found.map(|session| session.person) else { return Ok(None) };
    Ok(control.operators.sign_out_place(&operator, &logout_hint).await)
}

/// Lets the session go on with which a user has changed their own password.
pub(in crate::api) async fn keep(control: &Control, token: &str, user: &User) -> Result<(), StoreFault> {
    sessions(control).bind(token, &of_user(user), unix_s()).await
}

/// What lets an operator in, in one text; `None` if nothing does any more.
async fn bound_to(control: &Control, console: &Console, operator: &Operator) -> Result<Option<String>, StoreFault> {
    if let Some(session) = &operator.provider {
        return Ok(control.operators.door(&session.provider).map(of_provider));
    }
    if operator.name == users::SECRET {
        return Ok(Some(of_secret(control)));
    }
    Ok(console.users.load(control).await?.get(&operator.name).map(of_user))
}

/// The control secret, and what it is good for.
pub(super) fn of_secret(control: &Control) -> String {
    let secret = hexadecimal(&control.secret.derived("tollgate console sessions"));
    format!("{:?} {secret}", control.operators.secret_use())
}

/// The settings of a provider: another rule could give another role.
pub(super) fn of_provider(door: &OperatorDoor) -> String {
    serde_json::to_string(&door.settings).unwrap_or_default()
}

/// Password, role and scope of a user; and not those of somebody who had the same name before.
pub(super) fn of_user(user: &User) -> String {
    serde_json::to_string(user).unwrap_or_default()
}
