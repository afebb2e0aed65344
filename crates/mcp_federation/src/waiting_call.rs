//! A client whose requests each stand for themselves before a server that asks in the middle of a call: the client is told what the server asks, and
//! the call waits here, as the server sees it, until the client sends it again with its answers, to whichever gateway.

use crate::answer::{Agreed, Answer, Messages, StreamMessage, WAITING_MAX};
use crate::client::{THINKING_MAX, capability_for};
use crate::digests::digest;
use crate::federated::{Asked, FederatedServer, Route};
use crate::mailboxes::{Address, Holder, OpenMailbox, Purpose};
use crate::memory::SMALL;
use crate::message::{RpcError, code, is_request, is_response, method, result, text};
use crate::seal::WaitingFacts;
use crate::session_stream::Overheard;
use crate::unasked::Unasked;
use crate::version::Era;
use crate::weight::{ANSWER_BYTES_MAX, weight};
use serde_json::{Value, json};
use std::future::pending;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio::time::timeout;

/// The name of a server's question, of which there is one at a time.
const QUESTION: &str = "question";
/// Words between the gateway where a call runs and the one where its client waits: there is room for more, and the client has left.
const MORE: &str = "more";
const LEFT: &str = "left";
/// Why somebody is not asked.
const TOO_MANY: &str = "too many calls wait for answers of their clients";
/// How long a gateway has time to say that a call waits there.
const TAKEN_MAX: Duration = Duration::from_secs(3);
/// How often the gateway where a client waits says so, and after which silence it does not.
const HERE_EVERY: Duration = Duration::from_secs(10);
const HERE_MAX: Duration = Duration::from_secs(35);
/// Messages that a call may send to its client's gateway before that says that it has room for more, and after how many it does.
const CREDIT: usize = 16;
const MORE_AFTER: usize = 8;

/// A call that waits, or may do so.
struct WaitingCall {
    server: Arc<FederatedServer>,
    /// The server's place.
    at: usize,
    agreed: Arc<Agreed>,
    caller: String,
    /// What the client can do.
    capabilities: Value,
    method: String,
    name: String,
    client: Way,
    /// Where the client's answers come, once it was asked.
    mailbox: Option<OpenMailbox>,
    holder: Holder,
    /// How many questions were asked.
    questions: u32,
    /// Messages that may be sent into the client's mailbox.
    credit: usize,
}

/// The way to the client.
enum Way {
    /// The request that it waits for came here.
    Here(mpsc::Sender<StreamMessage>),
    /// It came to the gateway that has this mailbox.
    Mailbox(Address),
    /// It has got a question, and is to come again.
    Closed,
}

/// The answer to a call, up to a question of the server.
pub(crate) fn until_question(
    server: &Arc<FederatedServer>,
    asked: &Asked,
    route: &Route,
    (agreed, answer): (Arc<Agreed>, Answer),
    overheard: Option<Overheard>,
) -> Answer {
    match answer.messages {
        Messages::Stream(messages) if agreed.era == Era::Legacy => {
            let (client, stream) = mpsc::channel(WAITING_MAX);
            let call = WaitingCall {
                server: server.clone(),
                at: route.server,
                agreed,
                caller: asked.caller.clone(),
                capabilities: asked.capabilities.clone(),
                method: route.method.clone(),
                name: route.name.clone(),
                client: Way::Here(client),
                mailbox: None,
                holder: asked.holder(server),
                questions: 0,
                credit: CREDIT,
            };
            server.state.outside.client.spawn(call.run(messages, overheard));
            Answer { session: answer.session, messages: Messages::Stream(stream) }
        }
        messages => Answer { session: answer.session, messages },
    }
}

/// The state that a request brings back, if it is one of ours.
pub(crate) fn state(server: &FederatedServer, asked: &Asked, route: &Route) -> Option<WaitingFacts> {
    let state = route.params.get("requestState")?.as_str()?;
    let facts = server.state.outside.seal.waiting(state, &asked.caller)?;
    (facts.method == route.method && facts.name == route.name).then_some(facts)
}

