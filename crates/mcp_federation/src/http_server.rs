//! A server over streamable HTTP.

use crate::answer::{Agreed, Answer, LinkFault, MESSAGE_BYTES_MAX, Messages, Outbound, SessionEnd, StreamMessage, WAITING_MAX};
use crate::client::THINKING_MAX;
use crate::event_place::{EventPlace, call_tag};
use crate::memory::{ServerMemory, StreamMemory};
use crate::message::{RpcError, code, is_request, is_response};
use crate::reading::{ReadFault, read};
use crate::weight::weight;
use http::header::CONTENT_TYPE;
use http::{Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use tollgate_mcp::{EventParts, EventReader};
use tollgate_outbound::Holder;
use tollgate_outbound::{Call, CallClient, CallLimits};
use tollgate_tls::TlsSettings;

/// How often the stream of one call is opened again, and the time before that if the server says nothing about it, and at most.
const RESUMES_MAX: usize = 100;
const PAUSE: Duration = Duration::from_secs(1);
const PAUSE_MIN: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(30);
/// How long a stream of notifications may say nothing.
const SILENCE_MAX: Duration = Duration::from_secs(3_600);

/// A server over HTTP.
#[derive(Clone)]
pub(crate) struct HttpServer {
    pub url: String,
    pub headers: Vec<(String, String)>,
    pub tls: TlsSettings,
    pub time_max: Duration,
    pub client: Arc<CallClient>,
    pub memory: ServerMemory,
}

impl HttpServer {
    /// Posts a message.
    pub(crate) async fn post(&self, outbound: Outbound<'_>) -> Result<Answer, LinkFault> {
        self.post_with_silence(outbound, self.time_max).await
    }

    /// Posts a request for a stream of notifications.
    pub(crate) async fn subscribe(&self, outbound: Outbound<'_>) -> Result<Answer, LinkFault> {
        self.post_with_silence(outbound, SILENCE_MAX).await
    }

    /// Posts a message whose stream may say nothing for so long.
    async fn post_with_silence(&self, outbound: Outbound<'_>, silence_max: Duration) -> Result<Answer, LinkFault> {
        let mut headers = self.headers_with(outbound.agreed);
        headers.push(("Content-Type".to_owned(), "application/json".to_owned()));
        headers.push(("Accept".to_owned(), "application/json, text/event-stream".to_owned()));
        headers.extend(outbound.headers);
        let has_session = outbound.agreed.is_some_and(|agreed| agreed.session.is_some());
        let response = self.open("POST", &headers, outbound.message.to_string().into_bytes()).await?;
        let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let session = header("mcp-session-id").filter(|session| !session.is_empty());
        match response.status() {
            StatusCode::NOT_FOUND if has_session => return Err(LinkFault::SessionGone),
            StatusCode::ACCEPTED | StatusCode::NO_CONTENT => return Ok(Answer { session, messages: Messages::None }),
            status if !status.is_success() => {
                let body = self.whole(response).await.ok().and_then(|body| read(&body).ok());
                return Err(LinkFault::Refused(status.as_u16(), body));
            }
            _ => {}
        }
        let asked = outbound.message.get("id").cloned();
        let messages = match is_stream(&response) {
            true => {
                let resuming = Resuming { server: self.clone(), agreed: outbound.agreed.cloned() };
                Messages::Stream(self.read_events(
                    response,
                    silence_max,
                    Ending::Response(asked),
                    (Some(resuming), outbound.holder),
                ))
            }
            false => {
                let body = self.whole(response).await?;
                let message = read(&body).map_err(|fault| LinkFault::Unreachable(format!("it answered {fault}")))?;
                // An error about a message that could not be read has no id.
                let is_ours = message.get("id").is_none_or(Value::is_null) || message.get("id") == asked.as_ref();
                if !is_ours {
                    return Err(LinkFault::Unreachable("it answered another request".to_owned()));
                }
                let room = self.memory.stream(outbound.holder).room(weight(&message)).await;
                let room = room.map_err(|why| LinkFault::Unreachable(why.to_owned()))?;
                Messages::One(StreamMessage { event_id: None, message, room })
            }
        };
        Ok(Answer { session, messages })
    }

    /// Opens the stream of a session, or that of a call behind an event. `None` if the server has no such stream.
    pub(crate) async fn listen(
        &self,
        agreed: &Agreed,
        behind: Option<&EventPlace<'_>>,
    ) -> Result<Option<mpsc::Receiver<StreamMessage>>, LinkFault> {
        let response = self.open_stream(Some(agreed), behind.map(|place| place.event)).await?;
        match response.status() {
            StatusCode::NOT_FOUND => Err(LinkFault::SessionGone),
            status if status.is_success() && is_stream(&response) => {
                let ending = behind.map_or(Ending::Never, |place| Ending::Call(place.call.to_owned()));
                Ok(Some(self.read_events(response, SILENCE_MAX, ending, (None, None))))
            }
            _ => Ok(None),
        }
    }

    /// Reads a stream of messages on a task of its own, as long as somebody takes them.
    fn read_events(
        &self,
        response: Response<Incoming>,
        silence_max: Duration,
        ending: Ending,
        (resuming, holder): (Option<Resuming>, Option<Holder>),
    ) -> mpsc::Receiver<StreamMessage> {
        let (sender, receiver) = mpsc::channel(WAITING_MAX);
        let memory = self.memory.stream(holder);
        tokio::spawn(async move {
            let mut reading = EventsReading { sender, silence_max, ending, behind: None, pause: PAUSE, memory };
            let mut body = response.into_body();
            for _ in 0..RESUMES_MAX {
                if reading.read(body).await {
                    return;
                }
                let (Some(resuming), Some(behind)) = (&resuming, reading.behind.take()) else { return };
                let opened = tokio::select! {
                    opened = resuming.open(&behind, reading.pause) => opened,
                    () = reading.sender.closed() => return,
                };
                let Some(rest) = opened else { return };
                body = rest;
            }
        });
        receiver
    }

    async fn open_stream(&self, agreed: Option<&Agreed>, behind: Option<&str>) -> Result<Response<Incoming>, LinkFault> {
        let mut headers = self.headers_with(agreed);
        headers.push(("Accept".to_owned(), "text/event-stream".to_owned()));
        headers.extend(behind.map(|event| ("Last-Event-ID".to_owned(), event.to_owned())));
        self.open("GET", &headers, Vec::new()).await
    }

    /// Ends a session. The server may not want that.
    pub(crate) async fn end(&self, agreed: &Agreed) {
        if agreed.session.is_some() {
            let _ = self.open("DELETE", &self.headers_with(Some(agreed)), Vec::new()).await;
        }
    }

    /// What is agreed, so that its session ends when nobody has it any more.
    pub(crate) fn kept(&self, agreed: Agreed) -> Agreed {
        let (server, ended) = (self.clone(), agreed.clone());
        let end = move || {
            let client = server.client.clone();
            client.spawn(async move { server.end(&ended).await });
        };
        Agreed { end: Some(Arc::new(SessionEnd::new(end))), ..agreed }
    }

    fn headers_with(&self, agreed: Option<&Agreed>) -> Vec<(String, String)> {
        let mut headers = self.headers.clone();
        if let Some(agreed) = agreed {
            headers.push(("MCP-Protocol-Version".to_owned(), agreed.version.clone()));
            headers.extend(agreed.session.iter().map(|session| ("Mcp-Session-Id".to_owned(), session.clone())));
        }
        headers
    }

    async fn open(&self, method: &str, headers: &[(String, String)], body: Vec<u8>) -> Result<Response<Incoming>, LinkFault> {
        let limits = CallLimits { time_max: self.time_max, body_bytes_max: MESSAGE_BYTES_MAX };
        let call = Call::of_texts(method, &self.url, headers, body, &self.tls, limits).map_err(LinkFault::Unreachable)?;
        self.client.open(None, call).await.map_err(|fault| LinkFault::Unreachable(fault.to_string()))
    }

    async fn whole(&self, response: Response<Incoming>) -> Result<Vec<u8>, LinkFault> {
        let reading = Limited::new(response.into_body(), MESSAGE_BYTES_MAX).collect();
        match timeout(self.time_max, reading).await {
            Ok(Ok(body)) => Ok(body.to_bytes().to_vec()),
            Ok(Err(error)) => Err(LinkFault::Unreachable(format!("its response was not read: {error}"))),
            Err(_) => Err(LinkFault::Unreachable(format!("its response took more than {:?}", self.time_max))),
        }
    }
}

fn is_stream(response: &Response<Incoming>) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).map(http::HeaderValue::as_bytes).unwrap_or_default();
    kind.starts_with(b"text/event-stream")
}

