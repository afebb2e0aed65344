//! `/tyk/cache`: forgets what is kept to save work. Responses are not cached, so that of them nothing is there to forget; scripts that empty
//! the cache after a deployment go on working. Key sets of token issuers are.

use super::Control;
use super::answer::{Answer, message};
use axum::extract::{Path, State};
use std::sync::Arc;

/// Forgets an API's responses; like Tyk, the same answer for an API that is not there.
pub async fn invalidate() -> Answer {
    message("cache invalidated")
}

/// Forgets the key sets of all APIs.
pub async fn forget_all_key_sets(State(control): State<Arc<Control>>) -> Answer {
    control.shared.current.load().apis.iter().for_each(|api| api.forget_key_sets());
    message("cache invalidated")
}

/// Forgets the key sets of an API; the same answer for one that is not there. A set that several APIs use is forgotten for all of them.
pub async fn forget_key_sets(State(control): State<Arc<Control>>, Path(id): Path<String>) -> Answer {
    let snapshot = control.shared.current.load();
    if let Some(api) = snapshot.api_by_id(&id).and_then(|index| snapshot.apis.get(index)) {
        api.forget_key_sets();
    }
    message("cache invalidated")
}
