//! The stream of a client's session: what servers tell by themselves, and the rest of streams that have ended. The core of the client goes on with it:
//! events are written before they reach it.

use crate::answer::{LinkFault, StreamMessage, WAITING_MAX};
use crate::client_session::{agreed, session};
use crate::event_place::EventPlace;
use crate::federated::{Asked, FederatedServer};
use crate::link::Link;
use crate::memory::{Room, TOO_MANY_STREAMS};
use crate::message::{RpcError, code, is_response, method, notification};
use crate::relay::{COMMENT, ReplyBody, SILENCE_MAX, Shape, empty_reply, event_response, event_text, json_reply};
use crate::version::Era;
use http::{Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::{Body, Bytes, Frame};
use serde_json::{Value, json};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Sleep, sleep};
use tollgate_outbound::Share;

/// Pause of a stream whose server says that its lists have changed.
const CHANGE_PAUSE: Duration = Duration::from_millis(100);

/// The stream of a session: what its servers tell by themselves. Behind an event, only the stream of its server is resumed.
pub(crate) async fn listen(server: &Arc<FederatedServer>, asked: &Asked) -> Response<ReplyBody> {
    if asked.session().is_none() || !asked.reads_events() {
        return empty_reply(StatusCode::METHOD_NOT_ALLOWED);
    }
    let facts = match session(server, asked) {
        Ok(facts) => facts,
        Err(refused) => return *refused,
    };
    let events = server.state.outside.seal.events(asked.session().unwrap_or_default());
    let behind = match asked.header("last-event-id").filter(|id| !id.is_empty()).map(|id| events.read(id)) {
        None => None,
        Some(Some(place)) => Some(place),
        Some(None) => {
            let error = RpcError::new(code::INVALID_REQUEST, "Last-Event-ID is no id of this session").response(&Value::Null);
            return json_reply(StatusCode::BAD_REQUEST, &error);
        }
    };
    let Some(share) = server.state.streams.take(asked.holder(server), 1) else {
        let error = RpcError::new(code::UNAVAILABLE, TOO_MANY_STREAMS).response(&Value::Null);
        return json_reply(StatusCode::TOO_MANY_REQUESTS, &error);
    };
    let (sender, stream) = mpsc::channel(WAITING_MAX);
    for (at, terms) in server.state.terms.servers.iter().enumerate() {
        let place = behind.filter(|place| place.server == terms.name);
        if behind.is_some() && place.is_none() {
            continue;
        }
        let place = place.map(|place| (place.call.to_owned(), place.event.to_owned()));
        let Some(agreed) = agreed(server, &facts, at) else { continue };
        let (sender, shape, server) = (sender.clone(), server.shape(asked, Era::Legacy, at), server.clone());
        server.state.outside.client.clone().spawn(async move {
            let Some(Link::Http(link)) = server.state.backends.get(at).map(|backend| &backend.link) else { return };
            let place = place.as_ref().map(|(call, event)| EventPlace { server: &shape.server, call, event });
            tokio::select! {
                () = follow(&server, (at, place), link.listen(&agreed, place.as_ref()), &shape, &sender) => {}
                // What nobody reads any more is not read here.
                () = sender.closed() => {}
            }
        });
    }
    if behind.is_none() {
        let mut changes = server.state.changes.subscribe();
        server.state.outside.client.spawn(async move {
            loop {
                tokio::select! {
                    changed = changes.changed() => if changed.is_err() { return },
                    () = sender.closed() => return,
                }
                for kind in ["tools", "prompts", "resources"] {
                    let message = notification(&format!("notifications/{kind}/list_changed"), json!({}));
                    if sender.send(WrittenEvent::of(StreamMessage::own(message))).await.is_err() {
                        return;
                    }
                }
            }
        });
    }
    let stream = SessionStream { events: stream, silent: None, room: None, _share: share };
    server.state.outside.offers.offered(event_response(stream.boxed_unsync()))
}

/// An event as the client gets it.
struct WrittenEvent {
    text: Bytes,
    /// That of its message, until the client has read it.
    room: Option<Room>,
}

impl WrittenEvent {
    fn of(StreamMessage { event_id, message, room }: StreamMessage) -> Self {
        WrittenEvent { text: event_text(event_id, &message).into(), room }
    }
}

/// The stream on its way to the client, with comments in times of silence.
struct SessionStream {
    events: mpsc::Receiver<WrittenEvent>,
    silent: Option<Pin<Box<Sleep>>>,
    /// That of the event that was sent last.
    room: Option<Room>,
    _share: Share,
}

impl Body for SessionStream {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        self.room = None;
        let text = match self.events.poll_recv(cx) {
            Poll::Ready(None) => return Poll::Ready(None),
            Poll::Ready(Some(event)) => {
                self.room = event.room;
                event.text
            }
            Poll::Pending => {
                ready!(self.silent.get_or_insert_with(|| Box::pin(sleep(SILENCE_MAX))).as_mut().poll(cx));
                Bytes::from_static(COMMENT.as_bytes())
            }
        };
        self.silent = None;
        Poll::Ready(Some(Ok(Frame::data(text))))
    }
}

/// Passes on what a server tells on a stream of a session, until that ends. `place` says from where the stream is resumed, if it is.
async fn follow(
    server: &Arc<FederatedServer>,
    (at, place): (usize, Option<EventPlace<'_>>),
    opening: impl Future<Output = Result<Option<mpsc::Receiver<StreamMessage>>, LinkFault>>,
    shape: &Shape,
    sender: &mpsc::Sender<WrittenEvent>,
) {
    let Ok(Some(mut messages)) = opening.await else { return };
    while let Some(StreamMessage { event_id, mut message, room }) = messages.recv().await {
        if method(&message).ends_with("/list_changed") {
            // Clients are told when the lists have been read.
            server.state.note_change(at);
            sleep(CHANGE_PAUSE).await;
            continue;
        }
        let call = place.map_or("", |place| place.call);
        let event_id = event_id.map(|event| shape.event_id(call, &event));
        let message = match is_response(&message) {
            true => {
                shape.show_tasks(&mut message);
                Some(message)
            }
            false => shape.pass(message),
        };
        let Some(message) = message else { continue };
        if sender.send(WrittenEvent::of(StreamMessage { event_id, message, room })).await.is_err() {
            return;
        }
    }
}
