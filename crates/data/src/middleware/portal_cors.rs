//! Requests that pages of the developer portal make to try an API. Reads `tollgate.portal.url` and `tollgate.portal.try_it` of the configuration. The
//! portal's own origin gets 204 for a preflight request, and may read responses; cookies are never allowed. Requests of other origins pass unchanged.

use super::cross_origin::{OWN, preflight_method};
use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use crate::header_change::HeaderChange;
use tollgate_http::{KnownHeader, is_token, is_value};

/// Seconds for which a browser remembers the answer to a preflight request.
const MAX_AGE_S: &str = "600";

/// Answers preflight requests, before an API's own rules for other origins would.
pub(super) struct PortalPreflight(String);

/// Lets the portal read responses, whatever an API's own rules say of its origin.
pub(super) struct PortalReads(String);

impl PortalPreflight {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let origin = source.context.settings.answers.portal_origin.clone()?;
        Some(Box::new(PortalPreflight(origin)))
    }
}

impl PortalReads {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let origin = source.context.settings.answers.portal_origin.clone()?;
        Some(Box::new(PortalReads(origin)))
    }
}

impl Middleware for PortalPreflight {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let Some(method) = preflight_method(exchange).filter(|_| is_from(exchange, &self.0)) else { return Step::Next };
        let headers = exchange.request.headers.get("access-control-request-headers").unwrap_or_default();
        let mut changes = vec![
            set("Access-Control-Allow-Origin", self.0.as_bytes()),
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
        if is_from(exchange, &self.0) {
            let removed = OWN.iter().map(|name| HeaderChange::Remove((*name).into()));
            let own = [
                set("Access-Control-Allow-Origin", self.0.as_bytes()),
                set("Access-Control-Expose-Headers", b"*"),
                HeaderChange::Add("Vary".into(), b"Origin".to_vec()),
            ];
            exchange.response.changes.extend(removed.chain(own));
        }
        Step::Next
    }
}

fn is_from(exchange: &Exchange<'_>, portal: &str) -> bool {
    exchange.received().known(KnownHeader::Origin).is_some_and(|origin| origin.eq_ignore_ascii_case(portal.as_bytes()))
}

fn set(name: &str, value: &[u8]) -> HeaderChange {
    HeaderChange::Set(name.into(), value.to_vec())
}
