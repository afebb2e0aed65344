//! The servers of a federation as they are now: what is agreed with each, what it offers, whether it is there.

use crate::answer::{Agreed, Answer, LinkFault, Messages, Outbound};
use crate::catalogue::{Catalogue, ServerLists, WithheldTool};
use crate::client::{Client, all_capabilities};
use crate::command::CommandServer;
use crate::health::ServerHealth;
use crate::http_server::HttpServer;
use crate::link::Link;
use crate::message::{notification, request, text};
use crate::operations::OperationsServer;
use crate::outside::{Outside, now_unix_s};
use crate::terms::{CommandTerms, FederationTerms, OperationTerms, ServerTerms, Transport};
use crate::version::{Era, LEGACY, META_CAPABILITIES, META_CLIENT, META_LOG, META_VERSION, MODERN};
use futures_util::future::join_all;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::time::timeout;
use tollgate_mcp::encoded_header;

/// Callers whose sessions at a server are kept. More make new ones.
const CALLERS_MAX: usize = 10_000;
/// How long a session of a caller is used.
const AGREED_LIFE: Duration = Duration::from_secs(3_600);
/// Longest time until a server has told what it offers.
const LISTS_TIME_MAX: Duration = Duration::from_secs(10);
/// When a server that was not there is asked again.
const RETRY: Duration = Duration::from_secs(5);
/// Most pages of a list.
const PAGES_MAX: usize = 100;
/// Most entries of a list.
const ENTRIES_MAX: usize = 20_000;

/// One server, and what is known of it.
pub(crate) struct Backend {
    pub link: Link,
    era: Mutex<Option<Era>>,
    agreed: Mutex<HashMap<Client, (Arc<Agreed>, Instant)>>,
    health: Mutex<ServerHealth>,
}

/// All servers, and what they offer together.
pub(crate) struct FederationState {
    pub terms: FederationTerms,
    pub backends: Vec<Backend>,
    pub outside: Outside,
    catalogue: Mutex<Option<(Arc<Catalogue>, Instant)>>,
    refreshing: tokio::sync::Mutex<()>,
    /// Tells subscribers that lists have changed.
    pub changes: watch::Sender<u64>,
}

impl Backend {
    fn new(terms: &ServerTerms, outside: &Outside) -> Self {
        let time_max = terms.time_max;
        let link = match &terms.transport {
            Transport::Http { url, headers, tls } => Link::Http(HttpServer {
                url: url.clone(),
                headers: headers.clone(),
                tls: (**tls).clone(),
                time_max,
                client: outside.client.clone(),
            }),
            Transport::Command(command) => {
                let CommandTerms { command, environment, directory } = command.clone();
                let terms_of_command = CommandTerms { command, environment, directory };
                Link::Command(CommandServer::new(terms_of_command, terms.name.clone(), time_max))
            }
            Transport::Operations(OperationTerms { api, include, tags, credentials }) => {
                let (api, include, tags, credentials) = (api.clone(), include.clone(), tags.clone(), credentials.clone());
                let terms = OperationTerms { api, include, tags, credentials };
                Link::Operations(OperationsServer { terms, apis: outside.apis.clone(), time_max })
            }
        };
        Backend { link, era: Mutex::default(), agreed: Mutex::default(), health: Mutex::default() }
    }

    /// What is agreed for the requests of a client.
    pub(crate) async fn agreed(&self, client: &Client) -> Result<Arc<Agreed>, LinkFault> {
        let known = self.all_agreed().get(client).filter(|(_, since)| since.elapsed() < AGREED_LIFE).cloned();
        if let Some((agreed, _)) = known {
            return Ok(agreed);
        }
        let capabilities = serde_json::from_str(&client.capabilities).unwrap_or_else(|_| json!({}));
        let agreed = Arc::new(self.begin(&capabilities).await?);
        let mut all = self.all_agreed();
        if all.len() >= CALLERS_MAX {
            all.retain(|_, (_, since)| since.elapsed() < AGREED_LIFE);
        }
        if all.len() < CALLERS_MAX {
            all.insert(client.clone(), (agreed.clone(), Instant::now()));
        }
        Ok(agreed)
    }

    /// Forgets what was agreed, because the server has.
    pub(crate) fn forget(&self, client: &Client) {
        self.all_agreed().remove(client);
    }

