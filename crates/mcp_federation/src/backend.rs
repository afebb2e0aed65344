//! One server behind a federation, and what it offers.

use crate::agreements::{Agreements, prepared};
use crate::answer::{Agreed, Answer, LinkFault, Messages, Outbound, StreamMessage};
use crate::catalogue::{ServerLists, WITHHELD, without_session};
use crate::client::{Client, all_capabilities};
use crate::command::CommandServer;
use crate::health::ServerHealth;
use crate::http_server::HttpServer;
use crate::link::Link;
use crate::memory::{ServerMemory, StreamMemory};
use crate::message::request;
use crate::operations::OperationsServer;
use crate::outside::Outside;
use crate::session_stream::{Overheard, SessionStreams};
use crate::terms::{OperationTerms, ServerTerms, Transport};
use crate::version::{Era, META_CAPABILITIES};
use crate::weight::weight;
use serde_json::{Map, Value, json};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tollgate_clock::unix_s;
use tollgate_outbound::Holder;

/// Longest time until a server has told what it offers, when it runs.
const LISTS_TIME_MAX: Duration = Duration::from_secs(10);
/// Longest time until a process has told the same, which may have to load first.
const PROCESS_LISTS_TIME_MAX: Duration = Duration::from_secs(60);
/// Most characters that are kept of what is wrong with a server.
const FAULT_CHARS_MAX: usize = 1_000;
/// Most pages of a list.
const PAGES_MAX: usize = 100;
/// Most entries of a list.
const ENTRIES_MAX: usize = 20_000;
/// Most bytes of memory of an entry. Of a larger one, only the name is kept.
const ENTRY_BYTES_MAX: usize = 512 << 10;
/// Most bytes of memory of such a name.
const NAME_BYTES_MAX: usize = 4 << 10;
/// Most bytes of memory of all that a server offers.
const LISTS_BYTES_MAX: usize = 16 << 20;

/// One server, and what is known of it.
pub(crate) struct Backend {
    pub link: Link,
    pub agreements: Agreements,
    health: Mutex<ServerHealth>,
    lists: Mutex<KnownLists>,
    /// Whether its lists are being read.
    pub is_reading: AtomicBool,
    /// Whether its lists are to be read soon.
    pub is_changed: AtomicBool,
    /// Whether somebody listens to what it says of changes.
    pub is_watched: AtomicBool,
    streams: SessionStreams,
    memory: ServerMemory,
}

/// What a server has told when it was asked last.
#[derive(Default)]
struct KnownLists {
    lists: Option<Arc<ServerLists>>,
    read: Option<Instant>,
}

/// What there is room for while all lists of a server are read.
struct ListsReading {
    /// Bytes of memory.
    left: usize,
    /// Lists of which the rest was not read.
    cut: Vec<&'static str>,
}

/// What is kept of an entry that is too large.
fn name_alone(entry: &Value) -> Value {
    let short = |name: &str| entry.get(name).filter(|value| weight(value) <= NAME_BYTES_MAX).cloned();
    let names = ["name", "uri", "uriTemplate"].into_iter().filter_map(|name| Some((name.to_owned(), short(name)?)));
    Value::Object(names.chain([(WITHHELD.to_owned(), "its description is too large".into())]).collect())
}

impl Backend {
    pub(crate) fn new(terms: &ServerTerms, outside: &Outside) -> Self {
        let (time_max, memory) = (terms.time_max, ServerMemory::new());
        let link = match &terms.transport {
            Transport::Http { url, headers, tls } => Link::Http(HttpServer {
                url: url.clone(),
                headers: headers.clone(),
                tls: (**tls).clone(),
                time_max,
                client: outside.client.clone(),
                memory: memory.clone(),
            }),
            Transport::Command(command) => {
                Link::Command(CommandServer::new(command.clone(), terms.name.clone(), time_max, memory.clone()))
            }
            Transport::Operations(OperationTerms { api, include, tags, credentials }) => {
                let (api, include, tags, credentials) = (api.clone(), include.clone(), tags.clone(), credentials.clone());
                let terms = OperationTerms { api, include, tags, credentials };
                Link::Operations(OperationsServer { terms, apis: outside.apis.clone(), time_max })
            }
        };
        Backend {
            link,
            agreements: Agreements::default(),
            health: Mutex::default(),
            lists: Mutex::default(),
            is_reading: AtomicBool::new(false),
            is_changed: AtomicBool::new(false),
            is_watched: AtomicBool::new(false),
            streams: SessionStreams::default(),
            memory,
        }
    }

