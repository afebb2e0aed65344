//! What an operator with a scope sees and changes. Each endpoint declares its rule beside its role, as `scope:RULE`; an endpoint without one is
//! closed to operators with a scope. Rules about the API or policy that a path names are enforced before the endpoint is called. Changes of
//! definitions and policies are judged where they are applied, lists and keys by their endpoints, with [`Reach`].

use super::Control;
use super::answer::ControlAnswer;
use crate::definitions::{ReadFiles, WantedContent, WantedDocument};
use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use axum::http::{StatusCode, Uri};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use tollgate_access::keys::Policies;
use tollgate_admin::{Operator, OperatorScope};
use tollgate_data::snapshot::{CompiledApi, Snapshot};
use tollgate_model::policy::Policy;
use tollgate_model::session::{AccessRight, Session};

/// What operators with a scope may do with an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScopeRule {
    /// Nothing.
    Closed,
    /// Everything: it tells nothing of this installation, or concerns only the caller.
    Open,
    /// Call it if the path's `id` names an API that they reach.
    Api,
    /// Call it if the path's `id` names a policy that they reach.
    Policy,
    /// Call it if the path's `id` names an organisation that they reach as a whole.
    Org,
    /// Call it if this parameter of the query names an API that they reach.
    Query(&'static str),
    /// Follow the live tail of an API that they reach, but nothing else.
    Tail,
    /// Call it: the endpoint, or what applies its change, leaves out or refuses what they do not reach.
    Reached,
}

impl ScopeRule {
    /// The rule of an endpoint's `security`; `None` for a name that is no rule.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Some(match name.strip_prefix("scope:")? {
            "closed" => ScopeRule::Closed,
            "open" => ScopeRule::Open,
            "api" => ScopeRule::Api,
            "policy" => ScopeRule::Policy,
            "org" => ScopeRule::Org,
            "query:api" => ScopeRule::Query("api"),
            "query:api_id" => ScopeRule::Query("api_id"),
            "tail" => ScopeRule::Tail,
            "reached" => ScopeRule::Reached,
            _ => return None,
        })
    }

    /// Whether an operator may call the endpoint. `pattern` is its path with the names of its parameters.
    ///
    /// # Errors
    /// The answer that refuses it. It is the same for what does not exist.
    pub(super) fn check(self, control: &Control, operator: &Operator, pattern: &str, uri: &Uri) -> Result<(), ControlAnswer> {
        if operator.scope.is_whole() {
            return Ok(());
        }
        let reach = Reach::of(control, operator.scope.clone());
        let is_reached = match self {
            ScopeRule::Closed => {
                let message = "This concerns more than an operator with a scope may see or change";
                return Err(refused(message.to_owned()));
            }
            ScopeRule::Open | ScopeRule::Reached => true,
            ScopeRule::Api => parameter(pattern, uri).is_some_and(|id| reach.has_api_id(&id)),
            ScopeRule::Policy => {
                let policies = control.shared.keys.policies();
                parameter(pattern, uri).and_then(|id| policies.get(&id)).is_some_and(|policy| reach.has_policy(policy))
            }
            ScopeRule::Org => parameter(pattern, uri).is_some_and(|id| operator.scope.has_org(&id)),
            ScopeRule::Query(name) => queried(uri, name).is_some_and(|id| reach.has_api_id(&id)),
            ScopeRule::Tail => {
                let is_tail = queried(uri, "topics").as_deref() == Some("tail");
                is_tail && queried(uri, "api").is_some_and(|id| reach.has_api_id(&id))
            }
        };
        if is_reached { Ok(()) } else { Err(reach.refusal(self)) }
    }
}

/// What the path has at the place of `{id}`.
fn parameter<'u>(pattern: &str, uri: &'u Uri) -> Option<Cow<'u, str>> {
    let place = pattern.split('/').position(|segment| segment == "{id}")?;
    percent_encoding::percent_decode_str(uri.path().split('/').nth(place)?).decode_utf8().ok()
}

/// The one value of a parameter of the query. Of several, nobody knows which one the endpoint takes.
fn queried(uri: &Uri, name: &str) -> Option<String> {
    let Query(pairs) = Query::<Vec<(String, String)>>::try_from_uri(uri).ok()?;
    let mut values = pairs.into_iter().filter(|(own, _)| own == name).map(|(_, value)| value);
    values.next().filter(|_| values.next().is_none())
}

/// What a caller reaches of the configuration in service.
#[derive(Clone)]
pub(super) struct Reach {
    scope: OperatorScope,
    snapshot: Arc<Snapshot>,
    policies: Arc<Policies>,
}

impl FromRequestParts<Arc<Control>> for Reach {
    type Rejection = ControlAnswer;

    async fn from_request_parts(parts: &mut Parts, control: &Arc<Control>) -> Result<Self, ControlAnswer> {
        match parts.extensions.get::<Operator>() {
            Some(operator) => Ok(Reach::of(control, operator.scope.clone())),
            None => Err(refused("Nobody is known to call this".to_owned())),
        }
    }
}

impl Reach {
    pub(super) fn of(control: &Control, scope: OperatorScope) -> Self {
        Reach { scope, snapshot: control.shared.current.load_full(), policies: control.shared.keys.policies() }
    }

    /// Whether it is everything.
    pub(super) fn is_whole(&self) -> bool {
        self.scope.is_whole()
    }

    pub(super) fn has_api(&self, api: &CompiledApi) -> bool {
        has_definition(&self.scope, &api.raw)
    }

