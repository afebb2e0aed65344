//! Those who may call, as keys in the data directory of what was imported.

use std::path::Path;
use std::sync::Arc;
use tollgate_access::keys::{KeyRules, Keys, prepared};
use tollgate_import::WrittenConsumer;
use tollgate_model::config::GatewayConfig;
use tollgate_model::session::Session;
use tollgate_store::Embedded;

/// Stores the keys, as the control API would; the result is how many.
pub(super) fn store(directory: &Path, consumers: &[WrittenConsumer]) -> Result<usize, String> {
    if consumers.is_empty() {
        return Ok(0);
    }
    let conf = directory.join("tyk.conf");
    let (config, _) = GatewayConfig::load(Some(&conf), std::iter::empty()).map_err(|problems| {
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        lines.join("\n")
    })?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
    // What is relative is so to the directory in which the gateway will run.
    let store = Embedded::open(&directory.join(&config.tollgate.data_dir)).map_err(|fault| fault.to_string())?;
    let keys = Keys::load(KeyRules::new(&config, Arc::default()), Arc::new(store)).map_err(|fault| fault.to_string())?;
    let keys = Arc::new(keys);
    for consumer in consumers {
        runtime.block_on(put(&keys, consumer))?;
    }
    Ok(consumers.len())
}

async fn put(keys: &Arc<Keys>, consumer: &WrittenConsumer) -> Result<(), String> {
    let text = consumer.session.to_string();
    let name = consumer.session.get("alias").and_then(|alias| alias.as_str()).unwrap_or_default();
    let about = |why: String| format!("the key of {name} cannot be stored: {why}");
    let (session, _) = Session::parse(text.as_bytes()).map_err(|problems| {
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        about(lines.join("; "))
    })?;
    let session = prepared(session).await.map_err(about)?;
    let view = keys.view(&consumer.key, &consumer.org).await.map_err(|fault| about(fault.to_string()))?;
    let token = view.named(&consumer.key, &consumer.org);
    keys.put(view.name_of(&token), session, false).await.map_err(|fault| about(fault.to_string()))
}
