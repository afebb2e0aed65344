//! Sends requests of the gateway's own to one of its APIs, whatever the API's path, and whether or not clients reach it.

use super::CoreService;
use crate::api_call::{ApiAnswer, ApiCall, CallOrigin};
use std::net::SocketAddr;
use std::rc::Rc;
use tokio::sync::mpsc;
use tollgate_engine::{ClientInfo, OwnRequests};

/// What a call is for.
pub(super) struct CalledApi {
    /// The API, by id or name.
    pub name: String,
    pub origin: CallOrigin,
}

/// Sends the calls that this core is given, each in a task of its own.
pub(super) async fn serve(core: Rc<CoreService>, own_requests: Rc<dyn OwnRequests>, calls: Option<mpsc::Receiver<ApiCall>>) {
    let Some(mut calls) = calls else { return };
    while let Some(call) = calls.recv().await {
        tokio::task::spawn_local(run(core.clone(), own_requests.clone(), call));
    }
}

async fn run(core: Rc<CoreService>, own_requests: Rc<dyn OwnRequests>, call: ApiCall) {
    let ApiCall { api, origin, bytes, is_head, body_bytes_max, time_max, mut answer } = call;
    let ticket = core.next_ticket();
    core.called.borrow_mut().insert(ticket, CalledApi { name: api, origin });
    let address = SocketAddr::new(origin.client, 0);
    let client = ClientInfo { address, listener: 0, tls: None, http2: false, is_own: true, ticket };
    let exchange = tokio::time::timeout(time_max, own_requests.send(client, bytes, is_head, body_bytes_max));
    let ended = tokio::select! {
        ended = exchange => ended,
        // The request ends like that of a client who leaves.
        () = answer.closed() => return drop(core.called.borrow_mut().remove(&ticket)),
    };
    core.called.borrow_mut().remove(&ticket);
    let response = match ended {
        Ok(Ok(response)) => Ok(ApiAnswer { status: response.status, body: response.body.clone() }),
        Ok(Err(fault)) => Err(fault.to_string()),
        Err(_) => Err(format!("no answer within {} ms", time_max.as_millis())),
    };
    // The caller may be gone.
    let _ = answer.send(response);
}
