//! Cross-origin requests of a rule of a route, by the Gateway API. Reads `tollgate.route.rules`. The client sees 204 for a preflight request, and
//! `Access-Control-*` headers on responses to an allowed origin; the upstream's own are removed. Does not use the store.

use super::cross_origin::{AllowedOrigins, OWN, preflight_method};
use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use crate::header_change::HeaderChange;
use tollgate_http::{KnownHeader, is_token, is_value};
use tollgate_model::api::RouteCors;

pub(super) struct RuleCors {
    origins: AllowedOrigins,
    /// The list that preflight responses have; `None` for what the request asks for.
    methods: Option<String>,
    headers: Option<String>,
    exposed: Option<String>,
    credentials: bool,
    max_age: Option<String>,
}

impl RuleCors {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        source.rule?.1.cors.as_ref().map(|cors| Box::new(RuleCors::new(cors)) as Box<dyn Middleware>)
    }

    fn new(cors: &RouteCors) -> Self {
        let is_any = |list: &[String]| list.iter().any(|entry| entry == "*");
        let listed = |list: &[String]| if is_any(list) { None } else { Some(list.join(", ")) };
        // With credentials, a star is a name like others.
        let exposes_all = is_any(&cors.expose_headers) && !cors.allow_credentials;
        let exposed: Vec<&str> = cors.expose_headers.iter().map(String::as_str).filter(|name| *name != "*").collect();
        RuleCors {
            origins: match cors.allow_origins.is_empty() {
                true => AllowedOrigins::Listed(Vec::new()),
                false => AllowedOrigins::new(&cors.allow_origins),
            },
            methods: listed(&cors.allow_methods),
            headers: listed(&cors.allow_headers),
            exposed: if exposes_all { Some("*".to_owned()) } else { Some(exposed.join(", ")).filter(|names| !names.is_empty()) },
            credentials: cors.allow_credentials,
            max_age: (cors.max_age_s > 0).then(|| cors.max_age_s.to_string()),
        }
    }

    /// What all responses to an allowed origin say; nothing to others.
    fn to_origin(&self, exchange: &Exchange<'_>) -> Option<Vec<HeaderChange>> {
        let origin = exchange.received().known(KnownHeader::Origin).unwrap_or_default();
        if origin.is_empty() || !self.origins.allow(origin) {
            return None;
        }
        let set = |name: &str, value: &[u8]| HeaderChange::Set(name.into(), value.to_vec());
        let mut changes = vec![set("Access-Control-Allow-Origin", origin)];
        if self.credentials {
            changes.push(set("Access-Control-Allow-Credentials", b"true"));
        }
        if let Some(names) = &self.exposed {
            changes.push(set("Access-Control-Expose-Headers", names.as_bytes()));
        }
        Some(changes)
    }

    fn preflight(&self, exchange: &Exchange<'_>, asked_method: &str) -> Vec<HeaderChange> {
        let set = |name: &str, value: &str| HeaderChange::Set(name.into(), value.as_bytes().to_vec());
        let vary =
            HeaderChange::Add("Vary".into(), b"Origin, Access-Control-Request-Method, Access-Control-Request-Headers".to_vec());
        let Some(mut changes) = self.to_origin(exchange) else { return vec![vary] };
        changes.push(vary);
        let asked_headers = exchange.request.headers.get("access-control-request-headers");
        let asked_headers = asked_headers.and_then(|value| std::str::from_utf8(value).ok()).unwrap_or_default();
        let methods = self.methods.as_deref().unwrap_or(asked_method);
        if is_token(asked_method.as_bytes()) && !methods.is_empty() {
            changes.push(set("Access-Control-Allow-Methods", methods));
        }
        let headers = self.headers.as_deref().unwrap_or(asked_headers);
        if !headers.is_empty() && is_value(headers.as_bytes()) {
            changes.push(set("Access-Control-Allow-Headers", headers));
        }
        changes.extend(self.max_age.iter().map(|seconds| set("Access-Control-Max-Age", seconds)));
        changes
    }
}

impl Middleware for RuleCors {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let asked_method = preflight_method(exchange).filter(|_| exchange.request.headers.has(KnownHeader::Origin));
        if let Some(asked_method) = asked_method {
            let changes = self.preflight(exchange, asked_method);
            exchange.response.changes.extend(changes);
            exchange.begin_reply(204);
            return Step::Reply;
        }
        let of_origin = self.to_origin(exchange).unwrap_or_default();
        let removed = OWN.iter().map(|name| HeaderChange::Remove((*name).into()));
        let vary = HeaderChange::Add("Vary".into(), b"Origin".to_vec());
        exchange.response.changes.extend(removed.chain(of_origin).chain([vary]));
        Step::Next
    }
}
