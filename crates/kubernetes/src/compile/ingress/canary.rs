//! Canaries: Ingresses that get a share of the requests of another one of their namespace, with the same host and path.

use super::backend_place::BackendPlace;
use super::settings::Canary;
use crate::objects::IngressBackend;
use regex::Regex;
use serde_json::{Value, json};

/// What a canary gets of one path.
#[derive(Clone)]
pub(super) struct CanaryPath<'c> {
    pub canary: Canary,
    pub backend: &'c IngressBackend,
}

/// One rule of several for a path: what a request must have beside it, and where it goes.
pub(super) struct CanaryRule {
    pub headers: Vec<Value>,
    pub backends: Vec<Value>,
}

/// The rules of a path with a canary: by header, then by cookie, then by weight.
pub(super) fn rules(canary: &Canary, main: &BackendPlace, other: &BackendPlace) -> Vec<CanaryRule> {
    let to = |place: &BackendPlace| vec![place.document(None)];
    let mut rules = Vec::new();
    if let Some(name) = &canary.header {
        match (&canary.value, &canary.pattern) {
            (Some(value), _) => {
                rules.push(CanaryRule { headers: vec![json!({"name": name, "exact": value})], backends: to(other) })
            }
            (None, Some(pattern)) => {
                let regex = format!("(?s:.*)(?:{pattern})(?s:.*)");
                rules.push(CanaryRule { headers: vec![json!({"name": name, "regex": regex})], backends: to(other) });
            }
            (None, None) => {
                for (value, backend) in [("always", other), ("never", main)] {
                    rules.push(CanaryRule { headers: vec![json!({"name": name, "exact": value})], backends: to(backend) });
                }
            }
        }
    }
    if let Some(name) = &canary.cookie {
        for (value, backend) in [("always", other), ("never", main)] {
            let regex = format!(r"(?:.*;\s*)?{}={value}(?:\s*;.*)?", regex::escape(name));
            rules.push(CanaryRule { headers: vec![json!({"name": "Cookie", "regex": regex})], backends: to(backend) });
        }
    }
    let total = canary.total.unwrap_or(100);
    let weight = canary.weight.min(total);
    let backends = match weight {
        0 => to(main),
        weight => vec![main.document(Some(total - weight)), other.document(Some(weight))],
    };
    rules.push(CanaryRule { headers: Vec::new(), backends });
    rules
}

/// What is wrong with a canary.
pub(super) fn fault(canary: &Canary) -> Option<(&'static str, String)> {
    let is_name =
        |name: &String| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)) && !name.is_empty();
    if canary.header.as_ref().is_some_and(|name| !is_name(name)) {
        return Some(("canary-by-header", "it is no name of a header".to_owned()));
    }
    let error = canary.pattern.as_ref().and_then(|pattern| Regex::new(pattern).err());
    error.map(|_| ("canary-by-header-pattern", "it is no expression that is supported".to_owned()))
}
