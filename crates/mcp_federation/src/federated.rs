//! The servers of a federation as one: where calls go, and what is told of all.

use crate::answer::{Agreed, Answer, LinkFault};
use crate::catalogue::Catalogue;
use crate::client::Client;
use crate::federated_call::FederatedCall;
use crate::inspection::{Primitive, ServerState};
use crate::link::Link;
use crate::message::{RpcError, code, meta_of, method, request, set, text};
use crate::outside::Outside;
use crate::relay::Shape;
use crate::session_stream::Overheard;
use crate::state::FederationState;
use crate::tasks::TASK;
use crate::terms::FederationTerms;
use crate::tool_route::ToolRoute;
use crate::unlisted::unlisted;
use crate::version::{Era, META_CAPABILITIES};
use http::HeaderMap;
use http::header::ACCEPT;
use serde_json::{Value, json};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::oneshot;
use tollgate_outbound::{CallerLine, Holder, Share};

/// One MCP server in front of many.
pub struct FederatedServer {
    pub(crate) state: Arc<FederationState>,
    last_id: AtomicU64,
}

impl fmt::Debug for FederatedServer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("FederatedServer").field("api", &self.state.terms.api).finish_non_exhaustive()
    }
}

/// A request to the federation.
pub(crate) struct Asked {
    pub headers: HeaderMap,
    /// Who calls; empty if that is not known.
    pub caller: String,
    /// Whether what it calls looks to its caller as if it did not exist.
    pub is_closed: bool,
    /// The known part of what the client can do.
    pub capabilities: Value,
    pub message: Value,
    /// Its share of memory, as long as it is needed.
    pub room: Option<Share>,
    /// The same call, for its record.
    pub recorded: Option<Arc<FederatedCall>>,
}

/// Where a call goes.
pub(crate) struct Route {
    pub server: usize,
    pub method: String,
    /// The name or URI of what is called, as the client says it.
    pub name: String,
    pub params: Value,
    /// Header lines for a modern server.
    pub headers: Vec<(String, String)>,
    /// The tool that is called, as clients know it.
    pub tool: Option<String>,
    /// What the client says of the task that the call is to become.
    pub task: Option<Value>,
}

/// Why a call goes nowhere.
pub(crate) enum Unrouted {
    Error(RpcError),
    /// A model can do better: it is told in a result.
    Told(Value),
}

impl From<RpcError> for Unrouted {
    fn from(error: RpcError) -> Self {
        Unrouted::Error(error)
    }
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The name of the session that it says it is in.
    pub(crate) fn session(&self) -> Option<&str> {
        self.header("mcp-session-id")
    }

    pub(crate) fn id(&self) -> Value {
        self.message.get("id").cloned().unwrap_or_default()
    }

    pub(crate) fn params(&self) -> Value {
        self.message.get("params").cloned().unwrap_or_else(|| json!({}))
    }

    /// Who sends it, as servers see that.
    fn client(&self) -> Client {
        Client { caller: Some(self.caller.clone()), capabilities: self.capabilities.to_string() }
    }

    /// Who may bring messages for its calls.
    pub(crate) fn owner(&self, server: &FederatedServer) -> String {
        format!("{}\n{}", server.state.terms.api, self.caller)
    }

    /// Who has its mailboxes. Callers without a key are told apart by their networks.
    pub(crate) fn holder(&self, server: &FederatedServer) -> Holder {
        CallerLine::read(&self.headers).holder(self.owner(server))
    }

    pub(crate) fn reads_events(&self) -> bool {
        self.headers.get(ACCEPT).is_some_and(|accept| accept.to_str().unwrap_or_default().contains("text/event-stream"))
    }
}

impl FederatedServer {
    /// A server with these terms. Nothing is started or asked until a client comes.
    pub fn new(terms: FederationTerms, outside: Outside) -> Self {
        let state = Arc::new(FederationState::new(terms, outside));
        FederatedServer { state, last_id: AtomicU64::new(1) }
    }

    /// The servers behind it, for people who look.
    pub fn servers(&self) -> Vec<ServerState> {
        self.state.servers()
    }

    /// Asks all servers now what they offer.
    pub async fn ask(&self) {
        let state = self.state.clone();
        let (done, asked) = oneshot::channel();
        // Where requests of clients run: what is started for one goes on when this caller leaves.
        self.state.outside.client.spawn(async move {
            state.refresh().await;
            let _ = done.send(());
        });
        let _ = asked.await;
    }

