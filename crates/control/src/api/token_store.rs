//! The tokens in the store: who calls with one, and when each was used last.

use super::Control;
use super::console_document::ConsoleDocument;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tollgate_admin::{ApiToken, ApiTokens, Operator};
use tollgate_clock::unix_s;
use tollgate_store::{DocumentSpace, StoreFault};

/// A use is noted if the last note is older, so that a script costs the store one write in this time.
const USE_NOTED_AFTER_S: u64 = 60;

/// The document with all tokens.
pub struct TokenDocument(pub(super) ConsoleDocument<ApiTokens>);

impl Default for TokenDocument {
    fn default() -> Self {
        TokenDocument(ConsoleDocument::new("tokens"))
    }
}

/// The last use of a token, as it is stored.
#[derive(Serialize, Deserialize)]
pub(super) struct TokenUse {
    pub unix_s: u64,
    pub address: Option<String>,
}

/// Who calls with this token, if it is one. Asks the store, so that a token that was revoked on another gateway is refused.
pub(super) async fn caller_of(control: &Arc<Control>, text: &str, address: Option<String>) -> Result<Option<Operator>, StoreFault> {
    let tokens = control.tokens.0.load(control).await?;
    let now = unix_s();
    let Some(token) = tokens.verified(text, now) else { return Ok(None) };
    note_use(control, token, TokenUse { unix_s: now, address });
    Ok(Some(Operator { name: format!("token:{}", token.name), role: token.role, scope: token.scope.clone(), provider: None }))
}

/// Notes when a token was used; the call does not wait for it.
fn note_use(control: &Arc<Control>, token: &ApiToken, now: TokenUse) {
    let (control, id) = (control.clone(), token.id.clone());
    let ends = token.expires_unix_s;
    tokio::spawn(async move {
        let is_noted = |used: TokenUse| now.unix_s < used.unix_s.saturating_add(USE_NOTED_AFTER_S) && used.address == now.address;
        if last_use(&control, &id).await.ok().flatten().is_some_and(is_noted) {
            return;
        }
        let value = serde_json::to_vec(&now).unwrap_or_default();
        if let Err(fault) = control.shared.keys.store().write(DocumentSpace::Console, use_id(&id), value, Some(ends)).await {
            tracing::warn!(%fault, "the use of a token can't be noted");
        }
    });
}

/// When and from where a token was used last.
pub(super) async fn last_use(control: &Control, id: &str) -> Result<Option<TokenUse>, StoreFault> {
    let stored = control.shared.keys.store().read(DocumentSpace::Console, use_id(id)).await?;
    Ok(stored.and_then(|stored| serde_json::from_slice(&stored).ok()))
}

/// Forgets when a token was used.
pub(super) async fn forget_use(control: &Control, id: &str) -> Result<(), StoreFault> {
    control.shared.keys.store().remove(DocumentSpace::Console, use_id(id)).await.map(drop)
}

fn use_id(id: &str) -> String {
    format!("token_use/{id}")
}
