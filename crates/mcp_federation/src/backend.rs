//! One server behind a federation: what is agreed with it, and what it offers.

use crate::answer::{Agreed, Answer, LinkFault, Outbound};
use crate::catalogue::{ServerLists, TOO_LARGE};
use crate::client::{Client, all_capabilities};
use crate::command::CommandServer;
use crate::health::ServerHealth;
use crate::http_server::HttpServer;
use crate::link::Link;
use crate::message::{notification, request, text};
use crate::operations::OperationsServer;
use crate::outside::{Outside, now_unix_s};
use crate::terms::{CommandTerms, OperationTerms, ServerTerms, Transport};
use crate::version::{Era, LEGACY, META_CAPABILITIES, META_CLIENT, META_LOG, META_VERSION, MODERN};
use crate::weight::weight;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::time::timeout;
use tollgate_mcp::encoded_header;

/// Clients whose sessions at a server are kept. For a further one, the oldest is ended.
const CLIENTS_MAX: usize = 10_000;
/// How long a session of a client is used.
const AGREED_LIFE: Duration = Duration::from_secs(3_600);
/// Longest time until a server has told what it offers, when it runs.
const LISTS_TIME_MAX: Duration = Duration::from_secs(10);
/// Longest time until a process has told the same, which may have to load first.
const PROCESS_LISTS_TIME_MAX: Duration = Duration::from_secs(60);
/// Most pages of a list.
const PAGES_MAX: usize = 100;
/// Most entries of a list.
const ENTRIES_MAX: usize = 20_000;
/// Most bytes of memory of an entry. Of a larger one, only the name is kept.
const ENTRY_BYTES_MAX: usize = 512 << 10;
/// Most bytes of memory of all that a server offers.
const LISTS_BYTES_MAX: usize = 16 << 20;

/// One server, and what is known of it.
pub(crate) struct Backend {
    pub link: Link,
    era: Mutex<Option<Era>>,
    agreed: Mutex<HashMap<Client, (Arc<Agreed>, Instant)>>,
    health: Mutex<ServerHealth>,
    lists: Mutex<KnownLists>,
    /// Whether its lists are being read.
    pub is_reading: AtomicBool,
    /// Whether its lists are to be read soon.
    pub is_changed: AtomicBool,
}

/// What a server has told when it was asked last.
#[derive(Default)]
struct KnownLists {
    lists: Option<Arc<ServerLists>>,
    read: Option<Instant>,
}

impl Backend {
    pub(crate) fn new(terms: &ServerTerms, outside: &Outside) -> Self {
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
        Backend {
            link,
            era: Mutex::default(),
            agreed: Mutex::default(),
            health: Mutex::default(),
            lists: Mutex::default(),
            is_reading: AtomicBool::new(false),
            is_changed: AtomicBool::new(false),
        }
    }

