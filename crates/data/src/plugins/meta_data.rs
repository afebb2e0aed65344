//! Stores the `meta_data` of sessions that hooks and virtual endpoints have changed, as Tyk does, while their requests go on.

use crate::exchange::Exchange;
use crate::registry::Registry;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tollgate_access::keys::KeyName;
use tollgate_model::session::Session;

/// Changes of one API that wait for the store. A store that is so far behind will not catch up.
const WAITING_MAX: usize = 1_024;

/// Stores changes of one API.
pub struct MetaDataWriter {
    registry: Arc<Registry>,
    waiting: Arc<AtomicUsize>,
}

impl MetaDataWriter {
    pub fn new(registry: &Arc<Registry>) -> Self {
        MetaDataWriter { registry: registry.clone(), waiting: Arc::default() }
    }

    /// Changes the `meta_data` of the caller's session: for what is left of the request, and for the requests after it.
    pub fn put(&self, exchange: &mut Exchange<'_>, meta_data: Map<String, Value>) {
        let Some(key) = exchange.caller.key.as_ref() else { return };
        if !exchange.arrival.keys.is_rehearsed() {
            self.store(&exchange.api.id, KeyName { digest: key.digest, shown: key.shown.to_string() }, meta_data.clone());
        }
        exchange.caller.changed_meta_data = Some(Box::new(meta_data));
    }

    fn store(&self, api: &str, name: KeyName, meta_data: Map<String, Value>) {
        let (Some(keys), Some(client)) = (self.registry.script_keys.get().cloned(), self.registry.script_client.get()) else {
            return;
        };
        let waiting = self.waiting.clone();
        if waiting.fetch_add(1, Ordering::Relaxed) >= WAITING_MAX {
            waiting.fetch_sub(1, Ordering::Relaxed);
            tracing::warn!(api, "a changed meta_data is not stored: too many changes wait");
            return;
        }
        let api = api.to_owned();
        client.spawn(async move {
            if let Err(fault) = keys.put_meta_data(name, meta_data).await {
                tracing::warn!(api, %fault, "a changed meta_data is not stored");
            }
            waiting.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

/// The caller's session as the hooks so far have made it.
pub fn session_of(exchange: &Exchange<'_>) -> Option<Box<Session>> {
    let key = exchange.caller.key.as_ref()?;
    let mut session = Box::new(key.live_session(key.session.clone(), exchange.arrival.unix_s));
    if let Some(changed) = exchange.caller.changed_meta_data.as_deref() {
        session.meta_data.clone_from(changed);
    }
    Some(session)
}
