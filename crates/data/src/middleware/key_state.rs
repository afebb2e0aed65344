//! Checks whether the request has a session, and whether it is usable. The client sees 400 `Session state is missing or unset! ...` when no
//! authentication method provided one, 403 `Key is inactive, please renew` or 401 `Key has expired, please renew`.

use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use crate::refusal;
use tollgate_access::keys::KeyState as State;

pub(super) struct KeyStateCheck;

impl KeyStateCheck {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        (!source.definition.use_keyless).then(|| Box::new(KeyStateCheck) as Box<dyn Middleware>)
    }
}

impl Middleware for KeyStateCheck {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let Some(key) = &exchange.caller.key else {
            return if exchange.decisions.ignored { Step::Next } else { Step::Refuse(refusal::SESSION_MISSING) };
        };
        match key.state(exchange.arrival.unix_s) {
            State::Good => Step::Next,
            State::Inactive => Step::Refuse(refusal::KEY_INACTIVE),
            State::Expired => Step::Refuse(refusal::KEY_EXPIRED),
        }
    }
}