/// Gives a waiting call its answers; what follows comes as for any call.
pub(crate) async fn resume(
    server: &Arc<FederatedServer>,
    asked: &Asked,
    route: &Route,
    facts: WaitingFacts,
) -> Result<Answer, RpcError> {
    let ended = || RpcError::new(code::INVALID_PARAMS, "the call that the requestState names waits no longer");
    let (mailboxes, owner) = (server.state.outside.mailboxes.clone(), asked.owner(server));
    // A state is good once: each question has its own.
    let once = format!("{} {}", facts.address, facts.question);
    if mailboxes.over.has(&once) {
        return Err(ended());
    }
    let opened = mailboxes.open(asked.holder(server), Purpose::WayBack);
    let mut mailbox = opened.ok_or_else(|| RpcError::new(code::UNAVAILABLE, TOO_MANY))?;
    let address: Address = facts.address.parse().map_err(|()| ended())?;
    let answers = asked.params().get("inputResponses").cloned().unwrap_or_default();
    if weight(&answers) > ANSWER_BYTES_MAX {
        return Err(RpcError::new(code::INVALID_PARAMS, "the answers are too large"));
    }
    let memory = server.state.backends.get(route.server).map(|backend| backend.stream_memory(asked.holder(server)));
    let told = json!({"answers": answers, "question": facts.question, "back": mailbox.address.to_string()});
    if !mailboxes.post(&address, &owner, told).await {
        let unreachable = || RpcError::new(code::UNAVAILABLE, "the gateway where the call waits is not reached now: try again");
        return Err(if mailboxes.is_here(&address) { ended() } else { unreachable() });
    }
    mailboxes.over.add(digest(&once));
    mailbox.next(TAKEN_MAX).await.ok_or_else(ended)?;
    let (client, stream) = mpsc::channel(WAITING_MAX);
    server.state.outside.client.spawn(async move {
        let tell = |word: &str| mailboxes.post(&address, &owner, json!({word: true}));
        let (mut received, mut last) = (0, Instant::now());
        while last.elapsed() < THINKING_MAX {
            let message = tokio::select! {
                message = mailbox.next(HERE_EVERY) => message,
                () = client.closed() => break,
            };
            let Some(message) = message else {
                tell(MORE).await;
                continue;
            };
            let is_last = is_response(&message);
            let room = match &memory {
                Some(memory) => memory.room(weight(&message)).await,
                None => Ok(None),
            };
            let message = match room {
                Ok(room) => StreamMessage { event_id: None, message, room },
                Err(why) => StreamMessage::own(RpcError::new(code::UNAVAILABLE, why).response(&Value::Null)),
            };
            if client.send(message).await.is_err() {
                break;
            }
            if is_last {
                return;
            }
            (received, last) = (received + 1, Instant::now());
            if received % MORE_AFTER == 0 {
                tell(MORE).await;
            }
        }
        tell(LEFT).await;
    });
    Ok(Answer { session: None, messages: Messages::Stream(stream) })
}

/// What can happen while a call runs.
enum Happening {
    Received(Option<StreamMessage>),
    Mail(Option<Value>),
    Left,
}

impl WaitingCall {
    async fn run(mut self, mut messages: mpsc::Receiver<StreamMessage>, mut overheard: Option<Overheard>) {
        let mut unasked = Unasked::default();
        loop {
            let message = match self.next(&mut messages, &mut overheard).await {
                Happening::Received(Some(message)) => message,
                Happening::Mail(Some(mail)) if mail.get(MORE).is_some() => {
                    self.credit = CREDIT;
                    continue;
                }
                Happening::Mail(Some(mail)) if mail.get(LEFT).is_none() => continue,
                Happening::Received(None) | Happening::Mail(_) | Happening::Left => return,
            };
            if message.message.is_null() {
                continue;
            }
            if is_request(&message.message) {
                if !self.ask(&message.message).await {
                    return;
                }
                continue;
            }
            let is_last = is_response(&message.message);
            let weight = weight(&message.message);
            if matches!(self.client, Way::Mailbox(_)) && !is_last && weight > SMALL {
                // It is left out: what passes between gateways is small.
                if unasked.add(weight) {
                    return;
                }
                continue;
            }
            if !self.client.send(&self.server, &self.holder.owner, message).await || is_last {
                return;
            }
            if matches!(self.client, Way::Mailbox(_)) {
                self.credit = self.credit.saturating_sub(1);
            }
        }
    }

