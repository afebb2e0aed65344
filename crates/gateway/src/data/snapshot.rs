//! The compiled configuration that runs. Immutable: a reload makes a new one, and what is in flight keeps the old one until it is done.

use crate::auth::oauth::Rules;
use crate::data::api::Api;
use crate::data::endpoints::EndpointMatcher;
use crate::data::header_change::HeaderChange;
use crate::data::header_names::HeaderNames;
use crate::data::middleware::Middleware;
use crate::data::route::{Found, Router};
use crate::data::upstream::Upstream;
use crate::data::url::Url;
use regex::Regex;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

/// Everything that decides about requests.
#[derive(Default)]
pub(crate) struct Snapshot {
    pub apis: Vec<Arc<CompiledApi>>,
    router: Router,
    by_id: HashMap<String, usize>,
    by_name: HashMap<String, usize>,
}

/// An API with the chains of its versions.
pub(crate) struct CompiledApi {
    pub api: Api,
    pub versions: Versions,
    /// Gives tokens to OAuth clients.
    pub provider: Option<ProviderEndpoints>,
}

/// An API's OAuth 2.0 provider. Its endpoints are like a version of their own, whose upstream is the control plane: they have a chain of what
/// strangers must pass, and nothing of the API's versions.
pub(crate) struct ProviderEndpoints {
    pub version: ApiVersion,
    pub rules: Arc<Rules>,
}

impl ProviderEndpoints {
    /// The endpoint that a URL names.
    #[inline]
    pub(crate) fn endpoint(url: &Url<'_>) -> Option<&'static str> {
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

/// How the version of a request is found.
pub(crate) enum Versions {
    /// There is one, whatever is asked for.
    One {
        version: ApiVersion,
        /// When the whole API ends.
        expires: Expiry,
    },
    /// It can't be told which of the versions is meant: every request is refused.
    Unclear { any_default: bool },
    /// Requests name one.
    Many { selector: CompiledVersionSelector, versions: Vec<ApiVersion> },
    /// Each version is an API of its own.
    Apis {
        selector: CompiledVersionSelector,
        /// This API, for requests that mean it.
        own: ApiVersion,
        /// Version name to API id.
        apis: BTreeMap<String, String>,
        /// The name of this API among the versions.
        own_name: String,
    },
}

/// Where requests name their version.
pub(crate) struct CompiledVersionSelector {
    pub location: LocatedVersion,
    pub default: String,
    pub fallback_to_default: bool,
    pub strip: bool,
}

pub(crate) enum LocatedVersion {
    Header(String),
    Parameter(String),
    /// The first segment after the listen path, or what a pattern finds there.
    Path(Option<Regex>),
}

/// When something ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expiry {
    Never,
    At(SystemTime),
    /// What was written is no date: it has ended.
    Ended,
}

/// One version of an API: a chain and a place to send requests to.
pub(crate) struct ApiVersion {
    pub name: String,
    pub expires: Expiry,
    pub matcher: EndpointMatcher,
    pub chain: Vec<Box<dyn Middleware>>,
    pub upstreams: Upstreams,
    pub first_byte_ms: Option<u64>,
    /// Whole lines that every response gets.
    pub response_lines: Vec<u8>,
    /// The upstream's own `X-Ratelimit-*` lines are replaced.
    pub replaces_rate_limit: bool,
    /// Changes that every response gets.
    pub response_changes: Vec<HeaderChange>,
    /// Request headers that its chain sets, removes or reads.
    pub header_names: HeaderNames,
    /// Leave X-Forwarded-For as it is.
    pub keeps_forwarded_for: bool,
}

/// What a response says when there is no key and so no quota.
pub(crate) const NO_QUOTA_LINES: &[u8] = b"X-Ratelimit-Limit: 0\r\nX-Ratelimit-Remaining: 0\r\nX-Ratelimit-Reset: 0\r\n";

/// Where a version's requests go.
pub(crate) enum Upstreams {
    One(Upstream),
    /// Taken in turn.
    Many {
        list: Vec<Upstream>,
        turn: Arc<AtomicUsize>,
    },
    /// Another API, by id or name.
    Loop(String),
    /// The control plane.
    Control,
}

impl Upstreams {
    /// The number of the upstream whose turn it is; 0 when there is only one.
    #[inline]
    pub(crate) fn next(&self) -> usize {
        match self {
            Upstreams::Many { list, turn } => turn.fetch_add(1, Ordering::Relaxed).checked_rem(list.len()).unwrap_or_default(),
            Upstreams::One(_) | Upstreams::Loop(_) | Upstreams::Control => 0,
        }
    }

    /// The upstream of a number.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<&Upstream> {
        match self {
            Upstreams::One(upstream) => Some(upstream),
            Upstreams::Many { list, .. } => list.get(index),
            Upstreams::Loop(_) | Upstreams::Control => None,
        }
    }
}

impl Expiry {
    pub(crate) fn has_passed(self, now: SystemTime) -> bool {
        match self {
            Expiry::Never => false,
            Expiry::At(end) => now >= end,
            Expiry::Ended => true,
        }
    }
}

impl Versions {
    /// All versions that are served here.
    pub(crate) fn all(&self) -> &[ApiVersion] {
        match self {
            Versions::One { version, .. } | Versions::Apis { own: version, .. } => std::slice::from_ref(version),
            Versions::Many { versions, .. } => versions,
            Versions::Unclear { .. } => &[],
        }
    }
}

impl CompiledApi {
    /// Forgets the public keys of others that were fetched for this API.
    pub(crate) fn forget_key_sets(&self) {
        self.versions.all().iter().flat_map(|version| &version.chain).for_each(|middleware| middleware.forget_key_sets());
    }
}

impl std::ops::Deref for CompiledApi {
    type Target = Api;

    fn deref(&self) -> &Api {
        &self.api
    }
}

impl Snapshot {
    /// A snapshot over APIs and the router for them.
    pub(crate) fn new(apis: Vec<Arc<CompiledApi>>, router: Router) -> Self {
        let index =
            |name: fn(&CompiledApi) -> &String| apis.iter().enumerate().map(|(index, api)| (name(api).clone(), index)).collect();
        Snapshot { by_id: index(|api| &api.id), by_name: index(|api| &api.name), router, apis }
    }

    #[inline]
    pub(crate) fn find(&self, authority: &[u8], path: &str) -> Option<Found> {
        let host = if self.router.tells_hosts_apart() { std::str::from_utf8(authority).unwrap_or_default() } else { "" };
        self.router.find(host, path)
    }

    /// The API with an id.
    pub(crate) fn api(&self, id: &str) -> Option<&Arc<CompiledApi>> {
        self.apis.get(self.api_by_id(id)?)
    }

    pub(crate) fn api_by_id(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    pub(crate) fn api_by_id_or_name(&self, name: &str) -> Option<usize> {
        self.api_by_id(name).or_else(|| self.by_name.get(name).copied())
    }
}

/// One core's hold on a snapshot. It is cloned for each exchange by counting in this core alone: a counter that all cores touch would
/// travel between them with every request.
pub(crate) struct CoreSnapshot(pub Arc<Snapshot>);

impl std::ops::Deref for CoreSnapshot {
    type Target = Snapshot;

    fn deref(&self) -> &Snapshot {
        &self.0
    }
}
