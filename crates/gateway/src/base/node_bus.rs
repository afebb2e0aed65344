//! Gateways that share a Redis know each other: each says every five seconds that it is there and what it runs, and answers questions about its
//! figures. Messages are signed with the `node_secret`. Nothing here is stored: whoever is silent is forgotten.

use super::bus::{Signer, UncheckedMessage};
use super::clock;
use crate::base::secret::random_text;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tollgate_model::config::GatewayConfig;
use tollgate_store::{Heard, Redis};
use utoipa::ToSchema;

/// The channel; only these gateways understand it.
const CHANNEL: &str = "tollgate.nodes";
/// Time between two signs of life.
const BEAT_EVERY: Duration = Duration::from_secs(5);
/// A gateway that was silent for so long is not alive: it missed two signs of life.
const ALIVE_FOR: Duration = Duration::from_secs(12);
/// A silent gateway is forgotten after this time.
const KNOWN_FOR: Duration = Duration::from_secs(600);
/// How long a question waits for answers.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(2);
/// Gateways that are remembered: more than share one Redis, and a bound for what a forged name could fill.
const NODES_MAX: usize = 500;
/// Questions that wait for answers at the same time.
const QUESTIONS_MAX: usize = 32;
/// Bytes of a message. The history of an hour has at most half as many.
const MESSAGE_BYTES_MAX: usize = 8 << 20;

const BEAT: &str = "TollgateNode";
const GONE: &str = "TollgateNodeGone";
const ASK: &str = "TollgateAsk";
const ANSWER: &str = "TollgateAnswer";

/// What a gateway says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct NodeState {
    pub node: String,
    pub version: String,
    pub started_unix_s: u64,
    /// When it said so.
    pub unix_ms: u64,
    /// Digest of the configuration without addresses, directories and secrets.
    pub configuration: String,
    /// Digest of the definitions that it serves.
    pub definitions: String,
    /// Digest of the policies.
    pub policies: String,
    pub apis: usize,
    /// Errors that the last reload found.
    pub errors: u64,
    /// The definitions that gateways share, if they do.
    #[serde(default)]
    #[schema(required)]
    pub shared_definitions: Option<SharedState>,
    /// Whether it has just started and does not know the others.
    #[serde(default)]
    pub is_new: bool,
}

/// What a gateway says of the shared definitions that it serves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct SharedState {
    /// Grows with each change; 0 if nothing was ever stored.
    pub revision: u64,
    /// Digest of all of them.
    pub digest: String,
    /// Whether Redis answered when they were loaded last.
    pub store_up: bool,
}

/// A question or its answer.
#[derive(Serialize, Deserialize)]
struct NodeMessage {
    /// Names the question.
    id: String,
    from: String,
    content: Value,
}

/// What somebody heard of another gateway.
struct HeardNode {
    state: NodeState,
    at: Instant,
    is_gone: bool,
}

/// An event about another gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NodeEvent {
    Joined(String),
    Left(String),
}

/// What this gateway does for the others.
pub(crate) trait NodeHost: Send + Sync {
    /// What it runs.
    fn state(&self) -> NodeState;
    /// Answers another gateway's question; may block.
    fn answer(&self, question: &Value) -> Option<Value>;
    fn note(&self, event: NodeEvent);
}

/// This gateway among the others.
pub(crate) struct NodeBus {
    redis: Arc<Redis>,
    signer: Signer,
    name: String,
    nodes: Mutex<BTreeMap<String, HeardNode>>,
    questions: Mutex<HashMap<String, mpsc::Sender<(String, Value)>>>,
    host: OnceLock<Arc<dyn NodeHost>>,
}

/// Answers of other gateways, and those that did not answer in time.
#[derive(Default)]
pub(crate) struct NodeAnswers {
    pub answers: Vec<(String, Value)>,
    pub missing: Vec<String>,
}

impl NodeBus {
    /// Joins the others as `name`.
    pub(crate) fn start(redis: Arc<Redis>, config: &GatewayConfig, name: String, host: Arc<dyn NodeHost>) -> Arc<Self> {
        let bus = Arc::new(NodeBus {
            redis: redis.clone(),
            signer: Signer::new(config),
            name,
            nodes: Mutex::default(),
            questions: Mutex::default(),
            host: OnceLock::from(host),
        });
        let heard = Arc::downgrade(&bus);
        redis.listen_to_channels(&[CHANNEL], move |what| {
            if let (Some(bus), Heard::Message(message)) = (heard.upgrade(), what)
                && let Err(why) = bus.hear(&message)
            {
                tracing::warn!(why, "a message of another gateway is ignored");
            }
        });
        redis.runtime().spawn(beat(Arc::downgrade(&bus)));
        bus
    }

    /// All gateways that are known, this one first, with when they were heard last, and whether they are alive.
    pub(crate) fn nodes(&self) -> Vec<(NodeState, u64, bool)> {
        let own = self.host.get().map(|host| host.state()).unwrap_or_default();
        let unix_s = clock::unix_s();
        let nodes = lock(&self.nodes);
        let others = nodes.values().map(|node| {
            let ago = node.at.elapsed();
            (node.state.clone(), unix_s.saturating_sub(ago.as_secs()), !node.is_gone && ago < ALIVE_FOR)
        });
        std::iter::once((own, unix_s, true)).chain(others).collect()
    }

