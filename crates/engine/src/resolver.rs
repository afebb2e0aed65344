//! Resolves names with the hosts file and the system's resolver configuration, and caches each answer for its time to live. The
//! hosts file takes precedence. If the answer of one address family is late, the other one is used.

use hickory_resolver::config::{NameServerConfig, ResolverConfig};
use hickory_resolver::lookup::Lookup;
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::op::Query;
use hickory_resolver::proto::rr::{Name, RData, RecordType};
use hickory_resolver::{Hosts, TokioResolver};
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::future::Future;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::pin::{Pin, pin};
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// How long the answer of one family waits for that of the other (RFC 8305 §3).
const RESOLUTION_DELAY: Duration = Duration::from_millis(50);
/// Maximum cached names. Upstream names are configured, but rewritten URLs may contain others.
const NAMES_MAX: usize = 1024;

/// Where the system names its servers.
const SYSTEM_CONFIGURATION: &str = "/etc/resolv.conf";
/// The server of a system that names none (resolv.conf(5)).
const LOCAL_SERVER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 53);

/// Resolver of one core, set up at the first lookup.
pub(crate) struct Resolver {
    servers: Vec<SocketAddr>,
    sources: OnceCell<Result<Sources, String>>,
    /// Cached answers. They include names with only one family, so that the other is awaited only once.
    known: RefCell<HashMap<String, ResolvedName>>,
}

struct Sources {
    hosts: Hosts,
    resolver: TokioResolver,
}

/// Addresses of a name, never empty, and when they expire.
#[derive(Clone)]
pub(crate) struct ResolvedName {
    pub addresses: Vec<IpAddr>,
    pub valid_until: Instant,
}

impl Resolver {
    /// Queries `servers`, or those of the system if the list is empty.
    pub(crate) fn new(servers: Vec<SocketAddr>) -> Self {
        Resolver { servers, sources: OnceCell::new(), known: RefCell::default() }
    }

    pub(crate) async fn lookup(&self, host: &str) -> Result<ResolvedName, String> {
        let now = Instant::now();
        if let Some(answer) = self.known.borrow().get(host).filter(|answer| answer.valid_until > now) {
            return Ok(answer.clone());
        }
        let sources = self.sources.get_or_init(|| Sources::new(&self.servers)).as_ref().map_err(Clone::clone)?;
        if let Some(answer) = sources.in_hosts(host) {
            return Ok(answer);
        }
        let (v4, v6) = (sources.ask(host, RecordType::A), sources.ask(host, RecordType::AAAA));
        let answer = either_family(v4, v6, async { sleep(RESOLUTION_DELAY).await }).await?;
        self.keep(host, &answer);
        Ok(answer)
    }

    fn keep(&self, host: &str, answer: &ResolvedName) {
        let (mut known, now) = (self.known.borrow_mut(), Instant::now());
        if known.len() >= NAMES_MAX {
            known.retain(|_, answer| answer.valid_until > now);
        }
        if known.len() < NAMES_MAX && answer.valid_until > now {
            known.insert(host.to_owned(), answer.clone());
        }
    }
}

impl Sources {
    fn new(servers: &[SocketAddr]) -> Result<Self, String> {
        // In an empty container there is no configuration: as with Go and glibc, a server on this machine is asked then, and `localhost` is known.
        let is_configured = Path::new(SYSTEM_CONFIGURATION).exists();
        let servers = if servers.is_empty() && !is_configured { &[LOCAL_SERVER] } else { servers };
        let builder = if servers.is_empty() {
            TokioResolver::builder_tokio().map_err(|error| error.to_string())?
        } else {
            let servers = servers.iter().map(|server| name_server(*server)).collect();
            TokioResolver::builder_with_config(
                ResolverConfig::from_parts(None, Vec::new(), servers),
                TokioRuntimeProvider::default(),
            )
        };
        let resolver = builder.build().map_err(|error| error.to_string())?;
        // A missing hosts file counts as an empty one.
        Ok(Sources { hosts: Hosts::from_system().unwrap_or_default(), resolver })
    }

