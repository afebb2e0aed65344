//! Requests that pages of the developer portal make to try an API. Reads `tollgate.portal.url` and `tollgate.portal.try_it` of the configuration. For
//! APIs in a product, the portal's own origin gets 204 for a preflight request, and may read responses; cookies are never allowed. Requests of other
//! origins, and those to other APIs, pass unchanged.

use super::cross_origin::{OWN, preflight_method};
use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use crate::header_change::HeaderChange;
use crate::tried_apis::TriedApis;
use tollgate_http::{KnownHeader, is_token, is_value};

/// Seconds for which a browser remembers the answer to a preflight request.
const MAX_AGE_S: &str = "600";

/// Answers preflight requests, before an API's own rules for other origins would.
pub(super) struct PortalPreflight(PortalTries);

/// Lets the portal read responses, whatever an API's own rules say of its origin.
pub(super) struct PortalReads(PortalTries);

/// Whether the portal may try an API.
struct PortalTries {
    apis: TriedApis,
    api: String,
}

impl PortalPreflight {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        Some(Box::new(PortalPreflight(PortalTries::of(source)?)))
    }
}

impl PortalReads {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        Some(Box::new(PortalReads(PortalTries::of(source)?)))
    }
}

impl Middleware for PortalPreflight {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let Some(method) = preflight_method(exchange).filter(|_| self.0.is_from(exchange)) else { return Step::Next };
        let headers = exchange.request.headers.get("access-control-request-headers").unwrap_or_default();
        let mut changes = vec![
            set("Access-Control-Allow-Origin", self.0.apis.origin.as_bytes()),
            set("Access-Control-Max-Age", MAX_AGE_S.as_bytes()),
            HeaderChange::Add("Vary".into(), b"Origin, Access-Control-Request-Method, Access-Control-Request-Headers".to_vec()),
        ];
        if is_token(method.as_bytes()) {
            changes.push(set("Access-Control-Allow-Methods", method.as_bytes()));
        }
        if !headers.is_empty() && is_value(headers) {
            changes.push(set("Access-Control-Allow-Headers", headers));
        }
        exchange.response.changes.extend(changes);
        exchange.begin_reply(204);
        Step::Reply
    }
}

impl Middleware for PortalReads {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        if self.0.is_from(exchange) {
            let removed = OWN.iter().map(|name| HeaderChange::Remove((*name).into()));
            let own = [
                set("Access-Control-Allow-Origin", self.0.apis.origin.as_bytes()),
                set("Access-Control-Expose-Headers", b"*"),
                HeaderChange::Add("Vary".into(), b"Origin".to_vec()),
            ];
            exchange.response.changes.extend(removed.chain(own));
        }
        Step::Next
    }
}

impl PortalTries {
    fn of(source: &MiddlewareSource<'_, '_>) -> Option<Self> {
        let apis = source.context.settings.answers.tried_apis.clone()?;
        Some(PortalTries { apis, api: source.definition.api_id.clone() })
    }

    /// Whether a request comes from the portal's pages, and they may send it.
    fn is_from(&self, exchange: &Exchange<'_>) -> bool {
        let origin = exchange.received().known(KnownHeader::Origin);
        origin.is_some_and(|origin| origin.eq_ignore_ascii_case(self.apis.origin.as_bytes())) && self.apis.has(&self.api)
    }
}

fn set(name: &str, value: &[u8]) -> HeaderChange {
    HeaderChange::Set(name.into(), value.to_vec())
}
