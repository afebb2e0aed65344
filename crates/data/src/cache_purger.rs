//! Purges of the response cache: in the memory of this gateway, in the second tier, and on all other gateways.

use crate::registry::Registry;
use std::pin::Pin;
use std::sync::Arc;
use tokio::runtime::Handle;
use tollgate_cluster::{CachePurge, Cluster, NotEverywhere, PurgeTarget};

/// Purges everywhere.
pub struct CachePurger {
    registry: Arc<Registry>,
    /// The other gateways, if there is a Redis.
    cluster: Option<Arc<Cluster>>,
}

impl CachePurger {
    pub fn new(registry: Arc<Registry>, cluster: Option<Arc<Cluster>>) -> Arc<Self> {
        Arc::new(CachePurger { registry, cluster })
    }

    /// The gateways that carry out purges, this one first.
    pub fn followers(&self) -> Vec<String> {
        self.cluster.as_ref().map(|cluster| cluster.followers()).unwrap_or_default()
    }

    /// Purges, and waits until no gateway that is known to be alive uses what is purged.
    ///
    /// # Errors
    /// Why it is not, or not certainly, in effect everywhere.
    pub async fn purge(&self, purge: &CachePurge) -> Result<(), String> {
        self.registry.purge_responses(purge);
        let Some(cluster) = &self.cluster else { return Ok(()) };
        let told = cluster.spread(purge).await;
        let (Some(tier), Some(api)) = (self.registry.second_tier(), &purge.api) else { return told.map_err(|why| why.to_string()) };
        if let Err(NotEverywhere::Untold(_)) = told {
            // Whoever asked is not kept waiting for a Redis that does not answer.
            self.purge_with_redis(api);
            return told.map_err(|why| why.to_string());
        }
        // Nobody who has confirmed writes what is purged any more. The names in Redis say nothing of URLs and tags, so that all of the API's
        // responses go.
        tier.settle().await;
        let deleted = tier.delete(api).await.map_err(|fault| format!("responses in Redis can't be deleted: {fault}"));
        // Meanwhile somebody may have read one of them.
        self.registry.purge_responses(purge);
        let told_again = match &told {
            Ok(()) => cluster.spread(purge).await,
            // They have been waited for once.
            Err(_) => cluster.tell_purge(purge).await.map(|_| ()).map_err(NotEverywhere::Untold),
        };
        told.map_err(|why| why.to_string()).and(deleted).and(told_again.map_err(|why| why.to_string()))
    }
}

impl PurgeTarget for CachePurger {
    fn purge(&self, purge: &CachePurge) {
        self.registry.purge_responses(purge);
    }

    fn purge_with_redis(&self, api: &str) {
        let purge = CachePurge::everything(Some(api.to_owned()));
        self.registry.purge_responses(&purge);
        let (Some(tier), Ok(runtime)) = (self.registry.second_tier().cloned(), Handle::try_current()) else { return };
        let registry = self.registry.clone();
        let api = api.to_owned();
        runtime.spawn(async move {
            tier.settle().await;
            if let Err(fault) = tier.delete(&api).await {
                tracing::warn!(%fault, api, "cached responses in Redis can't be deleted");
            }
            registry.purge_responses(&purge);
        });
    }

    fn settle(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async {
            if let Some(tier) = self.registry.second_tier() {
                tier.settle().await;
            }
        })
    }
}