    /// The addresses of a name in the hosts file. If there are any, no name server is queried, not even for the other family.
    fn in_hosts(&self, host: &str) -> Option<ResolvedName> {
        let name = Name::from_utf8(host).ok()?.to_lowercase();
        let found = [RecordType::A, RecordType::AAAA].map(|kind| self.hosts.lookup_static_host(&Query::query(name.clone(), kind)));
        found.into_iter().flatten().filter_map(|lookup| answer(&lookup)).reduce(join)
    }

    /// Queries the addresses of one family.
    async fn ask(&self, host: &str, family: RecordType) -> Result<ResolvedName, String> {
        // A trailing dot keeps search domains from being appended to complete names.
        let name = if host.contains('.') { format!("{host}.") } else { host.to_owned() };
        let lookup = self.resolver.lookup(name, family).await.map_err(|error: NetError| error.to_string())?;
        answer(&lookup).ok_or_else(|| "the name has no address".to_owned())
    }
}

/// The answers of both families if the second arrives before `delay` ends, otherwise of the first that has addresses. The delay
/// starts with the first answer.
async fn either_family(
    v4: impl Future<Output = Result<ResolvedName, String>>,
    v6: impl Future<Output = Result<ResolvedName, String>>,
    delay: impl Future<Output = ()>,
) -> Result<ResolvedName, String> {
    type Family<'f> = Pin<&'f mut dyn Future<Output = Result<ResolvedName, String>>>;
    let (mut v4, mut v6) = (pin!(v4), pin!(v6));
    let (first, other): (_, Family<'_>) = tokio::select! {
        biased;
        first = &mut v4 => (first, v6),
        first = &mut v6 => (first, v4),
    };
    match first {
        Err(error) => other.await.map_err(|_| error),
        Ok(first) => tokio::select! {
            biased;
            other = other => Ok(match other {
                Ok(other) => join(first, other),
                Err(_) => first,
            }),
            () = delay => Ok(first),
        },
    }
}

/// Looks up SRV records (RFC 2782). For the control plane: answers are not cached.
pub struct SrvResolver(Result<TokioResolver, String>);

/// A host and port that offer a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SrvRecord {
    /// The host, without a trailing dot.
    pub host: String,
    /// The port.
    pub port: u16,
    /// Hosts with a higher number are used if none with a lower one works.
    pub priority: u16,
    /// Share of the requests among hosts of the same priority.
    pub weight: u16,
}

impl SrvResolver {
    /// Queries `servers`, or those of the system if the list is empty.
    pub fn new(servers: &[SocketAddr]) -> Self {
        SrvResolver(Sources::new(servers).map(|sources| sources.resolver))
    }

    /// The records of a name, and how long they hold.
    ///
    /// # Errors
    /// Why there are none.
    pub async fn lookup(&self, name: &str) -> Result<(Vec<SrvRecord>, Duration), String> {
        let resolver = self.0.as_ref().map_err(Clone::clone)?;
        let name = format!("{}.", name.trim_end_matches('.'));
        let lookup = resolver.lookup(name, RecordType::SRV).await.map_err(|error: NetError| error.to_string())?;
        let records = lookup.answers().iter().filter_map(|record| match &record.data {
            RData::SRV(srv) => Some(SrvRecord {
                host: srv.target.to_utf8().trim_end_matches('.').to_owned(),
                port: srv.port,
                priority: srv.priority,
                weight: srv.weight,
            }),
            _ => None,
        });
        Ok((records.collect(), lookup.valid_until().saturating_duration_since(Instant::now())))
    }
}

fn answer(lookup: &Lookup) -> Option<ResolvedName> {
    let addresses: Vec<IpAddr> = lookup.answers().iter().filter_map(|record| record.data.ip_addr()).collect();
    (!addresses.is_empty()).then(|| ResolvedName { addresses, valid_until: lookup.valid_until() })
}

fn join(mut one: ResolvedName, other: ResolvedName) -> ResolvedName {
    one.addresses.extend(other.addresses);
    ResolvedName { valid_until: one.valid_until.min(other.valid_until), ..one }
}

fn name_server(address: SocketAddr) -> NameServerConfig {
    let mut server = NameServerConfig::udp_and_tcp(address.ip());
    server.connections.iter_mut().for_each(|connection| connection.port = address.port());
    server
}

#[cfg(test)]
mod tests;
