//! What is behind proxies for the Model Context Protocol that stand in front of many servers: how the servers do, and what they offer. Looking
//! asks no server.

use super::Control;
use super::answer::{ControlAnswer, Error, error, json, no_such_api, ok};
use super::definition_store::is_mcp;
use super::failures::NoSuchApi;
use super::lists::{Asked, ListPage};
use super::parameters::ProxyId;
use super::query::Parameters;
use crate::figures_question::FiguresQuestion;
use crate::nodes::NodeServers;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use serde::Serialize;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use tollgate_data::snapshot::CompiledApi;
use tollgate_mcp_federation::{Primitive, ServerState};
use utoipa::ToSchema;

/// Characters of a description in a row of a list.
const DESCRIPTION_CHARS_MAX: usize = 1_000;

/// The servers behind a proxy.
#[derive(Serialize, ToSchema)]
pub(super) struct McpServers {
    /// The gateway that has asked them.
    node: String,
    /// Whether the proxy stands in front of many servers (`tollgate.mcp`).
    federation: bool,
    /// In the order of the definition.
    servers: Vec<ServerState>,
}

/// The servers behind a proxy for the Model Context Protocol
///
/// Each gateway asks them by itself, when a client comes: the answer is of one gateway.
#[utoipa::path(
    get, path = "/tyk/mcps/{id}/servers", tag = "MCP proxies", operation_id = "listMcpServers",
    security(("secret" = ["viewer", "scope:api"])),
    params(
        ProxyId,
        ("node" = Option<String>, Query, description = "As this gateway knows them; it must share the Redis. By default the one that answers."),
    ),
    responses(
        (status = 200, body = McpServers, description = "The servers; none if the proxy has one upstream."),
        (status = 400, body = Error, description = "A parameter is unknown."),
        NoSuchApi,
        (status = 502, body = Error, description = "The gateway of `node` does not answer, or does not serve the proxy."),
    )
)]
pub(super) async fn servers(
    State(control): State<Arc<Control>>,
    Path(ProxyId { id }): Path<ProxyId>,
    Query(query): Query<HashMap<String, String>>,
) -> ControlAnswer {
    let parameters = match Parameters::new(&query, &["node"]) {
        Ok(parameters) => parameters,
        Err(message) => return error(StatusCode::BAD_REQUEST, message),
    };
    if let Err(answer) = proxy(&control, &id) {
        return answer;
    }
    let own = control.shared.observer.node();
    let node = parameters.text("node").filter(|node| !node.is_empty()).unwrap_or(own);
    let found = match node == own {
        true => control.nodes.own.mcp_servers(&id),
        false => asked_servers(&control, node, &id).await,
    };
    match found {
        Some(NodeServers { federation, servers }) => ok(McpServers { node: node.to_owned(), federation, servers }),
        None => error(StatusCode::BAD_GATEWAY, format!("the gateway {node:?} does not answer, or does not serve {id:?}")),
    }
}

/// Ask the servers behind a proxy for the Model Context Protocol
///
/// The gateway that answers asks all of them now what they offer; otherwise it does when a client comes.
#[utoipa::path(
    post, path = "/tyk/mcps/{id}/servers", tag = "MCP proxies", operation_id = "askMcpServers",
    security(("secret" = ["editor", "scope:api"])),
    params(ProxyId),
    responses(
        (status = 200, body = McpServers, description = "The servers; none if the proxy has one upstream."),
        NoSuchApi,
    )
)]
pub(super) async fn ask(State(control): State<Arc<Control>>, Path(ProxyId { id }): Path<ProxyId>) -> ControlAnswer {
    let api = match proxy(&control, &id) {
        Ok(api) => api,
        Err(answer) => return answer,
    };
    let federation = api.federation();
    if let Some(federation) = federation {
        federation.ask().await;
    }
    let servers = federation.map(|federation| federation.servers()).unwrap_or_default();
    ok(McpServers { node: control.shared.observer.node().to_owned(), federation: federation.is_some(), servers })
}

