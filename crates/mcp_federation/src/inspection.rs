//! The servers of a federation and what they offer, for people who look. Looking asks no server.

use crate::backend::Backend;
use crate::catalogue::Catalogue;
use crate::health::ProcessFigures;
use crate::link::Link;
use crate::message::text;
use crate::state::FederationState;
use crate::terms::{ServerTerms, Transport};
use crate::version::Era;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// A server behind a federation, as one gateway knows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = McpServerState)]
pub struct ServerState {
    /// Its name.
    pub name: String,
    /// How it is reached.
    #[schema(inline)]
    pub kind: ServerKind,
    /// Its URL, its program, or the id of the API.
    pub place: String,
    /// Whether it is there.
    #[schema(inline)]
    pub state: ServerStanding,
    /// Why it is not there; empty otherwise.
    pub fault: String,
    /// Since when it is there, or not; `null` if nobody has asked it yet.
    #[schema(required)]
    pub since_unix_s: Option<u64>,
    /// When it was asked last what it offers.
    #[schema(required)]
    pub asked_unix_s: Option<u64>,
    /// Version of the protocol that it speaks; empty if that is not known.
    pub version: String,
    /// Whether it begins sessions; versions from 2026-07-28 on have none. `null` if that is not known.
    #[schema(required)]
    pub has_sessions: Option<bool>,
    /// Tools that clients see.
    pub tools: usize,
    /// Tools that they do not see although the definition has them.
    pub withheld: usize,
    /// Those of them that clients would see if the definition had their new digest.
    pub changed: usize,
    /// Prompts that clients see.
    pub prompts: usize,
    /// Resources that clients see, with templates.
    pub resources: usize,
    /// Its process, if it is one.
    #[schema(required)]
    pub process: Option<ProcessFigures>,
}

/// How a server is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServerKind {
    /// Over streamable HTTP.
    Url,
    /// As a child process.
    Command,
    /// Through the chain of an API of the gateway.
    Api,
}

/// Whether a server is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServerStanding {
    /// Nobody has asked it yet: servers are asked when a client comes.
    NotAsked,
    /// It has told what it offers.
    There,
    /// It has not, when it was asked last.
    Missing,
}

/// A tool, prompt, resource or template of resources.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[schema(as = McpPrimitive)]
pub struct PrimitiveState {
    /// `tool`, `prompt`, `resource` or `template`.
    pub kind: &'static str,
    /// Its name, or its URI, as clients know it; the server's own for a tool that they do not see.
    pub name: String,
    /// The server's own name for it.
    pub own_name: String,
    /// The server's name.
    pub server: String,
    /// The digest of what models are told about a tool.
    pub digest: String,
    /// The digest that the definition wants; empty for any.
    pub pin: String,
    /// Why clients do not see it; empty if they do.
    pub withheld: String,
    /// Whether they would see it if the definition had the new digest.
    pub changed: bool,
    /// The whole entry of the list.
    #[schema(value_type = Object)]
    pub entry: Value,
}

impl FederationState {
    /// The servers.
    pub(crate) fn servers(&self) -> Vec<ServerState> {
        let known = self.known_catalogue();
        self.terms
            .servers
            .iter()
            .zip(&self.backends)
            .enumerate()
            .map(|(at, (terms, backend))| server(at, terms, backend, &known))
            .collect()
    }

    /// What they offer.
    pub(crate) fn primitives(&self) -> Vec<PrimitiveState> {
        let known = self.known_catalogue();
        let lists = [
            ("tool", "name", &known.tools),
            ("prompt", "name", &known.prompts),
            ("resource", "uri", &known.resources),
            ("template", "uriTemplate", &known.templates),
        ];
        let shown = lists.into_iter().flat_map(|(kind, member, list)| list.iter().map(move |entry| (kind, member, entry)));
        let shown = shown.filter_map(|(kind, member, entry)| self.shown(&known, kind, text(entry, &[member])?, entry));
        let hidden = known.withheld.iter().filter_map(|tool| {
            let server = self.terms.servers.get(tool.server)?;
            Some(PrimitiveState {
                kind: "tool",
                name: tool.name.clone(),
                own_name: tool.name.clone(),
                server: server.name.clone(),
                digest: tool.digest.clone(),
                pin: server.view.pins.get(&tool.name).cloned().unwrap_or_default(),
                withheld: tool.why.clone(),
                changed: tool.has_changed,
                entry: tool.entry.clone(),
            })
        });
        hidden.chain(shown).collect()
    }

    fn shown(&self, known: &Catalogue, kind: &'static str, name: &str, entry: &Value) -> Option<PrimitiveState> {
        let server = self.terms.servers.get(known.server_of(kind, name)?)?;
        let own_name = match kind {
            "tool" => known.tool(name).map(|tool| tool.name.as_str()),
            "prompt" => known.prompt(name).map(|(_, own)| own),
            _ => None,
        };
        let own_name = own_name.unwrap_or(name).to_owned();
        let is_tool = kind == "tool";
        Some(PrimitiveState {
            kind,
            name: name.to_owned(),
            server: server.name.clone(),
            digest: known.digests.get(name).filter(|_| is_tool).cloned().unwrap_or_default(),
            pin: server.view.pins.get(&own_name).filter(|_| is_tool).cloned().unwrap_or_default(),
            own_name,
            withheld: String::new(),
            changed: false,
            entry: entry.clone(),
        })
    }
}

fn server(at: usize, terms: &ServerTerms, backend: &Backend, known: &Catalogue) -> ServerState {
    let health = backend.health();
    let of = |kind: &str, member: &str, list: &[Value]| {
        list.iter().filter_map(|entry| text(entry, &[member])).filter(|name| known.server_of(kind, name) == Some(at)).count()
    };
    let hidden = || known.withheld.iter().filter(|tool| tool.server == at);
    let (kind, place) = match &terms.transport {
        Transport::Http { url, .. } => (ServerKind::Url, url.clone()),
        Transport::Command(command) => (ServerKind::Command, command.command.first().cloned().unwrap_or_default()),
        Transport::Operations(operations) => (ServerKind::Api, operations.api.clone()),
    };
    let process = match &backend.link {
        Link::Command(server) => Some(server.figures()),
        Link::Http(_) | Link::Operations(_) => None,
    };
    let (version, era) = health.spoken.clone().unzip();
    let version = match (&process, kind) {
        (Some(process), _) => process.version.clone(),
        // Its tools are made of a document.
        (None, ServerKind::Api) => String::new(),
        (None, _) => version.unwrap_or_default(),
    };
    ServerState {
        name: terms.name.clone(),
        kind,
        place,
        state: match (&health.fault, health.asked_unix_s) {
            (_, None) => ServerStanding::NotAsked,
            (None, _) => ServerStanding::There,
            (Some(_), _) => ServerStanding::Missing,
        },
        fault: health.fault.unwrap_or_default(),
        since_unix_s: health.since_unix_s,
        asked_unix_s: health.asked_unix_s,
        has_sessions: era.filter(|_| !version.is_empty()).map(|era| era == Era::Legacy),
        version,
        tools: of("tool", "name", &known.tools),
        withheld: hidden().count(),
        changed: hidden().filter(|tool| tool.has_changed).count(),
        prompts: of("prompt", "name", &known.prompts),
        resources: of("resource", "uri", &known.resources) + of("template", "uriTemplate", &known.templates),
        process,
    }
}
