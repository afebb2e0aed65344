//! Who operates the gateway besides local users: the providers at which people sign in, whose sessions have ended, and what the control secret
//! is good for.

use super::Control;
use super::answer::{ControlAnswer, ok};
use crate::provider_rules::provider_rules;
use axum::extract::State;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use tollgate_access::jwt::JwtToken;
use tollgate_admin::operator::LIFE_S_MAX;
use tollgate_admin::{Operator, OperatorScope, ProviderSession, Role};
use tollgate_clock::unix_s;
use tollgate_data::control_caller::{CallerWay, ControlCaller};
use tollgate_data::gateway_state::GatewayState;
use tollgate_model::config::{ControlSecretUse, OperatorProvider, OperatorSettings};
use tollgate_signin::{EndedSessions, RelyingParty, SignInFault, SignInProvider, SignedIdentity};
use tollgate_store::{DocumentSpace, StoreFault};
use utoipa::ToSchema;

/// How long the end of a session is remembered: longer than any session.
const ENDED_S: u64 = 8 * 86_400;

/// The providers, and what belongs to them.
#[derive(Default)]
pub struct Operators {
    providers: Vec<OperatorDoor>,
    public_url: String,
    control_secret: ControlSecretUse,
}

/// A provider at which operators sign in.
pub(super) struct OperatorDoor {
    pub settings: OperatorProvider,
    pub provider: SignInProvider,
}

/// The providers at which commands sign in.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SignInProviderList {
    #[schema(inline)]
    providers: Vec<ShownSignInProvider>,
}

/// A provider. Nothing of it is a secret.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ShownSignInProvider {
    name: String,
    title: String,
    issuer: String,
    /// The public client of commands.
    client_id: String,
    scopes: Vec<String>,
}

/// The providers at which commands sign in
#[utoipa::path(
    get, path = "/tyk/operators/providers", tag = "Users", operation_id = "listSignInProviders",
    security(),
    responses((status = 200, body = SignInProviderList, description = "The providers; none if commands sign in nowhere.")),
)]
pub(super) async fn providers(State(control): State<Arc<Control>>) -> ControlAnswer {
    let of_commands = control.operators.providers.iter().filter(|door| !door.settings.cli_client_id.is_empty());
    let shown = |door: &OperatorDoor| ShownSignInProvider {
        name: door.settings.name.clone(),
        title: door.title().to_owned(),
        issuer: door.settings.issuer.clone(),
        client_id: door.settings.cli_client_id.clone(),
        scopes: door.settings.scopes.clone(),
    };
    ok(SignInProviderList { providers: of_commands.map(shown).collect() })
}

/// Is for commands, which renew their sign-in. A session of the console with it would go on at some providers when an operator is signed out there.
const OFFLINE: &str = "offline_access";

impl OperatorDoor {
    fn new(settings: &OperatorProvider, redirect_uri: String, shared: &GatewayState) -> Result<Self, String> {
        let name_claim = Some(settings.name_claim.clone()).filter(|claim| !claim.is_empty());
        let party = RelyingParty {
            provider: settings.name.clone(),
            issuer: settings.issuer.clone(),
            client_id: settings.client_id.clone(),
            client_secret: settings.client_secret.clone(),
            redirect_uri,
            scopes: settings.scopes.iter().filter(|scope| *scope != OFFLINE).cloned().collect(),
            algorithms: settings.algorithms.clone(),
            needed_claims: settings.rules.iter().map(|rule| rule.claim.clone()).collect(),
            wanted_claims: name_claim.into_iter().collect(),
        };
        let provider = SignInProvider::new(party, &provider_rules(shared), shared.registry.auth_client.clone())?;
        Ok(OperatorDoor { settings: settings.clone(), provider })
    }

    fn title(&self) -> &str {
        if self.settings.title.is_empty() { &self.settings.name } else { &self.settings.title }
    }

    /// Life of a session.
    pub(super) fn session_s(&self) -> u64 {
        match self.settings.session_s_max {
            0 => LIFE_S_MAX,
            life_s => life_s,
        }
    }

    /// The client ids that tokens of the provider may be for.
    pub(super) fn client_ids(&self) -> Vec<&str> {
        [&*self.settings.client_id, &*self.settings.cli_client_id].into_iter().filter(|id| !id.is_empty()).collect()
    }

    /// The operator whom the first rule that fits makes.
    ///
    /// # Errors
    /// No rule lets them in.
    pub(super) fn operator(&self, identity: &SignedIdentity) -> Result<Operator, SignInFault> {
        let shown = identity.name(if self.settings.name_claim.is_empty() { "sub" } else { &self.settings.name_claim });
        let rule = self.settings.rules.iter().find(|rule| identity.has(&rule.claim, &rule.value));
        let granted = rule.and_then(|rule| Some((Role::from_name(rule.role.name())?, rule)));
        let (role, rule) = granted.ok_or_else(|| SignInFault::Refused(format!("no rule lets {shown:?} in")))?;
        let provider =
            ProviderSession { provider: self.settings.name.clone(), subject: identity.subject.clone(), sid: identity.sid.clone() };
        Ok(Operator {
            name: format!("{}:{shown}", self.settings.name),
            role,
            scope: OperatorScope { tags: rule.tags.clone(), orgs: rule.orgs.clone() },
            provider: Some(provider),
        })
    }
}

