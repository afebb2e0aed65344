//! Upstreams that tell what they got: every request has the same answer, and is remembered until somebody looks.

use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Names the request of a proof, for upstreams that get others too, such as checks of their health.
pub(super) const REQUEST_HEADER: &str = "x-proof-request";
/// Requests that are remembered; the oldest goes first.
const REMEMBERED_MAX: usize = 1_000;
/// Bytes of a body that are counted.
const BODY_BYTES_MAX: usize = 1 << 20;
/// What every request is answered with: gateways that select and rename members of JSON find some.
const BODY: &str = r#"{"id":7,"name":"proof","tags":["a","b"],"nested":{"inner":true,"outer":null},"data":[{"id":1},{"id":2}]}"#;

/// A request as an upstream got it.
#[derive(Clone, Debug)]
pub(super) struct EchoedRequest {
    pub method: String,
    /// Path with query.
    pub target: String,
    pub headers: HeaderMap,
    pub body_bytes: usize,
}

/// The upstreams of a proof. They serve until the process ends.
pub(super) struct EchoUpstream {
    got: Arc<Mutex<VecDeque<EchoedRequest>>>,
}

impl EchoUpstream {
    /// # Errors
    /// An address that cannot be listened at.
    pub(super) fn start(addresses: &[SocketAddr]) -> Result<Self, String> {
        let got = Arc::new(Mutex::new(VecDeque::new()));
        let mut listeners = Vec::new();
        for address in addresses {
            let opened = TcpListener::bind(address).and_then(|listener| listener.set_nonblocking(true).map(|()| listener));
            listeners.push(opened.map_err(|error| format!("{address} cannot be an upstream: {error}"))?);
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| format!("upstreams cannot start: {error}"))?;
        let remembered = got.clone();
        let serve = move || {
            runtime.block_on(async move {
                let served = listeners.into_iter().map(|listener| tokio::spawn(accept(listener, remembered.clone())));
                for one in served.collect::<Vec<_>>() {
                    let _ = one.await;
                }
            });
        };
        std::thread::Builder::new()
            .name("echo".to_owned())
            .spawn(serve)
            .map_err(|error| format!("upstreams cannot start: {error}"))?;
        Ok(EchoUpstream { got })
    }

    /// Forgets what came.
    pub(super) fn forget(&self) {
        self.got.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// What came of this request: of those with its header the first, else the first without one.
    pub(super) fn request(&self, number: &str) -> Option<EchoedRequest> {
        let got = self.got.lock().unwrap_or_else(PoisonError::into_inner);
        let named = |request: &&EchoedRequest| request.headers.get(REQUEST_HEADER).is_some_and(|value| value == number);
        let unnamed = |request: &&EchoedRequest| !request.headers.contains_key(REQUEST_HEADER);
        got.iter().find(named).or_else(|| got.iter().find(unnamed)).cloned()
    }
}

async fn accept(listener: TcpListener, got: Arc<Mutex<VecDeque<EchoedRequest>>>) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Too many open files, perhaps.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let got = got.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let got = got.clone();
                async move { Ok::<_, Infallible>(answer(request, &got).await) }
            });
            let _ = http1::Builder::new().timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn answer(request: Request<Incoming>, got: &Mutex<VecDeque<EchoedRequest>>) -> Response<Full<Bytes>> {
    let (head, body) = request.into_parts();
    let body_bytes = Limited::new(body, BODY_BYTES_MAX).collect().await.map_or(0, |body| body.to_bytes().len());
    let target = head.uri.path_and_query().map_or("/", |target| target.as_str()).to_owned();
    let made = EchoedRequest { method: head.method.to_string(), target, headers: head.headers, body_bytes };
    {
        let mut got = got.lock().unwrap_or_else(PoisonError::into_inner);
        if got.len() >= REMEMBERED_MAX {
            got.pop_front();
        }
        got.push_back(made);
    }
    let mut response = Response::new(Full::new(Bytes::from_static(BODY.as_bytes())));
    response.headers_mut().insert(http::header::CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
    response
}