    /// Agrees with the server on a version, and begins a session if it has such.
    async fn begin(&self, capabilities: &Value) -> Result<Agreed, LinkFault> {
        let plain = |capabilities: Value| Agreed { session: None, version: LEGACY[0].to_owned(), era: Era::Legacy, capabilities };
        match &self.link {
            Link::Command(server) => return Ok(plain((*server.capabilities().await?).clone())),
            Link::Operations(_) => return Ok(plain(json!({"tools": {}}))),
            Link::Http(_) => {}
        }
        let era = *self.era.lock().unwrap_or_else(PoisonError::into_inner);
        if era != Some(Era::Legacy)
            && let Some(agreed) = self.discover().await?
        {
            *self.era.lock().unwrap_or_else(PoisonError::into_inner) = Some(Era::Modern);
            return Ok(agreed);
        }
        let agreed = self.initialize(capabilities, &own_info()).await?;
        *self.era.lock().unwrap_or_else(PoisonError::into_inner) = Some(Era::Legacy);
        Ok(agreed)
    }

    /// Begins a session for a client that has one, with what that client can do.
    pub(crate) async fn initialize(&self, capabilities: &Value, client: &Value) -> Result<Agreed, LinkFault> {
        let params = json!({"protocolVersion": LEGACY[0], "capabilities": capabilities, "clientInfo": client});
        let message = request(&json!("initialize"), "initialize", params);
        let answer = self.link.send(Outbound { message: &message, agreed: None, headers: Vec::new() }).await?;
        let session = answer.session;
        let response = answer.messages.response().await?;
        let Some(begun) = response.get("result") else {
            return Err(LinkFault::Refused(200, response.get("error").cloned()));
        };
        let agreed = Agreed {
            session,
            version: text(begun, &["protocolVersion"]).unwrap_or(LEGACY[0]).to_owned(),
            era: Era::Legacy,
            capabilities: begun.get("capabilities").cloned().unwrap_or_else(|| json!({})),
        };
        let begun = notification("notifications/initialized", json!({}));
        let _ = self.link.send(Outbound { message: &begun, agreed: Some(&agreed), headers: Vec::new() }).await;
        Ok(agreed)
    }

    /// Asks as one asks modern servers; `None` if this is none.
    async fn discover(&self) -> Result<Option<Agreed>, LinkFault> {
        let agreed = Agreed { session: None, version: MODERN.to_owned(), era: Era::Modern, capabilities: Value::Null };
        let message = request(&json!("discover"), "server/discover", json!({}));
        let (message, headers) = prepared(&agreed, message, Vec::new());
        let answer = self.link.send(Outbound { message: &message, agreed: Some(&agreed), headers }).await;
        let response = match answer {
            Ok(answer) => answer.messages.response().await.ok(),
            Err(fault @ LinkFault::Unreachable(_)) => return Err(fault),
            Err(_) => None,
        };
        let found = response.as_ref().and_then(|response| response.get("result"));
        let versions = found.and_then(|found| found.get("supportedVersions")).and_then(Value::as_array);
        let is_modern = versions.into_iter().flatten().any(|version| version == MODERN);
        let capabilities = found.and_then(|found| found.get("capabilities")).cloned().unwrap_or_else(|| json!({}));
        Ok(is_modern.then_some(Agreed { capabilities, ..agreed }))
    }

    /// Sends a request of a client, as the server's version has it.
    pub(crate) async fn send(&self, agreed: &Agreed, message: Value, headers: Vec<(String, String)>) -> Result<Answer, LinkFault> {
        let (message, headers) = prepared(agreed, message, headers);
        self.link.send(Outbound { message: &message, agreed: Some(agreed), headers }).await
    }

    /// All that the server offers.
    async fn lists(&self) -> Result<ServerLists, LinkFault> {
        let agreed = self.agreed(&Client::looking()).await?;
        let can = |name: &str| agreed.capabilities.get(name).is_some();
        let mut lists = ServerLists { capabilities: agreed.capabilities.clone(), ..ServerLists::default() };
        if can("tools") {
            lists.tools = self.list(&agreed, "tools/list", "tools").await?;
        }
        if can("prompts") {
            lists.prompts = self.list(&agreed, "prompts/list", "prompts").await?;
        }
        if can("resources") {
            lists.resources = self.list(&agreed, "resources/list", "resources").await?;
            // Many servers have resources and no templates.
            lists.templates = self.list(&agreed, "resources/templates/list", "resourceTemplates").await.unwrap_or_default();
        }
        Ok(lists)
    }

