//! A key as requests use it: its session with all policies applied, compiled once.

use super::call_limits::CallLimits;
use super::limits::{CallRates, LimitSource, RequestLimits, SessionLimits};
use super::mcp_rights::McpRights;
use super::rights::PatternList;
use crate::digest::Digest;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use tollgate_graphql::{FieldDepth, GraphqlRights, TypeFields};
use tollgate_model::session::{AccessRight, DryRun, GraphqlType, PrimitiveKind, Session, Smoothing};

/// The member of `meta_data` that marks the session of a token's user.
pub const TOKEN_SESSION: &str = "TykJWTSessionID";

/// One key.
pub struct Key {
    /// Generation of the policies that it was compiled with.
    pub generation: u64,
    /// What it is stored under.
    pub digest: Digest,
    /// Listed form: the key or its hash.
    pub shown: Box<str>,
    /// The session with policies applied.
    pub session: Session,
    pub dry_run: DryRun,
    /// Uses of a quota in percent that are told.
    pub trigger_limits: Box<[f64]>,
    expires_unix_s: Option<u64>,
    /// Fingerprints of client certificates; the client must present one of them. Empty when no certificate is needed.
    bindings: Vec<String>,
    rights: Rights,
    /// Limits of the whole key.
    limits: SessionLimits,
    /// What GraphQL queries may ask for on APIs without rights of their own.
    graphql: GraphqlRights,
    is_only_a_name: bool,
}

enum Rights {
    /// The session lists no rights: it may call everything.
    Everything,
    Listed(BTreeMap<String, ApiRight>),
}

/// What a key may do on an API.
pub enum Permission<'k> {
    Everything,
    Nothing,
    Right(&'k ApiRight),
}

/// What a key may do on one API that it may call.
pub struct ApiRight {
    versions: Vec<String>,
    /// Allowed URLs; `None` allows all.
    urls: Option<Arc<PatternList>>,
    limits: SessionLimits,
    /// Endpoints whose own rate replaces the API's.
    endpoints: Vec<EndpointLimits>,
    /// Patterns of these endpoints, if there are any.
    endpoint_patterns: Option<Arc<PatternList>>,
    /// What it may do on an MCP proxy; `None` allows all. Boxed, because few rights have it.
    mcp: Option<Box<McpRights>>,
    /// Rates of methods and primitives of an MCP proxy.
    calls: Option<Box<CallLimits>>,
    /// What GraphQL queries may ask for.
    graphql: GraphqlRights,
}

struct EndpointLimits {
    /// Index of its pattern.
    pattern: usize,
    method: String,
    limits: SessionLimits,
}

/// Whether a key is usable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyState {
    Good,
    Inactive,
    Expired,
}

impl Key {
    pub fn compile(session: Session, generation: u64, source: &LimitSource<'_>) -> Self {
        let rights = session.access_rights.iter().filter(|(_, right)| !right.disabled);
        let rights: BTreeMap<_, _> =
            rights.map(|(api, right)| (api.clone(), ApiRight::compile(api, right, &session, source))).collect();
        Key {
            digest: Digest::default(),
            shown: Box::default(),
            generation,
            dry_run: session.dry_run,
            trigger_limits: session.trigger_limits().into(),
            bindings: session.certificate_fingerprints(),
            expires_unix_s: u64::try_from(session.expires).ok().filter(|expires| *expires > 0),
            rights: if session.access_rights.is_empty() { Rights::Everything } else { Rights::Listed(rights) },
            limits: SessionLimits::new(&session.limit(), "", source),
            graphql: GraphqlRights { depth_max: session.max_query_depth, ..GraphqlRights::default() },
            is_only_a_name: is_only_a_name(&session),
            session,
        }
    }

    /// Whether the key's name is not secret, because a password, a signature or a token must accompany it.
    pub fn is_only_a_name(&self) -> bool {
        self.is_only_a_name
    }

    /// Whether the key requires certain client certificates.
    pub fn is_bound(&self) -> bool {
        !self.bindings.is_empty()
    }

    pub fn is_bound_to(&self, fingerprint: &str) -> bool {
        self.bindings.iter().any(|bound| bound == fingerprint)
    }

