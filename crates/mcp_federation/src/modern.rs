//! Clients whose requests each stand for themselves (2026-07-28).

use crate::answer::StreamMessage;
use crate::client::known_capabilities;
use crate::federated::{Asked, FederatedServer, Unrouted};
use crate::memory::TOO_MANY_STREAMS;
use crate::message::{RpcError, code, is_request, is_response, method, notification, result, set, text};
use crate::relay::{ReplyBody, empty_reply, event_reply, json_reply};
use crate::tasks::hide_support;
use crate::version::{Era, META_CAPABILITIES, META_LOG, META_SUBSCRIPTION, META_VERSION, MODERN, supported};
use crate::waiting_call;
use http::{Response, StatusCode};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::mpsc;
use tollgate_mcp::decoded_header;

/// The notifications of changed lists: in the filter of a subscription, and the method.
const CHANGES: [(&str, &str); 3] = [
    ("toolsListChanged", "notifications/tools/list_changed"),
    ("promptsListChanged", "notifications/prompts/list_changed"),
    ("resourcesListChanged", "notifications/resources/list_changed"),
];

/// Answers a message.
pub(crate) async fn respond(server: &Arc<FederatedServer>, mut asked: Asked) -> Response<ReplyBody> {
    let said = asked.message.get("params").and_then(|params| params.get("_meta")?.get(META_CAPABILITIES));
    asked.capabilities = known_capabilities(said.unwrap_or(&Value::Null));
    let refused = |status: StatusCode, error: &RpcError| json_reply(status, &error.response(&asked.id()));
    if is_response(&asked.message) {
        let error = RpcError::new(code::INVALID_REQUEST, "clients send no responses");
        return refused(StatusCode::BAD_REQUEST, &error);
    }
    if !is_request(&asked.message) {
        return empty_reply(StatusCode::ACCEPTED);
    }
    if let Err(error) = check(&asked) {
        return refused(StatusCode::BAD_REQUEST, &error);
    }
    let method = method(&asked.message).to_owned();
    let mut shape = server.shape(&asked, Era::Modern, 0);
    shape.wants_log = text(&asked.message, &["params", "_meta", META_LOG]).is_some();
    let lists_ms = u64::try_from(server.state.terms.lists_time.as_millis()).unwrap_or(u64::MAX);
    let answer = match method.as_str() {
        "server/discover" => {
            let catalogue = server.state.catalogue().await;
            let mut found = json!({"supportedVersions": supported(), "capabilities": catalogue.offered()});
            if !server.state.terms.instructions.is_empty() {
                set(&mut found, "instructions", server.state.terms.instructions.clone());
            }
            shape.ttl_ms = Some(lists_ms);
            Ok(found)
        }
        "tools/list" | "prompts/list" | "resources/list" | "resources/templates/list" => {
            shape.ttl_ms = Some(lists_ms);
            server.page(&*server.state.catalogue().await, &asked).map(|mut page| {
                hide_support(&mut page, |_| false);
                page
            })
        }
        "tools/call" | "prompts/get" | "resources/read" | "completion/complete" => {
            let catalogue = server.state.catalogue().await;
            let route = match server.route(&catalogue, &asked, code::INVALID_PARAMS) {
                Ok(route) => route,
                Err(Unrouted::Error(error)) => return refused(StatusCode::OK, &error),
                Err(Unrouted::Told(mut told)) => {
                    shape.shape_result(&mut told);
                    return json_reply(StatusCode::OK, &result(&asked.id(), told));
                }
            };
            if let Err(error) = check_arguments(&asked, &route.headers) {
                return refused(StatusCode::BAD_REQUEST, &error);
            }
            let mut shape = server.shape(&asked, Era::Modern, route.server);
            shape.wants_log = text(&asked.message, &["params", "_meta", META_LOG]).is_some();
            shape.ttl_ms = (method == "resources/read").then_some(0);
            shape.tool = route.tool.clone().map(|tool| (catalogue, tool));
            if let Some(facts) = waiting_call::state(server, &asked, &route) {
                return match waiting_call::resume(server, &asked, &route, facts).await {
                    Ok(answer) => shape.reply(Ok(answer)).await,
                    Err(error) => refused(StatusCode::OK, &error),
                };
            }
            if route.params.get("requestState").is_some() && !server.is_modern(route.server) {
                return refused(StatusCode::OK, &RpcError::new(code::INVALID_PARAMS, "the requestState is none of this server's"));
            }
            let overheard = server.overhear(&asked, &route).await;
            let called = server.call(&asked, &route, None).await;
            let answer = called.map(|called| waiting_call::until_question(server, &asked, &route, called, overheard));
            return shape.reply(answer).await;
        }
        "subscriptions/listen" => return listen(server, &asked),
        _ => return refused(StatusCode::NOT_FOUND, &RpcError::new(code::METHOD_NOT_FOUND, "Method not found")),
    };
    match answer {
        Ok(mut answer) => {
            shape.shape_result(&mut answer);
            json_reply(StatusCode::OK, &result(&asked.id(), answer))
        }
        Err(error) => refused(StatusCode::OK, &error),
    }
}