    async fn list(&self, agreed: &Agreed, method: &str, member: &str) -> Result<Vec<Value>, LinkFault> {
        let mut entries = Vec::new();
        let mut cursor: Option<Value> = None;
        for page in 0..PAGES_MAX {
            let mut params = Map::new();
            cursor.iter().for_each(|cursor| drop(params.insert("cursor".to_owned(), cursor.clone())));
            params.insert("_meta".to_owned(), json!({META_CAPABILITIES: all_capabilities()}));
            let message = request(&json!(format!("{member}-{page}")), method, Value::Object(params));
            let response = self.send(agreed, message, Vec::new()).await?.messages.response().await?;
            let Some(result) = response.get("result") else {
                return Err(LinkFault::Refused(200, response.get("error").cloned()));
            };
            entries.extend(result.get(member).and_then(Value::as_array).into_iter().flatten().cloned());
            cursor = result.get("nextCursor").filter(|cursor| !cursor.is_null()).cloned();
            if cursor.is_none() || entries.len() >= ENTRIES_MAX {
                break;
            }
        }
        entries.truncate(ENTRIES_MAX);
        Ok(entries)
    }

    /// The same, with one more try in a new session, and within a time.
    async fn lists_in_time(&self, name: &str, api: &str) -> Option<Arc<ServerLists>> {
        let reading = async {
            match self.lists().await {
                Err(LinkFault::SessionGone) => {
                    self.forget(&Client::looking());
                    self.lists().await
                }
                other => other,
            }
        };
        let late = || LinkFault::Unreachable(format!("it has not told what it offers within {LISTS_TIME_MAX:?}"));
        let read = timeout(LISTS_TIME_MAX, reading).await.unwrap_or_else(|_| Err(late()));
        let spoken = self.all_agreed().get(&Client::looking()).map(|(agreed, _)| (agreed.version.clone(), agreed.era));
        let mut health = self.health.lock().unwrap_or_else(PoisonError::into_inner);
        match read {
            Ok(lists) => {
                health.spoken = spoken;
                if health.note(None, now_unix_s()) {
                    tracing::info!(api, server = name, "an MCP server is there again");
                }
                Some(Arc::new(lists))
            }
            Err(fault) => {
                let why = fault.to_string();
                if health.note(Some(why.clone()), now_unix_s()) {
                    tracing::warn!(api, server = name, why, "an MCP server is not there: its tools are left out");
                }
                drop(health);
                self.forget(&Client::looking());
                None
            }
        }
    }

