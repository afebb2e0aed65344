//! Clients that begin a session with `initialize` (2025-11-25 and before). The name of a session holds the names of its sessions at the servers:
//! nothing of it is kept here, so that any gateway serves it.

use crate::answer::{Agreed, Answer, LinkFault, Messages, StreamMessage};
use crate::asked_client::with_questions;
use crate::client::known_capabilities;
use crate::client_session::{agreed, session, session_ended};
use crate::digests::digest;
use crate::federated::{Asked, FederatedServer, Route, Unrouted};
use crate::link::Link;
use crate::message::{RpcError, code, is_request, is_response, method, result, set, text};
use crate::relay::{ReplyBody, Shape, empty_reply, json_reply};
use crate::running_call::RunningCall;
use crate::seal::{SessionFacts, SessionSeal};
use crate::task_route::task_route;
use crate::tasks::{TASK, hide_support};
use crate::version::{Era, LEGACY};
use crate::weight::{ANSWER_BYTES_MAX, weight};
use futures_util::future::join_all;
use http::{HeaderValue, Response, StatusCode};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use tollgate_clock::unix_s;

/// Longest time until a server has ended a session.
const END_MAX: Duration = Duration::from_secs(5);
/// Notifications of clients that servers get.
const PASSED: [&str; 3] = ["notifications/cancelled", "notifications/progress", "notifications/roots/list_changed"];
/// The header with a session's name.
const SESSION: &str = "mcp-session-id";

/// Answers a message.
pub(crate) async fn respond(server: &Arc<FederatedServer>, mut asked: Asked) -> Response<ReplyBody> {
    if method(&asked.message) == "initialize" && is_request(&asked.message) {
        return initialize(server, &asked).await;
    }
    let facts = match session(server, &asked) {
        Ok(facts) => facts,
        Err(refused) => return *refused,
    };
    asked.capabilities.clone_from(&facts.capabilities);
    if is_response(&asked.message) {
        return pass_response(server, asked, &facts).await;
    }
    if !is_request(&asked.message) {
        if method(&asked.message).is_empty() {
            let error = RpcError::new(code::INVALID_REQUEST, "invalid request").response(&asked.id());
            return json_reply(StatusCode::BAD_REQUEST, &error);
        }
        pass_notification(server, &asked, &facts).await;
        return empty_reply(StatusCode::ACCEPTED);
    }
    let method = method(&asked.message).to_owned();
    let answer = match method.as_str() {
        "ping" => Ok(json!({})),
        "logging/setLevel" => set_level(server, &asked, &facts).await,
        "tools/list" | "prompts/list" | "resources/list" | "resources/templates/list" => {
            let catalogue = server.state.catalogue().await;
            let takes_tasks = |name: &str| {
                let at = catalogue.tool(name).map(|tool| tool.server).filter(|at| catalogue.takes_tasks(*at));
                at.is_some_and(|at| agreed(server, &facts, at).is_some())
            };
            server.page(&catalogue, &asked).map(|mut page| {
                hide_support(&mut page, takes_tasks);
                as_sessions_list(page)
            })
        }
        "tools/call"
        | "prompts/get"
        | "resources/read"
        | "completion/complete"
        | "resources/subscribe"
        | "resources/unsubscribe" => {
            let catalogue = server.state.catalogue().await;
            match server.route(&catalogue, &asked, code::RESOURCE_NOT_FOUND) {
                Ok(mut route) => {
                    let mut shape = server.shape(&asked, Era::Legacy, route.server);
                    let (agreed, id) = (agreed(server, &facts, route.server), asked.id());
                    if let Some(task) = route.task.take().filter(|_| agreed.is_some() && catalogue.takes_tasks(route.server)) {
                        set(&mut route.params, TASK, task);
                    }
                    shape.tool = route.tool.clone().map(|tool| (catalogue, tool));
                    let answer = match agreed {
                        Some(_) => server.call(&asked, &route, agreed).await.map(|(_, answer)| answer),
                        None if method.starts_with("resources/") && method.ends_with("subscribe") => {
                            let error = RpcError::new(code::METHOD_NOT_FOUND, "the resource's server has no subscriptions");
                            return json_reply(StatusCode::OK, &error.response(&id));
                        }
                        None => single_call(server, asked, route, shape.clone()).await,
                    };
                    if matches!(answer, Err(LinkFault::SessionGone)) {
                        return json_reply(StatusCode::NOT_FOUND, &session_ended(&id));
                    }
                    return shape.reply(answer).await;
                }
                Err(Unrouted::Told(told)) => Ok(told),
                Err(Unrouted::Error(error)) => Err(error),
            }
        }
        "tasks/get" | "tasks/result" | "tasks/cancel" => match task_route(server, &asked, &facts).await {
            Ok((route, agreed)) => {
                let shape = server.shape(&asked, Era::Legacy, route.server);
                let answer = server.call(&asked, &route, Some(agreed)).await.map(|(_, answer)| answer);
                if matches!(answer, Err(LinkFault::SessionGone)) {
                    return json_reply(StatusCode::NOT_FOUND, &session_ended(&asked.id()));
                }
                return shape.reply(answer).await;
            }
            Err(error) => Err(error),
        },
        _ => Err(RpcError::new(code::METHOD_NOT_FOUND, "Method not found")),
    };
    let message = match answer {
        Ok(answer) => result(&asked.id(), answer),
        Err(error) => error.response(&asked.id()),
    };
    json_reply(StatusCode::OK, &message)
}

