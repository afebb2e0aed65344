//! Conversations with the h2 crate over a pipe in memory, on both sides: an implementation that is not ours takes what this one sends, and
//! sends what this one takes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use std::collections::HashMap;
use std::future::poll_fn;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tollgate_http2::{HeaderBlock, Http2Connection, Http2Event, Http2Settings, Http2Side, StreamKey};

const SETTINGS: Http2Settings = Http2Settings {
    stream_window: 20_000,
    connection_window: 0,
    streams_max: 100,
    header_list_bytes_max: 32 * 1024,
    connect_protocol: true,
};

/// A message of either side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Message {
    fields: Vec<(String, String)>,
    body: Vec<u8>,
    trailers: Vec<(String, String)>,
}

/// What this side has of a stream.
#[derive(Default)]
struct Exchange {
    received: Message,
    has_received: bool,
    /// What is to be sent; its head has left, and so many bytes of its body.
    to_send: Option<Message>,
    sent: usize,
    has_sent: bool,
}

/// Drives one of our connections over a pipe, which is small so that bytes are cut everywhere.
struct Ours {
    protocol: Http2Connection,
    wire: DuplexStream,
    exchanges: HashMap<usize, (StreamKey, Exchange)>,
    /// What was received whole.
    done: Vec<Message>,
}

impl Ours {
    fn new(side: Http2Side, wire: DuplexStream) -> Self {
        Ours { protocol: Http2Connection::new(side, &SETTINGS), wire, exchanges: HashMap::new(), done: Vec::new() }
    }

    /// Writes or reads some. Whether the other side is still there.
    async fn step(&mut self) -> bool {
        self.send();
        let mut bytes = [0; 777];
        let (mut reader, mut writer) = tokio::io::split(&mut self.wire);
        let read = tokio::select! {
            written = writer.write(self.protocol.output()), if !self.protocol.output().is_empty() => {
                self.protocol.wrote(written.unwrap_or_default());
                return true;
            }
            read = reader.read(&mut bytes) => read.unwrap_or_default(),
        };
        let mut input = &bytes[..read];
        while let Some(event) = self.protocol.next(&mut input).expect("h2 breaks no rule") {
            self.receive(event);
        }
        self.send();
        read > 0
    }

    fn receive(&mut self, event: Http2Event<'_>) {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let fields: Vec<_> = self.protocol.fields().all().map(|(name, value)| (text(name), text(value))).collect();
        if let Http2Event::Request { stream, .. } = event {
            self.exchanges.insert(stream.index(), (stream, Exchange::default()));
        }
        match event {
            Http2Event::Request { stream, ends } | Http2Event::Response { stream, ends } => {
                self.received(stream, ends).fields = fields
            }
            Http2Event::Data { stream, bytes, ends } => {
                self.received(stream, ends).body.extend_from_slice(bytes);
                self.protocol.take(stream, bytes.len());
            }
            Http2Event::Trailers { stream } => self.received(stream, true).trailers = fields,
            Http2Event::Reset { stream } => panic!("{:?}", self.protocol.reset_code(stream)),
        }
    }

    fn received(&mut self, stream: StreamKey, ends: bool) -> &mut Message {
        let exchange = &mut self.exchanges.get_mut(&stream.index()).unwrap().1;
        exchange.has_received = ends;
        &mut exchange.received
    }

    /// Answers each message that has nothing to be sent with itself, and sends what there is room for.
    fn send(&mut self) {
        while self.protocol.next_writable().is_some() {}
        let mut over = Vec::new();
        for (index, (stream, exchange)) in &mut self.exchanges {
            if exchange.has_received && exchange.to_send.is_none() {
                let mut answer = exchange.received.clone();
                answer.fields.retain(|(name, _)| !name.starts_with(':'));
                answer.fields.insert(0, (":status".to_owned(), "201".to_owned()));
                self.protocol.send_head(*stream, &block(&answer.fields), false).unwrap();
                exchange.to_send = Some(answer);
            }
            if let Some(message) = exchange.to_send.as_ref().filter(|_| !exchange.has_sent) {
                let ends = message.trailers.is_empty();
                exchange.sent += self.protocol.send_data(*stream, &message.body[exchange.sent..], ends).unwrap();
                exchange.has_sent = exchange.sent == message.body.len();
                if exchange.has_sent && !ends {
                    self.protocol.send_head(*stream, &block(&message.trailers), true).unwrap();
                }
            }
            if exchange.has_sent && exchange.has_received {
                self.protocol.release(*stream);
                over.push(*index);
            }
        }
        self.done.extend(over.iter().map(|index| self.exchanges.remove(index).unwrap().1.received));
    }
}

fn block(fields: &[(String, String)]) -> HeaderBlock {
    let mut block = HeaderBlock::default();
    for (name, value) in fields {
        match name.as_str() {
            ":status" => block.status(value.parse().unwrap()),
            _ => block.field(name.as_bytes(), value.as_bytes()),
        }
    }
    block
}

fn pairs(map: &HeaderMap) -> Vec<(String, String)> {
    map.iter().map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect()
}