    fn all_agreed(&self) -> std::sync::MutexGuard<'_, HashMap<Client, (Arc<Agreed>, Instant)>> {
        self.agreed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FederationState {
    pub(crate) fn new(terms: FederationTerms, outside: Outside) -> Self {
        let backends = terms.servers.iter().map(|server| Backend::new(server, &outside)).collect();
        let (catalogue, refreshing) = (Mutex::default(), tokio::sync::Mutex::default());
        FederationState { terms, backends, outside, catalogue, refreshing, changes: watch::Sender::new(0) }
    }

    /// What all servers offer. One that is known is given at once, and read anew behind the answer if it is old.
    pub(crate) async fn catalogue(self: &Arc<Self>) -> Arc<Catalogue> {
        let known = self.known();
        match known {
            None => self.refresh(None).await,
            Some((catalogue, read)) => {
                let is_lacking = self.backends.iter().any(|backend| backend.health().fault.is_some());
                let life = if is_lacking { RETRY.min(self.terms.lists_time) } else { self.terms.lists_time };
                if read.elapsed() >= life && self.refreshing.try_lock().is_ok() {
                    let state = self.clone();
                    self.outside.client.spawn(async move { drop(state.refresh(Some(read)).await) });
                }
                catalogue
            }
        }
    }

    /// Reads all lists, unless somebody has done so since `seen`.
    pub(crate) async fn refresh(self: &Arc<Self>, seen: Option<Instant>) -> Arc<Catalogue> {
        let _one = self.refreshing.lock().await;
        let known = self.known();
        if let Some((catalogue, read)) = &known
            && seen != Some(*read)
        {
            return catalogue.clone();
        }
        let named = self.backends.iter().zip(&self.terms.servers);
        let lists = join_all(named.map(|(backend, terms)| backend.lists_in_time(&terms.name, &self.terms.api))).await;
        let made = Arc::new(Catalogue::build(&self.terms, &lists));
        for WithheldTool { server, name: tool, why, .. } in &made.withheld {
            let is_known = |old: &WithheldTool| old.server == *server && old.name == *tool;
            let is_news = known.as_ref().is_none_or(|(old, _)| !old.withheld.iter().any(is_known));
            let server = self.terms.servers.get(*server).map_or("", |server| server.name.as_str());
            if is_news {
                tracing::warn!(api = self.terms.api, server, tool, why, "a tool of an MCP server is withheld");
            }
        }
        let has_changed = known.as_ref().is_some_and(|(old, _)| !old.shows_as(&made));
        *self.catalogue.lock().unwrap_or_else(PoisonError::into_inner) = Some((made.clone(), Instant::now()));
        if has_changed {
            self.changes.send_modify(|count| *count += 1);
        }
        made
    }

    fn known(&self) -> Option<(Arc<Catalogue>, Instant)> {
        self.catalogue.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// When the lists that are known were read.
    pub(crate) fn seen(&self) -> Option<Instant> {
        self.known().map(|(_, read)| read)
    }

    /// What is known of all servers; nothing before somebody has asked.
    pub(crate) fn known_catalogue(&self) -> Arc<Catalogue> {
        self.known().map(|(catalogue, _)| catalogue).unwrap_or_default()
    }
}

impl Backend {
    /// Whether it is known that each request to it stands for itself.
    pub(crate) fn is_modern(&self) -> bool {
        *self.era.lock().unwrap_or_else(PoisonError::into_inner) == Some(Era::Modern)
    }

    /// What is known of it from asking it.
    pub(crate) fn health(&self) -> ServerHealth {
        self.health.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The gateway, as servers see their client.
pub(crate) fn own_info() -> Value {
    json!({"name": "tollgate", "version": env!("CARGO_PKG_VERSION")})
}

/// A message as the server's version has it, with the header lines that go with it.
fn prepared(agreed: &Agreed, mut message: Value, mut headers: Vec<(String, String)>) -> (Value, Vec<(String, String)>) {
    let Some(members) = message.as_object_mut() else { return (message, headers) };
    if !members.contains_key("method") {
        return (message, headers);
    }
    let params = members.entry("params").or_insert_with(|| json!({}));
    match agreed.era {
        Era::Legacy => {
            if let Some(meta) = params.get_mut("_meta").and_then(Value::as_object_mut) {
                [META_VERSION, META_CLIENT, META_CAPABILITIES, META_LOG].iter().for_each(|name| drop(meta.remove(*name)));
            }
            if params.get("_meta").and_then(Value::as_object).is_some_and(Map::is_empty)
                && let Some(params) = params.as_object_mut()
            {
                params.remove("_meta");
            }
        }
        Era::Modern => {
            if let Some(meta) = crate::message::meta_of(params) {
                meta.insert(META_VERSION.to_owned(), MODERN.into());
                meta.entry(META_CLIENT).or_insert_with(own_info);
                meta.entry(META_CAPABILITIES).or_insert_with(|| json!({}));
            }
            let name = ["name", "uri"].iter().find_map(|name| params.get(*name)).and_then(Value::as_str).map(encoded_header);
            let method = members.get("method").and_then(Value::as_str).unwrap_or_default().to_owned();
            if matches!(method.as_str(), "tools/call" | "prompts/get" | "resources/read") {
                headers.extend(name.map(|name| ("Mcp-Name".to_owned(), name)));
            }
            headers.push(("Mcp-Method".to_owned(), method));
        }
    }
    for (name, value) in headers.iter_mut().filter(|(name, _)| name.starts_with("Mcp-Param-")) {
        let _ = name;
        *value = encoded_header(value);
    }
    (message, headers)
}

impl Messages {
    /// Whether there is nothing.
    pub(crate) fn is_none(&self) -> bool {
        matches!(self, Messages::None)
    }
}
