//! Consumers as sessions of keys, and the policy of tokens that name none.

use super::{ORG, put, tidy};
use crate::plan::{AuthWay, ConsumerCredential, Plan, PlannedConsumer, PlannedRate, PlannedRoute};
use crate::report::ImportReport;
use serde_json::{Map, Value, json};

/// Id of the policy of tokens whose issuer the gateway does not manage.
pub(super) const POLICY: &str = "imported";

/// A session for the store.
#[derive(Clone, Debug, PartialEq)]
pub struct WrittenConsumer {
    /// Organisation.
    pub org: String,
    /// The key, user or claim that it is presented with, without the organisation.
    pub key: String,
    /// The session; passwords are as they were.
    pub session: Value,
}

/// Rights to the routes that admit tokens of an issuer; `None` if there are none.
pub(super) fn policy(plan: &Plan, ids: &[String]) -> Option<Value> {
    let takes_tokens =
        |route: &PlannedRoute| route.auth.ways.iter().any(|way| matches!(way, AuthWay::JwtOfIssuer(_) | AuthWay::OpenId { .. }));
    let rights: Map<String, Value> = plan
        .routes
        .iter()
        .zip(ids)
        .filter(|(route, _)| takes_tokens(route))
        .map(|(route, id)| (id.clone(), right(route, id)))
        .collect();
    let policy = json!({ "id": POLICY, "name": POLICY, "org_id": ORG, "active": true, "access_rights": rights });
    (!rights.is_empty()).then_some(policy)
}

pub(super) fn consumers(plan: &Plan, ids: &[String], report: &mut ImportReport) -> Vec<WrittenConsumer> {
    let mut written = Vec::new();
    for consumer in &plan.consumers {
        for credential in &consumer.credentials {
            let rights: Map<String, Value> = plan
                .routes
                .iter()
                .zip(ids)
                .filter(|(route, _)| route.auth.ways.iter().any(|way| credential.fits(way)) && is_admitted(route, consumer))
                .map(|(route, id)| (id.clone(), right(route, id)))
                .collect();
            if rights.is_empty() {
                // A session without rights would be an administrator's.
                report.not_carried(&consumer.place, "credential", format!("no route admits {} with it", consumer.name));
                continue;
            }
            written.push(session(consumer, credential, rights));
        }
    }
    written
}

fn session(consumer: &PlannedConsumer, credential: &ConsumerCredential, rights: Map<String, Value>) -> WrittenConsumer {
    let mut session = json!({ "org_id": ORG, "alias": consumer.name, "access_rights": rights, "tags": consumer.groups });
    let key = match credential {
        ConsumerCredential::Key(key) => key.clone(),
        ConsumerCredential::Basic { user, password, hash_type } => {
            put(&mut session, "basic_auth_data", json!({ "password": password, "hash_type": hash_type }));
            user.clone()
        }
        ConsumerCredential::Jwt { key, secret } => {
            put(&mut session, "jwt_data", json!({ "secret": secret }));
            key.clone()
        }
        ConsumerCredential::Signing { key, secret } => {
            put(&mut session, "hmac_enabled", json!(true));
            put(&mut session, "hmac_string", json!(secret));
            key.clone()
        }
    };
    if let (Value::Object(session), Value::Object(limit)) = (&mut session, limit(&consumer.rates)) {
        session.extend(limit);
    }
    WrittenConsumer { org: ORG.to_owned(), key, session: tidy(session) }
}

impl ConsumerCredential {
    fn fits(&self, way: &AuthWay) -> bool {
        matches!(
            (self, way),
            (ConsumerCredential::Key(_), AuthWay::Key { .. })
                | (ConsumerCredential::Basic { .. }, AuthWay::Basic)
                | (ConsumerCredential::Jwt { .. }, AuthWay::JwtOfConsumer { .. })
                | (ConsumerCredential::Signing { .. }, AuthWay::Signed)
        )
    }
}

fn is_admitted(route: &PlannedRoute, consumer: &PlannedConsumer) -> bool {
    let is_of = |groups: &[String]| groups.iter().any(|group| consumer.groups.contains(group) || *group == consumer.name);
    let auth = &route.auth;
    (auth.allowed_groups.is_empty() || is_of(&auth.allowed_groups)) && !is_of(&auth.denied_groups)
}

fn right(route: &PlannedRoute, id: &str) -> Value {
    let limit = match limit(&route.consumer_rates) {
        Value::Object(limit) if !limit.is_empty() => Value::Object(limit),
        _ => Value::Null,
    };
    tidy(json!({ "api_id": id, "api_name": route.name, "versions": ["Default"], "limit": limit }))
}

/// Rates as members of a session or a right.
fn limit(rates: &[PlannedRate]) -> Value {
    let Some((first, others)) = rates.split_first() else { return json!({}) };
    let others: Vec<Value> = others.iter().map(|rate| json!({ "rate": rate.requests, "per": rate.per_s })).collect();
    tidy(json!({ "rate": first.requests, "per": first.per_s, "limits": others }))
}