    /// What `pick` makes of all that they offer, for people who look.
    pub fn primitives<R>(&self, pick: impl FnMut(Primitive<'_>) -> Option<R>) -> Vec<R> {
        self.state.primitives(pick)
    }

    /// What clients are told about the federation itself.
    pub(crate) fn info(&self) -> Value {
        json!({"name": self.state.terms.name, "version": self.state.terms.version})
    }

    /// Whether it is known that each request to a server stands for itself.
    pub(crate) fn is_modern(&self, server: usize) -> bool {
        self.state.backends.get(server).is_some_and(|backend| backend.agreements.is_modern())
    }

    /// Where a call goes. `unknown` is the code for a resource that does not exist.
    pub(crate) fn route(&self, catalogue: &Catalogue, asked: &Asked, unknown: i64) -> Result<Route, Unrouted> {
        let (method, mut params, is_open) = (method(&asked.message), asked.params(), !asked.is_closed);
        let missing = |what: &str| RpcError::new(code::INVALID_PARAMS, format!("missing required parameter: {what}"));
        let of = |server, name: &str, params| {
            let (name, method) = (name.to_owned(), method.to_owned());
            Route { server, method, name, params, headers: Vec::new(), tool: None, task: None }
        };
        match method {
            "tools/call" => {
                let name = text(&params, &["name"]).ok_or_else(|| missing("name"))?.to_owned();
                let may_call = |tool: &&ToolRoute| is_open && !self.is_refused(tool, asked);
                let tool = catalogue.tool(&name).filter(may_call).ok_or_else(|| unlisted(method, &name, unknown))?;
                let none = json!({});
                let arguments = params.get("arguments").unwrap_or(&none);
                if let Some(fault) = tool.fault_of(arguments) {
                    let why = format!("The arguments do not fit the tool's schema: {fault}");
                    return Err(Unrouted::Told(json!({"content": [{"type": "text", "text": why}], "isError": true})));
                }
                let headers = tool.argument_headers(arguments);
                set(&mut params, "name", tool.name.clone());
                // A server that takes no tasks would not expect it.
                let task = params.as_object_mut().and_then(|params| params.remove(TASK));
                Ok(Route { headers, tool: Some(name.clone()), task, ..of(tool.server, &name, params) })
            }
            "prompts/get" => {
                let name = text(&params, &["name"]).ok_or_else(|| missing("name"))?.to_owned();
                let (server, own) = catalogue.prompt(&name).filter(|_| is_open).ok_or_else(|| unlisted(method, &name, unknown))?;
                set(&mut params, "name", own);
                Ok(of(server, &name, params))
            }
            "completion/complete" => {
                let found = match text(&params, &["ref", "type"]) {
                    Some("ref/prompt") => {
                        let own = text(&params, &["ref", "name"]).and_then(|name| catalogue.prompt(name));
                        own.map(|(server, own)| (server, Some(own.to_owned())))
                    }
                    Some("ref/resource") => {
                        let uri = text(&params, &["ref", "uri"]);
                        uri.and_then(|uri| catalogue.template(uri).or_else(|| catalogue.resource(uri))).map(|server| (server, None))
                    }
                    _ => None,
                };
                let (server, own) = found.filter(|_| is_open).ok_or_else(|| unlisted(method, "", unknown))?;
                if let (Some(own), Some(named)) = (own, params.get_mut("ref")) {
                    set(named, "name", own);
                }
                Ok(of(server, "", params))
            }
            _ => {
                let uri = text(&params, &["uri"]).ok_or_else(|| missing("uri"))?.to_owned();
                let server = catalogue.resource(&uri).filter(|_| is_open).ok_or_else(|| unlisted(method, &uri, unknown))?;
                Ok(of(server, &uri, params))
            }
        }
    }

    /// Listens to what the server of a call asks beside its answer, if the client can be asked.
    pub(crate) async fn overhear(&self, asked: &Asked, route: &Route) -> Option<Overheard> {
        asked.capabilities.as_object().filter(|can| !can.is_empty())?;
        self.state.backends.get(route.server)?.overhear(&asked.client()).await
    }

    /// Sends a call where it goes. `agreed` is what the client's session has agreed with the server, if there is such.
    pub(crate) async fn call(
        &self,
        asked: &Asked,
        route: &Route,
        agreed: Option<Agreed>,
    ) -> Result<(Arc<Agreed>, Answer), LinkFault> {
        let gone = || LinkFault::Unreachable("it is no longer there".to_owned());
        let backend = self.state.backends.get(route.server).ok_or_else(gone)?;
        let headers = match &backend.link {
            // An API of the gateway itself gets the client's credentials, and picks them.
            Link::Operations(_) => texts(&asked.headers),
            Link::Http(_) | Link::Command(_) => route.headers.clone(),
        };
        let holder = Some(asked.holder(self));
        if let Some(agreed) = agreed {
            let message = request(&asked.id(), &route.method, route.params.clone());
            // If the server has ended the session, so has it for the client, who begins another.
            let answer = backend.send_for(holder, &agreed, message, headers).await?;
            return Ok((Arc::new(agreed), answer));
        }
        // Requests of several sessions share this one: their ids must differ.
        let id = json!(self.last_id.fetch_add(1, Ordering::Relaxed));
        let mut params = route.params.clone();
        if let Some(meta) = meta_of(&mut params) {
            meta.entry(META_CAPABILITIES).or_insert_with(|| asked.capabilities.clone());
        }
        let message = request(&id, &route.method, params);
        let client = asked.client();
        let agreed = backend.agreed(&client).await?;
        match backend.send_for(holder.clone(), &agreed, message.clone(), headers.clone()).await {
            Err(LinkFault::SessionGone) => {
                backend.agreements.forget(&client, &agreed);
                let agreed = backend.agreed(&client).await?;
                let answer = backend.send_for(holder, &agreed, message, headers).await?;
                Ok((agreed, answer))
            }
            answer => Ok((agreed, answer?)),
        }
    }

    /// How the client gets a server's answer.
    pub(crate) fn shape(&self, asked: &Asked, era: Era, server: usize) -> Shape {
        Shape {
            era,
            id: asked.id(),
            server: self.state.terms.servers.get(server).map(|server| server.name.clone()).unwrap_or_default(),
            events: self.state.outside.seal.events(asked.session().unwrap_or_default()),
            tasks: (era == Era::Legacy).then(|| self.state.outside.seal.tasks(asked.session().unwrap_or_default())),
            info: self.info(),
            reads_events: asked.reads_events(),
            wants_log: era == Era::Legacy,
            ttl_ms: None,
            time_max: self.state.terms.servers.get(server).map_or(Duration::ZERO, |server| server.time_max),
            tool: None,
            recorded: asked.recorded.clone(),
        }
    }
}

/// Header lines as texts.
fn texts(headers: &HeaderMap) -> Vec<(String, String)> {
    let line = |(name, value): (&http::HeaderName, &http::HeaderValue)| Some((name.to_string(), value.to_str().ok()?.to_owned()));
    headers.iter().filter_map(line).collect()
}
