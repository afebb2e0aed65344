//! Developers who are signed in. The account is read each time, so that whoever is suspended, or has a new password, is out at once.

use crate::developer::Developer;
use crate::documents::PortalDocuments;
use crate::refusal::PortalRefusal;
use serde::{Deserialize, Serialize};
use tollgate_clock::unix_s;
use tollgate_signin::SessionLife;
use tollgate_store::StoreFault;

/// A session ends after this time.
pub(crate) const SESSION_S_MAX: u64 = 12 * 60 * 60;
const LIFE: SessionLife = SessionLife { life_s: SESSION_S_MAX, idle_s: SESSION_S_MAX };

/// Who has a session.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct SignedInDeveloper {
    developer: String,
    provider: Option<ProviderEntrance>,
}

/// The provider at which somebody has signed in.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ProviderEntrance {
    pub issuer: String,
    /// The identity token to sign out with; empty for none.
    pub logout_hint: String,
}

/// Starts a session with a token that nobody has seen before.
pub(crate) async fn start(documents: &PortalDocuments, developer: &Developer, now_unix_s: u64) -> Result<String, PortalRefusal> {
    start_from(documents, developer, None, now_unix_s).await
}

/// The same for somebody who comes from a provider.
pub(crate) async fn start_from(
    documents: &PortalDocuments,
    developer: &Developer,
    provider: Option<ProviderEntrance>,
    now_unix_s: u64,
) -> Result<String, PortalRefusal> {
    let person = SignedInDeveloper { developer: developer.id(), provider };
    Ok(documents.sessions().start(&person.developer, &person, &bound_to(developer), LIFE, now_unix_s).await?)
}

/// Who has a token.
pub(crate) async fn find(documents: &PortalDocuments, token: &str) -> Result<Option<Developer>, StoreFault> {
    let Some(session) = documents.sessions().find::<SignedInDeveloper>(token, unix_s()).await? else { return Ok(None) };
    let developer = Developer::read(documents, &session.person.developer).await?;
    Ok(developer.filter(|developer| !developer.is_suspended && session.is_bound_to(&bound_to(developer))))
}

/// Ends a session.
pub(crate) async fn end(documents: &PortalDocuments, token: &str) -> Result<(), StoreFault> {
    documents.sessions().end(token, unix_s()).await
}

/// Ends a session, and returns the provider from which its developer came.
pub(crate) async fn sign_out(documents: &PortalDocuments, token: &str) -> Result<Option<ProviderEntrance>, StoreFault> {
    let found = documents.sessions().find::<SignedInDeveloper>(token, unix_s()).await?;
    end(documents, token).await?;
    Ok(found.and_then(|session| session.person.provider))
}

/// What ends all sessions of a developer when it changes. Of two accounts that had the same address one after the other, each has its own.
fn bound_to(developer: &Developer) -> String {
    format!("{} {} {}", developer.created_unix_s, developer.session_epoch, developer.password_hash)
}
