//! What the queries of one API are executed with.

use super::kafka::Consumers;
use crate::api_call::ApiCallQueue;
use crate::graphql::GraphqlApi;
use std::sync::Arc;
use std::time::Duration;
use tollgate_outbound::{CallClient, Shares};
use tollgate_tls::TlsSettings;

/// What the queries of one API are executed with.
pub struct GraphTerms {
    /// Id of the API.
    pub name: String,
    pub api: Arc<GraphqlApi>,
    pub tls: TlsSettings,
    /// Header with the client's credentials, if sources get it.
    pub credentials: Option<String>,
    pub client: Arc<CallClient>,
    /// Memory for the answers of sources, of all APIs.
    pub memory: Arc<Shares>,
    /// The way to the gateway's own APIs.
    pub api_calls: Option<Arc<ApiCallQueue>>,
    /// Consumers of Kafka.
    pub consumers: Consumers,
}

impl GraphTerms {
    /// Longest time for one request to a source.
    pub(super) fn time_max(&self) -> Duration {
        self.api.executed.as_ref().map(|executed| executed.time_max).unwrap_or_default()
    }

    /// Logs why a source gave no answer.
    pub(super) fn log_failure(&self, why: &str) {
        tracing::warn!(api = self.name, why, "a source of a data graph gave no answer");
    }
}