/// A page as clients with sessions read it: before 2026-07-28, only objects are structured results.
fn as_sessions_list(mut page: Value) -> Value {
    for tool in page.get_mut("tools").and_then(Value::as_array_mut).into_iter().flatten() {
        if text(tool, &["outputSchema", "type"]) != Some("object")
            && let Some(members) = tool.as_object_mut()
        {
            members.remove("outputSchema");
        }
    }
    page
}

/// Calls a server that knows nothing of the session.
async fn single_call(server: &Arc<FederatedServer>, asked: Asked, route: Route, shape: Shape) -> Result<Answer, LinkFault> {
    let session = asked.session().unwrap_or_default();
    let running = RunningCall::begin(&server.state.outside.mailboxes, session, &asked.id());
    let (agreed, answer) = tokio::select! {
        called = server.call(&asked, &route, None) => called?,
        () = running.cancelled() => {
            let error = RpcError::new(code::INTERNAL, "the client has cancelled the request").response(&asked.id());
            return Ok(Answer { session: None, messages: Messages::One(StreamMessage::own(error)) });
        }
    };
    let answer = match agreed.era {
        Era::Modern => with_questions(server, asked, route, shape, answer),
        Era::Legacy => answer,
    };
    Ok(running.until_cancelled(answer))
}

/// Begins a session, at all servers that have such.
async fn initialize(server: &Arc<FederatedServer>, asked: &Asked) -> Response<ReplyBody> {
    let params = asked.params();
    let wanted = text(&params, &["protocolVersion"]).unwrap_or_default();
    let version = LEGACY.into_iter().find(|known| *known == wanted).unwrap_or(LEGACY[0]);
    let catalogue = server.state.catalogue().await;
    let none = json!({});
    let capabilities = params.get("capabilities").unwrap_or(&none);
    let client = params.get("clientInfo").unwrap_or(&none);
    let begin = server.state.backends.iter().map(|backend| async move {
        // Nobody waits for a server that is not there.
        if !matches!(backend.link, Link::Http(_)) || backend.health().fault.is_some() {
            return None;
        }
        backend.session(capabilities, client).await
    });
    let begun = join_all(begin).await;
    let told = begun.iter().enumerate().filter_map(|(at, begun)| Some((at, begun.as_ref()?.capabilities.clone())));
    let offered = catalogue.offered_in_session(&told.collect());
    let servers = begun.into_iter().zip(&server.state.terms.servers).filter_map(|(begun, terms)| {
        let Agreed { session, version, .. } = begun?;
        Some((terms.name.clone(), (session?, version)))
    });
    let servers = servers.collect();
    let ends_unix_s = SessionSeal::end(unix_s());
    let mut facts = SessionFacts {
        version: version.to_owned(),
        caller: asked.caller.clone(),
        ends_unix_s,
        servers,
        capabilities: known_capabilities(capabilities),
    };
    // The names of servers' sessions must fit into one header line: a server with a longer one gets single requests.
    let name = loop {
        if let Some(name) = server.state.outside.seal.name(&facts) {
            break name;
        }
        let longest = facts.servers.iter().max_by_key(|(_, (session, _))| session.len()).map(|(name, _)| name.clone());
        if longest.and_then(|longest| facts.servers.remove(&longest)).is_none() {
            let error = RpcError::new(code::INTERNAL, "a session cannot be named").response(&asked.id());
            return json_reply(StatusCode::OK, &error);
        }
    };
    let mut begun = json!({"protocolVersion": version, "capabilities": offered, "serverInfo": server.info()});
    if !server.state.terms.instructions.is_empty() {
        set(&mut begun, "instructions", server.state.terms.instructions.clone());
    }
    let mut response = json_reply(StatusCode::OK, &result(&asked.id(), begun));
    if let Ok(name) = HeaderValue::from_str(&name) {
        response.headers_mut().insert(SESSION, name);
    }
    response
}

