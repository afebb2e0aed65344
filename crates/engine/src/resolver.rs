//! Names to addresses, by the system's resolver configuration and hosts file, each answer for its time to live.

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{NameServerConfig, ResolverConfig};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use std::cell::OnceCell;
use std::net::{IpAddr, SocketAddr};
use std::time::Instant;

/// One core's resolver, made when the first name is looked up.
pub(crate) struct Resolver {
    servers: Vec<SocketAddr>,
    inner: OnceCell<Result<TokioResolver, String>>,
}

/// The addresses of a name, never empty, and until when they hold.
pub(crate) struct Answer {
    pub addresses: Vec<IpAddr>,
    pub valid_until: Instant,
}

impl Resolver {
    /// Asks `servers`, or those of the system when there are none.
    pub fn new(servers: Vec<SocketAddr>) -> Self {
        Resolver { servers, inner: OnceCell::new() }
    }

    pub async fn lookup(&self, host: &str) -> Result<Answer, String> {
        let resolver = self.inner.get_or_init(|| build(&self.servers)).as_ref().map_err(Clone::clone)?;
        // A trailing dot keeps search domains away from names that are already whole.
        let name = if host.contains('.') { format!("{host}.") } else { host.to_owned() };
        let lookup = resolver.lookup_ip(name).await.map_err(|error| error.to_string())?;
        let addresses: Vec<IpAddr> = lookup.iter().collect();
        if addresses.is_empty() {
            return Err("the name has no address".to_owned());
        }
        Ok(Answer { addresses, valid_until: lookup.valid_until() })
    }
}

fn build(servers: &[SocketAddr]) -> Result<TokioResolver, String> {
    let builder = if servers.is_empty() {
        TokioResolver::builder_tokio().map_err(|error| error.to_string())?
    } else {
        let servers = servers.iter().map(|server| name_server(*server)).collect();
        TokioResolver::builder_with_config(ResolverConfig::from_parts(None, Vec::new(), servers), TokioRuntimeProvider::default())
    };
    builder.build().map_err(|error| error.to_string())
}

fn name_server(address: SocketAddr) -> NameServerConfig {
    let mut server = NameServerConfig::udp_and_tcp(address.ip());
    server.connections.iter_mut().for_each(|connection| connection.port = address.port());
    server
}
