//! HTTP client for calls that decide about requests: key sets, introspection, forward authentication; and for those that scripts and data
//! graphs make. The calls run on threads beside the data path. Each call has a deadline and a size limit, and their number is limited. Client
//! requests are not sent this way.

use crate::{ClientCore, ExternalServices};
use crate::{GuardedHttpClient, HttpAnswer, HttpClient, HttpClientSettings, HttpFault};
use http::header::LOCATION;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use percent_encoding::{AsciiSet, utf8_percent_encode};
use rustls::pki_types::ServerName;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::io;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::ThreadId;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tollgate_model::is_framing_header;
use tollgate_tls::{Library, TlsRules, TlsSettings};

/// The threads of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientThreads {
    /// Of the threads, for people who look at the process.
    pub name: &'static str,
    /// One, or several that share their work.
    pub count: usize,
    /// Most calls at one time. Further calls wait within their own deadline: a hanging server must not use up all file descriptors.
    pub calls_max: usize,
    /// Stack of each.
    pub stack_bytes: usize,
}

impl Default for ClientThreads {
    fn default() -> Self {
        ClientThreads { name: "outside", count: 1, calls_max: 512, stack_bytes: 2 << 20 }
    }
}

/// Most redirects per call; documents of identity providers need one at most.
const REDIRECTS_MAX: usize = 3;
/// Most redirects that Go's client follows.
const GO_REDIRECTS_MAX: usize = 10;
/// How long an unused connection is kept.
const IDLE: Duration = Duration::from_secs(60);

/// The client thread and its connections.
pub struct CallClient {
    runtime: Handle,
    /// By the core whose connections they are, if they are a core's.
    clients: Mutex<HashMap<(Option<ThreadId>, TlsRules), CallClients>>,
    services: Arc<ExternalServices>,
    library: Arc<Library>,
    slots: Semaphore,
}

/// The clients of calls with the same TLS rules.
#[derive(Clone)]
struct CallClients {
    /// To servers that operators have configured, wherever they are.
    configured: HttpClient,
    /// To other origins, to which these redirect: without proxies and the gateway's certificate, and only to public addresses.
    redirected: GuardedHttpClient,
}

/// A connection to a server, plain or over TLS.
pub trait RawConnection: AsyncRead + AsyncWrite + Send + Unpin {}

impl<C: AsyncRead + AsyncWrite + Send + Unpin> RawConnection for C {}

/// One call.
pub struct Call {
    /// The method.
    pub method: Method,
    /// The absolute URL.
    pub uri: Uri,
    /// The header lines, but none that frame the message.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
    /// How the server's certificate is checked.
    pub tls: TlsRules,
    /// Deadline of the whole call, from the name look-up to the last byte.
    pub time_max: Duration,
    /// Largest body of the answer, in bytes.
    pub body_bytes_max: usize,
    /// Most redirects to follow; only a GET follows any.
    pub redirects_max: usize,
}

/// What bounds a call.
#[derive(Clone, Copy, Debug)]
pub struct CallLimits {
    /// Of the whole call.
    pub time_max: Duration,
    /// Of the answer.
    pub body_bytes_max: usize,
}

impl Call {
    /// A call that somebody else has written, with the redirects that Go's client follows. What a URL cannot have, such as a space, is escaped. All lines of equal headers are sent, but none
    /// that frame the message. `Err` names what is wrong.
    pub fn of_texts(
        method: &str,
        url: &str,
        headers: &[(String, String)],
        body: Vec<u8>,
        tls: &TlsSettings,
        limits: CallLimits,
    ) -> Result<Self, String> {
        let uri: Uri = escaped(url).parse().map_err(|error| format!("{url:?} is no URL: {error}"))?;
        let host = uri.host().ok_or_else(|| format!("{url:?} is no absolute URL"))?;
        let mut lines = HeaderMap::new();
        for (name, value) in headers.iter().filter(|(name, _)| !is_framing_header(name)) {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| format!("{name:?} is no header"))?;
            let value = HeaderValue::from_str(value).map_err(|_| format!("the value of {name} is no header value"))?;
            lines.append(name, value);
        }
        Ok(Call {
            method: Method::from_bytes(method.as_bytes()).map_err(|_| format!("{method:?} is no method"))?,
            tls: tls.for_host(host),
            uri,
            headers: lines,
            body: Bytes::from(body),
            time_max: limits.time_max,
            body_bytes_max: limits.body_bytes_max,
            redirects_max: GO_REDIRECTS_MAX,
        })
    }
}

