//! This gateway among those on its Redis.
//!
//! One task says every second that this process is there: to Redis, which counts the processes and gives each a number, and to the others, with
//! how far it has carried out the log of purges. Nothing else in the program says or asks who is there.

use crate::members::{HeardSign, KnownMembers, PresenceState, SignOfLife};
use crate::message::{self, Messages, Signer, UncheckedMessage};
use crate::node::{KnownNode, NodeEvent, NodeState};
use crate::purge_log::{CachePurge, DELETE_API_CACHE, NotEverywhere, PURGE, PurgeLog, PurgeTarget};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::timeout;
use tollgate_limit::SharedLimits;
use tollgate_model::config::GatewayConfig;
use tollgate_model::hexadecimal;
use tollgate_store::{Heard, LogId, Redis, Script, StoreFault, StoreFaultKind};

/// The channel of messages that only these gateways understand: Tyk's nodes would log each of them as unknown.
const NODES_CHANNEL: &str = "tollgate.nodes";
/// Key of the set in which Redis counts the processes.
const GATEWAYS_KEY: &str = "tollgate.gateways";
/// For how long Redis counts a process after its last sign of life, in milliseconds.
const COUNTED_FOR_MS: u64 = 4_000;
/// Time between two signs of life.
const PRESENT_EVERY: Duration = Duration::from_secs(1);
/// With every so many signs of life a gateway says what it runs.
const RUNS_EVERY: u32 = 5;
/// Whoever has not looked at the log of purges for so long may not have been waited for.
const LATE_AFTER: Duration = Duration::from_millis(1_500);
/// How long a purge waits for the other gateways.
const CONFIRM_TIME_MAX: Duration = Duration::from_secs(1);
/// How long a question waits for answers, and a farewell for Redis.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(2);
/// Questions that wait for answers at the same time.
const QUESTIONS_MAX: usize = 32;
/// Bytes of a message. The history of an hour has at most half as many.
const MESSAGE_BYTES_MAX: usize = 8 << 20;

const PRESENCE: &str = "TollgatePresence";
const ASK: &str = "TollgateAsk";
const ANSWER: &str = "TollgateAnswer";
const MAIL: &str = "TollgateMail";

/// What this gateway does for the others.
pub trait ClusterHost: Send + Sync {
    /// What it runs.
    fn state(&self) -> NodeState;
    /// Answers another gateway's question; may block.
    fn answer(&self, question: &Value) -> Option<Value>;
    /// Takes what another gateway has sent to this one alone; must not block.
    fn receive(&self, mail: Value);
    /// Something happened to another gateway.
    fn note(&self, event: NodeEvent);
}

/// This gateway among the others.
pub struct Cluster {
    /// The link to what they share.
    pub redis: Arc<Redis>,
    /// The limits that they count together.
    pub limits: Arc<SharedLimits>,
    /// Messages that Tyk's nodes understand too.
    pub messages: Messages,
    signer: Signer,
    /// This process, unlike any other.
    id: String,
    counting: Script,
    /// What the others see of it, once it serves.
    own: OnceLock<OwnNode>,
    members: Mutex<KnownMembers>,
    members_changed: Notify,
    questions: Mutex<HashMap<String, mpsc::Sender<(String, Value)>>>,
    /// Questions that were asked.
    asked: AtomicU64,
    /// The others are not known yet.
    is_new: AtomicBool,
    /// How many processes Redis counts.
    counted: AtomicU64,
    said: Mutex<Said>,
    wake: Notify,
    beats: watch::Sender<u64>,
}

/// What this process has said of itself.
#[derive(Default)]
struct Said {
    /// The number of its last sign of life.
    number: u64,
    /// It has said that it ends; nothing follows.
    has_left: bool,
}

struct OwnNode {
    name: String,
    process: String,
    host: Arc<dyn ClusterHost>,
    purges: PurgeLog,
}

/// A question or its answer.
#[derive(Serialize, Deserialize)]
struct NodeMessage {
    /// Names the question; of mail, the process that it is for, or nothing if it is for all.
    question: String,
    /// The process that has sent the message.
    process: String,
    /// Its gateway.
    from: String,
    content: Value,
}

/// Answers of other gateways, and those that did not answer in time.
#[derive(Default)]
pub struct NodeAnswers {
    /// The name of each gateway, with its answer.
    pub answers: Vec<(String, Value)>,
    /// The names of the others.
    pub missing: Vec<String>,
}

