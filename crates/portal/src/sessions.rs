//! Who is signed in. A session is known by a random token in a cookie, of which the store has only the digest, so that all gateways know it.

use crate::developer::Developer;
use crate::documents::PortalDocuments;
use crate::one_use::{digest, is_token, long_random};
use crate::refusal::PortalRefusal;
use serde::{Deserialize, Serialize};
use tollgate_store::StoreFault;

/// A session ends after this time.
pub(crate) const SESSION_S_MAX: u64 = 12 * 60 * 60;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct DeveloperSession {
    developer: String,
    epoch: u64,
}

/// Starts a session with a token that nobody has seen before.
pub(crate) async fn start(documents: &PortalDocuments, developer: &Developer, now_unix_s: u64) -> Result<String, PortalRefusal> {
    let token = long_random()?;
    let session = DeveloperSession { developer: developer.id(), epoch: developer.session_epoch };
    documents.write(&document(&token), &session, Some(now_unix_s + SESSION_S_MAX)).await?;
    Ok(token)
}

/// Who has a token. The account is read each time, so that whoever is suspended is out at once.
pub(crate) async fn find(documents: &PortalDocuments, token: &str) -> Result<Option<Developer>, StoreFault> {
    if !is_token(token) {
        return Ok(None);
    }
    let Some(session) = documents.read::<DeveloperSession>(&document(token)).await? else { return Ok(None) };
    let developer = Developer::read(documents, &session.developer).await?;
    Ok(developer.filter(|developer| !developer.is_suspended && developer.session_epoch == session.epoch))
}

/// Ends a session.
pub(crate) async fn end(documents: &PortalDocuments, token: &str) -> Result<(), StoreFault> {
    if is_token(token) { documents.remove(&document(token)).await.map(drop) } else { Ok(()) }
}

fn document(token: &str) -> String {
    format!("session-{}", digest(token))
}