/// What Go escapes in the path of a URL, beside what is not ASCII. It rejects control characters, and so does the parser of URLs here.
const PATH: &AsciiSet = &AsciiSet::EMPTY
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// A URL as somebody writes it, with path and query escaped where they must be. A fragment, which only a query can have, is left out.
fn escaped(url: &str) -> Cow<'_, str> {
    let Some((scheme, rest)) = url.split_once("://") else { return url.into() };
    let (authority, target) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let (path, query) = target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)));
    if target.chars().any(char::is_control) {
        return url.into();
    }
    let mut made = format!("{scheme}://{authority}{}", utf8_percent_encode(path, PATH));
    if let Some(query) = query {
        let query = query.split('#').next().unwrap_or_default();
        made.push('?');
        made.extend(utf8_percent_encode(query, PATH));
    }
    made.into()
}

/// The answer to a call.
pub struct CallReply {
    /// The status code.
    pub status: StatusCode,
    /// The header lines.
    pub headers: HeaderMap,
    /// The whole body.
    pub body: Bytes,
}

/// Why a call failed. Contains nothing of what was sent.
#[derive(Clone, Debug)]
pub enum CallFault {
    /// There was no answer in this time.
    Timeout(Duration),
    /// There was no whole answer.
    Http(HttpFault),
    /// A redirect cannot be followed.
    Redirect(&'static str),
    /// The TLS settings are unusable.
    Tls(String),
}

impl CallClient {
    /// Starts the threads.
    pub fn start(services: Arc<ExternalServices>, library: Arc<Library>, threads: ClientThreads) -> io::Result<Self> {
        let ClientThreads { name, count, calls_max, stack_bytes } = threads;
        let mut builder = match count {
            0 | 1 => tokio::runtime::Builder::new_current_thread(),
            count => {
                let mut builder = tokio::runtime::Builder::new_multi_thread();
                builder.worker_threads(count).thread_name(name).thread_stack_size(stack_bytes);
                builder
            }
        };
        let runtime = builder.enable_all().max_blocking_threads(8).build()?;
        let handle = runtime.handle().clone();
        let run = move || runtime.block_on(std::future::pending::<()>());
        std::thread::Builder::new().name(name.to_owned()).stack_size(stack_bytes).spawn(run)?;
        Ok(CallClient { runtime: handle, clients: Mutex::default(), services, library, slots: Semaphore::new(calls_max) })
    }

    /// Runs a task on the thread.
    pub fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.runtime.spawn(work);
    }

    /// Makes a call. A GET follows a few redirects, but never from https to http, nor from its origin to private addresses.
    pub async fn call(&self, call: Call) -> Result<CallReply, CallFault> {
        let origin = call.uri.clone();
        self.call_within(&origin, call).await
    }

    /// Makes a call to a URL that a server at `origin` has named: at another origin, only public addresses are asked, as after a redirect.
    pub async fn call_within(&self, origin: &Uri, call: Call) -> Result<CallReply, CallFault> {
        let time_max = call.time_max;
        timeout(time_max, self.follow(origin, call)).await.unwrap_or(Err(CallFault::Timeout(time_max)))
    }