fn owned(fields: &[(&str, &str)]) -> Vec<(String, String)> {
    fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// Fields that make both sides use all their ways to encode: repeated, secret, long, with every byte that is text.
fn odd_fields(number: usize) -> Vec<(String, String)> {
    let text: String = (0x21..0x7fu8).map(char::from).collect();
    let mut fields = owned(&[("x-text", &text), ("authorization", "Bearer abc"), ("x-same", "the same"), ("x-empty", "")]);
    fields.push(("x-number".to_owned(), number.to_string()));
    fields.push((format!("x-long-{}", number % 3), "long ".repeat(number * 13 % 700).trim_end().to_owned()));
    fields
}

async fn collect(mut body: h2::RecvStream) -> (Vec<u8>, Vec<(String, String)>) {
    let mut content = Vec::new();
    while let Some(piece) = body.data().await {
        let piece = piece.unwrap();
        let _ = body.flow_control().release_capacity(piece.len());
        content.extend_from_slice(&piece);
    }
    let trailers = body.trailers().await.unwrap();
    (content, trailers.map(|trailers| pairs(&trailers)).unwrap_or_default())
}

async fn send(stream: &mut h2::SendStream<Bytes>, message: &Message) {
    let mut rest = Bytes::from(message.body.clone());
    while !rest.is_empty() {
        stream.reserve_capacity(rest.len());
        let room = poll_fn(|cx| stream.poll_capacity(cx)).await.unwrap().unwrap();
        stream.send_data(rest.split_to(room.min(rest.len())), false).unwrap();
    }
    if message.trailers.is_empty() {
        stream.send_data(Bytes::new(), true).unwrap();
    } else {
        let trailers = message.trailers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        stream.send_trailers(trailers.collect::<HeaderMap>()).unwrap();
    }
}

fn message(number: usize) -> Message {
    let body = (0..number * number * 11).map(|at| (at % 251) as u8).collect();
    let trailers = if number.is_multiple_of(2) { odd_fields(number) } else { Vec::new() };
    Message { fields: odd_fields(number), body, trailers }
}

const STREAMS: usize = 40;
/// For one step of either side.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(10);

fn run(conversation: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, conversation);
}

fn sorted(mut fields: Vec<(String, String)>) -> Vec<(String, String)> {
    fields.retain(|(name, _)| !name.starts_with(':'));
    fields.sort();
    fields
}

#[test]
fn a_client_of_h2_is_served() {
    run(async {
        let (ours, theirs) = duplex(500);
        let server = tokio::task::spawn_local(async move {
            let mut ours = Ours::new(Http2Side::Server, ours);
            while ours.step().await {}
            ours.done.len()
        });
        let (send_request, connection) =
            h2::client::Builder::new().initial_window_size(3_000).handshake::<_, Bytes>(theirs).await.unwrap();
        let connection = tokio::task::spawn_local(async move { drop(connection.await) });
        let tasks: Vec<_> = (0..STREAMS)
            .map(|number| {
                let send_request = send_request.clone();
                tokio::task::spawn_local(async move {
                    let message = message(number);
                    let mut request = Request::post("http://h.test/path").body(()).unwrap();
                    for (name, value) in &message.fields {
                        request.headers_mut().append(name.parse::<http::HeaderName>().unwrap(), value.parse().unwrap());
                    }
                    let (answer, mut stream) = send_request.ready().await.unwrap().send_request(request, false).unwrap();
                    send(&mut stream, &message).await;
                    let (head, body) = answer.await.unwrap().into_parts();
                    assert!(head.status.is_success());
                    let (body, trailers) = collect(body).await;
                    assert_eq!(sorted(pairs(&head.headers)), sorted(message.fields.clone()));
                    assert!(body == message.body, "{number}");
                    assert_eq!(sorted(trailers), sorted(message.trailers.clone()));
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        drop(send_request);
        connection.await.unwrap();
        assert_eq!(server.await.unwrap(), STREAMS);
    });
}

#[test]
fn a_server_of_h2_is_asked() {
    run(async {
        let (ours, theirs) = duplex(500);
        tokio::task::spawn_local(async move {
            let mut server = h2::server::Builder::new().initial_window_size(3_000).handshake::<_, Bytes>(theirs).await.unwrap();
            while let Some(Ok((request, mut respond))) = server.accept().await {
                tokio::task::spawn_local(async move {
                    let (head, body) = request.into_parts();
                    let (body, trailers) = collect(body).await;
                    let mut response = Response::new(());
                    *response.headers_mut() = head.headers.clone();
                    let mut stream = respond.send_response(response, false).unwrap();
                    send(&mut stream, &Message { fields: Vec::new(), body, trailers }).await;
                });
            }
        });
        let mut ours = Ours::new(Http2Side::Client, ours);
        // A server of h2 forgets to open the windows of streams that have sent more than its settings allow before these came.
        while ours.protocol.unfinished().is_some() {
            assert!(ours.step().await);
        }
        for number in 0..STREAMS {
            let message = message(number);
            let mut head = HeaderBlock::default();
            head.request(b"POST", b"http", b"h.test", b"/path");
            message.fields.iter().for_each(|(name, value)| head.field(name.as_bytes(), value.as_bytes()));
            let stream = ours.protocol.open(&head, false, false).unwrap();
            ours.exchanges.insert(stream.index(), (stream, Exchange { to_send: Some(message), ..Exchange::default() }));
        }
        while ours.done.len() < STREAMS {
            let step = tokio::time::timeout(PATIENCE, ours.step()).await;
            let stuck =
                || ours.exchanges.values().map(|(_, it)| (it.sent, it.has_sent, it.received.body.len())).collect::<Vec<_>>();
            assert_eq!(step, Ok(true), "{:?} {:?}", ours.protocol, stuck());
        }
        for received in ours.done {
            let number = received.fields.iter().find(|(name, _)| name == "x-number").unwrap().1.parse().unwrap();
            let sent = message(number);
            assert_eq!(sorted(received.fields), sorted(sent.fields));
            assert!(received.body == sent.body, "{number}");
            assert_eq!(sorted(received.trailers), sorted(sent.trailers));
        }
    });
}
