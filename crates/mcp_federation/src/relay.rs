//! What clients get of a server's answer.

use crate::answer::{Answer, LinkFault, Messages, StreamMessage};
use crate::catalogue::Catalogue;
use crate::event_place::{EventIds, EventPlace, call_tag};
use crate::federated_call::FederatedCall;
use crate::memory::Room;
use crate::message::{RpcError, code, is_request, is_response, meta_of, method, set};
use crate::tasks::TaskIds;
use crate::unasked::Unasked;
use crate::version::{Era, META_SERVER};
use crate::weight::weight;
use futures_util::stream::unfold;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Response, StatusCode};
use http_body_util::{BodyExt, Empty, Full, StreamBody};
use hyper::body::{Body, Bytes, Frame};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use tollgate_outbound::{LocalBody, holding};

/// The body of a response, whole or event by event.
pub(crate) type ReplyBody = LocalBody;

/// After this long without an event, a comment is sent: that a client has left is seen when something is sent to it.
pub(crate) const SILENCE_MAX: Duration = Duration::from_secs(15);

/// What is sent then.
pub(crate) const COMMENT: &str = ":\n\n";

/// Longest id of an event that a client gets: it comes back in a header line.
const EVENT_ID_BYTES_MAX: usize = 4 << 10;

/// How one client gets the answer to one request.
#[derive(Clone)]
pub(crate) struct Shape {
    pub era: Era,
    /// The client's id of the request.
    pub id: Value,
    /// The server that answers: part of the ids that it gives.
    pub server: String,
    /// Gives ids to events.
    pub events: EventIds,
    /// Gives ids to tasks, in a session.
    pub tasks: Option<TaskIds>,
    /// The federation, as clients see it.
    pub info: Value,
    /// Whether the client reads event streams.
    pub reads_events: bool,
    /// Whether it wants log messages.
    pub wants_log: bool,
    /// What the result may be stored for, in milliseconds, if it may say so.
    pub ttl_ms: Option<u64>,
    /// Longest time until the response is there, for a client that reads no events.
    pub time_max: Duration,
    /// The tool whose result is checked.
    pub tool: Option<(Arc<Catalogue>, String)>,
    /// The call, for its record.
    pub recorded: Option<Arc<FederatedCall>>,
}

/// The code of the error that a response has.
#[derive(Clone, Copy)]
pub(crate) struct ErrorCode(pub i64);

impl ErrorCode {
    fn of(message: &Value) -> Option<Self> {
        message.get("error")?.get("code")?.as_i64().map(ErrorCode)
    }
}

impl Shape {
    /// A request or notification of a server as the client gets it; `None` for one that it must not get.
    pub(crate) fn pass(&self, mut message: Value) -> Option<Value> {
        if message.is_null() && self.era == Era::Modern {
            return None;
        }
        self.show_tasks(&mut message);
        if is_request(&message) {
            // Only sessions have a way back to the server.
            if self.era == Era::Modern {
                return None;
            }
            let id = message.get("id").map(Value::to_string).unwrap_or_default();
            set(&mut message, "id", format!("{}:{id}", self.server));
        }
        if method(&message) == "notifications/cancelled"
            && let Some(params) = message.get_mut("params")
        {
            // It is about a question of this server.
            let id = params.get("requestId").map(Value::to_string).unwrap_or_default();
            set(params, "requestId", format!("{}:{id}", self.server));
        }
        (self.era == Era::Legacy || self.wants_log || method(&message) != "notifications/message").then_some(message)
    }

    /// Gives the tasks of a message the ids that the client knows.
    pub(crate) fn show_tasks(&self, message: &mut Value) {
        self.tasks.iter().for_each(|tasks| tasks.show(&self.server, message));
    }

    /// The id that an event has for the client; `call` is the tag of its call.
    pub(crate) fn event_id(&self, call: &str, event: &str) -> String {
        self.events.give(&EventPlace { server: &self.server, call, event })
    }

    /// A message as the client gets it; `None` for one that it must not get.
    fn apply(&self, mut message: Value) -> Option<Value> {
        if is_response(&message) {
            set(&mut message, "id", self.id.clone());
            self.show_tasks(&mut message);
            self.shape_error(&mut message);
            if let Some(fault) = self.fault_of(&message) {
                let error = RpcError::new(code::INTERNAL, format!("the result does not fit the tool's schema: {fault}"));
                return Some(error.response(&self.id));
            }
            if let Some(result) = message.get_mut("result") {
                self.shape_result(result);
            }
            return Some(message);
        }
        self.pass(message)
    }