    /// What is agreed for the requests of a client.
    pub(crate) async fn agreed(&self, client: &Client) -> Result<Arc<Agreed>, LinkFault> {
        let known = self.all_agreed().get(client).filter(|(_, since)| since.elapsed() < AGREED_LIFE).cloned();
        if let Some((agreed, _)) = known {
            return Ok(agreed);
        }
        let capabilities = serde_json::from_str(&client.capabilities).unwrap_or_else(|_| json!({}));
        let agreed = Arc::new(self.begin(&capabilities).await?);
        let left = {
            let mut all = self.all_agreed();
            let is_full = all.len() >= CLIENTS_MAX;
            let oldest = is_full.then(|| all.iter().min_by_key(|(_, (_, since))| *since).map(|(client, _)| client.clone()));
            let oldest = oldest.flatten().and_then(|client| all.remove(&client));
            let replaced = all.insert(client.clone(), (agreed.clone(), Instant::now()));
            oldest.into_iter().chain(replaced)
        };
        for (left, _) in left {
            if let Link::Http(server) = &self.link {
                server.end_later(left);
            }
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
        let mut capabilities = agreed.capabilities.clone();
        if agreed.session.is_none()
            && let Some(offered) = capabilities.as_object_mut()
        {
            // Without a session of each client there is nobody to whom these would be told.
            offered.remove("logging");
            offered.get_mut("resources").and_then(Value::as_object_mut).map(|resources| resources.remove("subscribe"));
        }
        let mut lists = ServerLists { capabilities, ..ServerLists::default() };
        let mut left = LISTS_BYTES_MAX;
        if can("tools") {
            lists.tools = self.list(&agreed, "tools/list", "tools", &mut left).await?;
        }
        if can("prompts") {
            lists.prompts = self.list(&agreed, "prompts/list", "prompts", &mut left).await?;
        }
        if can("resources") {
            lists.resources = self.list(&agreed, "resources/list", "resources", &mut left).await?;
            // Many servers have resources and no templates.
            let templates = self.list(&agreed, "resources/templates/list", "resourceTemplates", &mut left).await;
            lists.templates = templates.unwrap_or_default();
        }
        Ok(lists)
    }

    /// Reads a list. `left` says how much memory it may take.
    async fn list(&self, agreed: &Agreed, method: &str, member: &str, left: &mut usize) -> Result<Vec<Value>, LinkFault> {
        let mut entries = Vec::new();
        let mut cursor: Option<Value> = None;
        for page in 0..PAGES_MAX {
            let mut params = Map::new();
            cursor.iter().for_each(|cursor| drop(params.insert("cursor".to_owned(), cursor.clone())));
            params.insert("_meta".to_owned(), json!({META_CAPABILITIES: all_capabilities()}));
            let message = request(&json!(format!("{member}-{page}")), method, Value::Object(params));
            let mut response = self.send(agreed, message, Vec::new()).await?.messages.response().await?;
            let Some(result) = response.get_mut("result") else {
                return Err(LinkFault::Refused(200, response.get("error").cloned()));
            };
            for entry in result.get_mut(member).and_then(Value::as_array_mut).map(std::mem::take).into_iter().flatten() {
                let entry =
                    if weight(&entry) > ENTRY_BYTES_MAX { json!({"name": entry.get("name"), TOO_LARGE: true}) } else { entry };
                let too_much = || LinkFault::Unreachable(format!("it lists more than {} MiB", LISTS_BYTES_MAX >> 20));
                *left = left.checked_sub(weight(&entry)).ok_or_else(too_much)?;
                entries.push(entry);
            }
            cursor = result.get("nextCursor").filter(|cursor| !cursor.is_null()).cloned();
            if cursor.is_none() || entries.len() >= ENTRIES_MAX {
                break;
            }
        }
        entries.truncate(ENTRIES_MAX);
        Ok(entries)
    }

    /// The same, with one more try in a new session, and within a time.
    async fn lists_in_time(&self, name: &str, api: &str) -> Option<ServerLists> {
        let reading = async {
            match self.lists().await {
                Err(LinkFault::SessionGone) => {
                    self.forget(&Client::looking());
                    self.lists().await
                }
                other => other,
            }
        };
        let time_max = match self.link {
            Link::Command(_) => PROCESS_LISTS_TIME_MAX,
            Link::Http(_) | Link::Operations(_) => LISTS_TIME_MAX,
        };
        let late = || LinkFault::Unreachable(format!("it has not told what it offers within {time_max:?}"));
        let read = timeout(time_max, reading).await.unwrap_or_else(|_| Err(late()));
        let spoken = self.all_agreed().get(&Client::looking()).map(|(agreed, _)| (agreed.version.clone(), agreed.era));
        let mut health = self.health.lock().unwrap_or_else(PoisonError::into_inner);
        match read {
            Ok(lists) => {
                health.spoken = spoken;
                if health.note(None, now_unix_s()) {
                    tracing::info!(api, server = name, "an MCP server is there again");
                }
                Some(lists)
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

    /// Reads what it offers, and says whether that is news.
    pub(crate) async fn read(&self, name: &str, api: &str) -> bool {
        let read = self.lists_in_time(name, api).await;
        let mut known = self.known_lists();
        known.read = Some(Instant::now());
        let is_same = known.lists.as_deref() == read.as_ref();
        if !is_same {
            known.lists = read.map(Arc::new);
        }
        !is_same
    }

    /// What it has told when it was asked last.
    pub(crate) fn last_lists(&self) -> Option<Arc<ServerLists>> {
        self.known_lists().lists.clone()
    }

    /// Whether it was ever asked.
    pub(crate) fn was_read(&self) -> bool {
        self.known_lists().read.is_some()
    }

    /// Whether it was not asked for so long.
    pub(crate) fn is_older(&self, life: Duration) -> bool {
        self.known_lists().read.is_none_or(|read| read.elapsed() >= life)
    }

    fn known_lists(&self) -> MutexGuard<'_, KnownLists> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that it gave no answer in time, so that nobody waits for it until its lists are read again.
    pub(crate) fn note_silence(&self) {
        let mut health = self.health.lock().unwrap_or_else(PoisonError::into_inner);
        health.note(Some("it does not begin sessions in time".to_owned()), now_unix_s());
    }

    fn all_agreed(&self) -> MutexGuard<'_, HashMap<Client, (Arc<Agreed>, Instant)>> {
        self.agreed.lock().unwrap_or_else(PoisonError::into_inner)
    }

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
