//! The way of federated MCP servers, and of those of language models, to those of other gateways.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::Value;
use std::sync::Arc;
use tollgate_cluster::Cluster;
use tollgate_llm_gateway::RestMail;
use tollgate_mcp_federation::OtherGateways;

/// Other gateways on the same Redis.
pub struct ClusterMail(pub Arc<Cluster>);

impl OtherGateways for ClusterMail {
    fn own_name(&self) -> &str {
        self.0.process_id()
    }

    fn send(&self, gateway: &str, mail: Value) -> BoxFuture<'static, bool> {
        let (cluster, gateway) = (self.0.clone(), gateway.to_owned());
        async move { cluster.send(&gateway, mail).await }.boxed()
    }

    fn send_to_all(&self, mail: Value) -> BoxFuture<'static, bool> {
        let cluster = self.0.clone();
        async move { cluster.send("", mail).await }.boxed()
    }
}

impl RestMail for ClusterMail {
    fn tell(&self, mail: Value) {
        let cluster = self.0.clone();
        // Whoever does not hear it learns it from the provider.
        self.0.redis.runtime().spawn(async move { cluster.send("", mail).await });
    }
}