impl Operators {
    /// The operators of the configuration.
    ///
    /// # Errors
    /// The provider that can't be used, and why.
    pub fn new(settings: &OperatorSettings, shared: &GatewayState) -> Result<Self, String> {
        let redirect_uri = |provider: &OperatorProvider| format!("{}/callback", page_of(&settings.public_url, &provider.name));
        let door = |provider| OperatorDoor::new(provider, redirect_uri(provider), shared);
        let providers = settings.providers.iter().map(door).collect::<Result<_, _>>()?;
        Ok(Operators { providers, public_url: settings.public_url.clone(), control_secret: settings.control_secret })
    }

    pub(super) fn door(&self, name: &str) -> Option<&OperatorDoor> {
        self.providers.iter().find(|door| door.settings.name == name)
    }

    /// Titles, and where a browser begins, for the sign-in page.
    pub(super) fn buttons(&self) -> Vec<[String; 2]> {
        let button = |door: &OperatorDoor| [door.title().to_owned(), page_of(&self.public_url, &door.settings.name)];
        self.providers.iter().map(button).collect()
    }

    /// Where a browser signs out at the provider of a session, if that is wanted and possible.
    pub(super) async fn sign_out_place(&self, operator: &Operator, hint: &str) -> Option<String> {
        let door = self.door(&operator.provider.as_ref()?.provider).filter(|door| door.settings.sign_out_there)?;
        door.provider.logout_url(hint, &format!("{}{}", self.public_url, super::CONSOLE_PAGE)).await
    }

    pub(super) fn is_public_over_tls(&self) -> bool {
        self.public_url.starts_with("https://")
    }

    /// What the control secret is good for.
    pub(super) fn secret_use(&self) -> ControlSecretUse {
        self.control_secret
    }

    /// Whether the control secret is taken from a caller.
    pub(super) fn takes_secret(&self, caller: Option<&ControlCaller>) -> bool {
        match self.control_secret {
            ControlSecretUse::Anywhere => true,
            // Over TLS, a loopback address is all that is known of the way.
            ControlSecretUse::Loopback => caller.is_some_and(|caller| {
                caller.way == CallerWay::Local || (caller.way == CallerWay::Tls && caller.address.to_canonical().is_loopback())
            }),
            ControlSecretUse::Off => false,
        }
    }

    /// Who calls with an identity token of a provider; `None` for a text that is none of these.
    pub(super) async fn caller_of(&self, control: &Control, text: &str) -> Result<Option<Operator>, StoreFault> {
        let issuer =
            JwtToken::parse(text).and_then(|token| token.claims()).and_then(|claims| claims.text("iss").map(str::to_owned));
        let door = self.providers.iter().find(|door| Some(&door.settings.issuer) == issuer.as_ref());
        let Some(door) = door.filter(|door| !door.settings.cli_client_id.is_empty()) else { return Ok(None) };
        let verified = door.provider.identity(text, &door.settings.cli_client_id).await;
        match verified.and_then(|identity| Ok((door.operator(&identity)?, identity.issued_unix_s))) {
            Ok((operator, issued_unix_s)) => {
                let has_ended = has_ended(control, &operator, issued_unix_s).await?;
                Ok(Some(operator).filter(|_| !has_ended))
            }
            Err(why) => {
                tracing::info!(provider = door.settings.name, %why, "an identity token is refused");
                Ok(None)
            }
        }
    }
}

/// Where a sign-in at a provider begins.
fn page_of(public_url: &str, name: &str) -> String {
    format!("{public_url}{}login/{name}", super::CONSOLE_PAGE)
}

/// Notes that sessions have ended, for all gateways that share the store.
pub(super) async fn end(control: &Control, provider: &str, ended: &EndedSessions) -> Result<(), StoreFault> {
    // A session is ended alone if the provider names it.
    let id = match (&ended.sid, &ended.subject) {
        (Some(sid), _) => ended_id(provider, "sid", sid),
        (None, Some(subject)) => ended_id(provider, "sub", subject),
        (None, None) => return Ok(()),
    };
    let now = unix_s();
    let value = now.to_string().into_bytes();
    control.shared.keys.store().write(DocumentSpace::Console, id, value, Some(now + ENDED_S)).await.map(drop)
}

/// Whether a provider has ended the session that began then. Without one, nobody can.
pub(super) async fn has_ended(control: &Control, operator: &Operator, begun_unix_s: u64) -> Result<bool, StoreFault> {
    let Some(ProviderSession { provider, subject, sid }) = &operator.provider else { return Ok(false) };
    let store = control.shared.keys.store();
    if let Some(sid) = sid
        && store.read(DocumentSpace::Console, ended_id(provider, "sid", sid)).await?.is_some()
    {
        return Ok(true);
    }
    // A person signs in again after all their sessions were ended.
    let ended = store.read(DocumentSpace::Console, ended_id(provider, "sub", subject)).await?;
    let at = ended.and_then(|value| std::str::from_utf8(&value).ok()?.parse::<u64>().ok());
    Ok(at.is_some_and(|at| begun_unix_s <= at))
}

/// The names are a provider's, of any form and length.
fn ended_id(provider: &str, kind: &str, name: &str) -> String {
    let digest: String = Sha256::digest(name.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("ended/{provider}/{kind}/{digest}")
}
