//! Follows which APIs are in products of the developer portal: its pages may try those, at gateways that serve no portal, too.

use std::sync::Arc;
use std::time::Duration;
use tollgate_data::gateway_state::GatewayState;
use tollgate_portal::PublishedWatch;

/// How often it is looked whether a product has changed at another gateway: one short document of the store.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Runs for ever, if the portal's pages may try APIs.
pub(crate) async fn watch_tried_apis(shared: Arc<GatewayState>) {
    let Some(tried) = &shared.settings.answers.tried_apis else { return };
    let mut watch = PublishedWatch::new(shared.keys.kept_store());
    loop {
        match watch.changed().await {
            Ok(Some(apis)) => tried.set(apis),
            Ok(None) => {}
            Err(fault) => tracing::debug!(%fault, "products of the portal can't be read; those that were known go on"),
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}
