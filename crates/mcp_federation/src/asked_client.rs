//! A client with a session before a server whose requests each stand for themselves: what the server needs to know is asked of the client on the
//! stream of its call, and the call is sent again with the answers.

use crate::answer::{Answer, LinkFault, Messages, StreamMessage, WAITING_MAX};
use crate::client::{THINKING_MAX, capability_for};
use crate::federated::{Asked, FederatedServer, Route};
use crate::mailboxes::{OpenMailbox, Purpose};
use crate::message::{RpcError, code, is_response, method, request, text};
use crate::relay::Shape;
use crate::seal::QuestionFacts;
use serde_json::{Map, Value};
use std::sync::Arc;
use tokio::sync::mpsc;

/// Most times that a server may ask for one call.
const ROUNDS_MAX: usize = 16;
/// Most questions at one time.
const QUESTIONS_MAX: usize = 16;

/// A call whose server may ask.
struct AskedCall {
    server: Arc<FederatedServer>,
    asked: Asked,
    route: Route,
    shape: Shape,
    client: mpsc::Sender<StreamMessage>,
}

/// Whether a result says that the server needs to know more.
pub(crate) fn needs_input(message: &Value) -> bool {
    text(message, &["result", "resultType"]) == Some("input_required")
}

/// The answer to a call, with what the server asks on the way.
pub(crate) fn with_questions(server: &Arc<FederatedServer>, asked: Asked, route: Route, shape: Shape, answer: Answer) -> Answer {
    let messages = match answer.messages {
        Messages::One(message) if !needs_input(&message.message) => Messages::One(message),
        Messages::None => Messages::None,
        messages => {
            let (client, stream) = mpsc::channel(WAITING_MAX);
            let call = AskedCall { server: server.clone(), asked, route, shape, client };
            server.state.outside.client.spawn(call.run(messages));
            Messages::Stream(stream)
        }
    };
    Answer { session: answer.session, messages }
}

impl AskedCall {
    async fn run(mut self, mut messages: Messages) {
        for _ in 0..ROUNDS_MAX {
            let Some(response) = self.passed(messages).await else { return };
            if !needs_input(&response.message) {
                // Nobody minds if the client has left.
                let _ = self.client.send(response).await;
                return;
            }
            let response = response.message;
            let answers = tokio::select! {
                answers = self.answers(&response) => answers,
                () = self.client.closed() => return,
            };
            let again = match answers {
                Ok(answers) => {
                    if let Some(params) = self.route.params.as_object_mut() {
                        params.remove("requestState");
                        let state = response.pointer("/result/requestState").filter(|state| !state.is_null());
                        params.extend(state.map(|state| ("requestState".to_owned(), state.clone())));
                        params.insert("inputResponses".to_owned(), Value::Object(answers));
                    }
                    self.server.call(&self.asked, &self.route, None).await
                }
                Err(error) => return self.send(error.response(&self.shape.id)).await,
            };
            messages = match again {
                Ok((_, answer)) => answer.messages,
                Err(fault) => return self.send(self.shape.fault_response(fault)).await,
            };
        }
        let error = RpcError::new(code::INTERNAL, format!("the server asks more than {ROUNDS_MAX} times"));
        self.send(error.response(&self.shape.id)).await;
    }

    /// The response, when the client has got what comes before it; `None` if the client has left.
    async fn passed(&self, messages: Messages) -> Option<StreamMessage> {
        let gone = |why: &str| StreamMessage::own(self.shape.fault_response(LinkFault::Unreachable(why.to_owned())));
        match messages {
            Messages::One(message) => Some(message),
            Messages::None => Some(gone("it gave no response")),
            Messages::Stream(mut stream) => loop {
                let message = tokio::select! {
                    message = stream.recv() => message,
                    () = self.client.closed() => return None,
                };
                match message {
                    Some(message) if is_response(&message.message) => return Some(message),
                    Some(message) => self.client.send(message).await.ok()?,
                    None => return Some(gone("its stream ended without a response")),
                }
            },
        }
    }

    /// Asks the client all that the server wants to know.
    async fn answers(&self, response: &Value) -> Result<Map<String, Value>, RpcError> {
        let none = Map::new();
        let questions = response.pointer("/result/inputRequests").and_then(Value::as_object).unwrap_or(&none);
        let refused = |why: &str| RpcError::new(code::INTERNAL, format!("the server asks what the client cannot answer: {why}"));
        if !self.shape.reads_events && !questions.is_empty() {
            return Err(refused("it reads no events"));
        }
        if questions.len() > QUESTIONS_MAX {
            return Err(refused("these are too many questions"));
        }
        let mut asked: Vec<(&String, OpenMailbox)> = Vec::new();
        for (key, question) in questions {
            let method = method(question);
            let capability = capability_for(method).ok_or_else(|| refused(method))?;
            if self.asked.capabilities.get(capability).is_none() {
                return Err(refused(&format!("it has no {capability}")));
            }
            let mailboxes = &self.server.state.outside.mailboxes;
            let holder = self.asked.holder(&self.server);
            let mailbox = mailboxes.open(holder, Purpose::Question).ok_or_else(|| refused("too many calls wait"))?;
            let facts = QuestionFacts { address: mailbox.address.to_string(), caller: self.asked.caller.clone() };
            let id = self.server.state.outside.seal.question(&facts).ok_or_else(|| refused("it cannot be named"))?;
            let params = question.get("params").cloned().unwrap_or_else(|| Value::Object(Map::new()));
            self.send(request(&id.into(), method, params)).await;
            asked.push((key, mailbox));
        }
        let mut answers = Map::new();
        for (key, mut mailbox) in asked {
            let answer = mailbox.next(THINKING_MAX).await.ok_or_else(|| refused("it has not answered"))?;
            match answer.get("result") {
                Some(result) => answers.insert(key.clone(), result.clone()),
                None => return Err(refused(text(&answer, &["error", "message"]).unwrap_or("it has refused"))),
            };
        }
        Ok(answers)
    }

    async fn send(&self, message: Value) {
        // Nobody minds if the client has left.
        let _ = self.client.send(StreamMessage::own(message)).await;
    }
}