    /// What is agreed for the requests of a client.
    pub(crate) async fn agreed(&self, client: &Client) -> Result<Arc<Agreed>, LinkFault> {
        self.agreements.for_client(&self.link, client).await
    }

    /// Begins a session for a client that has one. `None` if the server has none.
    pub(crate) async fn session(&self, capabilities: &Value, client: &Value) -> Option<Agreed> {
        self.agreements.session(&self.link, capabilities, client).await
    }

    /// Listens to what the server says beside the answer to a call, in the session that it has for this client.
    pub(crate) async fn overhear(&self, client: &Client) -> Option<Overheard> {
        let Link::Http(server) = &self.link else { return None };
        let agreed = self.agreed(client).await.ok()?;
        self.streams.listen(server, &agreed).await
    }

    /// The stream on which the server tells that its lists have changed; `None` if it has none.
    pub(crate) async fn changes(&self) -> Option<mpsc::Receiver<StreamMessage>> {
        let Link::Http(server) = &self.link else { return None };
        let agreed = self.agreements.last(&Client::looking())?;
        let tells = |name: &str| agreed.capabilities.get(name)?.get("listChanged")?.as_bool();
        let told: Map<String, Value> = ["tools", "prompts", "resources"]
            .into_iter()
            .filter(|name| tells(name) == Some(true))
            .map(|name| (format!("{name}ListChanged"), true.into()))
            .collect();
        if told.is_empty() {
            return None;
        }
        if agreed.era == Era::Legacy {
            return if agreed.session.is_some() { server.listen(&agreed, None).await.ok()? } else { None };
        }
        let message = request(&json!("changes"), "subscriptions/listen", json!({"notifications": told}));
        let (message, headers) = prepared(&agreed, message, Vec::new());
        let answer = server.subscribe(Outbound { message: &message, agreed: Some(&agreed), headers, holder: None }).await.ok()?;
        match answer.messages {
            Messages::Stream(stream) => Some(stream),
            Messages::None | Messages::One(_) => None,
        }
    }

    /// Memory for the messages of one more stream of a client.
    pub(crate) fn stream_memory(&self, holder: Holder) -> StreamMemory {
        self.memory.stream(Some(holder))
    }

    /// Sends a message, as the server's version has it.
    pub(crate) async fn send(&self, agreed: &Agreed, message: Value, headers: Vec<(String, String)>) -> Result<Answer, LinkFault> {
        self.send_for(None, agreed, message, headers).await
    }

    /// Sends a request of a client.
    pub(crate) async fn send_for(
        &self,
        holder: Option<Holder>,
        agreed: &Agreed,
        message: Value,
        headers: Vec<(String, String)>,
    ) -> Result<Answer, LinkFault> {
        let (message, headers) = prepared(agreed, message, headers);
        self.link.send(Outbound { message: &message, agreed: Some(agreed), headers, holder }).await
    }

