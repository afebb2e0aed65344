//! The session that is built by adding policy after policy.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::Hash;

use super::Policy;
use crate::policy::Partitions;
use crate::session::{
    AccessLimit, AccessRight, DryRun, EndpointLimit, EndpointMethod, GraphqlFieldRight, GraphqlType, LimitStoreFailure, LlmBudget,
    MethodLimit, NameRules, PrimitiveLimit, RateLimit, Session,
};

/// The result of the policies added so far.
pub(super) struct Merge<'s> {
    /// The session as it was written.
    original: &'s Session,
    session: Session,
    /// The limits of the key as a whole.
    root: AccessLimit,
    rights: BTreeMap<String, Draft>,
    /// The checks in dry run for every policy so far; `None` before the first policy that decides the check.
    dry: Dry,
}

/// The result of the policies added so far for one API.
#[derive(Default)]
struct Draft {
    right: AccessRight,
    limit: AccessLimit,
    /// The parts that a policy has decided.
    decided: Partitions,
    /// The name of this API's counters: the identifier of the policy that gave access, or the API's.
    set_by: String,
}

#[derive(Default)]
struct Dry {
    rate_limit: Option<bool>,
    quota: Option<bool>,
    access: Option<bool>,
}

impl<'s> Merge<'s> {
    /// A session without the limits that `policies` decide; otherwise a higher limit of the key would win.
    pub(super) fn new(original: &'s Session, policies: &[&Policy]) -> Merge<'s> {
        let mut root = original.limit();
        for decides in policies.iter().map(|policy| policy.decides()) {
            clear(&mut root, &decides);
        }
        let mut session = original.clone();
        session.tags = Vec::new();
        append_missing(&mut session.tags, &original.tags);
        Merge { original, session, root, rights: BTreeMap::new(), dry: Dry::default() }
    }

    pub(super) fn add(&mut self, policy: &Policy) {
        let decides = policy.decides();
        for (api_id, right) in &policy.access_rights {
            let draft = self.rights.entry(api_id.clone()).or_default();
            if decides.per_api {
                draft.add_per_api(api_id, right, policy);
            } else {
                draft.add_parts(right, policy, &decides);
            }
            draft.decided.add(&decides);
        }
        if !decides.per_api {
            let limit = policy.limit();
            if policy.access_rights.is_empty() {
                clear(&mut self.root, &decides);
            }
            raise(&mut self.root, &limit, &decides);
        }
        self.dry.add(policy.dry_run, &decides);
        self.add_rest(policy);
    }

    pub(super) fn finish(mut self) -> Session {
        let decides_alone = self.rights.len() == 1;
        self.rights.retain(|_, draft| draft.decided.acl);
        let scopes: BTreeSet<&String> = self.rights.values().map(|draft| &draft.set_by).filter(|scope| !scope.is_empty()).collect();
        let has_scopes = scopes.len() > 1;
        let mut rights = BTreeMap::new();
        for (api_id, draft) in std::mem::take(&mut self.rights) {
            let decided = draft.decided.clone();
            let right = self.finished(&api_id, draft, has_scopes);
            if decides_alone && decided.quota && decided.rate_limit && decided.complexity {
                self.root = AccessLimit { quota_remaining: self.root.quota_remaining, ..right.limit.clone().unwrap_or_default() };
            }
            rights.insert(api_id, right);
        }
        if !rights.is_empty() {
            self.session.access_rights = rights;
        }
        self.session.dry_run = self.dry.with(self.original.dry_run);
        self.session.set_limit(self.root);
        self.session
    }

    /// The resulting access right. The key's own settings apply to parts that no policy decided.
    fn finished(&self, api_id: &str, draft: Draft, has_scopes: bool) -> AccessRight {
        let Draft { mut right, mut limit, decided, set_by } = draft;
        if !decided.rate_limit {
            let AccessLimit { rate, per, limits, smoothing, throttle_interval, throttle_retry_limit, .. } = self.root.clone();
            limit = AccessLimit { rate, per, limits, smoothing, throttle_interval, throttle_retry_limit, ..limit };
            limit.on_store_failure.rate_limit = self.root.on_store_failure.rate_limit;
        }
        if !decided.complexity {
            limit.max_query_depth = self.root.max_query_depth;
        }
        if !decided.quota {
            let AccessLimit { quota_max, quota_renewal_rate, quota_renews, .. } = self.root;
            limit = AccessLimit { quota_max, quota_renewal_rate, quota_renews, ..limit };
            limit.on_store_failure.quota = self.root.on_store_failure.quota;
        } else if let Some(own) = self.original.access_rights.get(api_id).and_then(AccessRight::own_limit) {
            limit.quota_renews = own.quota_renews;
        }
        if has_scopes && right.allowance_scope.is_empty() {
            right.allowance_scope = set_by;
        }
        right.limit = Some(limit);
        right
    }

    fn add_rest(&mut self, policy: &Policy) {
        let session = &mut self.session;
        session.is_inactive |= policy.is_inactive;
        session.hmac_enabled |= policy.hmac_enabled;
        session.enable_http_signature_validation |= policy.enable_http_signature_validation;
        append_missing(&mut session.tags, &policy.tags);
        let budgets = policy.llm_budgets.iter().cloned();
        session.llm_budgets.extend(budgets.map(|budget| LlmBudget { policy: Some(policy.id().to_owned()), ..budget }));
        session.meta_data.extend(policy.meta_data.clone());
        if policy.last_updated > session.last_updated {
            session.last_updated.clone_from(&policy.last_updated);
        }
        if !policy.post_expiry_action.is_empty() {
            session.post_expiry_action.clone_from(&policy.post_expiry_action);
        }
        if policy.post_expiry_grace_period != 0 {
            session.post_expiry_grace_period = policy.post_expiry_grace_period;
        }
    }
}

impl Draft {
    /// The part of a policy with `per_api`: the API's own limit, otherwise the policy's, with separate counters.
    fn add_per_api(&mut self, api_id: &str, right: &AccessRight, policy: &Policy) {
        let (limit, scope) = match right.own_limit() {
            Some(limit) => (limit.clone(), api_id),
            None => (policy.limit(), policy.id()),
        };
        let is_first = !self.decided.rate_limit;
        self.allow(right);
        self.add_call_limits(right);
        self.right.allowance_scope = scope.to_owned();
        self.set_by = scope.to_owned();
        if is_first {
            self.limit = limit;
            return;
        }
        // Here, unlike elsewhere, an API without a rate is unlimited, not undecided.
        if interval(limit.rate, limit.per) <= interval(self.limit.rate, self.limit.per) {
            (self.limit.rate, self.limit.per) = (limit.rate, limit.per);
            self.limit.smoothing = limit.smoothing.clone();
        }
        raise(&mut self.limit, &AccessLimit { rate: 0.0, ..limit }, &policy.decides());
        if self.limit.quota_max == -1 {
            self.limit.quota_renewal_rate = 0;
        }
    }

