//! The session that a client says it is in.

use crate::answer::Agreed;
use crate::federated::{Asked, FederatedServer};
use crate::message::{RpcError, code};
use crate::relay::{ReplyBody, json_reply};
use crate::seal::SessionFacts;
use crate::version::{Era, LEGACY};
use http::{Response, StatusCode};
use serde_json::Value;
use tollgate_clock::unix_s;

/// The session that a request names.
pub(crate) fn session(server: &FederatedServer, asked: &Asked) -> Result<SessionFacts, Box<Response<ReplyBody>>> {
    let refused =
        |status, why: &str| Box::new(json_reply(status, &RpcError::new(code::INVALID_REQUEST, why).response(&asked.id())));
    let Some(name) = asked.session() else {
        return Err(refused(StatusCode::BAD_REQUEST, "Mcp-Session-Id is missing"));
    };
    if let Some(version) = asked.header("mcp-protocol-version").filter(|version| !LEGACY.contains(version)) {
        return Err(refused(StatusCode::BAD_REQUEST, &format!("the version {version:?} is not supported")));
    }
    let known =
        server.state.outside.seal.facts(name, &asked.caller, unix_s()).filter(|_| !server.state.outside.mailboxes.over.has(name));
    known.ok_or_else(|| Box::new(json_reply(StatusCode::NOT_FOUND, &session_ended(&asked.id()))))
}

/// The response that makes a client begin another session.
pub(crate) fn session_ended(id: &Value) -> Value {
    RpcError::new(code::INVALID_REQUEST, "the session does not exist").response(id)
}

/// What a session has agreed with a server.
pub(crate) fn agreed(server: &FederatedServer, facts: &SessionFacts, at: usize) -> Option<Agreed> {
    let (session, version) = facts.servers.get(&server.state.terms.servers.get(at)?.name)?.clone();
    Some(Agreed { session: Some(session), version, era: Era::Legacy, capabilities: Value::Null, end: None })
}
