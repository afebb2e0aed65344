//! The compiled configuration in effect. Immutable: a reload makes a new one, and exchanges in flight keep the old one until they end.

use crate::api::Api;
use crate::balanced::BalancedUpstreams;
use crate::discovery::MirroredDiscovery;
use crate::exchange::ChainLink;
use crate::header_change::HeaderChange;
use crate::header_names::HeaderNames;
use crate::port::{SnapshotPort, WantedPort};
use crate::route::{Found, RoutedRequest, Router, Unrouted};
use crate::route_rules::CompiledRoute;
use crate::target_pool::TargetPool;
use crate::upstream::Upstream;
use crate::url::Url;
use crate::version_terms::VersionTerms;
use regex::Regex;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;
use tollgate_access::oauth::Rules;
use tollgate_mcp_federation::FederatedServer;

/// Everything that decides about requests.
#[derive(Default)]
pub struct Snapshot {
    pub apis: Vec<Arc<CompiledApi>>,
    router: Router,
    /// Ports of APIs and sockets of listeners, except the gateway's own, by the names that connections have.
    ports: BTreeMap<u32, SnapshotPort>,
    by_id: HashMap<String, usize>,
    by_name: HashMap<String, usize>,
}

/// An API with the chains of its versions.
pub struct CompiledApi {
    pub api: Api,
    pub versions: Versions,
    /// Issues tokens to OAuth clients.
    pub provider: Option<ProviderEndpoints>,
    /// Answers what the upstream says of itself.
    pub mirrored: Option<MirrorEndpoints>,
    /// How requests reach it, if not by its listen path.
    pub route: Option<CompiledRoute>,
}

/// Like the endpoints of a provider, for what the gateway asks the upstream when a client asks the gateway.
pub struct MirrorEndpoints {
    pub version: ApiVersion,
    pub rules: MirroredDiscovery,
}

/// An API's OAuth 2.0 provider. Its endpoints are like a separate version whose upstream is the control plane: their chain contains the
/// middlewares for unauthenticated callers, and nothing of the API's versions.
pub struct ProviderEndpoints {
    pub version: ApiVersion,
    pub rules: Arc<Rules>,
}

impl ProviderEndpoints {
    /// The provider's endpoint at a URL.
    #[inline]
    pub fn endpoint(url: &Url<'_>) -> Option<&'static str> {
        let behind = url.path.decoded.get(url.listen_bytes..).unwrap_or_default();
        let behind = behind.strip_prefix('/').unwrap_or(behind);
        match behind.strip_suffix('/').unwrap_or(behind) {
            "oauth/authorize" => Some("authorize"),
            "oauth/token" => Some("token"),
            "oauth/revoke" => Some("revoke"),
            "oauth/revoke_all" => Some("revoke_all"),
            "oauth/introspect" => Some("introspect"),
            "tyk/oauth/authorize-client" => Some("authorize-client"),
            _ => None,
        }
    }
}

/// How a request's version is selected.
pub enum Versions {
    /// One version serves all requests.
    One {
        version: ApiVersion,
        /// When the whole API expires.
        expires: Expiry,
    },
    /// The rules of a route: which one a request belongs to was found out with the API.
    Rules {
        rules: Vec<ApiVersion>,
        /// When the whole API expires.
        expires: Expiry,
    },
    /// The version cannot be determined: every request is refused.
    Unclear { any_default: bool },
    /// Requests name a version.
    Many { selector: CompiledVersionSelector, versions: Vec<ApiVersion> },
    /// Each version is an API of its own.
    Apis {
        selector: CompiledVersionSelector,
        /// This API, for requests to its own version.
        own: ApiVersion,
        /// API id of each version name.
        apis: BTreeMap<String, String>,
        /// This API's own version name.
        own_name: String,
    },
}

/// Where requests name their version.
pub struct CompiledVersionSelector {
    pub location: LocatedVersion,
    pub default: String,
    pub fallback_to_default: bool,
    pub strip: bool,
}

pub enum LocatedVersion {
    Header(String),
    Parameter(String),
    /// The first segment after the listen path, or the part of it that a pattern matches.
    Path(Option<Regex>),
}

/// When a version or an API expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expiry {
    Never,
    At(SystemTime),
    /// The date is invalid: it counts as expired.
    Ended,
}