    pub fn state(&self, now_unix_s: u64) -> KeyState {
        if self.session.is_inactive {
            KeyState::Inactive
        } else if self.expires_unix_s.is_some_and(|expires| now_unix_s >= expires) {
            KeyState::Expired
        } else {
            KeyState::Good
        }
    }

    /// What the key may do on an API.
    pub fn right(&self, api: &str) -> Permission<'_> {
        match &self.rights {
            Rights::Everything => Permission::Everything,
            Rights::Listed(rights) => rights.get(api).map_or(Permission::Nothing, Permission::Right),
        }
    }

    /// The limits of this key on an API.
    pub fn limits(&self, api: &str) -> RequestLimits<'_> {
        self.listed(api).map_or(&self.limits, |right| &right.limits).alone()
    }

    /// What the key may do on an MCP proxy, if that is not everything.
    pub fn mcp(&self, api: &str) -> Option<&McpRights> {
        self.listed(api)?.mcp.as_deref()
    }

    /// Whether it has rules or limits for calls of an MCP proxy.
    pub fn rules_calls(&self, api: &str) -> bool {
        self.listed(api).is_some_and(|right| right.mcp.is_some() || right.calls.is_some())
    }

    /// The rates of a call of an MCP proxy, beside the key's limits: of its method, and of the primitive that it uses, by all its names.
    pub fn call_limits(&self, api: &str, method: &str, primitive: Option<(PrimitiveKind, [&str; 2])>) -> CallRates<'_> {
        let calls = self.listed(api).and_then(|right| right.calls.as_deref());
        calls.map_or_else(CallRates::default, |calls| calls.of(method, primitive))
    }

    /// The listed right for an API.
    #[inline]
    fn listed(&self, api: &str) -> Option<&ApiRight> {
        match &self.rights {
            Rights::Everything => None,
            Rights::Listed(rights) => rights.get(api),
        }
    }

    /// What GraphQL queries to an API may ask for.
    pub fn graphql_rights(&self, api: &str) -> &GraphqlRights {
        match &self.rights {
            Rights::Everything => &self.graphql,
            Rights::Listed(rights) => rights.get(api).map_or(&self.graphql, |right| &right.graphql),
        }
    }

    /// The limits of a request to an API: those of the first matching endpoint, else the API's. `path` is the path after the listen path.
    pub fn limits_at<'p>(&self, api: &str, method: &str, path: impl FnOnce() -> Cow<'p, str>) -> RequestLimits<'_> {
        let Some(right) = self.listed(api) else { return self.limits.alone() };
        let Some(patterns) = &right.endpoint_patterns else { return right.limits.alone() };
        let path = path();
        let fits =
            |endpoint: &&EndpointLimits| endpoint.method.eq_ignore_ascii_case(method) && patterns.fits(endpoint.pattern, &path);
        right.endpoints.iter().find(fits).map_or(&right.limits, |endpoint| &endpoint.limits).alone()
    }

    /// The session with the remaining quotas and the allowed URLs filled in.
    pub fn live_session(&self, mut session: Session, now_unix_s: u64) -> Session {
        if let Some((_, view)) = self.limits.alone().quota(now_unix_s) {
            session.quota_remaining = view.remaining;
            session.quota_renews = i64::try_from(view.renews_unix_s).unwrap_or_default();
        }
        for (api, right) in &mut session.access_rights {
            if let (Permission::Right(ApiRight { urls: Some(urls), .. }), true) = (self.right(api), right.allowed_urls.is_empty()) {
                right.allowed_urls = urls.allowed_urls();
            }
            let Some(limit) = &mut right.limit else { continue };
            if let Some((_, view)) = self.limits(api).quota(now_unix_s) {
                limit.quota_remaining = view.remaining;
                limit.quota_renews = i64::try_from(view.renews_unix_s).unwrap_or_default();
            }
        }
        session
    }
}

