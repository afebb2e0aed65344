//! Authentication by key. Reads `auth` and `auth_configs.authToken`. The client sees 401 `Authorization field missing` without a key
//! and 403 `Access to this API has been disallowed` with one that is not known. Keys are looked up in memory; an API that asks for a
//! method that is not supported refuses everybody.

use super::Middleware;
use crate::compile::Source;
use crate::exchange::{Exchange, Step};
use crate::refusal;
use crate::template::{cookie, parameter};
use std::borrow::Cow;
use tollgate_model::api::AuthConfig;

pub struct TokenAuth {
    places: AuthConfig,
    org_id: String,
    /// Methods asked for that nobody can pass.
    unsupported: bool,
}

impl TokenAuth {
    pub fn compile(source: &mut Source<'_, '_>) -> Option<Box<dyn Middleware>> {
        let definition = source.definition;
        if definition.use_keyless {
            return None;
        }
        Some(Box::new(TokenAuth {
            places: definition.auth_token().clone(),
            org_id: definition.org_id.clone(),
            unsupported: !definition.unsupported_auth().is_empty(),
        }))
    }

    /// The key that a request carries: of header, query and cookie the last one that is there.
    fn token<'e>(&self, exchange: &'e Exchange<'_>) -> Option<Cow<'e, str>> {
        let headers = &exchange.request.headers;
        let in_cookie = || {
            let line = std::str::from_utf8(headers.get("cookie")?).ok()?;
            cookie(line, self.places.cookie()?).filter(|key| !key.is_empty()).map(Cow::Borrowed)
        };
        let in_query = || {
            let value = parameter(exchange.query()?, self.places.param()?)?;
            Some(value).filter(|key| !key.is_empty()).map(Cow::Owned)
        };
        let in_header = || {
            let value = without_bearer(headers.get(self.places.header()?)?);
            if value.is_empty() { None } else { Some(String::from_utf8_lossy(value)) }
        };
        in_cookie().or_else(in_query).or_else(in_header)
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
        if self.unsupported {
            return Step::Refuse(refusal::KEY_DISALLOWED);
        }
        let Some(token) = self.token(exchange) else { return Step::Refuse(refusal::AUTH_MISSING) };
        match exchange.keys.find(&token, &self.org_id) {
            Some(key) => {
                exchange.key = Some(key);
                Step::Next
            }
            None => Step::Refuse(refusal::KEY_DISALLOWED),
        }
    }
}