/// One version of an API: a chain and its upstreams.
pub struct ApiVersion {
    pub terms: VersionTerms,
    pub expires: Expiry,
    pub chain: Vec<ChainLink>,
    pub upstreams: Upstreams,
    pub first_byte_ms: Option<u64>,
    /// Complete header lines for every response.
    pub response_lines: Vec<u8>,
    /// Whether the upstream's own `X-Ratelimit-*` lines are replaced.
    pub replaces_rate_limit: bool,
    /// Header changes to every response.
    pub response_changes: Vec<HeaderChange>,
    /// Request headers that its chain sets, removes or reads.
    pub header_names: HeaderNames,
}

/// Limit lines of a response without a key, and so without a quota.
pub const NO_QUOTA_LINES: &[u8] = b"X-Ratelimit-Limit: 0\r\nX-Ratelimit-Remaining: 0\r\nX-Ratelimit-Reset: 0\r\n";

/// Where a version's requests go.
pub enum Upstreams {
    One(Upstream),
    /// Used round-robin.
    Many {
        list: Vec<Upstream>,
        turn: Arc<AtomicUsize>,
    },
    /// Chosen by rules.
    Balanced(Box<BalancedUpstreams>),
    /// Another API, by id or name.
    Loop(String),
    /// The control plane.
    Control,
    /// Nowhere: the definition names no target.
    Nowhere,
}

impl Upstreams {
    /// Index of the next upstream in round-robin order; 0 when there is only one.
    #[inline]
    pub fn next(&self) -> usize {
        match self {
            Upstreams::Many { list, turn } => turn.fetch_add(1, Ordering::Relaxed).checked_rem(list.len()).unwrap_or_default(),
            Upstreams::One(_) | Upstreams::Balanced(_) | Upstreams::Loop(_) | Upstreams::Control | Upstreams::Nowhere => 0,
        }
    }

    /// The upstream with this index.
    #[inline]
    pub fn get(&self, index: usize) -> Option<&Upstream> {
        match self {
            Upstreams::One(upstream) => Some(upstream),
            Upstreams::Many { list, .. } => list.get(index),
            Upstreams::Balanced(_) | Upstreams::Loop(_) | Upstreams::Control | Upstreams::Nowhere => None,
        }
    }
}

impl Expiry {
    pub fn has_passed(self, now: SystemTime) -> bool {
        match self {
            Expiry::Never => false,
            Expiry::At(end) => now >= end,
            Expiry::Ended => true,
        }
    }
}

impl Versions {
    /// All versions that this API serves.
    pub fn all(&self) -> &[ApiVersion] {
        match self {
            Versions::One { version, .. } | Versions::Apis { own: version, .. } => std::slice::from_ref(version),
            Versions::Many { versions, .. } => versions,
            Versions::Rules { rules, .. } => rules,
            Versions::Unclear { .. } => &[],
        }
    }
}

impl CompiledApi {
    /// The MCP server in front of many that this API is.
    pub fn federation(&self) -> Option<&Arc<FederatedServer>> {
        self.versions.all().iter().find_map(|version| version.upstreams.get(0)?.federation.as_ref())
    }

    /// Drops the public keys that were fetched for this API.
    pub fn forget_key_sets(&self) {
        self.versions.all().iter().flat_map(|version| &version.chain).for_each(|link| link.middleware.forget_key_sets());
    }
}

impl std::ops::Deref for CompiledApi {
    type Target = Api;

    fn deref(&self) -> &Api {
        &self.api
    }
}