/// Gives a client's response to the server that has asked, or to the call that waits for it.
async fn pass_response(server: &FederatedServer, mut asked: Asked, facts: &SessionFacts) -> Response<ReplyBody> {
    let id = asked.id();
    let parts = id.as_str().and_then(|id| id.split_once(':'));
    let named = parts.and_then(|(name, id)| Some((name.to_owned(), serde_json::from_str::<Value>(id).ok()?)));
    let at = named.as_ref().and_then(|(name, _)| server.state.terms.servers.iter().position(|server| server.name == *name));
    if let (Some(at), Some((_, own))) = (at, named)
        && let Some(backend) = server.state.backends.get(at)
    {
        if let Some(agreed) = agreed(server, facts, at) {
            set(&mut asked.message, "id", own);
            let ids = server.state.outside.seal.tasks(asked.session().unwrap_or_default());
            server.state.terms.servers.get(at).iter().for_each(|terms| ids.tell(&terms.name, &mut asked.message));
            let _ = backend.send(&agreed, asked.message, Vec::new()).await;
        } else if let Some(id) = own.as_str()
            && let Some(facts) = server.state.outside.seal.asked(id, &asked.caller)
            && let Ok(address) = facts.address.parse()
            && server.state.outside.mailboxes.over.add(digest(id))
        {
            let (owner, mut answer) = (asked.owner(server), asked.message);
            if weight(&answer) > ANSWER_BYTES_MAX {
                answer = RpcError::new(code::INTERNAL, "the answer is too large").response(&Value::Null);
            }
            server.state.outside.mailboxes.post(&address, &owner, answer).await;
        }
    }
    // A response to something that nobody has asked is nobody's.
    empty_reply(StatusCode::ACCEPTED)
}

/// Tells all servers of the session. Only what clients tell by themselves passes: nothing that would call something.
async fn pass_notification(server: &FederatedServer, asked: &Asked, facts: &SessionFacts) {
    if !PASSED.contains(&method(&asked.message)) {
        return;
    }
    let told = server.state.backends.iter().enumerate().filter_map(|(at, backend)| {
        let agreed = agreed(server, facts, at)?;
        Some(async move { backend.send(&agreed, asked.message.clone(), Vec::new()).await.map(|answer| answer.messages.is_none()) })
    });
    join_all(told).await;
    if method(&asked.message) == "notifications/cancelled"
        && facts.servers.len() < server.state.backends.len()
        && let Some(id) = asked.params().get("requestId")
    {
        server.state.outside.mailboxes.cancel(asked.session().unwrap_or_default(), id).await;
    }
}

/// Sets the level of the log at all servers of the session that have one.
async fn set_level(server: &FederatedServer, asked: &Asked, facts: &SessionFacts) -> Result<Value, RpcError> {
    let catalogue = server.state.catalogue().await;
    let set = catalogue.servers_with("logging").filter_map(|at| {
        let (agreed, backend) = (agreed(server, facts, at)?, server.state.backends.get(at)?);
        Some(async move {
            let answer: Option<Answer> = backend.send(&agreed, asked.message.clone(), Vec::new()).await.ok();
            answer?.messages.response().await.ok()
        })
    });
    let answers = join_all(set).await;
    // A level that no server knows is the client's fault.
    let fault = answers.iter().flatten().find_map(|answer| answer.get("error").cloned());
    match fault {
        Some(error) if answers.iter().flatten().all(|answer| answer.get("error").is_some()) => {
            let code = error.get("code").and_then(Value::as_i64).unwrap_or(code::INVALID_PARAMS);
            Err(RpcError::new(code, text(&error, &["message"]).unwrap_or("invalid level").to_owned()))
        }
        _ => Ok(json!({})),
    }
}

/// Ends a session, at all its servers.
pub(crate) async fn end(server: &Arc<FederatedServer>, asked: &Asked) -> Response<ReplyBody> {
    if asked.session().is_none() {
        return empty_reply(StatusCode::METHOD_NOT_ALLOWED);
    }
    let facts = match session(server, asked) {
        Ok(facts) => facts,
        Err(refused) => return *refused,
    };
    server.state.outside.mailboxes.end(asked.session().unwrap_or_default()).await;
    let ended = server.state.backends.iter().enumerate().filter_map(|(at, backend)| {
        let (agreed, Link::Http(link)) = (agreed(server, &facts, at)?, &backend.link) else { return None };
        Some(async move { timeout(END_MAX, link.end(&agreed)).await })
    });
    join_all(ended).await;
    empty_reply(StatusCode::NO_CONTENT)
}

#[cfg(test)]
mod tests {
    use super::as_sessions_list;
    use serde_json::json;

    #[test]
    fn clients_with_sessions_see_schemas_of_objects_as_output_alone() {
        let tools = |array: serde_json::Value| json!({"tools": [{"name": "a", "outputSchema": {"type": "object"}}, array, {"name": "c"}], "nextCursor": "3"});
        let array = json!({"name": "b", "outputSchema": {"type": "array"}});
        assert_eq!(as_sessions_list(tools(array)), tools(json!({"name": "b"})));
    }
}