    /// Makes a call and returns the status of the answer, whose body is not read. No redirect is followed.
    pub async fn status(&self, call: Call) -> Result<StatusCode, CallFault> {
        let asking = async {
            let _slot = self.slots.acquire().await;
            let client = self.client(None, &call.tls).map_err(CallFault::Tls)?;
            client.configured.status(call.request()).await.map_err(CallFault::Http)
        };
        timeout(call.time_max, asking).await.unwrap_or(Err(CallFault::Timeout(call.time_max)))
    }

    /// Makes a call whose answer's body is read piece by piece, and has no end. The time limit is for its head. With a core, its connection is
    /// on that core's thread.
    pub async fn open(&self, core: Option<&ClientCore>, call: Call) -> Result<Response<Incoming>, CallFault> {
        let client = self.client(core, &call.tls).map_err(CallFault::Tls)?;
        let request = call.request();
        let opening = async move { client.configured.open(request).await };
        let opening = async {
            let opened = match core {
                None => opening.await,
                Some(core) => {
                    core.run(opening).await.unwrap_or_else(|| Err(HttpFault::Connection("the core has ended".to_owned())))
                }
            };
            opened.map_err(CallFault::Http)
        };
        timeout(call.time_max, opening).await.unwrap_or(Err(CallFault::Timeout(call.time_max)))
    }

    /// Opens a connection for something other than requests. Proxies are not used.
    pub async fn connect(&self, uri: &Uri, rules: &TlsRules, time_max: Duration) -> Result<Box<dyn RawConnection>, String> {
        let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
        let is_secure = matches!(uri.scheme_str(), Some("https" | "wss"));
        let port = uri.port_u16().unwrap_or(if is_secure { 443 } else { 80 });
        let connecting = async {
            let stream = TcpStream::connect((host, port)).await.map_err(|error| error.to_string())?;
            if !is_secure {
                return Ok(Box::new(stream) as Box<dyn RawConnection>);
            }
            let config = tollgate_tls::client_config(&self.services.of(rules.service).applied_to(rules), &self.library)?;
            let name = ServerName::try_from(host.to_owned()).map_err(|_| format!("{host} can't be a TLS server's name"))?;
            let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.map_err(|error| error.to_string())?;
            Ok(Box::new(stream) as Box<dyn RawConnection>)
        };
        timeout(time_max, connecting).await.unwrap_or_else(|_| Err(format!("no connection within {} ms", time_max.as_millis())))
    }

    async fn follow(&self, origin: &Uri, mut call: Call) -> Result<CallReply, CallFault> {
        // `acquire` cannot fail: the semaphore is never closed.
        let _slot = self.slots.acquire().await;
        let client = self.client(None, &call.tls).map_err(CallFault::Tls)?;
        for _ in 0..=call.redirects_max {
            let reply = Self::once(&client, &call, is_same_origin(origin, &call.uri)).await?;
            if call.redirects_max == 0 || call.method != Method::GET || !reply.status.is_redirection() {
                return Ok(reply);
            }
            let Some(location) = reply.headers.get(LOCATION).and_then(|value| value.to_str().ok()) else { return Ok(reply) };
            let next = redirected(&call.uri, location).ok_or(CallFault::Redirect("leads to no URL"))?;
            if call.uri.scheme_str() == Some("https") && next.scheme_str() != Some("https") {
                return Err(CallFault::Redirect("leads away from https"));
            }
            if next.authority() != call.uri.authority() {
                call.headers.clear();
            }
            call.uri = next;
        }
        Err(CallFault::Redirect("there are too many of them"))
    }

    async fn once(clients: &CallClients, call: &Call, is_own: bool) -> Result<CallReply, CallFault> {
        let answer = match is_own {
            true => clients.configured.send(call.request(), call.body_bytes_max).await,
            false => clients.redirected.send(call.request(), call.body_bytes_max).await,
        };
        let HttpAnswer { status, headers, body, .. } = answer.map_err(CallFault::Http)?;
        Ok(CallReply { status, headers, body })
    }