impl Cluster {
    /// Makes this process known to Redis, which counts it from now on. The other gateways hear of it when it joins.
    pub fn connect(redis: Arc<Redis>, config: &GatewayConfig) -> Arc<Self> {
        let mut number = [0; 16];
        // Without random numbers the process is still told apart on its machine.
        let id = getrandom::fill(&mut number).map_or_else(|_| std::process::id().to_string(), |()| hexadecimal(&number));
        let cluster = Arc::new(Cluster {
            limits: SharedLimits::start(redis.clone(), config.tollgate.shared_store.clone()),
            messages: Messages::new(redis.clone(), config),
            signer: Signer::new(config),
            id,
            counting: Script::new(include_str!("gateways.lua")),
            own: OnceLock::new(),
            members: Mutex::default(),
            members_changed: Notify::new(),
            questions: Mutex::default(),
            asked: AtomicU64::new(0),
            is_new: AtomicBool::new(true),
            counted: AtomicU64::new(1),
            said: Mutex::default(),
            wake: Notify::new(),
            beats: watch::Sender::new(0),
            redis,
        });
        cluster.redis.runtime().spawn(live(Arc::downgrade(&cluster)));
        cluster
    }

    /// Joins the other gateways as `node`, and follows their purges.
    pub fn join(self: &Arc<Self>, node: &str, host: Arc<dyn ClusterHost>, target: Arc<dyn PurgeTarget>) {
        let process = format!("{node} (process {})", std::process::id());
        let purges = PurgeLog::new(self.redis.clone(), self.signer.clone(), self.id.clone(), target);
        // A process joins once.
        if self.own.set(OwnNode { name: node.to_owned(), process, host, purges }).is_err() {
            return;
        }
        let heard = Arc::downgrade(self);
        self.redis.listen_to_channels(&[NODES_CHANNEL, message::CHANNEL], move |what| {
            if let Some(cluster) = heard.upgrade() {
                cluster.hear(what);
            }
        });
        self.wake.notify_one();
    }

    /// Changes with every sign of life of this process: once a second, sooner when something was purged.
    pub fn beats(&self) -> watch::Receiver<u64> {
        self.beats.subscribe()
    }

    /// All gateways that are known, this one first.
    pub fn nodes(&self) -> Vec<KnownNode> {
        let Some(own) = self.own.get() else { return Vec::new() };
        let unix_s = tollgate_clock::unix_s();
        let others = lock(&self.members).nodes(Instant::now(), unix_s);
        let own_node = KnownNode { state: own.host.state(), seen_unix_s: unix_s, is_alive: true };
        std::iter::once(own_node).chain(others.into_iter().filter(|other| other.state.node != own.name)).collect()
    }

    /// The processes that follow the log of purges, this one first.
    pub fn followers(&self) -> Vec<String> {
        let own = self.own.get().filter(|own| own.purges.applied().is_some()).map(|own| own.process.clone());
        own.into_iter().chain(lock(&self.members).processes(Instant::now())).collect()
    }