impl Snapshot {
    /// Makes a snapshot of APIs, the router of the gateway's own port, and the other ports.
    pub fn new(apis: Vec<Arc<CompiledApi>>, router: Router, ports: BTreeMap<u32, SnapshotPort>) -> Self {
        let index =
            |name: fn(&CompiledApi) -> &String| apis.iter().enumerate().map(|(index, api)| (name(api).clone(), index)).collect();
        Snapshot { by_id: index(|api| &api.id), by_name: index(|api| &api.name), router, ports, apis }
    }

    /// The API of a request to a port; 0 is the gateway's own. `server_name` is the host that the connection's handshake named.
    #[inline]
    pub fn find(
        &self,
        port: u32,
        (authority, server_name): (&[u8], Option<&str>),
        path: &str,
        request: &RoutedRequest<'_>,
    ) -> Result<Found, Unrouted> {
        let mut router = &self.router;
        if port != 0 {
            let port = self.ports.get(&port).ok_or(Unrouted::Nowhere)?;
            router = match &port.listeners {
                None => &port.router,
                Some(listeners) => listeners.router(authority, server_name)?,
            };
        }
        let host = if router.tells_hosts_apart() { std::str::from_utf8(authority).unwrap_or_default() } else { "" };
        router.find(host, path, request).filter(|_| !request.is_too_costly()).ok_or(Unrouted::Nowhere)
    }

    /// The API of a call, by id or name. Its listen path may be there, or not.
    pub fn called(&self, name: &str, path: &str) -> Option<Found> {
        let api = self.api_by_id_or_name(name)?;
        // A stream understands no requests.
        let compiled = self.apis.get(api).filter(|api| api.stream.is_none())?;
        let listen_bytes = if path.starts_with(&compiled.listen_path) { compiled.listen_path.len() } else { 0 };
        Some(Found { api, listen_bytes, rule: None })
    }

    /// A port of APIs.
    pub fn port(&self, name: u32) -> Option<&SnapshotPort> {
        self.ports.get(&name)
    }

    /// The number of the port with this name; `None` for the gateway's own.
    pub fn port_number(&self, name: u32) -> Option<u16> {
        match u16::try_from(name) {
            Ok(0) => None,
            Ok(number) => Some(number),
            Err(_) => self.ports.get(&name)?.terms.address.map(|address| address.port()),
        }
    }

    /// All ports of APIs, with what is spoken there.
    pub fn ports(&self) -> BTreeMap<u32, WantedPort> {
        let wanted = |port: &SnapshotPort| WantedPort { terms: port.terms, tls: port.tls.clone() };
        self.ports.iter().map(|(name, port)| (*name, wanted(port))).collect()
    }

    /// The pools of targets of all APIs.
    pub fn target_pools(&self) -> impl Iterator<Item = &Arc<TargetPool>> {
        let versions = self.apis.iter().flat_map(|api| api.versions.all());
        let balanced = versions.filter_map(|version| match &version.upstreams {
            Upstreams::Balanced(rules) => Some(rules),
            Upstreams::One(_) | Upstreams::Many { .. } | Upstreams::Loop(_) | Upstreams::Control | Upstreams::Nowhere => None,
        });
        balanced.flat_map(|rules| rules.pools())
    }

    /// The API with an id.
    pub fn api(&self, id: &str) -> Option<&Arc<CompiledApi>> {
        self.apis.get(self.api_by_id(id)?)
    }

    pub fn api_by_id(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    pub fn api_by_id_or_name(&self, name: &str) -> Option<usize> {
        self.api_by_id(name).or_else(|| self.by_name.get(name).copied())
    }
}

/// One core's reference to a snapshot. Each exchange clones it with a counter of this core only: a counter that all cores share would
/// travel between them with every request.
pub struct CoreSnapshot(pub Arc<Snapshot>);

impl std::ops::Deref for CoreSnapshot {
    type Target = Snapshot;

    fn deref(&self) -> &Snapshot {
        &self.0
    }
}