    fn client(&self, core: Option<&ClientCore>, rules: &TlsRules) -> Result<CallClients, String> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        let name = (core.map(ClientCore::thread), rules.clone());
        if let Some(client) = clients.get(&name) {
            return Ok(client.clone());
        }
        let settings = HttpClientSettings { http2: false, idle_max: IDLE, connect_time_max: None };
        let service = self.services.of(rules.service);
        let config = tollgate_tls::client_config(&service.applied_to(rules), &self.library)?;
        let without = TlsRules { certificate: None, key_file: None, ..rules.clone() };
        let client = CallClients {
            configured: HttpClient::through(config, settings, service.proxies.clone()),
            redirected: HttpClient::guarded(
                tollgate_tls::client_config(&without, &self.library)?,
                settings,
                self.services.redirect_guard(),
            ),
        };
        clients.insert(name, client.clone());
        Ok(client)
    }
}

impl Call {
    fn request(&self) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(self.body.clone()));
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = self.uri.clone();
        request.headers_mut().clone_from(&self.headers);
        request
    }

    /// Makes a GET for a document.
    pub fn get(uri: Uri, tls: TlsRules, time_max: Duration, body_bytes_max: usize) -> Self {
        let (headers, body) = (HeaderMap::new(), Bytes::new());
        Call { method: Method::GET, uri, headers, body, tls, time_max, body_bytes_max, redirects_max: REDIRECTS_MAX }
    }
}

/// Whether two URLs have one scheme, host and port.
pub fn is_same_origin(one: &Uri, other: &Uri) -> bool {
    let port = |uri: &Uri| uri.port_u16().or_else(|| Some(if uri.scheme_str() == Some("https") { 443 } else { 80 }));
    one.scheme() == other.scheme() && one.host() == other.host() && port(one) == port(other)
}

/// The target of a `Location` header.
fn redirected(from: &Uri, location: &str) -> Option<Uri> {
    if location.starts_with('/') && !location.starts_with("//") {
        let mut parts = from.clone().into_parts();
        parts.path_and_query = Some(location.parse().ok()?);
        return Uri::from_parts(parts).ok();
    }
    let uri: Uri = location.parse().ok()?;
    (uri.authority().is_some() && matches!(uri.scheme_str(), Some("http" | "https"))).then_some(uri)
}

impl fmt::Display for CallFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallFault::Timeout(time) => write!(f, "no answer within {} ms", time.as_millis()),
            CallFault::Http(fault) => fault.fmt(f),
            CallFault::Redirect(why) => write!(f, "a redirect can't be followed: it {why}"),
            CallFault::Tls(why) => write!(f, "TLS: {why}"),
        }
    }
}

/// The client thread, started on first use.
#[derive(Default)]
pub struct LazyCallClient {
    client: OnceLock<Option<Arc<CallClient>>>,
    terms: OnceLock<(Arc<ExternalServices>, Arc<Library>)>,
    threads: ClientThreads,
}

impl LazyCallClient {
    /// A client with threads of its own kind.
    pub fn with_threads(threads: ClientThreads) -> Self {
        LazyCallClient { threads, ..Default::default() }
    }

    /// Sets the proxies and certificates of all calls. Must be called before the first use.
    pub fn configure(&self, services: ExternalServices, library: Arc<Library>) {
        // It is configured once, when the process starts.
        let _ = self.terms.set((Arc::new(services), library));
    }

    /// The client; `None` when the system cannot start the thread.
    pub fn get(&self) -> Option<Arc<CallClient>> {
        let start = || {
            let (services, library) = self.terms.get().cloned().unwrap_or_default();
            CallClient::start(services, library, self.threads)
                .map(Arc::new)
                .inspect_err(|error| tracing::error!(%error, "no thread for calls"))
                .ok()
        };
        self.client.get_or_init(start).clone()
    }
}
