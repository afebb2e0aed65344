//! HTTP/2 for tests: a client that holds its streams in its own hands, and upstreams that are scripted stream by stream.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use bytes::Bytes;
use h2::client::SendRequest;
use h2::server::SendResponse;
use h2::{RecvStream, SendStream};
use http::{HeaderMap, Request, Response};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};

use super::PATIENCE;

/// Runs a test's conversation, for as long as a test waits for anything.
pub(crate) fn converse<T>(conversation: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, async { tokio::time::timeout(PATIENCE, conversation).await.expect("the conversation ends") })
}

/// A client's connection with prior knowledge.
pub(crate) async fn connect(port: u16) -> SendRequest<Bytes> {
    over(TcpStream::connect(("127.0.0.1", port)).await.unwrap()).await
}

pub(crate) async fn over(io: impl AsyncRead + AsyncWrite + Unpin + 'static) -> SendRequest<Bytes> {
    // A stream that nobody reads must not use up what the others have together.
    let begun = h2::client::Builder::new().initial_connection_window_size(1024 * 1024).handshake(io).await;
    let (send, connection) = begun.expect("HTTP/2 begins");
    tokio::task::spawn_local(async move {
        let _ = connection.await;
    });
    send
}

/// A whole answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    pub trailers: Option<HeaderMap>,
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

pub(crate) fn get(path: &str) -> Request<()> {
    Request::get(format!("http://gateway.test{path}")).body(()).unwrap()
}

pub(crate) fn post(path: &str) -> Request<()> {
    Request::post(format!("http://gateway.test{path}")).body(()).unwrap()
}

/// Sends a request without a body.
pub(crate) async fn ask(send: &SendRequest<Bytes>, request: Request<()>) -> Result<Answer, h2::Error> {
    let mut send = send.clone().ready().await?;
    let (answer, _) = send.send_request(request, true)?;
    whole(answer.await?).await
}

/// Sends a request with a body, as fast as it is taken, and trailers if there are some.
pub(crate) async fn upload(
    send: &SendRequest<Bytes>,
    request: Request<()>,
    body: &[u8],
    trailers: Option<HeaderMap>,
) -> Result<Answer, h2::Error> {
    let mut send = send.clone().ready().await?;
    let (answer, mut stream) = send.send_request(request, false)?;
    let sent = async {
        write(&mut stream, body, trailers.is_none()).await?;
        trailers.map_or(Ok(()), |trailers| stream.send_trailers(trailers))
    };
    let (sent, answer) = tokio::join!(sent, async { whole(answer.await?).await });
    answer.and_then(|answer| sent.map(|()| answer))
}

pub(crate) async fn write(stream: &mut SendStream<Bytes>, body: &[u8], ends: bool) -> Result<(), h2::Error> {
    let mut rest = Bytes::copy_from_slice(body);
    while !rest.is_empty() {
        stream.reserve_capacity(rest.len());
        let room = std::future::poll_fn(|cx| stream.poll_capacity(cx)).await.transpose()?.unwrap_or(0);
        let piece = rest.split_to(room.min(rest.len()));
        stream.send_data(piece, ends && rest.is_empty())?;
    }
    if ends && body.is_empty() { stream.send_data(Bytes::new(), true) } else { Ok(()) }
}

pub(crate) async fn whole(answer: Response<RecvStream>) -> Result<Answer, h2::Error> {
    let (head, mut content) = answer.into_parts();
    let body = collect(&mut content).await?;
    let trailers = content.trailers().await?;
    Ok(Answer { status: head.status.as_u16(), headers: head.headers, body, trailers })
}

pub(crate) async fn collect(content: &mut RecvStream) -> Result<Vec<u8>, h2::Error> {
    let mut body = Vec::new();
    while let Some(data) = content.data().await {
        let data = data?;
        body.extend_from_slice(&data);
        content.flow_control().release_capacity(data.len())?;
    }
    Ok(body)
}

/// An upstream that speaks HTTP/2 and nothing else.
pub(crate) struct Http2Upstream {
    pub address: SocketAddr,
    connections: Arc<AtomicUsize>,
}

impl Http2Upstream {
    /// Answers each stream with what `handle` does; over TLS with a configuration.
    pub(crate) fn start<F, Fut>(tls: Option<rustls::ServerConfig>, handle: F) -> Http2Upstream
    where
        F: Fn(Request<RecvStream>, SendResponse<Bytes>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + 'static,
    {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::<AtomicUsize>::default();
        let counted = connections.clone();
        let acceptor = tls.map(|mut config| {
            config.alpn_protocols = vec![b"h2".to_vec()];
            tokio_rustls::TlsAcceptor::from(Arc::new(config))
        });
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let local = tokio::task::LocalSet::new();
            let handle = std::rc::Rc::new(handle);
            local.block_on(&runtime, async move {
                let listener = TcpListener::from_std(listener).unwrap();
                while let Ok((stream, _)) = listener.accept().await {
                    counted.fetch_add(1, Ordering::SeqCst);
                    let (handle, acceptor) = (handle.clone(), acceptor.clone());
                    tokio::task::spawn_local(async move {
                        match acceptor {
                            None => serve(stream, handle).await,
                            Some(acceptor) => match acceptor.accept(stream).await {
                                Ok(stream) => serve(stream, handle).await,
                                Err(error) => eprintln!("upstream: {error}"),
                            },
                        }
                    });
                }
            });
        });
        Http2Upstream { address, connections }
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

async fn serve<F, Fut>(io: impl AsyncRead + AsyncWrite + Unpin, handle: std::rc::Rc<F>)
where
    F: Fn(Request<RecvStream>, SendResponse<Bytes>) -> Fut + 'static,
    Fut: Future<Output = ()> + 'static,
{
    let Ok(mut connection) = h2::server::handshake(io).await else { return };
    while let Some(Ok((request, respond))) = connection.accept().await {
        tokio::task::spawn_local(handle(request, respond));
    }
}
