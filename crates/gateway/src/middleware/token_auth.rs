//! Authentication by key. Reads `auth` and `auth_configs.authToken`. The client sees 401 `Authorization field missing` without a key
//! and 403 `Access to this API has been disallowed` with one that is not known. Keys are looked up in memory. A key
//! that goes with a password, a signature or a token is not enough by itself.

use super::Middleware;
use crate::compile::Source;
use crate::credentials::Places;
use crate::exchange::{Exchange, Step};
use crate::refusal;
use tollgate_model::api::AuthMethod;

pub struct TokenAuth {
    places: Places,
    org_id: String,
    /// Nothing else is asked for.
    alone: bool,
    /// The session is the key's.
    gives_session: bool,
}

impl TokenAuth {
    pub fn compile(source: &mut Source<'_, '_>) -> Option<Box<dyn Middleware>> {
        let definition = source.definition;
        let applies = definition.uses(AuthMethod::Token);
        applies.then(|| {
            Box::new(TokenAuth {
                places: Places::new(definition.places(AuthMethod::Token)),
                org_id: definition.org_id.clone(),
                alone: definition.auth_methods().count() == 1,
                gives_session: definition.takes_session_of(AuthMethod::Token),
            }) as Box<dyn Middleware>
        })
    }
}

impl Middleware for TokenAuth {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        if exchange.ignored {
            return Step::Next;
        }
        let Some(token) = self.places.find(exchange) else { return Step::Refuse(refusal::AUTH_MISSING) };
        match exchange.keys.find(&token, &self.org_id) {
            Some(key) if self.alone && key.is_only_a_name() => Step::Refuse(refusal::KEY_DISALLOWED),
            Some(key) => {
                if self.gives_session {
                    exchange.key = Some(key);
                }
                Step::Next
            }
            None => Step::Refuse(refusal::KEY_DISALLOWED),
        }
    }
}
