//! What is agreed with a server: the versions that it speaks, and the sessions that it has begun for clients.

use crate::answer::{Agreed, Answer, LinkFault, Outbound};
use crate::client::{Client, all_capabilities};
use crate::link::Link;
use crate::message::{code, notification, request, text};
use crate::version::{Era, LEGACY, META_CAPABILITIES, META_CLIENT, META_LOG, META_VERSION, MODERN};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::time::timeout;
use tollgate_mcp::encoded_header;

/// Clients whose sessions at a server are kept. For a further one, the oldest is ended.
const CLIENTS_MAX: usize = 10_000;
/// How long a session of a client is used.
const AGREED_LIFE: Duration = Duration::from_secs(3_600);
/// How long a server that begins no sessions is not asked for one, and one that did not answer in time.
const REFUSAL_LIFE: Duration = Duration::from_secs(600);
const SILENCE_LIFE: Duration = Duration::from_secs(60);
/// Longest time until a server has begun a session of a client.
const BEGIN_MAX: Duration = Duration::from_secs(5);

/// The agreements with one server.
#[derive(Default)]
pub(crate) struct Agreements {
    known: Mutex<KnownVersions>,
    clients: Mutex<HashMap<Client, Arc<ClientAgreement>>>,
}

/// What is agreed for one client. One request at a time begins it; the others wait.
struct ClientAgreement {
    since: Instant,
    agreed: tokio::sync::Mutex<BeginState>,
}

#[derive(Default)]
enum BeginState {
    #[default]
    New,
    Agreed(Arc<Agreed>),
    /// Why it could not be begun, and when.
    Failed(String, Instant),
}

/// What a server has shown of its versions. One may speak both kinds.
#[derive(Clone, Copy, Default)]
struct KnownVersions {
    /// How it is spoken to where there is a choice.
    era: Option<Era>,
    /// Until when it is asked for no session, because it gave none.
    no_session_until: Option<Instant>,
}

impl Agreements {
    /// What is agreed for the requests of a client.
    pub(crate) async fn for_client(&self, link: &Link, client: &Client) -> Result<Arc<Agreed>, LinkFault> {
        let (asked, slot) = (Instant::now(), self.slot(client));
        let mut state = slot.agreed.lock().await;
        match &*state {
            BeginState::Agreed(agreed) => return Ok(agreed.clone()),
            // Who has waited meanwhile does not try the same again.
            BeginState::Failed(why, when) if *when >= asked => return Err(LinkFault::Unreachable(why.clone())),
            BeginState::New | BeginState::Failed(..) => {}
        }
        let capabilities = serde_json::from_str(&client.capabilities).unwrap_or_else(|_| json!({}));
        match self.begin(link, &capabilities).await {
            Ok(agreed) => {
                let agreed = Arc::new(match link {
                    Link::Http(server) if agreed.session.is_some() => server.kept(agreed),
                    Link::Http(_) | Link::Command(_) | Link::Operations(_) => agreed,
                });
                *state = BeginState::Agreed(agreed.clone());
                Ok(agreed)
            }
            Err(fault) => {
                *state = BeginState::Failed(fault.to_string(), Instant::now());
                Err(fault)
            }
        }
    }

    /// The agreement with a client, which may be to be made.
    fn slot(&self, client: &Client) -> Arc<ClientAgreement> {
        let mut clients = self.clients();
        if let Some(slot) = clients.get(client).filter(|slot| slot.since.elapsed() < AGREED_LIFE) {
            return slot.clone();
        }
        if clients.len() >= CLIENTS_MAX {
            let oldest = clients.iter().min_by_key(|(_, slot)| slot.since).map(|(client, _)| client.clone());
            oldest.inspect(|oldest| drop(clients.remove(oldest)));
        }
        let slot = Arc::new(ClientAgreement { since: Instant::now(), agreed: tokio::sync::Mutex::default() });
        clients.insert(client.clone(), slot.clone());
        slot
    }

    /// What is agreed for a client now, if anything is.
    pub(crate) fn last(&self, client: &Client) -> Option<Arc<Agreed>> {
        let slot = self.clients().get(client).cloned()?;
        match &*slot.agreed.try_lock().ok()? {
            BeginState::Agreed(agreed) => Some(agreed.clone()),
            BeginState::New | BeginState::Failed(..) => None,
        }
    }

    /// Forgets what was agreed, because the server has.
    pub(crate) fn forget(&self, client: &Client, gone: &Agreed) {
        // Another request may have begun a new session meanwhile.
        let Some(last) = self.last(client).filter(|last| last.session == gone.session) else { return };
        last.end.as_ref().inspect(|end| end.note_over());
        self.clients().remove(client);
    }

    /// Forgets what was agreed, so that it is agreed anew.
    pub(crate) fn begin_anew(&self, client: &Client) {
        self.clients().remove(client);
    }

    /// Whether each request to it stands for itself, but for those in sessions of clients.
    pub(crate) fn is_modern(&self) -> bool {
        self.known().era == Some(Era::Modern)
    }