    /// All that the server offers.
    async fn lists(&self) -> Result<ServerLists, LinkFault> {
        let agreed = self.agreed(&Client::looking()).await?;
        let can = |name: &str| agreed.capabilities.get(name).is_some();
        let capabilities = match agreed.era {
            Era::Legacy if agreed.session.is_none() => without_session(&agreed.capabilities),
            Era::Legacy | Era::Modern => agreed.capabilities.clone(),
        };
        let mut lists = ServerLists { capabilities, ..ServerLists::default() };
        let mut reading = ListsReading { left: LISTS_BYTES_MAX, cut: Vec::new() };
        if can("tools") {
            lists.tools = self.list(&agreed, "tools/list", "tools", &mut reading).await?;
        }
        if can("prompts") {
            lists.prompts = self.list(&agreed, "prompts/list", "prompts", &mut reading).await?;
        }
        if can("resources") {
            lists.resources = self.list(&agreed, "resources/list", "resources", &mut reading).await?;
            // Many servers have resources and no templates.
            let templates = self.list(&agreed, "resources/templates/list", "resourceTemplates", &mut reading).await;
            lists.templates = templates.unwrap_or_default();
        }
        lists.cut = reading.cut;
        Ok(lists)
    }

    /// Reads a list, as far as there is room for it.
    async fn list(
        &self,
        agreed: &Agreed,
        method: &str,
        member: &'static str,
        reading: &mut ListsReading,
    ) -> Result<Vec<Value>, LinkFault> {
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
                let entry = if weight(&entry) > ENTRY_BYTES_MAX { name_alone(&entry) } else { entry };
                let too_much = || LinkFault::Unreachable(format!("it lists more than {} MiB", LISTS_BYTES_MAX >> 20));
                reading.left = reading.left.checked_sub(weight(&entry)).ok_or_else(too_much)?;
                entries.push(entry);
            }
            cursor = result.get("nextCursor").filter(|cursor| !cursor.is_null()).cloned();
            if cursor.is_none() || entries.len() >= ENTRIES_MAX {
                break;
            }
        }
        if cursor.is_some() || entries.len() > ENTRIES_MAX {
            reading.cut.push(member);
        }
        entries.truncate(ENTRIES_MAX);
        Ok(entries)
    }

    /// The same, with one more try in a new session, and within a time.
    async fn lists_in_time(&self, name: &str, api: &str) -> Option<ServerLists> {
        let reading = async {
            match self.lists().await {
                Err(LinkFault::SessionGone) => {
                    self.agreements.begin_anew(&Client::looking());
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
        let spoken = self.agreements.last(&Client::looking()).map(|agreed| (agreed.version.clone(), agreed.era));
        let mut health = self.health.lock().unwrap_or_else(PoisonError::into_inner);
        match read {
            Ok(lists) => {
                health.spoken = spoken;
                if health.note(None, unix_s()) {
                    tracing::info!(api, server = name, "an MCP server is there again");
                }
                Some(lists)
            }
            Err(fault) => {
                let why: String = fault.to_string().chars().take(FAULT_CHARS_MAX).collect();
                let why = match &self.link {
                    Link::Command(server) => server.explained(&why),
                    Link::Http(_) | Link::Operations(_) => why,
                };
                if health.note(Some(why.clone()), unix_s()) {
                    tracing::warn!(api, server = name, why, "an MCP server is not there: its tools are left out");
                }
                drop(health);
                self.agreements.begin_anew(&Client::looking());
                None
            }
        }
    }

    /// Reads what it offers, and says whether that is news.
    pub(crate) async fn read(&self, name: &str, api: &str) -> bool {
        let read = self.lists_in_time(name, api).await;
        let mut known = self.known_lists();
        let is_same = known.lists.as_deref() == read.as_ref();
        if let Some(cut) = read.as_ref().map(|lists| &lists.cut).filter(|cut| !cut.is_empty())
            && known.lists.as_ref().is_none_or(|lists| lists.cut != *cut)
        {
            let lists = cut.join(", ");
            tracing::warn!(api, server = name, lists, "an MCP server lists more than clients see: only the first pages are read");
        }
        if !is_same {
            known.lists = read.map(Arc::new);
        }
        !is_same
    }

    /// What it offers is read, and clients see it.
    pub(crate) fn note_read(&self) {
        self.known_lists().read = Some(Instant::now());
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

    /// What is known of it from asking it.
    pub(crate) fn health(&self) -> ServerHealth {
        self.health.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
