//! OAuth clients in place of keys: an application of a product whose APIs give tokens is a client of each of them, with one id and one secret. Lists of
//! the portal name it by `oauth-client/ID/API/API…`.

use crate::api::keys::live_recorded;
use serde_json::Value;
use tollgate_access::oauth::{OauthClient, TokenStore, new_client_id, new_client_secret};
use tollgate_clock::unix_s;
use tollgate_data::gateway_state::GatewayState;
use tollgate_model::session::Session;
use tollgate_observe::sink::client_name;
use tollgate_portal::{KeyChange, MadeKey, PortalKeyState, PortalRefusal, WantedKey};
use tollgate_store::StoreFault;

const LISTED: &str = "oauth-client";

/// Where clients are.
#[derive(Clone, Copy)]
pub(crate) struct ClientPlace<'p> {
    pub shared: &'p GatewayState,
    pub token_store: &'p TokenStore,
}

/// A client of the portal.
pub(crate) struct PortalClient {
    id: String,
    apis: Vec<String>,
}

impl ClientPlace<'_> {
    /// The organisation of an API.
    fn org_of(self, api: &str) -> String {
        let snapshot = self.shared.current.load();
        let org = snapshot.api(api).and_then(|api| api.raw.get("org_id")).and_then(Value::as_str);
        org.unwrap_or_default().to_owned()
    }
}

impl PortalClient {
    /// The client that a list of the portal names; `None` for a key.
    pub(crate) fn of_listed(listed_id: &str) -> Option<Self> {
        let mut parts = listed_id.split('/');
        if parts.next() != Some(LISTED) {
            return None;
        }
        let id = parts.next()?.to_owned();
        Some(PortalClient { id, apis: parts.map(str::to_owned).collect() })
    }

    fn listed_id(&self) -> String {
        let parts: Vec<&str> = [LISTED, &self.id].into_iter().chain(self.apis.iter().map(String::as_str)).collect();
        parts.join("/")
    }

    /// Makes a client of APIs, whose ids have no slash.
    pub(crate) async fn make(place: ClientPlace<'_>, wanted: WantedKey) -> Result<MadeKey, PortalRefusal> {
        if let Some(api) = wanted.client_of.iter().find(|api| api.contains('/')) {
            return Err(PortalRefusal::failed(format_args!(
                "the id of the API {api} has a slash: the portal makes no clients of it"
            )));
        }
        let id = new_client_id().map_err(PortalRefusal::failed)?;
        let secret = new_client_secret().map_err(PortalRefusal::failed)?;
        let client = OauthClient {
            id: id.clone(),
            secret: secret.clone(),
            policy_id: wanted.policy,
            meta_data: wanted.meta_data.into(),
            description: wanted.alias,
            ..OauthClient::default()
        };
        for api in &wanted.client_of {
            place.token_store.put_client(api, &place.org_of(api), &client).await?;
        }
        let made = PortalClient { id, apis: wanted.client_of };
        Ok(MadeKey { listed_id: made.listed_id(), key: made.id, secret })
    }

    /// Changes the client in all its APIs. False if no API has it. Suspended, and with another policy, its tokens are revoked, as they say nothing of that.
    pub(crate) async fn change(&self, place: ClientPlace<'_>, change: &KeyChange) -> Result<bool, StoreFault> {
        let mut is_there = false;
        for api in &self.apis {
            let Some(old) = place.token_store.client(api, &self.id).await? else { continue };
            is_there = true;
            match change {
                KeyChange::EndsAt(end) if *end <= unix_s() => {
                    place.token_store.remove_client(api, &place.org_of(api), &self.id).await?
                }
                KeyChange::EndsAt(end) => {
                    let ends_unix_s = if old.ends_unix_s == 0 { *end } else { old.ends_unix_s.min(*end) };
                    place.token_store.put_client(api, &place.org_of(api), &OauthClient { ends_unix_s, ..old }).await?;
                }
                KeyChange::Suspended(is_suspended) => {
                    let is_suspended = *is_suspended;
                    place.token_store.put_client(api, &place.org_of(api), &OauthClient { is_suspended, ..old }).await?;
                    if is_suspended {
                        place.token_store.revoke_all(api, &self.id).await?;
                    }
                }
                KeyChange::Policy(policy) => {
                    let policy_id = policy.clone();
                    place.token_store.put_client(api, &place.org_of(api), &OauthClient { policy_id, ..old }).await?;
                    place.token_store.revoke_access_of(api, &self.id, unix_s()).await?;
                }
            }
        }
        Ok(is_there)
    }

    /// Removes the client from all its APIs, with its tokens. False if no API had it.
    pub(crate) async fn remove(&self, place: ClientPlace<'_>) -> Result<bool, StoreFault> {
        let mut was_there = false;
        for api in &self.apis {
            was_there |= place.token_store.client(api, &self.id).await?.is_some();
            place.token_store.remove_client(api, &place.org_of(api), &self.id).await?;
        }
        Ok(was_there)
    }

    /// How rows of usage name it.
    pub(crate) fn usage_name(&self) -> String {
        client_name(&self.id)
    }

    /// Its id at the gateway.
    pub(crate) fn into_id(self) -> String {
        self.id
    }

    /// How far it is. The limits are those of its newest token, as each token has its own; without one, nothing is said of them.
    pub(crate) async fn state(&self, place: ClientPlace<'_>) -> Result<Option<PortalKeyState>, StoreFault> {
        let (mut found, mut newest) = (None, None);
        for api in &self.apis {
            let Some(client) = place.token_store.client(api, &self.id).await? else { continue };
            found = found.or(Some(client));
            let last = place.token_store.tokens(api, &self.id, unix_s()).await?.pop();
            newest = newest.into_iter().chain(last).max_by_key(|token| token.expires_unix_s);
        }
        let Some(client) = found else { return Ok(None) };
        let session = match newest {
            Some(token) => live_recorded(place.token_store.keys(), &token.shown).await?,
            None => None,
        };
        let limits = session.map(|session| limits_of(&session)).unwrap_or_default();
        let ends_unix_s = i64::try_from(client.ends_unix_s).unwrap_or(i64::MAX);
        Ok(Some(PortalKeyState { is_suspended: client.is_suspended, ends_unix_s, ..limits }))
    }
}

/// A session's state, as the portal shows it.
pub(crate) fn limits_of(session: &Session) -> PortalKeyState {
    PortalKeyState {
        is_suspended: session.is_inactive,
        ends_unix_s: session.expires,
        rate: session.rate,
        per_s: session.per,
        quota_max: session.quota_max,
        quota_remaining: session.quota_remaining,
        quota_renews_unix_s: session.quota_renews,
    }
}
