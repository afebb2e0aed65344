//! What the federation needs of the gateway around it.

use crate::federated_call::FederatedCall;
use crate::mailboxes::Mailboxes;
use crate::seal::SessionSeal;
use futures_util::future::BoxFuture;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tollgate_openapi::Document;
use tollgate_outbound::{CallClient, OfferedBodies};
use tollgate_statistics::OpenCalls;

/// The surroundings of a federation.
pub struct Outside {
    /// Sends requests to servers, and has the threads.
    pub client: Arc<CallClient>,
    /// The gateway's own APIs.
    pub apis: Arc<dyn OwnApis>,
    /// Seals what clients keep.
    pub seal: SessionSeal,
    /// Where calls wait for answers of their clients.
    pub mailboxes: Arc<Mailboxes>,
    /// Where streams are offered to the cores of their clients.
    pub offers: Arc<OfferedBodies>,
    /// The calls that the data path records.
    pub calls: Arc<OpenCalls<FederatedCall>>,
}

/// The gateway's own APIs.
pub trait OwnApis: Send + Sync {
    /// The document of an API, as it is served now.
    fn document(&self, api: &str) -> Option<Arc<Document>>;

    /// How callers get into an API, as it is served now; `None` if it is not.
    fn access(&self, api: &str) -> Option<ApiAccess>;

    /// Sends a request through the API's own chain.
    fn call(&self, request: OwnRequest) -> BoxFuture<'static, Result<ApiReply, String>>;
}

/// What the key of a caller may call of the gateway's own APIs.
pub trait CallerRights: Send + Sync {
    /// Whether an API refuses the key an operation, however it is called. The path is that below the API's listen path, with `{NAME}` for parameters.
    fn refuses(&self, api: &ApiAccess, method: &str, path: &str) -> bool;
}

/// How callers get into an API.
pub struct ApiAccess {
    /// Its id.
    pub id: String,
    /// The organisation whose keys it knows.
    pub org: String,
    /// Before the paths of its operations.
    pub listen_path: String,
    /// Where it reads credentials: methods of authentication, each with its header.
    pub credential_headers: Vec<(String, String)>,
}

/// A request to one of the gateway's own APIs.
pub struct OwnRequest {
    /// Id of the API.
    pub api: String,
    /// The method.
    pub method: String,
    /// Path below the API's listen path, and query.
    pub target: String,
    /// Header lines, but none that frame the message.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// Longest time.
    pub time_max: Duration,
    /// The address of the client that calls, if it is known.
    pub client_address: Option<IpAddr>,
    /// How many loops from API to API have led to the call.
    pub loops: usize,
}

/// The response of an API.
pub struct ApiReply {
    /// The status code.
    pub status: u16,
    /// The body.
    pub body: Vec<u8>,
}