impl ApiRight {
    fn compile(api: &str, right: &AccessRight, session: &Session, source: &LimitSource<'_>) -> Self {
        let root = session.limit();
        let mut own = right.own_limit().cloned();
        // As in Tyk, the key's steps are for rates of its rights too.
        own.iter_mut().filter(|limit| Smoothing::of(&limit.smoothing).is_none()).for_each(|limit| {
            limit.smoothing.clone_from(&root.smoothing);
        });
        let (limit, scope) = match &own {
            Some(limit) => (limit, right.allowance_scope.as_str()),
            None => (&root, ""),
        };
        let limits = SessionLimits::new(limit, scope, source);
        ApiRight {
            versions: right.versions.clone(),
            urls: (!right.allowed_urls.is_empty()).then(|| source.patterns.urls(&right.allowed_urls)),
            endpoints: endpoint_limits(api, right, scope, &limits, source),
            endpoint_patterns: (!right.endpoints.is_empty()).then(|| source.patterns.endpoints(&right.endpoints)),
            mcp: McpRights::compile(right, source.patterns).map(Box::new),
            calls: CallLimits::compile(api, right, scope, &limits, source).map(Box::new),
            limits,
            graphql: graphql_rights(right, limit.max_query_depth),
        }
    }

    pub fn has_version(&self, name: &str) -> bool {
        self.versions.iter().any(|allowed| allowed == name)
    }

    /// Whether all endpoints are allowed, so that none needs a check.
    pub fn has_all_endpoints(&self) -> bool {
        self.urls.is_none()
    }

    /// Lists of patterns that are not compiled yet.
    pub fn unprepared(&self) -> Vec<Arc<PatternList>> {
        let own = [&self.urls, &self.endpoint_patterns].into_iter().flatten();
        let of_calls = self.mcp.iter().flat_map(|mcp| mcp.lists()).chain(self.calls.iter().flat_map(|calls| calls.lists()));
        own.chain(of_calls).filter(|list| !list.is_ready()).cloned().collect()
    }

    /// Whether some request with a method is allowed.
    pub fn allows_method(&self, method: &str) -> bool {
        self.urls.as_ref().is_none_or(|urls| urls.has_method(method))
    }

    /// Whether a request is allowed: with a list of URLs, an entry must match the method and one of the path's forms.
    pub fn allows(&self, method: &str, paths: &[&str]) -> bool {
        self.urls.as_ref().is_none_or(|urls| urls.allows(method, paths))
    }
}

/// Whether a session is found by a name that its caller sends openly, or that can be guessed: that of a user, of a signer, or of the user of a
/// token, whose session Tyk stores under the MD5 of the user's name.
fn is_only_a_name(session: &Session) -> bool {
    let is_signed_for = session.hmac_enabled || session.enable_http_signature_validation;
    let has_secret = !session.basic_auth_data.password.is_empty() || !session.jwt_data.secret.is_empty();
    is_signed_for || has_secret || session.meta_data.contains_key(TOKEN_SESSION)
}

/// What an access right says about GraphQL.
fn graphql_rights(right: &AccessRight, depth_max: i64) -> GraphqlRights {
    let types = |types: &[GraphqlType]| {
        types.iter().map(|written| TypeFields { name: written.name.clone(), fields: written.fields.clone() }).collect()
    };
    let fields = right.field_access_rights.iter().map(|field| FieldDepth {
        type_name: field.type_name.clone(),
        field_name: field.field_name.clone(),
        depth_max: field.limits.max_query_depth,
    });
    GraphqlRights {
        depth_max,
        fields: fields.collect(),
        allowed: types(&right.allowed_types),
        restricted: types(&right.restricted_types),
        disable_introspection: right.disable_introspection,
    }
}

/// A right's endpoints. An endpoint whose pattern is invalid limits nothing, because nobody can tell which requests it means.
fn endpoint_limits(
    api: &str,
    right: &AccessRight,
    scope: &str,
    limits: &SessionLimits,
    source: &LimitSource<'_>,
) -> Vec<EndpointLimits> {
    let mut made = Vec::new();
    for (pattern, endpoint) in right.endpoints.iter().enumerate() {
        for method in &endpoint.methods {
            let counter = format!("{scope}/{api}/{}:{}", method.name, endpoint.path);
            let limits = limits.with_rate(&method.limit, counter, source);
            made.push(EndpointLimits { pattern, method: method.name.clone(), limits });
        }
    }
    made
}

#[cfg(test)]
mod tests;
