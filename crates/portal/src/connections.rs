//! Developers who sign in at a provider of OpenID Connect: issuer and subject lead to an account. An account with the same mail address that is not
//! connected yet is connected by its password, and not otherwise: a provider's word alone takes nobody's account.

use crate::developer::{Developer, mail_address, plain_name};
use crate::one_use::{digest, is_token, long_random};
use crate::portal::Portal;
use crate::refusal::PortalRefusal;
use crate::sessions::{self, ProviderEntrance};
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use tollgate_signin::{SignInProvider, SignedIdentity};

/// How long somebody has to give the password of the account that is to be connected.
const CONNECTION_S: u64 = 600;
/// Providers of a developer.
const IDENTITIES_MAX: usize = 20;

/// Where issuer and subject lead.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct ConnectedIdentity {
    developer: String,
}

/// A connection that waits for the password of the account.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct WantedConnection {
    mail: String,
    identity: String,
}

/// What a sign-in at a provider leads to.
pub(crate) enum ProviderEntry {
    /// Into an account, with this token of a session.
    Session(String),
    /// To the question for the password of an account, with this token.
    AsksForPassword(String),
}

impl Portal {
    /// Lets somebody in whom a provider knows.
    pub(crate) async fn enter_at_provider(&self, issuer: &str, identity: &SignedIdentity) -> Result<ProviderEntry, PortalRefusal> {
        let now = Portal::now();
        let document = identity_document(issuer, &identity.subject);
        if let Some(known) = self.documents.read::<ConnectedIdentity>(&document).await?
            && let Some(developer) = Developer::read(&self.documents, &known.developer).await?
        {
            if developer.is_suspended {
                return Err(PortalRefusal::new(403, "suspended", "An operator has suspended this account"));
            }
            let entrance = self.entrance(issuer, identity);
            return Ok(ProviderEntry::Session(sessions::start_from(&self.documents, &developer, entrance, now).await?));
        }
        let mail = identity.verified_email().ok_or_else(|| match &identity.incomplete {
            Some(why) => {
                tracing::warn!(issuer, why, "a developer's mail address can't be asked for at a provider");
                PortalRefusal::new(502, "unreachable", "The provider can't be asked at the moment")
            }
            None => PortalRefusal::new(403, "no_mail", "The provider does not say that it has verified a mail address of yours"),
        })?;
        let mail = mail_address(&mail)?;
        if Developer::read(&self.documents, &Developer::id_of(&mail)).await?.is_some() {
            let token = long_random()?;
            let wanted = WantedConnection { mail, identity: document };
            self.documents.write(&waiting_document(&token), &wanted, Some(now + CONNECTION_S)).await?;
            return Ok(ProviderEntry::AsksForPassword(token));
        }
        self.may_sign_up(&mail)?;
        self.count_sign_up(now).await?;
        let named = [identity.name("name"), mail.split('@').next().unwrap_or_default().to_owned()];
        let name = named.iter().find_map(|name| plain_name("name", name).ok()).unwrap_or_else(|| mail.clone());
        let developer = self.make_account(&mail, &name, String::new(), None, now).await?;
        let developer = self.connected(&developer, &document).await?;
        let entrance = self.entrance(issuer, identity);
        Ok(ProviderEntry::Session(sessions::start_from(&self.documents, &developer, entrance, now).await?))
    }

    /// What a session keeps of a provider at which its sign-out ends too.
    fn entrance(&self, issuer: &str, identity: &SignedIdentity) -> Option<ProviderEntrance> {
        let is_wanted = self.settings.providers.iter().any(|provider| provider.issuer == issuer && provider.sign_out_there);
        let logout_hint = SignInProvider::logout_hint(&identity.token);
        is_wanted.then(|| ProviderEntrance { issuer: issuer.to_owned(), logout_hint })
    }

    /// Where a browser signs out at a provider as well.
    pub(crate) async fn sign_out_place(&self, entrance: &ProviderEntrance) -> Option<String> {
        let provider = self.providers.iter().find(|provider| provider.party().issuer == entrance.issuer)?;
        provider.logout_url(&entrance.logout_hint, &format!("{}/", self.settings.url)).await
    }

    /// Connects the identity that a token stands for with its account, whose password somebody gives.
    pub(crate) async fn connect(
        &self,
        address: IpAddr,
        token: &str,
        password: String,
    ) -> Result<(Developer, String), PortalRefusal> {
        let gone = || PortalRefusal::new(410, "token_gone", "This has taken too long: sign in at the provider again");
        let waiting = if is_token(token) { self.documents.read::<WantedConnection>(&waiting_document(token)).await? } else { None };
        let wanted = waiting.ok_or_else(gone)?;
        let (developer, session) = self.sign_in(address, &wanted.mail, password).await?;
        if !self.documents.remove(&waiting_document(token)).await? {
            sessions::end(&self.documents, &session).await?;
            return Err(gone());
        }
        Ok((self.connected(&developer, &wanted.identity).await?, session))
    }

    async fn connected(&self, developer: &Developer, identity: &str) -> Result<Developer, PortalRefusal> {
        let note = |mut old: Developer| {
            if old.identities.len() >= IDENTITIES_MAX && !old.identities.contains(identity) {
                return Err(PortalRefusal::full(IDENTITIES_MAX, "providers"));
            }
            old.identities.insert(identity.to_owned());
            Ok(old)
        };
        let developer = self.change_developer(&developer.id(), note).await?;
        self.documents.write(identity, &ConnectedIdentity { developer: developer.id() }, None).await?;
        Ok(developer)
    }
}

/// Two issuers may have the same subject, so both are in it.
fn identity_document(issuer: &str, subject: &str) -> String {
    format!("identity-{}", digest(&format!("{issuer}\n{subject}")))
}

fn waiting_document(token: &str) -> String {
    format!("connection-{}", digest(token))
}
