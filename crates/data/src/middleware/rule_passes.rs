//! What of a client's request backends get by a rule of a route. Reads `passes` of `tollgate.route.rules`. Invisible to the client. Steps behind it
//! add headers and parameters as they like. Does not use the store.

use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use std::borrow::Cow;
use tollgate_http::form::decode_form;
use tollgate_model::api::PassedRequest;
use tollgate_model::is_framing_header;

/// Lines by which the gateway tells where a request comes from, and which it writes itself.
const OF_THE_WAY: [&str; 2] = ["X-Forwarded-For", "Expect"];

pub(super) struct RulePasses(PassedRequest);

impl RulePasses {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let passes = source.rule?.1.passes.as_ref().filter(|passes| **passes != PassedRequest::default())?;
        Some(Box::new(RulePasses(passes.clone())))
    }
}

impl Middleware for RulePasses {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        if let Some(names) = &self.0.headers {
            let passes = |name: &str| {
                let is = |other: &str| other.eq_ignore_ascii_case(name);
                is_framing_header(name) || OF_THE_WAY.iter().any(|other| is(other)) || names.iter().any(|other| is(other))
            };
            exchange.outgoing.edits.retain_received(&exchange.request.headers, passes);
        }
        if let (Some(names), Some(query)) = (&self.0.query, exchange.url.query.as_deref()) {
            let left = passed(query, names);
            if left.len() < query.len() {
                exchange.url.query = Some(left).filter(|left| !left.is_empty()).map(Cow::Owned);
            }
        }
        Step::Next
    }
}

/// The pairs with these names, as they are written.
fn passed(query: &str, names: &[String]) -> String {
    let is_named = |pair: &&str| {
        let name = decode_form(pair.split_once('=').map_or(*pair, |(name, _)| name));
        name.is_some_and(|name| names.contains(&name))
    };
    query.split('&').filter(is_named).collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests;
