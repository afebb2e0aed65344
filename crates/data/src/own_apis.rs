//! The gateway's own APIs, as a federated MCP server calls them.

use crate::api_call::{ApiAnswer, ApiCall, ApiCallQueue, CallOrigin, request_bytes};
use crate::gateway_state::GatewayState;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use std::sync::{Arc, Weak};
use tokio::sync::oneshot;
use tollgate_mcp_federation::{ApiAccess, ApiReply, OwnApis, OwnRequest};
use tollgate_openapi::Document;

/// Largest response of an API to a call.
const ANSWER_BYTES_MAX: usize = 8 << 20;

/// The APIs that a gateway serves.
pub struct ServedApis {
    state: Weak<GatewayState>,
}

impl ServedApis {
    /// Those of a gateway.
    pub fn of(state: &Arc<GatewayState>) -> Self {
        ServedApis { state: Arc::downgrade(state) }
    }
}

impl OwnApis for ServedApis {
    fn document(&self, api: &str) -> Option<Arc<Document>> {
        let snapshot = self.state.upgrade()?.current.load_full();
        let at = snapshot.api_by_id(api)?;
        snapshot.apis.get(at)?.openapi.clone()
    }

    fn access(&self, api: &str) -> Option<ApiAccess> {
        let snapshot = self.state.upgrade()?.current.load_full();
        let api = snapshot.apis.get(snapshot.api_by_id(api)?)?;
        let (id, org, listen_path) = (api.id.clone(), api.facts.org_id.clone(), api.listen_path.clone());
        Some(ApiAccess { id, org, listen_path, credential_headers: api.credential_headers.clone() })
    }

    fn call(&self, request: OwnRequest) -> BoxFuture<'static, Result<ApiReply, String>> {
        let queue = self.state.upgrade().and_then(|state| state.registry.api_calls.get().cloned());
        send(queue, request).boxed()
    }
}

async fn send(queue: Option<Arc<ApiCallQueue>>, request: OwnRequest) -> Result<ApiReply, String> {
    let OwnRequest { api, method, target, headers, body, time_max, client_address, loops } = request;
    let client = client_address.unwrap_or(CallOrigin::default().client);
    let origin = CallOrigin { client, loops }.next();
    let bytes = request_bytes(&method, &target, b"", headers.iter(), &body)?;
    let (answer, answered) = oneshot::channel();
    let is_head = method == "HEAD";
    let call = ApiCall { api, origin, bytes, is_head, body_bytes_max: ANSWER_BYTES_MAX, time_max, answer };
    if !queue.is_some_and(|queue| queue.send(call)) {
        return Err("too many requests wait".to_owned());
    }
    match answered.await {
        Ok(Ok(ApiAnswer { status, body })) => Ok(ApiReply { status, body }),
        Ok(Err(why)) => Err(why),
        Err(_) => Err("the gateway stops".to_owned()),
    }
}