    /// The parts that a policy decides. The more generous of the API's and the policy's limit applies.
    fn add_parts(&mut self, right: &AccessRight, policy: &Policy, decides: &Partitions) {
        if decides.acl {
            self.allow(right);
            self.set_by = policy.id().to_owned();
        }
        if decides.rate_limit {
            self.add_call_limits(right);
        }
        if let Some(limit) = &right.limit {
            raise(&mut self.limit, limit, decides);
        }
        raise(&mut self.limit, &policy.limit(), decides);
    }

    /// Adds limits for endpoints, methods and primitives.
    fn add_call_limits(&mut self, right: &AccessRight) {
        let own = &mut self.right;
        merge_endpoints(&mut own.endpoints, &right.endpoints);
        let of_method = |limit: &MethodLimit| (limit.name.clone(), limit.limit.clone());
        merge_call_limits(&mut own.json_rpc_methods, &right.json_rpc_methods, of_method);
        let of_primitive = |limit: &PrimitiveLimit| ((limit.kind.clone(), limit.name.clone()), limit.limit.clone());
        merge_call_limits(&mut own.mcp_primitives, &right.mcp_primitives, of_primitive);
    }

    /// Adds access, without limits.
    fn allow(&mut self, right: &AccessRight) {
        let own = &mut self.right;
        if !self.decided.acl {
            let AccessRight { endpoints, json_rpc_methods, mcp_primitives, .. } = std::mem::take(own);
            *own = AccessRight { limit: None, endpoints, json_rpc_methods, mcp_primitives, ..right.clone() };
            return;
        }
        own.disabled &= right.disabled;
        append_missing(&mut own.versions, &right.versions);
        for url in &right.allowed_urls {
            match own.allowed_urls.iter_mut().find(|own| own.url == url.url) {
                Some(own) => append_missing(&mut own.methods, &url.methods),
                None => own.allowed_urls.push(url.clone()),
            }
        }
        merge_types(&mut own.allowed_types, &right.allowed_types);
        merge_types(&mut own.restricted_types, &right.restricted_types);
        merge_fields(&mut own.field_access_rights, &right.field_access_rights);
        own.disable_introspection |= right.disable_introspection;
        merge_names(&mut own.json_rpc_methods_access_rights, &right.json_rpc_methods_access_rights);
        let (own_kinds, kinds) = (&mut own.mcp_access_rights, &right.mcp_access_rights);
        merge_names(&mut own_kinds.tools, &kinds.tools);
        merge_names(&mut own_kinds.resources, &kinds.resources);
        merge_names(&mut own_kinds.prompts, &kinds.prompts);
        for (name, value) in &right.extra {
            own.extra.entry(name).or_insert_with(|| value.clone());
        }
    }
}

impl Partitions {
    fn add(&mut self, other: &Partitions) {
        self.quota |= other.quota;
        self.rate_limit |= other.rate_limit;
        self.complexity |= other.complexity;
        self.acl |= other.acl;
        self.per_api |= other.per_api;
    }
}

impl Dry {
    /// A check is enforced if one policy enforces it.
    fn add(&mut self, policy: DryRun, decides: &Partitions) {
        for (own, policy, decides) in [
            (&mut self.rate_limit, policy.rate_limit, decides.rate_limit),
            (&mut self.quota, policy.quota, decides.quota),
            (&mut self.access, policy.access, decides.acl),
        ] {
            if decides {
                *own = Some(own.unwrap_or(true) && policy);
            }
        }
    }

