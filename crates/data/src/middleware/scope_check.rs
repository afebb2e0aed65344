//! Scopes that a caller's token must have, from the `security` of an OpenAPI document. Reads `tollgate.scope_check` and `operation_scopes`. Only
//! scopes of tokens that an authentication method has verified count. The client sees 403 with `insufficient_scope`, and 401 without such a
//! token, each with a challenge (RFC 6750) that leads to the resource's metadata, if the API has it.

use super::resource_metadata::{MetadataPlace, quoted};
use super::{Middleware, MiddlewareSource};
use crate::endpoints::EndpointList;
use crate::exchange::{Exchange, Step};
use crate::header_change::HeaderChange;
use crate::refusal::{self, RefusalMessage, RefusalText};
use serde_json::json;
use tollgate_access::jwt::GrantedScopes;

/// Sets of scopes, of which one is enough; none at all require nothing.
struct Alternatives(Vec<Vec<String>>);

pub(super) struct ScopeChecks {
    of_api: Alternatives,
    by_operation: EndpointList<Alternatives>,
    metadata: Option<MetadataPlace>,
}

impl ScopeChecks {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let rules = source.definition.tollgate.scope_check.as_ref().filter(|_| !source.definition.use_keyless)?;
        let of_api = Alternatives(rules.alternatives.clone());
        let entries = &source.info.extended_paths.operation_scopes;
        let by_operation =
            source.endpoints("operation_scopes", entries, |_, _, entry| Some(Alternatives(entry.alternatives.clone())));
        let metadata = MetadataPlace::of(source.definition);
        Some(Box::new(ScopeChecks { of_api, by_operation, metadata }))
    }

    fn challenge(&self, exchange: &mut Exchange<'_>, error: &str, description: &str, scope: Option<&str>) {
        let mut value = format!("Bearer error={}, error_description={}", quoted(error), quoted(description));
        if let Some(scope) = scope {
            value.push_str(&format!(", scope={}", quoted(scope)));
        }
        if let Some(place) = &self.metadata {
            value.push_str(&format!(", resource_metadata={}", quoted(&place.url(exchange))));
        }
        exchange.response.changes.push(HeaderChange::Set("WWW-Authenticate".into(), value.into_bytes()));
    }
}

impl Alternatives {
    fn is_vacuous(&self) -> bool {
        self.0.is_empty() || self.0.iter().any(Vec::is_empty)
    }

    fn are_met_by(&self, granted: &GrantedScopes) -> bool {
        self.is_vacuous() || self.0.iter().any(|wanted| granted.cover(wanted))
    }

    fn first(&self) -> &[String] {
        self.0.first().map(Vec::as_slice).unwrap_or_default()
    }
}

impl Middleware for ScopeChecks {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        static NONE: Alternatives = Alternatives(Vec::new());
        if exchange.decisions.ignored {
            return Step::Next;
        }
        let own = self.by_operation.find(exchange.hits, &exchange.method).unwrap_or(&NONE);
        if own.is_vacuous() && self.of_api.is_vacuous() {
            return Step::Next;
        }
        let Some(granted) = exchange.caller.granted_scopes.clone() else {
            let has_token = exchange.received().get("authorization").is_some_and(|value| !value.trim_ascii().is_empty());
            let (description, refusal) = match has_token {
                false => ("missing bearer token", refusal::SCOPE_TOKEN_MISSING),
                true => ("token is not a parseable JWT", refusal::SCOPE_TOKEN_UNVERIFIED),
            };
            self.challenge(exchange, "invalid_token", description, None);
            return Step::Refuse(refusal);
        };
        if own.are_met_by(&granted) && self.of_api.are_met_by(&granted) {
            return Step::Next;
        }
        let mut cited: Vec<&str> = Vec::new();
        for scope in own.first().iter().chain(self.of_api.first()) {
            if !cited.contains(&scope.as_str()) {
                cited.push(scope);
            }
        }
        let cited = cited.join(" ");
        self.challenge(exchange, "insufficient_scope", &format!("missing required scope: {cited}"), Some(&cited));
        let description = format!("token does not satisfy required scopes: {cited}");
        let body = json!({"error": "insufficient_scope", "error_description": description, "scope": cited}).to_string();
        let message = RefusalMessage::with_document(description, "application/json", body.into_bytes());
        Step::Refuse(RefusalText::new(403, "insufficient_scope", message).into())
    }
}