    /// Begins a session for a client that has one, with what that client can do. `None` if the server has no sessions.
    pub(crate) async fn session(&self, link: &Link, capabilities: &Value, client: &Value) -> Option<Agreed> {
        if self.known().no_session_until.is_some_and(|until| until > Instant::now()) {
            return None;
        }
        let pause = match timeout(BEGIN_MAX, initialize(link, capabilities, client)).await {
            Ok(Ok(agreed)) if agreed.session.is_some() => return Some(agreed),
            Ok(Ok(_)) => REFUSAL_LIFE,
            // One that speaks the newer version alone. Others may have a bad moment.
            Ok(Err(LinkFault::Refused(..))) if self.is_modern() => REFUSAL_LIFE,
            Ok(Err(_)) => return None,
            Err(_) => SILENCE_LIFE,
        };
        self.known().no_session_until = Some(Instant::now() + pause);
        None
    }

    /// Agrees with the server on a version, and begins a session if that has such.
    async fn begin(&self, link: &Link, capabilities: &Value) -> Result<Agreed, LinkFault> {
        let plain = |capabilities: Value| Agreed {
            session: None,
            version: LEGACY[0].to_owned(),
            era: Era::Legacy,
            capabilities,
            end: None,
        };
        match link {
            Link::Command(server) => return Ok(plain((*server.capabilities().await?).clone())),
            Link::Operations(_) => return Ok(plain(json!({"tools": {}}))),
            Link::Http(_) => {}
        }
        let era = self.known().era;
        if era != Some(Era::Legacy)
            && let Some(agreed) = discover(link).await?
        {
            self.known().era = Some(Era::Modern);
            return Ok(agreed);
        }
        let agreed = initialize(link, capabilities, &own_info()).await?;
        self.known().era = Some(Era::Legacy);
        Ok(agreed)
    }

    fn known(&self) -> MutexGuard<'_, KnownVersions> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn clients(&self) -> MutexGuard<'_, HashMap<Client, Arc<ClientAgreement>>> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Begins to speak with a server as one does before 2026-07-28.
async fn initialize(link: &Link, capabilities: &Value, client: &Value) -> Result<Agreed, LinkFault> {
    let params = json!({"protocolVersion": LEGACY[0], "capabilities": capabilities, "clientInfo": client});
    let message = request(&json!("initialize"), "initialize", params);
    let answer = link.send(Outbound { message: &message, agreed: None, headers: Vec::new(), holder: None }).await?;
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
        end: None,
    };
    let begun = notification("notifications/initialized", json!({}));
    let _ = link.send(Outbound { message: &begun, agreed: Some(&agreed), headers: Vec::new(), holder: None }).await;
    Ok(agreed)
}

/// Asks as one asks modern servers; `None` if this is none.
async fn discover(link: &Link) -> Result<Option<Agreed>, LinkFault> {
    let agreed = Agreed { session: None, version: MODERN.to_owned(), era: Era::Modern, capabilities: Value::Null, end: None };
    let ask = async || {
        let params = json!({"_meta": {META_CAPABILITIES: all_capabilities()}});
        let (message, headers) = prepared(&agreed, request(&json!("discover"), "server/discover", params), Vec::new());
        let answer = link.send(Outbound { message: &message, agreed: Some(&agreed), headers, holder: None }).await;
        match answer {
            Ok(Answer { messages, .. }) => Ok(messages.response().await.ok()),
            Err(fault @ LinkFault::Unreachable(_)) => Err(fault),
            Err(LinkFault::Refused(_, response)) => Ok(response),
            Err(LinkFault::SessionGone) => Ok(None),
        }
    };
    let mut response = ask().await?;
    if response.as_ref().is_some_and(asks_for_modern) {
        response = ask().await?;
    }
    let found = response.as_ref().and_then(|response| response.get("result"));
    let versions = found.and_then(|found| found.get("supportedVersions")).and_then(Value::as_array);
    let is_modern = versions.into_iter().flatten().any(|version| version == MODERN);
    let capabilities = found.and_then(|found| found.get("capabilities")).cloned().unwrap_or_else(|| json!({}));
    Ok(is_modern.then(|| Agreed { capabilities, ..agreed.clone() }))
}

/// Whether an error says that the server can be asked in the version that we speak.
fn asks_for_modern(response: &Value) -> bool {
    let supported = || response.pointer("/error/data/supported").and_then(Value::as_array);
    response.pointer("/error/code") == Some(&code::UNSUPPORTED_VERSION.into())
        && supported().is_some_and(|versions| versions.iter().any(|version| version == MODERN))
}

/// The gateway, as servers see their client.
fn own_info() -> Value {
    json!({"name": "tollgate", "version": env!("CARGO_PKG_VERSION")})
}

/// A message as the server's version has it, with the header lines that go with it.
pub(crate) fn prepared(agreed: &Agreed, mut message: Value, mut headers: Vec<(String, String)>) -> (Value, Vec<(String, String)>) {
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
            let name = ["name", "uri"]
                .iter()
                .find_map(|name| params.get(*name))
                .and_then(Value::as_str)
                .map(|name| encoded_header(name.to_owned()));
            let method = members.get("method").and_then(Value::as_str).unwrap_or_default().to_owned();
            if matches!(method.as_str(), "tools/call" | "prompts/get" | "resources/read") {
                headers.extend(name.map(|name| ("Mcp-Name".to_owned(), name)));
            }
            headers.push(("Mcp-Method".to_owned(), method));
        }
    }
    for (_, value) in headers.iter_mut().filter(|(name, _)| name.starts_with("Mcp-Param-")) {
        *value = encoded_header(std::mem::take(value));
    }
    (message, headers)
}
