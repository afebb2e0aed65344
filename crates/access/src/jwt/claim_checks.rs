//! What a definition asks of the claims of a token that is otherwise valid: issuer, audience, subject, `jti`, and rules for other claims. The
//! messages for clients are Tyk's.

use super::Claims;
use serde_json::Value;
use std::sync::Arc;
use tollgate_model::api::{ClaimRule, ClaimRuleKind, JwtClaims, ScopeCheck, claim_path};

/// The checks of one definition.
pub struct ClaimChecks {
    rules: JwtClaims,
    /// Rules for other claims, with the steps to them.
    custom: Vec<(String, Vec<String>, ClaimRule)>,
}

impl ClaimChecks {
    pub fn new(rules: &JwtClaims) -> Self {
        // A path that can't be read was an error of the definition.
        let path = |name: &str| claim_path(name).unwrap_or_else(|| vec![name.to_owned()]);
        let custom = rules.custom_claims.iter().map(|(name, rule)| (name.clone(), path(name), rule.clone())).collect();
        ClaimChecks { rules: rules.clone(), custom }
    }

    /// The names of the claims that are read.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        ["iss", "aud", "jti"].into_iter().chain(self.custom.iter().filter_map(|(_, path, _)| path.first().map(String::as_str)))
    }

    /// Checks the claims of a token; `subject` is its subject, if the definition allows only some. `Err` is the message for the client.
    pub fn check<'c>(&self, claims: &'c Claims, subject: impl FnOnce() -> Result<&'c str, String>) -> Result<(), String> {
        let rules = &self.rules;
        if !rules.allowed_issuers.is_empty() {
            issuer(claims, &rules.allowed_issuers)?;
        }
        if !rules.allowed_audiences.is_empty() {
            audience(claims, &rules.allowed_audiences)?;
        }
        if rules.jti_required && claims.0.get("jti").is_none() {
            return Err("JWT ID (jti) claim is required but not present in token".to_owned());
        }
        if !rules.allowed_subjects.is_empty() {
            let subject = subject()?;
            if !rules.allowed_subjects.iter().any(|allowed| allowed == subject) {
                return Err(format!("invalid subject value: {subject}"));
            }
        }
        for (name, path, rule) in &self.custom {
            match custom(claims, name, path, rule) {
                Err(why) if rule.non_blocking => tracing::warn!(claim = %name, %why, "a claim of a token does not fit"),
                result => result?,
            }
        }
        Ok(())
    }
}

fn issuer(claims: &Claims, allowed: &[String]) -> Result<(), String> {
    let issuer = claims.0.get("iss").ok_or("issuer claim is required but not present in token")?;
    let issuer = issuer.as_str().ok_or("issuer claim must be a string")?;
    if allowed.iter().any(|allowed| allowed == issuer) { Ok(()) } else { Err(format!("invalid issuer claim: {issuer}")) }
}

fn audience(claims: &Claims, allowed: &[String]) -> Result<(), String> {
    let audiences: Vec<&str> = match claims.0.get("aud").ok_or("audience claim is required but not present in token")? {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => return Err("invalid audience claim format".to_owned()),
    };
    if audiences.iter().any(|audience| allowed.iter().any(|allowed| allowed == audience)) {
        return Ok(());
    }
    Err(format!("no matching audience found in token: [{}]", audiences.join(" ")))
}

fn custom(claims: &Claims, name: &str, path: &[String], rule: &ClaimRule) -> Result<(), String> {
    let mut steps = path.iter();
    let first = steps.next().and_then(|step| claims.0.get(step));
    let found = steps.fold(first, |value, step| match value? {
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        value => value.get(step),
    });
    let value = found.ok_or_else(|| format!("custom claim {name} is required but not present in token"))?;
    let is_any = |fits: &dyn Fn(&Value) -> bool| rule.allowed_values.iter().any(fits);
    match rule.kind {
        ClaimRuleKind::Required if value.is_null() => Err(format!("custom claim {name} expects a non nil value")),
        ClaimRuleKind::Required => Ok(()),
        ClaimRuleKind::ExactMatch if is_any(&|allowed| is_same(allowed, value)) => Ok(()),
        ClaimRuleKind::ExactMatch => Err(format!("claim {name} value does not match any expected values")),
        ClaimRuleKind::Contains if is_any(&|allowed| contains(value, allowed)) => Ok(()),
        ClaimRuleKind::Contains => Err(format!("claim {name} value does not contain any expected values")),
    }
}

fn contains(value: &Value, part: &Value) -> bool {
    match value {
        Value::String(text) => part.as_str().is_some_and(|part| text.contains(part)),
        Value::Array(items) => items.iter().any(|item| is_same(item, part)),
        value => is_same(value, part),
    }
}

/// Equality in which 1 equals 1.0.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| is_same(a, b)))
        }
        (a, b) => a == b,
    }
}

/// The scopes of a verified token: those of all claims together.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct GrantedScopes(Vec<String>);

impl GrantedScopes {
    /// Reads the claims that the rules name; `None` without rules.
    pub fn of<'v>(rules: Option<&ScopeCheck>, value: impl Fn(&str) -> Option<&'v Value>) -> Option<Arc<Self>> {
        let separator = rules?.separator();
        let mut scopes = Vec::new();
        for value in rules?.claims().into_iter().filter_map(value) {
            match value {
                Value::String(text) => {
                    let parts = text.split(separator).map(str::trim).filter(|part| !part.is_empty());
                    scopes.extend(parts.map(str::to_owned));
                }
                Value::Array(items) => {
                    let texts = items.iter().filter_map(Value::as_str).filter(|text| !text.is_empty());
                    scopes.extend(texts.map(str::to_owned));
                }
                _ => {}
            }
        }
        scopes.sort_unstable();
        scopes.dedup();
        Some(Arc::new(GrantedScopes(scopes)))
    }

    /// Whether all of these scopes are granted.
    pub fn cover(&self, wanted: &[String]) -> bool {
        wanted.iter().all(|scope| self.0.binary_search(scope).is_ok())
    }
}
