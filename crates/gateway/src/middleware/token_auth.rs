//! Authentication by key. Reads `auth` and `auth_configs.authToken`. The client sees 401 `Authorization field missing` without a key
//! and 403 `Access to this API has been disallowed` with one that is not known. There is no store of keys yet, so no key is known;
//! an API that asks for a method that is not supported refuses everybody.

use super::Middleware;
use crate::compile::Source;
use crate::exchange::{Exchange, Step};
use crate::refusal;
use crate::template::{cookie, parameter};
use tollgate_model::api::AuthConfig;

pub struct TokenAuth {
    places: AuthConfig,
    /// Methods asked for that nobody can pass.
    unsupported: bool,
}

impl TokenAuth {
    pub fn compile(source: &mut Source<'_, '_>) -> Option<Box<dyn Middleware>> {
        let definition = source.definition;
        if definition.use_keyless {
            return None;
        }
        let unsupported = !definition.unsupported_auth().is_empty();
        Some(Box::new(TokenAuth { places: definition.auth_token().clone(), unsupported }))
    }

    /// The key that a request carries: of header, query and cookie the last one that is there.
    fn has_key(&self, exchange: &Exchange<'_>) -> bool {
        let headers = &exchange.request.headers;
        let header = self.places.header().and_then(|name| headers.get(name)).is_some_and(|value| !without_bearer(value).is_empty());
        let query = || self.places.param().and_then(|name| parameter(exchange.query()?, name)).is_some_and(|key| !key.is_empty());
        let in_cookie = || {
            let line = std::str::from_utf8(headers.get("cookie")?).ok()?;
            cookie(line, self.places.cookie()?)
        };
        header || query() || in_cookie().is_some_and(|key| !key.is_empty())
    }
}

/// A header's key without the scheme that many clients write before it.
fn without_bearer(value: &[u8]) -> &[u8] {
    match value.split_at_checked(7) {
        Some((scheme, key)) if scheme.eq_ignore_ascii_case(b"bearer ") => key.trim_ascii(),
        _ => value,
    }
}

impl Middleware for TokenAuth {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        if exchange.ignored {
            return Step::Next;
        }
        let refusal = if self.has_key(exchange) || self.unsupported { refusal::KEY_DISALLOWED } else { refusal::AUTH_MISSING };
        Step::Refuse(refusal)
    }
}