/// Checks what every request must say, and that its header lines say the same as its body: others have decided by them.
fn check(asked: &Asked) -> Result<(), RpcError> {
    let mismatch = |why: String| RpcError::new(code::HEADER_MISMATCH, format!("Header mismatch: {why}"));
    let version = text(&asked.message, &["params", "_meta", META_VERSION]);
    let said = asked.header("mcp-protocol-version").ok_or_else(|| mismatch("MCP-Protocol-Version is missing".to_owned()))?;
    let version = version.ok_or_else(|| RpcError::new(code::INVALID_PARAMS, format!("params._meta lacks {META_VERSION}")))?;
    if said != version {
        return Err(mismatch(format!("MCP-Protocol-Version is {said:?}, the body says {version:?}")));
    }
    if version != MODERN {
        let data = json!({"supported": supported(), "requested": version});
        return Err(RpcError { data: Some(data), ..RpcError::new(code::UNSUPPORTED_VERSION, "Unsupported protocol version") });
    }
    let capabilities = asked.message.get("params").and_then(|params| params.get("_meta")?.get(META_CAPABILITIES));
    if !capabilities.is_some_and(Value::is_object) {
        return Err(RpcError::new(code::INVALID_PARAMS, format!("params._meta lacks {META_CAPABILITIES}")));
    }
    let method = method(&asked.message);
    match asked.header("mcp-method") {
        Some(said) if said == method => {}
        Some(said) => return Err(mismatch(format!("Mcp-Method is {said:?}, the body says {method:?}"))),
        None => return Err(mismatch("Mcp-Method is missing".to_owned())),
    }
    let named = match method {
        "tools/call" | "prompts/get" => text(&asked.message, &["params", "name"]),
        "resources/read" => text(&asked.message, &["params", "uri"]),
        _ => return Ok(()),
    };
    let Some(named) = named else { return Ok(()) };
    match asked.header("mcp-name").map(decoded_header) {
        Some(Some(said)) if said == named => Ok(()),
        Some(Some(said)) => Err(mismatch(format!("Mcp-Name is {said:?}, the body says {named:?}"))),
        Some(None) => Err(mismatch("Mcp-Name cannot be decoded".to_owned())),
        None => Err(mismatch("Mcp-Name is missing".to_owned())),
    }
}

/// Checks the header lines of arguments. `expected` are those that the body asks for.
fn check_arguments(asked: &Asked, expected: &[(String, String)]) -> Result<(), RpcError> {
    for (name, value) in expected {
        let said = asked.header(name).map(decoded_header);
        let is_number = |text: &str| text.parse::<f64>().ok();
        let is_same = |said: &str| said == value || (is_number(said).is_some() && is_number(said) == is_number(value));
        match said {
            Some(Some(said)) if is_same(&said) => {}
            Some(_) => return Err(RpcError::new(code::HEADER_MISMATCH, format!("Header mismatch: {name} differs from the body"))),
            None => return Err(RpcError::new(code::HEADER_MISMATCH, format!("Header mismatch: {name} is missing"))),
        }
    }
    Ok(())
}

/// A stream of changes, until the client leaves.
fn listen(server: &Arc<FederatedServer>, asked: &Asked) -> Response<ReplyBody> {
    let id = asked.id();
    let Some(share) = server.state.streams.take(asked.holder(server), 1) else {
        let error = RpcError::new(code::UNAVAILABLE, TOO_MANY_STREAMS).response(&id);
        return json_reply(StatusCode::TOO_MANY_REQUESTS, &error);
    };
    let filter = asked.params().get("notifications").cloned().unwrap_or_default();
    let wanted: Vec<_> = CHANGES.into_iter().filter(|(name, _)| filter.get(*name) == Some(&Value::Bool(true))).collect();
    let meta = json!({META_SUBSCRIPTION: id});
    let honoured: serde_json::Map<String, Value> = wanted.iter().map(|(name, _)| ((*name).to_owned(), true.into())).collect();
    let acknowledged = json!({"_meta": meta, "notifications": honoured});
    let (sender, stream) = mpsc::channel(crate::answer::WAITING_MAX);
    let mut changes = server.state.changes.subscribe();
    server.state.outside.client.spawn(async move {
        let send = async |method: &str, params: Value| sender.send(StreamMessage::own(notification(method, params))).await.is_ok();
        let mut is_there = send("notifications/subscriptions/acknowledged", acknowledged).await;
        while is_there {
            tokio::select! {
                changed = changes.changed() => if changed.is_err() { return },
                () = sender.closed() => return,
            }
            for (_, method) in &wanted {
                is_there &= send(method, json!({"_meta": meta})).await;
            }
        }
    });
    event_reply(stream, (None, None), move |message| {
        let _ = &share;
        Some(message)
    })
}