    /// The key itself can always be exempt.
    fn with(&self, key: DryRun) -> DryRun {
        DryRun {
            rate_limit: key.rate_limit || self.rate_limit == Some(true),
            quota: key.quota || self.quota == Some(true),
            access: key.access || self.access == Some(true),
        }
    }
}

fn clear(limit: &mut AccessLimit, parts: &Partitions) {
    if parts.quota {
        *limit = AccessLimit { quota_max: 0, quota_remaining: 0, quota_renewal_rate: 0, ..std::mem::take(limit) };
        limit.on_store_failure.quota = None;
    }
    if parts.rate_limit {
        let AccessLimit { max_query_depth, quota_max, quota_renews, quota_remaining, quota_renewal_rate, .. } = *limit;
        let on_store_failure = LimitStoreFailure { rate_limit: None, ..limit.on_store_failure };
        let kept = AccessLimit { max_query_depth, quota_max, quota_renews, quota_remaining, ..AccessLimit::default() };
        *limit = AccessLimit { quota_renewal_rate, on_store_failure, ..kept };
    }
    if parts.complexity {
        limit.max_query_depth = 0;
    }
}

/// Raises a limit to another one where that is more generous.
fn raise(limit: &mut AccessLimit, other: &AccessLimit, parts: &Partitions) {
    if parts.quota {
        limit.quota_max = higher(limit.quota_max, other.quota_max);
        limit.quota_renewal_rate = limit.quota_renewal_rate.max(other.quota_renewal_rate);
        // The strictest setting applies.
        limit.on_store_failure.quota = limit.on_store_failure.quota.max(other.on_store_failure.quota);
    }
    if parts.complexity {
        limit.max_query_depth = higher(limit.max_query_depth, other.max_query_depth);
    }
    if !parts.rate_limit {
        return;
    }
    if is_more(other.rate, other.per, limit.rate, limit.per) {
        (limit.rate, limit.per) = (other.rate, other.per);
        limit.smoothing = other.smoothing.clone();
    }
    limit.on_store_failure.rate_limit = limit.on_store_failure.rate_limit.max(other.on_store_failure.rate_limit);
    limit.throttle_interval = limit.throttle_interval.max(other.throttle_interval);
    limit.throttle_retry_limit = limit.throttle_retry_limit.max(other.throttle_retry_limit);
    for other in &other.limits {
        match limit.limits.iter_mut().find(|own| is_same(own, other)) {
            Some(own) if is_more(other.rate, other.per, own.rate, own.per) => *own = other.clone(),
            Some(_) => {}
            None => limit.limits.push(other.clone()),
        }
    }
}

/// The higher of two numbers; -1 is the highest.
fn higher(first: i64, second: i64) -> i64 {
    if first == -1 || second == -1 { -1 } else { first.max(second) }
}

/// Whether a rate admits more than another. 0 is not a rate; negative is unlimited.
fn is_more(rate: f64, per: f64, other_rate: f64, other_per: f64) -> bool {
    let is_rate = |rate: f64, per: f64| rate != 0.0 && per != 0.0;
    is_rate(rate, per) && (!is_rate(other_rate, other_per) || interval(rate, per) < interval(other_rate, other_per))
}

/// Seconds between two requests at a rate.
fn interval(rate: f64, per: f64) -> f64 {
    if rate > 0.0 && per > 0.0 { per / rate } else { 0.0 }
}

/// Whether two entries of `limits` correspond: the same name, or the same period.
fn is_same(first: &RateLimit, second: &RateLimit) -> bool {
    first.name == second.name && (!first.name.is_empty() || first.per == second.per)
}

fn merge_endpoints(own: &mut Vec<EndpointLimit>, others: &[EndpointLimit]) {
    let mut places: HashMap<String, usize> = HashMap::with_capacity(own.len());
    for (place, endpoint) in own.iter().enumerate() {
        places.entry(endpoint.path.clone()).or_insert(place);
    }
    for other in others {
        match places.get(&other.path).and_then(|place| own.get_mut(*place)) {
            Some(own) => merge_methods(&mut own.methods, &other.methods),
            None => {
                places.insert(other.path.clone(), own.len());
                own.push(other.clone());
            }
        }
    }
}

fn merge_methods(own: &mut Vec<EndpointMethod>, others: &[EndpointMethod]) {
    for other in others {
        match own.iter_mut().find(|own| own.name == other.name) {
            Some(own) if interval(other.limit.rate, other.limit.per) < interval(own.limit.rate, own.limit.per) => {
                *own = other.clone();
            }
            Some(_) => {}
            None => own.push(other.clone()),
        }
    }
}

/// The more generous limit of each name, as in Tyk: among those of one name, the last without a limit counts only if it comes after all
/// others.
fn merge_call_limits<L: Clone, N: Eq + Hash>(own: &mut Vec<L>, others: &[L], parts: impl Fn(&L) -> (N, RateLimit)) {
    let seconds = |limit: &RateLimit| interval(limit.rate, limit.per);
    let mut places: HashMap<N, usize> = HashMap::with_capacity(own.len());
    for (place, limit) in own.iter().enumerate() {
        places.entry(parts(limit).0).or_insert(place);
    }
    for other in others {
        let (name, limit) = parts(other);
        match places.get(&name).and_then(|place| own.get_mut(*place)) {
            Some(own) => {
                let own_s = seconds(&parts(own).1);
                if own_s == 0.0 || seconds(&limit) < own_s {
                    *own = other.clone();
                }
            }
            None => {
                places.insert(name, own.len());
                own.push(other.clone());
            }
        }
    }
}

/// All names of both, as in Tyk: two policies allow what one of them allows, and block what one of them blocks.
fn merge_names(own: &mut NameRules, others: &NameRules) {
    append_missing(&mut own.allowed, &others.allowed);
    append_missing(&mut own.blocked, &others.blocked);
}

/// All types of both lists with the fields of both, as in Tyk: two policies allow what one of them allows, and restrict what one of them
/// restricts.
fn merge_types(own: &mut Vec<GraphqlType>, others: &[GraphqlType]) {
    for other in others {
        match own.iter_mut().find(|own| own.name == other.name) {
            Some(own) => append_missing(&mut own.fields, &other.fields),
            None => own.push(other.clone()),
        }
    }
}

/// The greater depth of each field.
fn merge_fields(own: &mut Vec<GraphqlFieldRight>, others: &[GraphqlFieldRight]) {
    for other in others {
        match own.iter_mut().find(|own| own.type_name == other.type_name && own.field_name == other.field_name) {
            Some(own) => own.limits.max_query_depth = higher(own.limits.max_query_depth, other.limits.max_query_depth),
            None => own.push(other.clone()),
        }
    }
}

fn append_missing(own: &mut Vec<String>, others: &[String]) {
    let known: HashSet<&String> = own.iter().collect();
    let mut new = HashSet::new();
    let missing: Vec<String> = others.iter().filter(|other| !known.contains(other) && new.insert(*other)).cloned().collect();
    own.extend(missing);
}
