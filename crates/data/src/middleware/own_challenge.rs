//! The challenge of an upstream that refuses a client of the Model Context Protocol (401) leads to the gateway's document of the resource instead of
//! the upstream's, whose `resource` is not the URL that the client uses (RFC 9728, section 5.1). Reads `tollgate.protected_resource`.

use super::resource_metadata::{client_scheme, quoted};
use super::{Middleware, MiddlewareSource};
use crate::discovery::PROTECTED_RESOURCE;
use crate::exchange::{Exchange, Step};
use crate::response_chain::{ResponseAction, ResponseHead, ResponseStep};
use std::sync::Arc;

const CHALLENGE: &str = "WWW-Authenticate";
const PARAMETER: &str = "resource_metadata=\"";

pub(super) struct OwnChallenge {
    /// The path of the gateway's document.
    path: Arc<str>,
}

/// What the URL of the document is made of, if the response has a challenge.
struct ChallengeStep {
    scheme: &'static str,
    authority: Box<[u8]>,
    path: Arc<str>,
}

impl OwnChallenge {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let definition = source.definition;
        if !definition.is_mcp() || (definition.own_metadata().is_none() && definition.mirrored_metadata().is_none()) {
            return None;
        }
        let path = format!("{PROTECTED_RESOURCE}{}", definition.proxy.listen_path.trim_end_matches('/'));
        Some(Box::new(OwnChallenge { path: path.into() }))
    }
}

impl Middleware for OwnChallenge {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let (scheme, authority) = (client_scheme(exchange), exchange.request.authority.into());
        exchange.response.chain.push(ChallengeStep { scheme, authority, path: self.path.clone() });
        Step::Next
    }
}

impl ResponseStep for ChallengeStep {
    fn is_for_upstreams(&self) -> bool {
        true
    }

    fn on_head(&mut self, head: &mut ResponseHead<'_>) -> ResponseAction {
        if head.status() == 401
            && let Some(challenge) = head.header(CHALLENGE).and_then(|value| std::str::from_utf8(value).ok())
        {
            let url = format!("{}://{}{}", self.scheme, String::from_utf8_lossy(&self.authority), self.path);
            let own = rewritten(challenge, &url);
            head.set_header(CHALLENGE, own.as_bytes());
        }
        ResponseAction::Pass
    }
}

/// A challenge with this URL in place of the one that it names, or beside what it says.
fn rewritten(challenge: &str, url: &str) -> String {
    let own = format!("resource_metadata={}", quoted(url));
    let lower = challenge.to_ascii_lowercase();
    let mut written = String::with_capacity(challenge.len() + own.len());
    let mut from = 0;
    while let Some(start) = lower.get(from..).and_then(|rest| rest.find(PARAMETER)).map(|at| from + at) {
        let Some(length) = challenge.get(start + PARAMETER.len()..).and_then(|rest| rest.find('"')) else { break };
        written.push_str(challenge.get(from..start).unwrap_or_default());
        written.push_str(&own);
        from = start + PARAMETER.len() + length + 1;
    }
    written.push_str(challenge.get(from..).unwrap_or_default());
    if from == 0 { format!("{challenge}, {own}") } else { written }
}

#[cfg(test)]
mod tests {
    use super::rewritten;

    #[test]
    fn a_challenge_leads_to_the_gateways_document() {
        let own = "resource_metadata=\"http://gw/d\"";
        for (challenge, expected) in [
            ("Bearer", format!("Bearer, {own}")),
            ("Bearer realm=\"x\", resource_metadata=\"http://up/d\"", format!("Bearer realm=\"x\", {own}")),
            ("Bearer Resource_Metadata=\"http://up/d\", scope=\"a\"", format!("Bearer {own}, scope=\"a\"")),
            ("Bearer resource_metadata=\"open", format!("Bearer resource_metadata=\"open, {own}")),
        ] {
            assert_eq!(rewritten(challenge, "http://gw/d"), expected);
        }
    }
}