    /// Asks all other gateways that are alive, for at most two seconds.
    pub(crate) async fn ask(&self, question: Value) -> NodeAnswers {
        let mut missing: Vec<String> =
            self.nodes().into_iter().skip(1).filter(|(_, _, is_alive)| *is_alive).map(|(state, ..)| state.node).collect();
        if missing.is_empty() {
            return NodeAnswers::default();
        }
        let deadline = tokio::time::Instant::now() + ANSWER_TIME_MAX;
        let (sender, mut receiver) = mpsc::channel(missing.len());
        let Some(id) = random_text().ok().filter(|id| self.begin(id, sender)) else {
            return NodeAnswers { answers: Vec::new(), missing };
        };
        let mut answers = Vec::new();
        let told = tokio::time::timeout_at(deadline, self.tell(ASK, &id, question)).await;
        if matches!(told, Ok(true)) {
            while !missing.is_empty() {
                let Ok(Some((node, answer))) = tokio::time::timeout_at(deadline, receiver.recv()).await else { break };
                if missing.contains(&node) {
                    missing.retain(|other| *other != node);
                    answers.push((node, answer));
                }
            }
        }
        lock(&self.questions).remove(&id);
        NodeAnswers { answers, missing }
    }

    /// This gateway ends: the others need not wait for it.
    pub(crate) async fn leave(&self) {
        let _ = tokio::time::timeout(ANSWER_TIME_MAX, self.tell(GONE, "", Value::Null)).await;
    }

    fn begin(&self, id: &str, sender: mpsc::Sender<(String, Value)>) -> bool {
        let mut questions = lock(&self.questions);
        let has_room = questions.len() < QUESTIONS_MAX;
        if has_room {
            questions.insert(id.to_owned(), sender);
        }
        has_room
    }

    async fn tell(&self, command: &str, id: &str, content: Value) -> bool {
        let message = NodeMessage { id: id.to_owned(), from: self.name.clone(), content };
        let payload = serde_json::to_string(&message).unwrap_or_default();
        let message = self.signer.message(command, &payload);
        message.len() <= MESSAGE_BYTES_MAX && self.redis.publish(CHANNEL, message.as_bytes()).await.is_ok()
    }

    async fn say(&self, is_new: bool) {
        let Some(host) = self.host.get() else { return };
        let state = NodeState { is_new, ..host.state() };
        let content = serde_json::to_value(state).unwrap_or_default();
        // Redis may be away; the next sign of life follows.
        self.tell(BEAT, "", content).await;
    }

    fn hear(self: &Arc<Self>, message: &[u8]) -> Result<(), &'static str> {
        if message.len() > MESSAGE_BYTES_MAX {
            return Err("it is too long");
        }
        let message = UncheckedMessage::parse(message)?;
        self.signer.check(&message)?;
        let content: NodeMessage = serde_json::from_str(message.payload()).map_err(|_| "it has no content")?;
        if content.from == self.name {
            return Ok(());
        }
        match message.command() {
            BEAT => self.hear_state(serde_json::from_value(content.content).map_err(|_| "it does not describe a gateway")?),
            GONE => {
                let left = lock(&self.nodes).get_mut(&content.from).is_some_and(|node| !std::mem::replace(&mut node.is_gone, true));
                if left {
                    self.note(NodeEvent::Left(content.from));
                }
            }
            ASK => {
                let bus = self.clone();
                self.redis.runtime().spawn(async move {
                    let Some(host) = bus.host.get().cloned() else { return };
                    let made = tokio::task::spawn_blocking(move || host.answer(&content.content)).await;
                    if let Ok(Some(answer)) = made {
                        bus.tell(ANSWER, &content.id, answer).await;
                    }
                });
            }
            ANSWER => {
                if let Some(asker) = lock(&self.questions).get(&content.id) {
                    // Full if a gateway answers twice.
                    let _ = asker.try_send((content.from, content.content));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn hear_state(self: &Arc<Self>, state: NodeState) {
        let (name, is_new) = (state.node.clone(), state.is_new);
        let joined = {
            let mut nodes = lock(&self.nodes);
            let known = nodes.get(&name);
            // An old message that somebody sends again says nothing.
            if known.is_some_and(|known| known.state.unix_ms >= state.unix_ms) || (known.is_none() && nodes.len() >= NODES_MAX) {
                return;
            }
            let joined = known.is_none_or(|known| known.is_gone || known.at.elapsed() >= ALIVE_FOR);
            nodes.insert(name.clone(), HeardNode { state, at: Instant::now(), is_gone: false });
            joined
        };
        if joined {
            self.note(NodeEvent::Joined(name));
        }
        if is_new {
            let bus = self.clone();
            self.redis.runtime().spawn(async move { bus.say(false).await });
        }
    }

    fn note(&self, event: NodeEvent) {
        self.host.get().into_iter().for_each(|host| host.note(event.clone()));
    }

    /// Forgets who was silent for long, and notes who fell silent since the last call.
    fn expire(&self) {
        let mut silent = Vec::new();
        lock(&self.nodes).retain(|name, node| {
            let ago = node.at.elapsed();
            if ago >= ALIVE_FOR && !std::mem::replace(&mut node.is_gone, true) {
                silent.push(name.clone());
            }
            ago < KNOWN_FOR
        });
        silent.into_iter().for_each(|name| self.note(NodeEvent::Left(name)));
    }
}

/// Says every five seconds that this gateway is there.
async fn beat(bus: Weak<NodeBus>) {
    let mut is_new = true;
    while let Some(bus) = bus.upgrade() {
        bus.say(is_new).await;
        bus.expire();
        is_new = false;
        drop(bus);
        tokio::time::sleep(BEAT_EVERY).await;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