/// With which message a stream ends. Other responses are nobody's.
enum Ending {
    /// With the response to the request with this id.
    Response(Option<Value>),
    /// With that to the call of this tag.
    Call(String),
    Never,
}

/// How a stream that its server closes before the response is opened again.
struct Resuming {
    server: HttpServer,
    agreed: Option<Agreed>,
}

impl Resuming {
    /// The rest of the stream behind an event.
    async fn open(&self, behind: &str, pause: Duration) -> Option<Incoming> {
        sleep(pause).await;
        let response = self.server.open_stream(self.agreed.as_ref(), Some(behind)).await.ok()?;
        (response.status().is_success() && is_stream(&response)).then(|| response.into_body())
    }
}

struct EventsReading {
    sender: mpsc::Sender<StreamMessage>,
    silence_max: Duration,
    ending: Ending,
    /// The last event that can be resumed behind.
    behind: Option<String>,
    /// What the server says about when.
    pause: Duration,
    memory: StreamMemory,
}

impl EventsReading {
    /// Reads a body to its end. `false` if that came before that of the stream.
    async fn read(&mut self, mut body: Incoming) -> bool {
        let mut reader = EventReader::new(MESSAGE_BYTES_MAX);
        loop {
            let frame = tokio::select! {
                frame = timeout(self.silence_max, body.frame()) => frame,
                () = self.sender.closed() => return true,
            };
            let frame = match frame {
                Ok(Some(Ok(frame))) => frame,
                Ok(_) => return false,
                Err(_) => return self.fail(format!("the server has said nothing for {:?}", self.silence_max)).await,
            };
            let Some(data) = frame.data_ref() else { continue };
            let mut bytes = data.as_ref();
            loop {
                let event = match reader.next(&mut bytes) {
                    Ok(Some(event)) => event,
                    Ok(None) => break,
                    Err(_) => return self.fail(format!("an event has more than {} MiB", MESSAGE_BYTES_MAX >> 20)).await,
                };
                let Some(parts) = EventParts::read(event).filter(EventParts::is_message) else { continue };
                if self.take(&parts).await {
                    return true;
                }
            }
        }
    }

