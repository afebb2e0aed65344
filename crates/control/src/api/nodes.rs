//! `/tyk/nodes`: the gateways that share a Redis, and in what they differ.

use super::Control;
use super::answer::{ControlAnswer, Error, json, ok};
use super::lists::{Asked, ListPage};
use super::query::Parameters;
use axum::extract::{Query, State};
use serde::Serialize;
use std::collections::HashMap;
use std::sync::Arc;
use tollgate_cluster::{KnownNode, NodeState};
use utoipa::ToSchema;

/// The gateways.
#[derive(Serialize, ToSchema)]
#[schema(as = Nodes)]
pub(super) struct NodesAnswer {
    /// The gateway that answers.
    node: String,
    /// Whether gateways share a Redis, so that they know each other.
    shared: bool,
    nodes: Vec<NodeRow>,
}

/// One gateway.
#[derive(Serialize, ToSchema)]
struct NodeRow {
    #[serde(flatten)]
    state: NodeState,
    /// Whether it is the one that answers.
    #[serde(rename = "self")]
    is_self: bool,
    /// When it was heard last.
    seen_unix_s: u64,
    alive: bool,
    /// In what it differs from most of the gateways that are alive: `version`, `configuration`, `definitions`, `policies`,
    /// `shared_definitions`.
    differs: Vec<String>,
}

/// The gateways that share a Redis
///
/// Each says every second that it is there, and every five seconds which version it is and digests of what it runs. Without `storage` in Redis, only the gateway itself.
#[utoipa::path(
    get, path = "/tyk/nodes", tag = "Figures", operation_id = "listNodes",
    security(("secret" = ["viewer", "scope:closed"])),
    responses((status = 200, body = NodesAnswer, description = "The gateways, the one that answers first."))
)]
pub(super) async fn list(State(control): State<Arc<Control>>) -> ControlAnswer {
    let nodes = rows(&control);
    ok(NodesAnswer { node: control.shared.observer.node().to_owned(), shared: control.nodes.cluster.is_some(), nodes })
}

/// A page of the gateways that share a Redis
///
/// Rows are those of `GET /tyk/nodes` with `id`, the name of the gateway.
#[utoipa::path(
    get, path = "/tyk/list/nodes", tag = "Lists", operation_id = "searchNodes",
    security(("secret" = ["viewer", "scope:closed"])),
    params(
        ("q" = Option<String>, Query, description = "Words that must all be in the name, the version or `differs`, in any letter case."),
        ("sort" = Option<String>, Query, description = "`node`, `version`, `started_unix_s`, `apis` or `seen_unix_s`; `-` before it for descending.", example = "-started_unix_s"),
        ("limit" = Option<String>, Query, description = "Rows, 1 to 1000; 100 by default."),
        ("after" = Option<String>, Query, description = "`next` of the page before."),
    ),
    responses(
        (status = 200, body = ListPage, description = "The page."),
        (status = 400, body = Error, description = "A parameter has an invalid value."),
    )
)]
pub(super) async fn search(State(control): State<Arc<Control>>, Query(query): Query<HashMap<String, String>>) -> ControlAnswer {
    let asked = match Asked::read(&query, &["node", "version", "started_unix_s", "apis", "seen_unix_s"]) {
        Ok(asked) => asked,
        Err(answer) => return answer,
    };
    let all = rows(&control);
    let total = all.len();
    let fits = |row: &NodeRow| {
        let texts = [row.state.node.as_str(), &row.state.version];
        asked.fits(texts.into_iter().chain(row.differs.iter().map(String::as_str)))
    };
    let found = all.into_iter().filter(fits).map(|row| {
        let id = row.state.node.clone();
        let mut row = json(row);
        row.as_object_mut().into_iter().for_each(|members| drop(members.insert("id".to_owned(), id.clone().into())));
        row
    });
    let found = found.collect();
    asked.page(found, total)
}

/// All gateways, the one that answers first.
fn rows(control: &Control) -> Vec<NodeRow> {
    let all = control.nodes.all();
    let states: Vec<&NodeState> = all.iter().filter(|node| node.is_alive).map(|node| &node.state).collect();
    type Read = fn(&NodeState) -> &str;
    let fields: [(&str, Read); 5] = [
        ("version", |state| &state.version),
        ("configuration", |state| &state.configuration),
        ("definitions", |state| &state.definitions),
        ("policies", |state| &state.policies),
        ("shared_definitions", |state| state.shared_definitions.as_ref().map_or("", |shared| &shared.digest)),
    ];
    let usual = fields.map(|(name, read)| (name, read, most(&states, read)));
    let rows = all.iter().enumerate().map(|(place, KnownNode { state, seen_unix_s, is_alive })| NodeRow {
        state: state.clone(),
        is_self: place == 0,
        seen_unix_s: *seen_unix_s,
        alive: *is_alive,
        differs: usual.iter().filter(|(_, read, usual)| read(state) != usual).map(|(name, ..)| (*name).to_owned()).collect(),
    });
    rows.collect()
}

/// The most frequent value; of several, the one of the gateway that answers, which is the first.
fn most(states: &[&NodeState], read: fn(&NodeState) -> &str) -> String {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    states.iter().for_each(|state| *counts.entry(read(state)).or_default() += 1);
    let own = states.first().map(|state| read(state)).unwrap_or_default();
    let most = counts.values().max().copied().unwrap_or_default();
    let first = counts.iter().filter(|(_, count)| **count == most).map(|(value, _)| *value).min().unwrap_or_default();
    if counts.get(own) == Some(&most) { own.to_owned() } else { first.to_owned() }
}

/// Whether `nodes` asks for all gateways.
pub(super) fn asks_all(parameters: &Parameters<'_>) -> Result<bool, String> {
    match parameters.text("nodes").unwrap_or("self") {
        "self" => Ok(false),
        "all" => Ok(true),
        other => Err(format!("nodes is {other:?}; it must be self or all")),
    }
}