    /// Whether there is an API with this id, which is reached. Without a scope, any id is.
    pub(super) fn has_api_id(&self, id: &str) -> bool {
        self.is_whole() || self.snapshot.api(id).is_some_and(|api| self.has_api(api))
    }

    /// Whether a policy gives access to APIs that are reached, and to no others.
    pub(super) fn has_policy(&self, policy: &Policy) -> bool {
        self.is_whole() || has_policy(&self.scope, policy, &|id| self.snapshot.api(id))
    }

    /// The same for a policy with this id.
    pub(super) fn has_policy_id(&self, id: &str) -> bool {
        self.is_whole() || self.policies.get(id).is_some_and(|policy| self.has_policy(policy))
    }

    /// Whether a key gives access to APIs that are reached, and to no others, by itself and by its policies.
    pub(super) fn has_session(&self, session: &Session) -> bool {
        if self.is_whole() {
            return true;
        }
        let policies = session.policy_ids();
        // A policy that does not exist may be made by someone else.
        if !policies.iter().all(|id| self.has_policy_id(id)) {
            return false;
        }
        let rights = &session.access_rights;
        let is_some = !rights.is_empty() || !policies.is_empty();
        is_some && rights.keys().all(|id| self.has_api_id(id)) && {
            let of_policies = policies.iter().filter_map(|id| self.policies.get(id)).flat_map(|policy| policy.access_rights.keys());
            has_org_of(&self.scope, &session.org_id, rights.keys().chain(of_policies), &|id| self.snapshot.api(id))
        }
    }

    /// Refuses a session that a caller wants to store.
    pub(super) fn check_session(&self, session: &Session) -> Result<(), ControlAnswer> {
        if self.has_session(session) { Ok(()) } else { Err(self.refusal(ScopeRule::Reached)) }
    }

    /// Refuses a policy that a caller wants to store.
    pub(super) fn check_policy(&self, policy: &Policy) -> Result<(), ControlAnswer> {
        if self.has_policy(policy) { Ok(()) } else { Err(self.refusal(ScopeRule::Reached)) }
    }

    /// The answer to a call for what is not reached.
    pub(super) fn refusal(&self, rule: ScopeRule) -> ControlAnswer {
        let what = match rule {
            ScopeRule::Api | ScopeRule::Query(_) => "an API",
            ScopeRule::Policy => "a policy",
            ScopeRule::Org => "an organisation",
            ScopeRule::Tail => "topics=tail, and in api an API",
            ScopeRule::Closed | ScopeRule::Open | ScopeRule::Reached => "something",
        };
        refused(format!("This must name {what} within your scope: {}", self.scope.described()))
    }
}

/// Judges documents before they are stored: what is replaced and what takes its place must be reached.
pub(super) fn check_wanted(scope: &OperatorScope, read: &ReadFiles, wanted: &[WantedDocument]) -> Result<(), ControlAnswer> {
    if scope.is_whole() {
        return Ok(());
    }
    let compiled = |id: &str| read.api(id);
    let is_reached = |document: &WantedDocument| {
        let old = match document.class {
            crate::definitions::DocumentClass::Api => read.api(&document.id).is_none_or(|api| has_definition(scope, &api.raw)),
            crate::definitions::DocumentClass::Policy => {
                read.policies().get(&document.id).is_none_or(|policy| has_policy(scope, policy, &compiled))
            }
        };
        old && match &document.content {
            None => true,
            Some(WantedContent::Api(definition)) => has_definition(scope, definition.classic()),
            Some(WantedContent::Policy(policy)) => has_policy(scope, policy, &compiled),
        }
    };
    match wanted.iter().find(|document| !is_reached(document)) {
        None => Ok(()),
        Some(document) => Err(refused(format!(
            "The {} {} is not within your scope, or would not be any more: {}",
            document.class.name(),
            document.id,
            scope.described()
        ))),
    }
}

/// Whether a definition in its classic form is reached.
fn has_definition(scope: &OperatorScope, classic: &Value) -> bool {
    let tags = classic.get("tags").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    scope.has_api(tags, classic.get("org_id").and_then(Value::as_str).unwrap_or_default())
}

fn has_policy<'a>(scope: &OperatorScope, policy: &Policy, api: &dyn Fn(&str) -> Option<&'a Arc<CompiledApi>>) -> bool {
    let rights: &BTreeMap<String, AccessRight> = &policy.access_rights;
    // A policy that gives access to nothing limits whoever has it: only its organisation says whose it is.
    let is_some = !rights.is_empty() || scope.has_org(&policy.org_id);
    is_some
        && rights.keys().all(|id| api(id).is_some_and(|api| has_definition(scope, &api.raw)))
        && has_org_of(scope, &policy.org_id, rights.keys(), api)
}

/// Whether keys of an organisation, whose limits and quota they use up, may give access to these APIs.
fn has_org_of<'a, 'i>(
    scope: &OperatorScope,
    org: &str,
    mut apis: impl Iterator<Item = &'i String>,
    api: &dyn Fn(&str) -> Option<&'a Arc<CompiledApi>>,
) -> bool {
    let org_of = |id: &String| api(id).and_then(|api| api.raw.get("org_id")).and_then(Value::as_str).unwrap_or_default().to_owned();
    org.is_empty() || scope.has_org(org) || apis.any(|id| org_of(id) == org)
}

/// The answer to an operator whose scope is too small.
fn refused(message: String) -> ControlAnswer {
    ControlAnswer::new(StatusCode::FORBIDDEN, json!({"status": "error", "message": message, "cause": "scope"}))
}
