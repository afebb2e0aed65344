//! A client whose requests each stand for themselves before a server that asks in the middle of a call: the client is told what the server asks, and
//! the call waits here, as the server sees it, until the client sends it again with its answers, to whichever gateway.

use crate::answer::{Agreed, Answer, Messages, StreamMessage, WAITING_MAX};
use crate::client::{THINKING_MAX, capability_for};
use crate::federated::{Asked, FederatedServer, Route};
use crate::mailboxes::{Address, OpenMailbox};
use crate::message::{RpcError, code, is_request, is_response, method, result, text};
use crate::seal::WaitingFacts;
use crate::session_stream::Overheard;
use crate::version::Era;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// The name of a server's question, of which there is one at a time.
const QUESTION: &str = "question";
/// How long a gateway has time to say that a call waits there.
const TAKEN_MAX: Duration = Duration::from_secs(3);

/// A call that waits, or may do so.
struct WaitingCall {
    server: Arc<FederatedServer>,
    /// The server's place.
    at: usize,
    agreed: Arc<Agreed>,
    caller: String,
    owner: String,
    /// What the client can do.
    capabilities: Value,
    method: String,
    name: String,
    client: Way,
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
                owner: asked.owner(server),
                capabilities: asked.capabilities.clone(),
                method: route.method.clone(),
                name: route.name.clone(),
                client: Way::Here(client),
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
pub(crate) async fn resume(server: &Arc<FederatedServer>, asked: &Asked, facts: WaitingFacts) -> Result<Answer, RpcError> {
    let ended = || RpcError::new(code::INVALID_PARAMS, "the call that the requestState names waits no longer");
    let (mailboxes, owner) = (&server.state.outside.mailboxes, asked.owner(server));
    let mut mailbox = mailboxes.open(&owner).ok_or_else(|| RpcError::new(code::UNAVAILABLE, "too many calls wait"))?;
    let address = facts.address.parse().map_err(|()| ended())?;
    let answers = asked.params().get("inputResponses").cloned().unwrap_or_default();
    let told = mailboxes.post(&address, &owner, json!({"answers": answers, "back": mailbox.address.to_string()})).await;
    if !told || mailbox.next(TAKEN_MAX).await.is_none() {
        return Err(ended());
    }
    let (client, stream) = mpsc::channel(WAITING_MAX);
    server.state.outside.client.spawn(async move {
        loop {
            let message = tokio::select! {
                message = mailbox.next(THINKING_MAX) => message,
                () = client.closed() => return,
            };
            let Some(message) = message else { return };
            let is_last = is_response(&message);
            if client.send(StreamMessage { event_id: None, message }).await.is_err() || is_last {
                return;
            }
        }
    });
    Ok(Answer { session: None, messages: Messages::Stream(stream) })
}

impl WaitingCall {
    async fn run(mut self, mut messages: mpsc::Receiver<StreamMessage>, mut overheard: Option<Overheard>) {
        loop {
            let beside = async {
                match &mut overheard {
                    Some(overheard) => overheard.next().await,
                    None => std::future::pending().await,
                }
            };
            let left = async {
                match &self.client {
                    Way::Here(client) => client.closed().await,
                    Way::Mailbox(_) | Way::Closed => std::future::pending().await,
                }
            };
            let received = tokio::select! {
                received = messages.recv() => received,
                Some(received) = beside => Some(received),
                () = left => return,
            };
            let Some(StreamMessage { message, .. }) = received else { return };
            if message.is_null() {
                continue;
            }
            if is_request(&message) {
                if !self.ask(&message).await {
                    return;
                }
                continue;
            }
            let is_last = is_response(&message);
            if !self.client.send(&self.server, &self.owner, message).await || is_last {
                return;
            }
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
        let answer = match self.answer_of_client(method, question.get("params")).await {
            Some(answer) => answer,
            None => {
                let error = RpcError::new(code::INTERNAL, "the client has not answered").response(&id);
                self.answer(error).await;
                return false;
            }
        };
        self.answer(result(&id, answer)).await;
        true
    }

    /// Ends the client's request with a question, and waits until it comes again with the answer.
    async fn answer_of_client(&mut self, method: &str, params: Option<&Value>) -> Option<Value> {
        let mut mailbox: OpenMailbox = self.server.state.outside.mailboxes.open(&self.owner)?;
        let facts = WaitingFacts {
            address: mailbox.address.to_string(),
            caller: self.caller.clone(),
            method: self.method.clone(),
            name: self.name.clone(),
        };
        let state = self.server.state.outside.seal.state(&facts)?;
        let params = params.cloned().unwrap_or_else(|| json!({}));
        let questions = json!({QUESTION: {"method": method, "params": params}});
        let needed = json!({"resultType": "input_required", "inputRequests": questions, "requestState": state});
        loop {
            // The client's id comes with the shape of its response.
            if !self.client.send(&self.server, &self.owner, result(&Value::Null, needed.clone())).await {
                return None;
            }
            self.client = Way::Closed;
            let retry = mailbox.next(THINKING_MAX).await?;
            let back = text(&retry, &["back"])?.parse().ok()?;
            self.client = Way::Mailbox(back);
            self.client.send(&self.server, &self.owner, json!({"taken": true})).await;
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
    async fn send(&self, server: &FederatedServer, owner: &str, message: Value) -> bool {
        match self {
            Way::Here(client) => client.send(StreamMessage { event_id: None, message }).await.is_ok(),
            Way::Closed => false,
            Way::Mailbox(address) => server.state.outside.mailboxes.post(address, owner, message).await,
        }
    }
}