    /// A result as the client's version has it.
    pub(crate) fn shape_result(&self, result: &mut Value) {
        match self.era {
            Era::Legacy => {
                if let Some(members) = result.as_object_mut() {
                    ["resultType", "ttlMs", "cacheScope"].iter().for_each(|name| drop(members.remove(*name)));
                }
            }
            Era::Modern => {
                if let Some(meta) = meta_of(result) {
                    meta.insert(META_SERVER.to_owned(), self.info.clone());
                }
                let Some(members) = result.as_object_mut() else { return };
                members.entry("resultType").or_insert_with(|| "complete".into());
                if let Some(ttl_ms) = self.ttl_ms {
                    members.entry("ttlMs").or_insert_with(|| ttl_ms.into());
                    // What one caller sees is not what another sees.
                    members.insert("cacheScope".to_owned(), "private".into());
                }
            }
        }
    }

    /// The code of a resource that does not exist differs.
    fn shape_error(&self, message: &mut Value) {
        if let (Era::Modern, Some(error)) = (self.era, message.get_mut("error"))
            && error.get("code") == Some(&code::RESOURCE_NOT_FOUND.into())
        {
            set(error, "code", code::INVALID_PARAMS);
        }
    }

    fn fault_of(&self, message: &Value) -> Option<String> {
        let (catalogue, name) = self.tool.as_ref()?;
        let result = message.get("result").filter(|result| result.get("isError") != Some(&Value::Bool(true)))?;
        catalogue.tool(name)?.fault_of_result(result.get("structuredContent")?)
    }

    /// The response to a request.
    pub(crate) async fn reply(&self, answer: Result<Answer, LinkFault>) -> Response<ReplyBody> {
        let messages = match answer {
            Ok(answer) => answer.messages,
            Err(fault) => {
                let response = self.fault_response(fault);
                return json_reply(self.status_of(&response), &response);
            }
        };
        match messages {
            Messages::Stream(stream) if self.reads_events => self.events(stream),
            messages => {
                let late = || Err(LinkFault::Unreachable(format!("it gave no response within {:?}", self.time_max)));
                let held = timeout(self.time_max, messages.held_response()).await.unwrap_or_else(|_| late());
                let (response, room) = match held {
                    Ok(StreamMessage { message, room, .. }) => (self.apply(message).unwrap_or_default(), room),
                    Err(fault) => (self.fault_response(fault), None),
                };
                // What waits for a slow client keeps its room.
                json_reply(self.status_of(&response), &response).map(|body| match room {
                    None => body,
                    Some(room) => holding(body, room).boxed_unsync(),
                })
            }
        }
    }

    /// The status of a response: modern servers tell some errors by it.
    fn status_of(&self, response: &Value) -> StatusCode {
        let code = response.get("error").and_then(|error| error.get("code")).and_then(Value::as_i64);
        match (self.era, code) {
            (Era::Modern, Some(code::HEADER_MISMATCH | code::MISSING_CAPABILITY | code::UNSUPPORTED_VERSION)) => {
                StatusCode::BAD_REQUEST
            }
            (Era::Modern, Some(code::METHOD_NOT_FOUND)) => StatusCode::NOT_FOUND,
            _ => StatusCode::OK,
        }
    }

    pub(crate) fn fault_response(&self, fault: LinkFault) -> Value {
        if let LinkFault::Refused(_, Some(error)) = &fault {
            let error = error.get("error").unwrap_or(error);
            if error.get("code").is_some() {
                let mut message = json!({"jsonrpc": "2.0", "id": self.id, "error": error});
                self.shape_error(&mut message);
                return message;
            }
        }
        RpcError::new(code::UNAVAILABLE, format!("the server {:?} gives no answer: {fault}", self.server)).response(&self.id)
    }

    /// A stream of messages as events.
    pub(crate) fn events(&self, stream: mpsc::Receiver<StreamMessage>) -> Response<ReplyBody> {
        let shape = self.clone();
        let ended = self.fault_response(LinkFault::Unreachable("its stream ended without a response".to_owned()));
        let call = call_tag(&self.id);
        let recorded = self.recorded.clone();
        event_reply(stream, (Some(ended), recorded), move |StreamMessage { event_id, message, room }| {
            let message = shape.apply(message)?;
            // Only sessions can be resumed.
            let event_id = event_id.filter(|_| shape.era == Era::Legacy);
            let event_id = event_id.map(|event| shape.event_id(&call, &event));
            Some(StreamMessage { event_id, message, room })
        })
    }
}

