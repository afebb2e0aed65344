//! Which conversation a request belongs to. Requests of one go to the same target with the same key, whose prompt cache knows its beginning.

use crate::asked::Asked;
use crate::llm_server::LlmServer;
use crate::surface::Surface;
use crate::terms::Sticky;
use tollgate_balance::{hash_bytes, mix};
use tollgate_llm::beginning;
use tollgate_outbound::CallerLine;

impl LlmServer {
    /// The number of a request's conversation, the same at all gateways; any number if requests are to be spread.
    pub(crate) fn conversation(&self, asked: &Asked) -> u64 {
        let any = || getrandom::u64().unwrap_or_default();
        let text = |name: &str| asked.headers.get(name).map_or(&b""[..], |value| value.as_bytes());
        let begin = match (&self.terms.sticky, &asked.surface) {
            (None, _) => return any(),
            (Some(Sticky::Header(name)), _) if !text(name).is_empty() => hash_bytes(text(name)),
            (Some(Sticky::Header(_)), _) => return any(),
            (Some(Sticky::Beginning), Surface::Talk(api)) => {
                beginning(*api, &asked.body).into_iter().fold(0, |hash, part| mix(hash ^ hash_bytes(part.as_bytes())))
            }
            (Some(Sticky::Beginning), _) => return any(),
        };
        mix(begin
            ^ hash_bytes(CallerLine::read(&asked.headers).key_digest.as_bytes()).rotate_left(17)
            ^ hash_bytes(asked.passed.model.as_bytes()).rotate_left(31))
    }
}
