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
    /// Lists of which clients see only what stands first, because they have too many pages or entries: `tools`, `prompts`, `resources` and
    /// `resourceTemplates`.
    #[serde(default)]
    pub cut: Vec<String>,
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Primitive<'c> {
    /// `tool`, `prompt`, `resource` or `template`.
    pub kind: &'static str,
    /// Its name, or its URI, as clients know it; the server's own for what they do not see.
    pub name: &'c str,
    /// The server's own name for it.
    pub own_name: &'c str,
    /// The server's name.
    pub server: &'c str,
    /// The digest of what models are told about a tool.
    pub digest: &'c str,
    /// The digest that the definition wants; empty for any.
    pub pin: &'c str,
    /// Why clients do not see it; empty if they do.
    pub withheld: &'c str,
    /// Whether they would see it if the definition had the new digest.
    pub changed: bool,
    /// The whole entry of the list; nothing if it is too large.
    #[serde(skip)]
    pub entry: &'c Value,
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

    /// What `pick` makes of all that they offer.
    pub(crate) fn primitives<R>(&self, pick: impl FnMut(Primitive<'_>) -> Option<R>) -> Vec<R> {
        let known = self.known_catalogue();
        let hidden = known.withheld.iter().filter_map(|one| {
            let terms = self.terms.servers.get(one.server)?;
            Some(Primitive {
                digest: &one.digest,
                pin: if one.kind == "tool" { pin(terms, &one.name) } else { "" },
                withheld: &one.why,
                changed: one.has_changed,
                ..plain(one.kind, &one.name, &one.name, terms, &one.entry)
            })
        });
        let tools = known.tools.iter().filter_map(|entry| {
            let name = text(entry, &["name"])?;
            let route = known.tool(name)?;
            let terms = self.terms.servers.get(route.server)?;
            let digest = known.digests.get(name).map_or("", String::as_str);
            Some(Primitive { digest, pin: pin(terms, &route.name), ..plain("tool", name, &route.name, terms, entry) })
        });
        let prompts = known.prompts.iter().filter_map(|entry| {
            let name = text(entry, &["name"])?;
            let (server, own) = known.prompt(name)?;
            Some(plain("prompt", name, own, self.terms.servers.get(server)?, entry))
        });
        let resources = known.resources.iter().filter_map(|entry| {
            let uri = text(entry, &["uri"])?;
            Some(plain("resource", uri, uri, self.terms.servers.get(known.server_of_listed(uri)?)?, entry))
        });
        let templates = known.templates_with_servers().filter_map(|(entry, server)| {
            let uri = text(entry, &["uriTemplate"])?;
            Some(plain("template", uri, uri, self.terms.servers.get(server)?, entry))
        });
        hidden.chain(tools).chain(prompts).chain(resources).chain(templates).filter_map(pick).collect()
    }
}

fn plain<'c>(kind: &'static str, name: &'c str, own_name: &'c str, terms: &'c ServerTerms, entry: &'c Value) -> Primitive<'c> {
    let (server, digest, pin, withheld, changed) = (terms.name.as_str(), "", "", "", false);
    Primitive { kind, name, own_name, server, digest, pin, withheld, changed, entry }
}

fn pin<'c>(terms: &'c ServerTerms, own_name: &str) -> &'c str {
    terms.view.pins.get(own_name).map_or("", String::as_str)
}

fn server(at: usize, terms: &ServerTerms, backend: &Backend, known: &Catalogue) -> ServerState {
    let health = backend.health();
    let [tools, prompts, resources] = known.counts(at);
    let hidden = || known.withheld.iter().filter(|one| one.server == at && one.kind == "tool");
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
        tools,
        withheld: hidden().count(),
        changed: hidden().filter(|tool| tool.has_changed).count(),
        prompts,
        resources,
        cut: backend.last_lists().iter().flat_map(|lists| &lists.cut).map(|list| (*list).to_owned()).collect(),
        process,
    }
}