/// The servers as another gateway knows them.
async fn asked_servers(control: &Control, node: &str, api: &str) -> Option<NodeServers> {
    let question = FiguresQuestion::McpServers { node: node.to_owned(), api: api.to_owned() };
    let answers = control.nodes.ask(&question).await.answers;
    let (_, answer) = answers.into_iter().find(|(name, answer)| name == node && answer.is_object())?;
    serde_json::from_value(answer).ok()
}

/// A page of what the servers behind a proxy offer
///
/// Rows have `id`, `kind` (`tool`, `prompt`, `resource` or `template`), `name` as clients know it, `own_name`, `server`, `title`, `description`, `digest` of what models are told about a tool, `pin` in the definition, `withheld` (why clients do not see it), `changed` (whether they would if `pin` were `digest`) and `state` (`changed`, `hidden` or `shown`). They are what the gateway that answers has read last.
#[utoipa::path(
    get, path = "/tyk/list/primitives", tag = "Lists", operation_id = "searchMcpPrimitives",
    security(("secret" = ["viewer", "scope:query:api"])),
    params(
        ("api" = String, Query, description = "Id of the proxy.", example = "assistant"),
        ("name" = Option<String>, Query, description = "Only what has this name; its rows have the whole `entry` of the server's list too."),
        ("q" = Option<String>, Query, description = "Words that must all be in the names, the server, the description or the state, in any letter case."),
        ("sort" = Option<String>, Query, description = "`state`, `name`, `kind` or `server`; `-` before it for descending.", example = "name"),
        ("limit" = Option<String>, Query, description = "Rows, 1 to 1000; 100 by default."),
        ("after" = Option<String>, Query, description = "`next` of the page before."),
    ),
    responses(
        (status = 200, body = ListPage, description = "The page; empty if the proxy has one upstream, or no client has come yet."),
        (status = 400, body = Error, description = "A parameter has an invalid value."),
        NoSuchApi,
    )
)]
pub(super) async fn primitives(State(control): State<Arc<Control>>, Query(query): Query<HashMap<String, String>>) -> ControlAnswer {
    let asked = match Asked::read(&query, &["state", "name", "kind", "server"]) {
        Ok(asked) => asked,
        Err(answer) => return answer,
    };
    let Some(id) = query.get("api").filter(|id| !id.is_empty()) else { return error(StatusCode::BAD_REQUEST, "api is missing") };
    let api = match proxy(&control, id) {
        Ok(api) => api,
        Err(answer) => return answer,
    };
    let name = query.get("name").filter(|name| !name.is_empty());
    let mut total = 0;
    let pick = |one: Primitive<'_>| {
        total += 1;
        let texts = [one.name, one.own_name, one.server, one.kind, told(&one, "description"), state(&one)];
        let fits = name.is_none_or(|name| one.name == name) && asked.fits(texts.into_iter());
        fits.then(|| row(&one, name.is_some()))
    };
    let rows = api.federation().map(|server| server.primitives(pick)).unwrap_or_default();
    asked.page(rows, total)
}

/// Whether clients see it: in the order in which people want to know.
fn state(one: &Primitive<'_>) -> &'static str {
    match () {
        () if one.changed => "changed",
        () if one.withheld.is_empty() => "shown",
        () => "hidden",
    }
}

fn told<'c>(one: &Primitive<'c>, member: &str) -> &'c str {
    one.entry.get(member).and_then(Value::as_str).unwrap_or_default()
}

fn row(one: &Primitive<'_>, is_whole: bool) -> Value {
    let cut = |text: &str| Value::from(text.chars().take(DESCRIPTION_CHARS_MAX).collect::<String>());
    let mut row = json(one);
    if let Some(members) = row.as_object_mut() {
        let mut add = |name: &str, value: Value| drop(members.insert(name.to_owned(), value));
        add("id", format!("{}:{}:{}", one.kind, one.server, one.name).into());
        add("title", cut(told(one, "title")));
        add("description", cut(told(one, "description")));
        add("state", state(one).into());
        if is_whole {
            add("entry", one.entry.clone());
        }
    }
    row
}

/// The proxy with an id.
fn proxy(control: &Control, id: &str) -> Result<Arc<CompiledApi>, ControlAnswer> {
    match control.shared.current.load().api(id).filter(|api| is_mcp(api)) {
        Some(api) => Ok(api.clone()),
        None => Err(no_such_api()),
    }
}
