//! Claims as values of the variables `$tyk_context.jwt_claims_NAME`. Compiling a definition finds the claims that it uses; other claims are
//! not kept.

use super::{Claims, JwtToken};
use serde_json::Value;
use std::sync::Arc;
use tollgate_http::form::encode_form;
use tollgate_model::api::{ApiDefinition, LimitedBy};
use tollgate_model::session::BudgetHolder;

/// Prefix of these variables' names.
pub const CLAIM: &str = "jwt_claims_";

/// The names of the claims that a definition uses.
pub struct ClaimNames(Vec<String>);

/// The values of these claims in one token.
#[derive(Debug, PartialEq, Eq)]
pub struct ClaimTexts(Vec<(String, String)>);

impl ClaimNames {
    /// The claims that occur anywhere in a definition, if context variables are on, and those of budgets, teams and limits.
    pub fn used_in(definition: &ApiDefinition) -> Self {
        let text = if definition.enable_context_vars { definition.raw.to_string() } else { String::new() };
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let behind = text.split(CLAIM).skip(1);
        let mut names: Vec<String> =
            behind.map(|rest| rest.find(|c| !is_name(c)).and_then(|end| rest.get(..end)).unwrap_or(rest).to_owned()).collect();
        let of_models = definition.tollgate.llm.iter();
        let holders = of_models.flat_map(|llm| llm.budgets.iter().filter_map(|budget| budget.of.as_ref()).chain(llm.team_holder()));
        names.extend(holders.filter_map(|holder| match holder {
            BudgetHolder::Claim(name) => Some(name.clone()),
            _ => None,
        }));
        let limits = definition.tollgate.request_limits.iter().filter(|limit| limit.by == LimitedBy::Claim);
        names.extend(limits.map(|limit| limit.name.clone()));
        names.sort();
        names.dedup();
        ClaimNames(names)
    }

    /// The claim names.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// The values in a token; `None` when the definition uses no claims. Claims take precedence over header fields.
    pub fn texts(&self, token: &JwtToken<'_>, claims: &Claims) -> Option<Arc<ClaimTexts>> {
        if self.0.is_empty() {
            return None;
        }
        let found = |name: &String| Some((name.clone(), value_text(claims.called(name).next().or_else(|| token.header(name))?)));
        Some(Arc::new(ClaimTexts(self.0.iter().filter_map(found).collect())))
    }
}

impl ClaimTexts {
    /// The value of a claim.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, text)| text.as_str())
    }

    /// Names and values of all claims that are kept.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, text)| (name.as_str(), text.as_str()))
    }
}

/// Formats a value as Tyk does: list items are URL-escaped and joined by commas; an object gives an empty text.
pub fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => number.as_f64().unwrap_or_default().to_string(),
        Value::Number(number) => number.to_string(),
        Value::Bool(is_true) => is_true.to_string(),
        Value::Array(items) => {
            let items = items.iter().map(value_text).filter(|item| !item.is_empty());
            items.map(|item| encode_form(&item)).collect::<Vec<_>>().join(",")
        }
        Value::Null | Value::Object(_) => String::new(),
    }
}

#[cfg(test)]
mod tests;
