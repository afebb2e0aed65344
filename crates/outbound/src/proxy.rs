//! Proxies on the way to servers. An `http` request goes to its proxy whole, as in Go's client; for `https` the proxy is asked for a connection
//! (`CONNECT`), and TLS goes through it.

use crate::guarded_resolver::GuardedResolver;
use http::{HeaderValue, Uri};
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use std::error::Error;
use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tower::Service;

/// A proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpProxy {
    /// Scheme, host and port; the scheme is `http`.
    pub uri: Uri,
    /// Value of `Proxy-Authorization`, if it wants one.
    pub authorization: Option<HeaderValue>,
}

/// The proxy on the way to a URI, if there is one.
pub type ProxyChooser = Arc<dyn Fn(&Uri) -> Option<HttpProxy> + Send + Sync>;

/// Connects to servers, or to the proxies on the way.
#[derive(Clone)]
pub(crate) struct ProxyConnector {
    direct: Direct,
    proxies: Option<ProxyChooser>,
}

type Direct = HttpConnector<GuardedResolver>;
type Plain = <Direct as Service<Uri>>::Response;
type ProxyFailure = Box<dyn Error + Send + Sync>;

/// A connection, perhaps to a proxy that sees requests.
pub(crate) struct ProxiedStream {
    stream: Plain,
    /// Whether requests name the whole URI.
    is_to_proxy: bool,
}

impl ProxyConnector {
    pub(crate) fn new(direct: Direct, proxies: Option<ProxyChooser>) -> Self {
        ProxyConnector { direct, proxies }
    }
}

impl Service<Uri> for ProxyConnector {
    type Response = ProxiedStream;
    type Error = ProxyFailure;
    type Future = Pin<Box<dyn Future<Output = Result<ProxiedStream, ProxyFailure>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ProxyFailure>> {
        self.direct.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let mut direct = self.direct.clone();
        let proxy = self.proxies.as_ref().and_then(|choose| choose(&uri));
        Box::pin(async move {
            let Some(HttpProxy { uri: address, authorization }) = proxy else {
                let stream = direct.call(uri).await?;
                return Ok(ProxiedStream { stream, is_to_proxy: false });
            };
            if uri.scheme_str() == Some("http") {
                let stream = direct.call(address).await?;
                return Ok(ProxiedStream { stream, is_to_proxy: true });
            }
            let tunnel = Tunnel::new(address, direct);
            let mut tunnel = match authorization {
                Some(authorization) => tunnel.with_auth(authorization),
                None => tunnel,
            };
            let stream = tunnel.call(uri).await.map_err(|error| format!("the proxy gives no connection: {error}"))?;
            Ok(ProxiedStream { stream, is_to_proxy: false })
        })
    }
}

impl Connection for ProxiedStream {
    fn connected(&self) -> Connected {
        self.stream.connected().proxy(self.is_to_proxy)
    }
}

impl Read for ProxiedStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl Write for ProxiedStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(mut self: Pin<&mut Self>, cx: &mut Context<'_>, parts: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, parts)
    }
}
