//! A page on which people try queries. Reads `graphql.playground`. Served at its path behind the listen path, without authentication, as in
//! Tyk; queries from the page are requests like all others. The page loads nothing from elsewhere.

use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

const PAGE: &str = include_str!("graphql_playground/page.html");
const SCRIPT: &str = include_str!("graphql_playground/page.js");

pub(super) struct GraphqlPlaygroundPage {
    /// Path behind the listen path, without a slash at its end; empty for the listen path itself.
    path: String,
    page: String,
    /// The page runs its own script and sends requests to its own host; nothing else.
    policy: String,
}

impl GraphqlPlaygroundPage {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let graphql = &source.definition.graphql;
        if !graphql.playground.enabled || !graphql.enabled {
            return None;
        }
        let written = graphql.playground.path.trim_matches('/');
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./~".contains(&byte);
        if !written.bytes().all(is_plain) {
            let message = "may have letters, digits and -_.~/ only";
            source.context.error("$.graphql.playground.path", message);
            return None;
        }
        let path = if written.is_empty() { String::new() } else { format!("/{written}") };
        let page = PAGE.replace("{{path}}", &path).replace("{{script}}", SCRIPT);
        let digest = STANDARD.encode(Sha256::digest(SCRIPT.as_bytes()));
        let policy = format!(
            "default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; connect-src 'self'; base-uri 'none'; \
             form-action 'none'; frame-ancestors 'none'"
        );
        Some(Box::new(GraphqlPlaygroundPage { path, page, policy }))
    }

    /// Whether a browser asks for a page at the path of the queries themselves.
    fn is_for_people(exchange: &Exchange<'_>) -> bool {
        let accept = exchange.received().get("accept").unwrap_or_default();
        exchange.query().is_none() && accept.windows(b"text/html".len()).any(|part| part.eq_ignore_ascii_case(b"text/html"))
    }
}

impl Middleware for GraphqlPlaygroundPage {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        if exchange.method != "GET" || exchange.request.upgrade.is_some() {
            return Step::Next;
        }
        let is_here = matches!(exchange.path_behind_listen().strip_prefix(self.path.as_str()), Some("" | "/"));
        if !is_here || self.path.is_empty() && !Self::is_for_people(exchange) {
            return Step::Next;
        }
        let outgoing = exchange.begin_reply(200);
        outgoing.body.extend_from_slice(self.page.as_bytes());
        outgoing.edits.add("Content-Type", b"text/html; charset=utf-8");
        outgoing.edits.add("Content-Security-Policy", self.policy.as_bytes());
        outgoing.edits.add("X-Content-Type-Options", b"nosniff");
        outgoing.edits.add("Cache-Control", b"no-cache");
        Step::Reply
    }
}