/// A response with a message.
pub(crate) fn json_reply(status: StatusCode, message: &Value) -> Response<ReplyBody> {
    let mut response = Response::new(infallible(Full::new(Bytes::from(message.to_string()))));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Some(code) = ErrorCode::of(message) {
        response.extensions_mut().insert(code);
    }
    response
}

/// A response without a body.
pub(crate) fn empty_reply(status: StatusCode) -> Response<ReplyBody> {
    let mut response = Response::new(infallible(Empty::new()));
    *response.status_mut() = status;
    response
}

/// A response of events, with comments in times of silence. `unanswered` is told at the end if there was no response before; an error in a response
/// is noted in `recorded`.
pub(crate) fn event_reply(
    stream: mpsc::Receiver<StreamMessage>,
    (unanswered, recorded): (Option<Value>, Option<Arc<FederatedCall>>),
    shape: impl Fn(StreamMessage) -> Option<StreamMessage> + Send + Sync + 'static,
) -> Response<ReplyBody> {
    let shape = Arc::new(shape);
    let frames = unfold(
        EventsReply { stream, unanswered, recorded, unasked: Unasked::default(), room: None, is_over: false },
        move |mut reply| {
            let shape = shape.clone();
            async move {
                let text = reply.next(&*shape).await?;
                Some((Ok::<_, Infallible>(Frame::data(Bytes::from(text))), reply))
            }
        },
    );
    event_response(infallible(StreamBody::new(frames)))
}

/// A body that cannot break off.
fn infallible(body: impl Body<Data = Bytes, Error = Infallible> + Send + 'static) -> ReplyBody {
    body.map_err(|never| match never {}).boxed_unsync()
}

/// A response whose body is events.
pub(crate) fn event_response(body: ReplyBody) -> Response<ReplyBody> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// A stream on its way to a client.
struct EventsReply {
    stream: mpsc::Receiver<StreamMessage>,
    unanswered: Option<Value>,
    recorded: Option<Arc<FederatedCall>>,
    unasked: Unasked,
    /// That of the event that was sent last.
    room: Option<Room>,
    is_over: bool,
}

impl EventsReply {
    /// The next event's text; `None` at the end.
    async fn next(&mut self, shape: &(impl Fn(StreamMessage) -> Option<StreamMessage> + ?Sized)) -> Option<String> {
        self.room = None;
        if self.is_over {
            return None;
        }
        let silent = sleep(SILENCE_MAX);
        let mut silent = pin!(silent);
        loop {
            let message = tokio::select! {
                message = self.stream.recv() => message,
                () = &mut silent => return Some(COMMENT.to_owned()),
            };
            let Some(message) = message else { return self.end() };
            let weight = weight(&message.message);
            if let Some(message) = shape(message) {
                if is_response(&message.message) {
                    self.unanswered = None;
                    self.note_error(&message.message);
                }
                let StreamMessage { event_id, message, room } = message;
                self.room = room;
                return Some(event_text(event_id, &message));
            }
            if self.unasked.add(weight) {
                return self.end();
            }
        }
    }

    fn end(&mut self) -> Option<String> {
        self.is_over = true;
        let unanswered = self.unanswered.take()?;
        self.note_error(&unanswered);
        Some(event_text(None, &unanswered))
    }

    fn note_error(&self, response: &Value) {
        if let (Some(recorded), Some(ErrorCode(code))) = (&self.recorded, ErrorCode::of(response)) {
            recorded.note(code);
        }
    }
}

/// A message as an event.
pub(crate) fn event_text(event_id: Option<String>, message: &Value) -> String {
    let id = event_id
        .filter(|id| id.len() <= EVENT_ID_BYTES_MAX && !id.contains(['\n', '\r', '\0']))
        .map(|id| format!("id: {id}\n"))
        .unwrap_or_default();
    match message {
        Value::Null if id.is_empty() => id,
        Value::Null => format!("{id}data:\n\n"),
        message => format!("{id}event: message\ndata: {message}\n\n"),
    }
}