    /// Ends the stream with an error in place of the response.
    async fn fail(&self, why: String) -> bool {
        if let Ending::Response(Some(asked)) = &self.ending {
            let message = RpcError::new(code::UNAVAILABLE, why).response(asked);
            // Nobody minds if the client has left.
            let _ = self.sender.send(StreamMessage::own(message)).await;
        }
        true
    }

    /// Passes an event on. Says whether it was the last one.
    async fn take(&mut self, parts: &EventParts) -> bool {
        let event_id = parts.id();
        if event_id.is_some() {
            self.behind.clone_from(&event_id);
        }
        if let Some(pause) = parts.retry() {
            self.pause = pause.clamp(PAUSE_MIN, PAUSE_MAX);
        }
        let message = match read(&parts.data) {
            Ok(message @ Value::Object(_)) => message,
            // It only says from where the stream can be resumed.
            Err(_) if parts.data.is_empty() && event_id.is_some() => Value::Null,
            Err(ReadFault::TooHeavy) => return self.fail(format!("an event takes {}", ReadFault::TooHeavy)).await,
            Ok(_) | Err(_) => return false,
        };
        // A server that has asked waits for the client.
        if is_request(&message) {
            self.silence_max = self.silence_max.max(THINKING_MAX);
        }
        let is_last = is_response(&message);
        let is_asked = match &self.ending {
            Ending::Response(asked) => message.get("id") == asked.as_ref(),
            Ending::Call(call) => message.get("id").is_some_and(|id| call_tag(id) == *call),
            Ending::Never => false,
        };
        if is_last && !is_asked {
            return false;
        }
        let room = tokio::select! {
            room = self.memory.room(weight(&message)) => room,
            () = self.sender.closed() => return true,
        };
        match room {
            Ok(room) => self.sender.send(StreamMessage { event_id, message, room }).await.is_err() || is_last,
            Err(why) => self.fail(why.to_owned()).await,
        }
    }
}