    /// What comes next from the server, or from where the client waits.
    async fn next(&mut self, messages: &mut mpsc::Receiver<StreamMessage>, overheard: &mut Option<Overheard>) -> Happening {
        let beside = async {
            match overheard {
                Some(overheard) => overheard.next().await,
                None => pending().await,
            }
        };
        let (left, mail) = (
            async {
                match &self.client {
                    Way::Here(client) => client.closed().await,
                    Way::Mailbox(_) | Way::Closed => pending().await,
                }
            },
            async {
                match (&self.client, &mut self.mailbox) {
                    (Way::Mailbox(_), Some(mailbox)) => mailbox.next(HERE_MAX).await,
                    _ => pending().await,
                }
            },
        );
        tokio::select! {
            received = messages.recv(), if self.credit > 0 => Happening::Received(received),
            Some(received) = beside, if self.credit > 0 => Happening::Received(Some(received)),
            mail = mail => Happening::Mail(mail),
            () = left => Happening::Left,
        }
    }

    /// Answers a question of the server, after asking the client if that can answer it. `false` if the client is not there any more.
    async fn ask(&mut self, question: &Value) -> bool {
        let id = question.get("id").cloned().unwrap_or_default();
        let method = method(question);
        if method == "ping" {
            self.answer(result(&id, json!({}))).await;
            return true;
        }
        let can_answer = capability_for(method).is_some_and(|capability| self.capabilities.get(capability).is_some());
        if !can_answer {
            self.answer(RpcError::new(code::METHOD_NOT_FOUND, "the client does not support it").response(&id)).await;
            return true;
        }
        if self.mailbox.is_none() {
            self.mailbox = self.server.state.outside.mailboxes.open(self.holder.clone(), Purpose::Question);
        }
        let Some(mut mailbox) = self.mailbox.take() else {
            self.answer(RpcError::new(code::INTERNAL, TOO_MANY).response(&id)).await;
            let error = RpcError::new(code::UNAVAILABLE, TOO_MANY).response(&Value::Null);
            self.client.send(&self.server, &self.holder.owner, StreamMessage::own(error)).await;
            return false;
        };
        let answered = timeout(THINKING_MAX, self.answer_of_client(&mut mailbox, method, question.get("params"))).await;
        let Some(answer) = answered.ok().flatten() else {
            self.answer(RpcError::new(code::INTERNAL, "the client has not answered").response(&id)).await;
            return false;
        };
        self.mailbox = Some(mailbox);
        self.answer(result(&id, answer)).await;
        true
    }

    /// Ends the client's request with a question, and waits until it comes again with the answer.
    async fn answer_of_client(&mut self, mailbox: &mut OpenMailbox, method: &str, params: Option<&Value>) -> Option<Value> {
        let params = params.cloned().unwrap_or_else(|| json!({}));
        let questions = json!({QUESTION: {"method": method, "params": params}});
        loop {
            self.questions += 1;
            let facts = WaitingFacts {
                address: mailbox.address.to_string(),
                caller: self.caller.clone(),
                method: self.method.clone(),
                name: self.name.clone(),
                question: self.questions,
            };
            let state = self.server.state.outside.seal.state(&facts)?;
            let needed = json!({"resultType": "input_required", "inputRequests": questions, "requestState": state});
            // The client's id comes with the shape of its response.
            if !self.client.send(&self.server, &self.holder.owner, StreamMessage::own(result(&Value::Null, needed))).await {
                return None;
            }
            self.client = Way::Closed;
            let retry = loop {
                let mail = mailbox.next(THINKING_MAX).await?;
                if mail.get("question") == Some(&self.questions.into()) {
                    break mail;
                }
            };
            let back = text(&retry, &["back"])?.parse().ok()?;
            (self.client, self.credit) = (Way::Mailbox(back), CREDIT);
            self.client.send(&self.server, &self.holder.owner, StreamMessage::own(json!({"taken": true}))).await;
            // A client that lacks the answer is asked again.
            if let Some(answer) = retry.get("answers").and_then(|answers| answers.get(QUESTION)).filter(|answer| answer.is_object())
            {
                return Some(answer.clone());
            }
        }
    }

    /// Tells the server something.
    async fn answer(&self, message: Value) {
        if let Some(backend) = self.server.state.backends.get(self.at) {
            // A server that does not take it goes on without.
            let _ = backend.send(&self.agreed, message, Vec::new()).await;
        }
    }
}

impl Way {
    /// Sends a message to the client; `false` if it is known to be gone.
    async fn send(&self, server: &FederatedServer, owner: &str, message: StreamMessage) -> bool {
        match self {
            Way::Here(client) => client.send(StreamMessage { event_id: None, ..message }).await.is_ok(),
            Way::Closed => false,
            Way::Mailbox(address) => server.state.outside.mailboxes.post(address, owner, message.message).await,
        }
    }
}
