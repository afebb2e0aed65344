//! Authentication by a token of the gateway's own OAuth 2.0 provider. Reads `use_oauth2` and `auth_configs.oauth`. A token is a key that
//! was made for a client, found in memory like any other; memory also says whether the client still exists for this API. The client sees
//! 400 `Authorization field missing` or `Bearer token malformed`, 403 `Key not authorised` for an unknown or revoked token, and `Key not
//! authorised. OAuth client access was revoked` for a removed client. When a shared store does not answer about either: 503.

use super::{Middleware, MiddlewareSource};
use crate::credentials::CredentialPlaces;
use crate::exchange::{Exchange, Step};
use crate::header_change::HeaderChange;
use crate::refusal::{self, Refusal};
use std::sync::Arc;
use tollgate_access::keys::HeldKey;
use tollgate_access::oauth::{ANSWER_TIME_MAX, ApiClients, Presence};
use tollgate_model::api::AuthMethod;

pub(super) struct OAuthToken {
    places: CredentialPlaces,
    org_id: String,
    clients: Arc<ApiClients>,
    gives_session: bool,
}

impl OAuthToken {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let definition = source.definition;
        if !definition.uses(AuthMethod::OAuth) {
            return None;
        }
        let registry = source.context.registry;
        Some(Box::new(OAuthToken {
            places: CredentialPlaces::new(definition.places(AuthMethod::OAuth)),
            org_id: definition.org_id.clone(),
            clients: registry.oauth_clients.of(&definition.api_id),
            gives_session: definition.takes_session_of(AuthMethod::OAuth),
        }))
    }

    /// Finds the key of the token.
    fn key(&self, exchange: &mut Exchange<'_>) -> Result<HeldKey, Step> {
        let refuse = |refusal| Err(Step::Refuse(refusal));
        let Some((value, is_header)) = self.places.whole(exchange) else { return refuse(refusal::OAUTH_MISSING) };
        let bearer = value.split_at_checked(7).filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer "));
        let token = match bearer {
            Some((_, token)) => token.split_once(' ').map_or(token, |(token, _)| token),
            None if value.contains(' ') => return refuse(refusal::OAUTH_MALFORMED),
            None if is_header => return refuse(refusal::OAUTH_MISSING),
            // Places other than the header have no scheme (RFC 6750, section 2.3).
            None => value.as_ref(),
        };
        if let Some(key) = exchange.arrival.keys.find(token, &self.org_id) {
            return Ok(key);
        }
        exchange.ask_for_key(token, &self.org_id)?.ok_or(Step::Refuse(refusal::OAUTH_KEY_UNKNOWN))
    }

    /// Admits the key if its client exists.
    fn check(&self, key: HeldKey, exchange: &mut Exchange<'_>) -> Step {
        let client = key.session.oauth_client_id.as_str();
        match self.clients.presence(client, exchange.arrival.unix_s) {
            Presence::There => self.judge(key, Some(true), exchange),
            Presence::Gone => self.judge(key, Some(false), exchange),
            Presence::Unknown => {
                let asked = self.clients.ask(client);
                Step::ask(self, asked, ANSWER_TIME_MAX, |this, exchange, is_there| this.judge(key, is_there.flatten(), exchange))
            }
        }
    }

    /// Does what is due when the key's client is there, or not; `None` if nobody knows.
    fn judge(&self, key: HeldKey, is_there: Option<bool>, exchange: &mut Exchange<'_>) -> Step {
        match is_there {
            Some(true) => {
                if self.gives_session {
                    exchange.caller.key = Some(key);
                }
                Step::Next
            }
            Some(false) => refuse(refusal::OAUTH_CLIENT_GONE, exchange),
            None => Step::Refuse(refusal::STORE_SILENT),
        }
    }
}

/// Refuses the request with a challenge.
fn refuse(refusal: Refusal, exchange: &mut Exchange<'_>) -> Step {
    if refusal != refusal::STORE_SILENT {
        let value = challenge(&refusal).as_bytes().to_vec();
        exchange.response.changes.push(HeaderChange::Set("WWW-Authenticate".into(), value));
    }
    Step::Refuse(refusal)
}

/// The `WWW-Authenticate` challenge of a refusal (RFC 6750, section 3).
fn challenge(refusal: &Refusal) -> &'static str {
    match refusal {
        refusal if *refusal == refusal::OAUTH_MISSING => "Bearer",
        refusal if *refusal == refusal::OAUTH_MALFORMED => "Bearer error=\"invalid_request\"",
        _ => "Bearer error=\"invalid_token\"",
    }
}

impl Middleware for OAuthToken {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        if exchange.decisions.ignored {
            return Step::Next;
        }
        match self.key(exchange) {
            Ok(key) => self.check(key, exchange),
            Err(Step::Refuse(refusal)) => refuse(refusal, exchange),
            Err(step) => step,
        }
    }
}