    /// Asks all other gateways that are alive, for at most two seconds.
    pub async fn ask(&self, question: Value) -> NodeAnswers {
        let mut missing: Vec<String> =
            self.nodes().into_iter().skip(1).filter(|node| node.is_alive).map(|node| node.state.node).collect();
        if missing.is_empty() {
            return NodeAnswers::default();
        }
        let deadline = tokio::time::Instant::now() + ANSWER_TIME_MAX;
        let (sender, mut receiver) = mpsc::channel(missing.len());
        let Some(id) = self.begin(sender) else { return NodeAnswers { answers: Vec::new(), missing } };
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

    /// The name of this process, unlike any other.
    pub fn process_id(&self) -> &str {
        &self.id
    }

    /// Sends something to one process, or to all others if none is named, which [receive](ClusterHost::receive) it. Says whether it was sent.
    pub async fn send(&self, process_id: &str, mail: Value) -> bool {
        self.tell(MAIL, process_id, mail).await
    }

    /// Tells all gateways of a purge, and waits until each that is known to be alive has carried it out.
    ///
    /// # Errors
    /// The purge is not in effect everywhere. A gateway that was told and has not confirmed carries it out as soon as it can.
    pub async fn spread(&self, purge: &CachePurge) -> Result<(), NotEverywhere> {
        let deadline = tokio::time::Instant::now() + CONFIRM_TIME_MAX;
        let told = tokio::time::timeout_at(deadline, self.tell_purge(purge)).await;
        let silent = |_| Err(StoreFault::new(StoreFaultKind::Unavailable, "Redis does not answer"));
        let id = told.unwrap_or_else(silent).map_err(NotEverywhere::Untold)?;
        loop {
            let changed = self.members_changed.notified();
            let unconfirmed = lock(&self.members).unconfirmed(id, self.counted.load(Ordering::Relaxed), Instant::now());
            if unconfirmed.is_empty() {
                return Ok(());
            }
            if tokio::time::timeout_at(deadline, changed).await.is_err() {
                return Err(NotEverywhere::Unconfirmed(unconfirmed));
            }
        }
    }

    /// Tells all gateways of a purge; returns its place in the log.
    ///
    /// # Errors
    /// What Redis says; perhaps no gateway was told then.
    pub async fn tell_purge(&self, purge: &CachePurge) -> Result<LogId, StoreFault> {
        let Some(own) = self.own.get() else {
            return Err(StoreFault::new(StoreFaultKind::Unavailable, "this gateway has not joined the others yet"));
        };
        let id = own.purges.append(purge).await?;
        if let (Some(api), true) = (&purge.api, purge.scope.everything) {
            let message = self.signer.message_from(&self.id, DELETE_API_CACHE, api);
            self.redis.publish(message::CHANNEL, message.as_bytes()).await?;
        }
        self.redis.publish(NODES_CHANNEL, self.signer.message(PURGE, "").as_bytes()).await?;
        Ok(id)
    }

    /// This process ends: the others need not wait for it.
    pub async fn leave(&self) {
        let _ = timeout(ANSWER_TIME_MAX, self.say(PresenceState::Gone, false)).await;
    }

    fn begin(&self, sender: mpsc::Sender<(String, Value)>) -> Option<String> {
        let mut questions = lock(&self.questions);
        if questions.len() >= QUESTIONS_MAX {
            return None;
        }
        // Processes have names of their own, and so have their questions.
        let id = format!("{} {}", self.id, self.asked.fetch_add(1, Ordering::Relaxed));
        questions.insert(id.clone(), sender);
        Some(id)
    }

    async fn tell(&self, command: &str, question: &str, content: Value) -> bool {
        let from = self.own.get().map_or_else(String::new, |own| own.name.clone());
        let message = NodeMessage { question: question.to_owned(), process: self.id.clone(), from, content };
        let payload = serde_json::to_string(&message).unwrap_or_default();
        let message = self.signer.message(command, &payload);
        message.len() <= MESSAGE_BYTES_MAX && self.redis.publish(NODES_CHANNEL, message.as_bytes()).await.is_ok()
    }

    /// Says that this process is there, and what it runs if that is to be said.
    async fn say(&self, state: PresenceState, with_runs: bool) -> Result<(), StoreFault> {
        let Some(own) = self.own.get() else { return Ok(()) };
        let runs = with_runs.then(|| own.host.state());
        let sign = {
            // A later number has what was applied later.
            let mut said = lock(&self.said);
            if said.has_left {
                return Ok(());
            }
            said.has_left = state == PresenceState::Gone;
            said.number += 1;
            SignOfLife {
                id: self.id.clone(),
                process: own.process.clone(),
                node: own.name.clone(),
                state,
                number: said.number,
                applied: own.purges.applied().map(|id| id.to_string()),
                runs,
            }
        };
        let payload = serde_json::to_string(&sign).unwrap_or_default();
        self.redis.publish(NODES_CHANNEL, self.signer.message(PRESENCE, &payload).as_bytes()).await
    }

    /// Tells Redis that this process is there, and learns how many there are.
    async fn be_counted(&self) {
        let arguments = [self.id.clone(), COUNTED_FOR_MS.to_string()];
        if let Ok(answer) = self.redis.run(&self.counting, GATEWAYS_KEY, &arguments).await
            && let [gateways, rank] = answer.as_slice()
        {
            self.counted.store(u64::try_from(*gateways).unwrap_or_default(), Ordering::Relaxed);
            self.limits.note_gateways(u64::try_from(*gateways).unwrap_or_default(), u64::try_from(*rank).unwrap_or_default());
        }
    }

    pub(crate) fn hear(self: &Arc<Self>, heard: Heard) {
        let Some(own) = self.own.get() else { return };
        match heard {
            Heard::Up => {
                lock(&self.members).link_up(Instant::now());
                self.is_new.store(true, Ordering::Release);
                own.purges.is_behind.store(true, Ordering::Release);
                self.wake.notify_one();
            }
            Heard::Down(why) => {
                lock(&self.members).link_down(Instant::now());
                tracing::warn!(why, "purges of other gateways are not received; they are read when Redis is back");
            }
            Heard::Message(message) => {
                if let Err(why) = self.hear_message(own, &message) {
                    tracing::warn!(why, "a message of another gateway is ignored");
                }
            }
            Heard::Changed(..) | Heard::AllChanged => {}
        }
    }

    fn hear_message(self: &Arc<Self>, own: &OwnNode, message: &[u8]) -> Result<(), &'static str> {
        if message.len() > MESSAGE_BYTES_MAX {
            return Err("it is too long");
        }
        // Most messages of Tyk's channel are about keys; they are not even parsed.
        if ![PRESENCE, PURGE, ASK, ANSWER, MAIL, DELETE_API_CACHE].iter().any(|command| contains(message, command)) {
            return Ok(());
        }
        let message = UncheckedMessage::parse(message)?;
        match message.command() {
            PRESENCE => {
                self.signer.check(&message)?;
                let presence = serde_json::from_str(message.payload()).map_err(|_| "it says nothing of a gateway")?;
                self.hear_presence(own, presence);
            }
            PURGE => {
                self.signer.check(&message)?;
                own.purges.is_behind.store(true, Ordering::Release);
                self.wake.notify_one();
            }
            // One of these gateways sends it to Tyk's nodes, and has put the purge into the log.
            DELETE_API_CACHE if message.text("from").is_empty() => {
                self.signer.check(&message)?;
                own.purges.target.purge_with_redis(message.payload());
            }
            command @ (ASK | ANSWER | MAIL) => {
                self.signer.check(&message)?;
                let content: NodeMessage = serde_json::from_str(message.payload()).map_err(|_| "it has no content")?;
                if content.process != self.id {
                    self.hear_content(own, command, content);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn hear_presence(self: &Arc<Self>, own: &OwnNode, presence: SignOfLife) {
        if presence.id == self.id {
            return;
        }
        let (is_new, is_own_node) = (presence.state == PresenceState::New, presence.node == own.name);
        let heard = lock(&self.members).hear(presence, Instant::now());
        match heard {
            HeardSign::Ignored => return,
            HeardSign::News(event) if !is_own_node => own.host.note(event),
            HeardSign::News(_) | HeardSign::Known => {}
        }
        self.members_changed.notify_waiters();
        if is_new {
            let cluster = self.clone();
            // If Redis is away, the next sign of life follows.
            self.redis.runtime().spawn(async move { cluster.say(PresenceState::Up, true).await });
        }
    }

    fn hear_content(self: &Arc<Self>, own: &OwnNode, command: &str, content: NodeMessage) {
        if command == ANSWER {
            if let Some(asker) = lock(&self.questions).get(&content.question) {
                // Full if a gateway answers twice.
                let _ = asker.try_send((content.from, content.content));
            }
            return;
        }
        if command == MAIL {
            if content.question == self.id || content.question.is_empty() {
                own.host.receive(content.content);
            }
            return;
        }
        let (cluster, host) = (self.clone(), own.host.clone());
        self.redis.runtime().spawn(async move {
            let made = tokio::task::spawn_blocking(move || host.answer(&content.content)).await;
            if let Ok(Some(answer)) = made {
                cluster.tell(ANSWER, &content.question, answer).await;
            }
        });
    }

    /// Carries out purges that it was told of, and says that this process is there.
    async fn follow(&self, own: &OwnNode, is_late: bool, with_runs: bool) -> bool {
        if !lock(&self.members).is_listening() {
            // Nobody tells it of purges.
            own.purges.is_behind.store(true, Ordering::Release);
        }
        let is_read = own.purges.catch_up_if_behind(is_late).await;
        let state = if self.is_new.swap(false, Ordering::AcqRel) { PresenceState::New } else { PresenceState::Up };
        if self.say(state, with_runs || state == PresenceState::New).await.is_err() {
            self.is_new.fetch_or(state == PresenceState::New, Ordering::AcqRel);
        }
        let silent = lock(&self.members).expire(Instant::now());
        silent.into_iter().for_each(|event| own.host.note(event));
        is_read
    }
}

/// Says every second that this process is there, and at once when there is something to confirm.
async fn live(cluster: Weak<Cluster>) {
    let mut seen = Instant::now();
    let mut counted: Option<Instant> = None;
    let mut beats: u32 = 0;
    while let Some(cluster) = cluster.upgrade() {
        let is_due = counted.is_none_or(|counted| counted.elapsed() >= PRESENT_EVERY);
        if is_due {
            counted = Some(Instant::now());
            beats = beats.wrapping_add(1);
        }
        let counting = async {
            if is_due {
                cluster.be_counted().await;
            }
        };
        let following = async {
            match cluster.own.get() {
                Some(own) => cluster.follow(own, seen.elapsed() > LATE_AFTER, is_due && beats.is_multiple_of(RUNS_EVERY)).await,
                None => true,
            }
        };
        let ((), is_read) = tokio::join!(counting, following);
        if is_read {
            seen = Instant::now();
        }
        cluster.beats.send_modify(|beats| *beats += 1);
        let next = counted.map_or(Duration::ZERO, |counted| PRESENT_EVERY.saturating_sub(counted.elapsed()));
        let _ = timeout(next, cluster.wake.notified()).await;
    }
}

fn contains(text: &[u8], part: &str) -> bool {
    text.windows(part.len()).any(|window| window == part.as_bytes())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
