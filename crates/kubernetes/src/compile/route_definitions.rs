//! The definitions of a route. Rules that follow each other and have the same policies are one API; where others are between them, there are several,
//! in an order that keeps that of the rules.

use super::attached::{AttachedPolicies, EffectivePolicies};
use crate::conditions::Fault;
use crate::objects::{Key, Metadata, ResourceKind};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The listeners at which a route is served, by their names among the documents, with its hosts there.
pub(super) type GroupedListeners = BTreeMap<String, Vec<String>>;

/// A rule in its place.
pub(super) struct PlacedRule {
    /// Among the rules as they are written.
    pub position: usize,
    pub name: Option<String>,
    pub document: Value,
    pub policies: EffectivePolicies,
}

/// A route where it is served.
#[derive(Clone, Copy)]
pub(super) struct ServedRoute<'r> {
    pub kind: ResourceKind,
    pub metadata: &'r Metadata,
    /// What follows the route's name in ids.
    pub suffix: &'r str,
    pub listeners: &'r GroupedListeners,
    pub attached: &'r AttachedPolicies<'r>,
}

/// A definition with what it is served by.
pub(super) struct RouteDocument {
    pub id: String,
    pub definition: Value,
    pub policies: EffectivePolicies,
    /// With policies: what is served if the gateway does not take it.
    pub refusing: Option<Value>,
}

impl ServedRoute<'_> {
    /// The definitions for rules, in their order.
    pub(super) fn definitions(self, rules: Vec<PlacedRule>) -> Vec<RouteDocument> {
        let mut runs: Vec<Vec<PlacedRule>> = Vec::new();
        for rule in rules {
            let continues = |run: &&mut Vec<PlacedRule>| run.first().is_some_and(|first| first.policies == rule.policies);
            match runs.last_mut().filter(continues) {
                Some(run) => run.push(rule),
                None => runs.push(vec![rule]),
            }
        }
        if runs.is_empty() {
            runs.push(Vec::new());
        }
        let is_split = runs.len() > 1;
        runs.into_iter().map(|run| self.document(run, is_split)).collect()
    }

    fn document(self, run: Vec<PlacedRule>, is_split: bool) -> RouteDocument {
        let key = self.metadata.key();
        let route = format!("k8s-{}-{}.{}", self.kind.name().to_ascii_lowercase(), key.namespace, key.name);
        let (position, policies) = run.first().map(|rule| (rule.position, rule.policies)).unwrap_or_default();
        let name = run.first().and_then(|rule| rule.name.clone());
        let mut id = format!("{route}{}", self.suffix);
        // Two tildes: the name of a gateway follows one.
        match &name {
            _ if !is_split || position == 0 => {}
            Some(name) => id.push_str(&format!("~~rule.{name}")),
            None => id.push_str(&format!("~~rule-{position}")),
        }
        let rule = name.unwrap_or_default();
        let rules: Vec<Value> = run.into_iter().map(|rule| rule.document).collect();
        let mut definition = self.definition(&key, &id, is_split.then_some(position), rules);
        let has_policies = policies != EffectivePolicies::default();
        if let Some(route) = definition.pointer_mut("/tollgate/route").and_then(Value::as_object_mut).filter(|_| has_policies) {
            route.insert("affected_by".to_owned(), json!(self.attached.described(policies)));
        }
        let refusing = has_policies.then(|| refusing(definition.clone()));
        if self.apply(policies, &route, &rule, &mut definition).is_err() {
            definition = refusing.clone().unwrap_or_default();
        }
        RouteDocument { id, definition, policies, refusing }
    }

    fn apply(self, policies: EffectivePolicies, route: &str, rule: &str, definition: &mut Value) -> Result<(), Fault> {
        match self.kind {
            ResourceKind::HttpRoute | ResourceKind::GrpcRoute => self.attached.apply(policies, route, rule, definition),
            _ => self.attached.apply_to_stream(policies, definition),
        }
    }

    /// `position` is that of the first rule, if the others are in other definitions.
    fn definition(self, key: &Key, id: &str, position: Option<usize>, rules: Vec<Value>) -> Value {
        let form = match self.kind {
            ResourceKind::HttpRoute => "http",
            ResourceKind::GrpcRoute => "grpc",
            _ => "stream",
        };
        // `#` comes before every character that another route's name could go on with.
        let part = position.map(|position| format!("#{position:04}")).unwrap_or_default();
        let attached: Vec<Value> =
            self.listeners.iter().map(|(listener, hosts)| json!({"listener": listener, "hosts": hosts})).collect();
        json!({
            "name": format!("{} {key}", self.kind.name()),
            "api_id": id,
            "org_id": "",
            "active": true,
            "use_keyless": true,
            "version_data": {"not_versioned": true, "versions": {"Default": {"name": "Default", "use_extended_paths": true}}},
            "proxy": {"listen_path": "/", "target_url": ""},
            "tollgate": {"route": {
                "kind": form,
                "precedence": format!("{}/{key}{part}", self.metadata.creation_timestamp),
                "attached": attached,
                "rules": rules,
            }},
        })
    }
}

/// A definition whose rules lead nowhere: requests get an error.
fn refusing(mut definition: Value) -> Value {
    let rules = definition.pointer_mut("/tollgate/route/rules").and_then(Value::as_array_mut);
    for rule in rules.into_iter().flatten().filter_map(Value::as_object_mut) {
        let kept = ["name", "matches"].into_iter().filter_map(|name| Some((name.to_owned(), rule.remove(name)?)));
        let kept: Map<String, Value> = kept.collect();
        *rule = kept;
    }
    definition
}
