//! Look-ups of names that leave out addresses which a client may not reach.

use hyper_util::client::legacy::connect::dns::{GaiResolver, Name};
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tower::Service;

/// Which addresses a client may connect to.
pub type AddressGuard = Arc<dyn Fn(IpAddr) -> bool + Send + Sync>;

/// Resolves names, and leaves out the addresses that its guard does not allow. The check is on the addresses that are connected to: a name
/// that changes its address between a check and the connection gains nothing.
#[derive(Clone)]
pub(crate) struct GuardedResolver {
    pub system: GaiResolver,
    pub guard: Option<AddressGuard>,
}

type ResolvedAddresses = std::vec::IntoIter<SocketAddr>;

impl Service<Name> for GuardedResolver {
    type Response = ResolvedAddresses;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<ResolvedAddresses>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.system.poll_ready(context)
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let (resolving, guard) = (self.system.call(name), self.guard.clone());
        Box::pin(async move {
            let found: Vec<SocketAddr> = resolving.await?.collect();
            let is_allowed = |address: &SocketAddr| guard.as_ref().is_none_or(|guard| guard(address.ip()));
            let allowed: Vec<SocketAddr> = found.iter().copied().filter(is_allowed).collect();
            if allowed.is_empty() && !found.is_empty() {
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, "all addresses of the host are private"));
            }
            Ok(allowed.into_iter())
        })
    }
}
