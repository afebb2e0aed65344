//! The provider's stored data: clients, codes and tokens. A shared store has them under Tyk's names and in Tyk's form. In the embedded
//! store, codes and tokens are stored under their digests, and the texts themselves nowhere.

use super::OauthProvider;
use super::access::{AccessToken, text};
use super::client::OauthClient;
use super::clients::{OauthClients, client_name, is_client};
use super::code::{CODE_S, Code};
use super::family::TokenFamily;
use super::given::Given;
use crate::digest::{hex, parse_digest};
use crate::keys::{KeyName, Keys};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use tollgate_model::key as key_format;
use tollgate_model::session::Session;
use tollgate_store::question::PAGE_DOCUMENTS_MAX;
use tollgate_store::{DocumentSpace, Redis, Store, StoreFault};

const KIND: DocumentSpace = DocumentSpace::OAuth;

/// The provider's part of the store.
#[derive(Clone)]
pub struct TokenStore {
    store: Arc<dyn Store>,
    keys: Arc<Keys>,
    clients: Arc<OauthClients>,
    redis: Option<Arc<Redis>>,
}

/// A token of a client in an operator's list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The token, or the hash that stands for it.
    pub shown: String,
    pub expires_unix_s: u64,
    /// Name that the token is stored under.
    name: String,
}

/// A token to store.
pub struct NewToken<'a> {
    pub token: &'a str,
    pub refresh: Option<&'a str>,
    pub session: Session,
    /// Its `token` and `refresh` are filled in when it is stored.
    pub access: AccessToken,
    pub refresh_s: u64,
    pub retained_s: u64,
}

impl TokenStore {
    pub fn new(store: Arc<dyn Store>, keys: Arc<Keys>, clients: Arc<OauthClients>) -> Self {
        let redis = keys.shared_keys().map(|shared| shared.cluster.redis.clone());
        TokenStore { store, keys, clients, redis }
    }

    /// The keys; each token is one of them.
    pub fn keys(&self) -> &Arc<Keys> {
        &self.keys
    }

    /// A client of an API.
    pub async fn client(&self, api: &str, client: &str) -> Result<Option<OauthClient>, StoreFault> {
        let document = self.get(client_name(api, client)).await?;
        Ok(document.and_then(|document| OauthClient::parse(&document)))
    }

    /// The clients of an API, by id.
    pub async fn clients(&self, api: &str, org: &str) -> Result<Vec<OauthClient>, StoreFault> {
        let prefix = client_name(api, "");
        let Some(redis) = &self.redis else {
            let documents = self.under(&prefix).await?;
            return Ok(documents.iter().filter_map(|(_, document)| OauthClient::parse(document)).collect());
        };
        let listed = redis.list(KIND, &index_name(api, org)).await?;
        let mut ids: BTreeSet<String> =
            listed.iter().filter_map(|name| Some(name.strip_prefix("oauth-clientid.")?.to_owned())).collect();
        if ids.is_empty() {
            // Clients from before this list existed.
            let all = redis.ids(KIND).await?;
            let own = all.iter().filter(|id| is_client(id)).filter_map(|id| id.strip_prefix(prefix.as_str()));
            ids.extend(own.map(str::to_owned));
        }
        let mut clients = Vec::with_capacity(ids.len());
        for id in ids {
            clients.extend(self.client(api, &id).await?);
        }
        Ok(clients)
    }

    /// Stores a client, new or changed.
    pub async fn put_client(&self, api: &str, org: &str, client: &OauthClient) -> Result<(), StoreFault> {
        let name = client_name(api, &client.id);
        let value = client.to_stored().to_string().into_bytes();
        let old = match &self.redis {
            Some(_) => self.get(name.clone()).await?,
            None => None,
        };
        self.put(name, value.clone(), None).await?;
        if let Some(redis) = &self.redis {
            redis.put_last(KIND, &index_name(api, org), &format!("oauth-clientid.{}", client.id)).await?;
            redis.replace(KIND, &set_name(api), old.as_deref(), Some(&value)).await?;
        }
        self.clients.of(api).put(&client.id);
        Ok(())
    }

    /// Removes a client and all its tokens; the next request with one of them is rejected.
    pub async fn remove_client(&self, api: &str, org: &str, client: &str) -> Result<(), StoreFault> {
        let name = client_name(api, client);
        let old = self.get(name.clone()).await?;
        self.delete(name).await?;
        self.clients.of(api).remove(client);
        self.revoke_all(api, client).await?;
        if let Some(redis) = &self.redis {
            redis.take_out(KIND, &index_name(api, org), &format!("oauth-clientid.{client}")).await?;
            redis.replace(KIND, &set_name(api), old.as_deref(), None).await?;
            self.delete(tokens_name(api, client)).await?;
        }
        Ok(())
    }

    /// Stores a new code.
    pub async fn put_code(&self, api: &str, text: &str, code: &Code, now_unix_s: u64) -> Result<(), StoreFault> {
        let kept = self.kept(text);
        let value = code.to_stored(&kept, now_unix_s).to_string().into_bytes();
        self.put(code_name(api, &kept), value, Some(now_unix_s + CODE_S)).await
    }

    /// The code with this text, if it can be redeemed.
    pub async fn code(&self, api: &str, text: &str) -> Result<Option<Code>, StoreFault> {
        let document = self.get(code_name(api, &self.kept(text))).await?;
        Ok(document.and_then(|document| Code::parse(&document)))
    }

    /// Redeems a code for a token. False when another request was faster.
    pub async fn redeem(&self, api: &str, text: &str, token: &str, now_unix_s: u64) -> Result<bool, StoreFault> {
        let kept = self.kept(text);
        let value = json!({ "AccessToken": self.kept(token) }).to_string().into_bytes();
        let expires_unix_s = Some(now_unix_s + CODE_S);
        if self.store.write_over(KIND, redeemed_name(api, &kept), None, value, expires_unix_s).await? {
            return Ok(false);
        }
        self.delete(code_name(api, &kept)).await?;
        Ok(true)
    }

    /// Handles an unknown code: if it was redeemed before, it has been stolen, and the token that it was redeemed for is revoked (RFC 6749,
    /// section 4.1.2).
    pub async fn punish_replay(&self, api: &str, text: &str) -> Result<(), StoreFault> {
        let Some(document) = self.get(redeemed_name(api, &self.kept(text))).await? else { return Ok(()) };
        let value: Value = serde_json::from_slice(&document).unwrap_or_default();
        let Some(kept) = value.get("AccessToken").and_then(Value::as_str) else { return Ok(()) };
        tracing::warn!(api, "a code was used again: the token that it was redeemed for is revoked");
        for name in self.names_of_kept(kept) {
            self.revoke_with_refresh(api, &name).await?;
        }
        Ok(())
    }

    /// Stores a token with its session. After a failure nothing of it can be used.
    pub async fn put_token(&self, api: &str, new: NewToken<'_>) -> Result<(), StoreFault> {
        let NewToken { token, refresh, session, mut access, refresh_s, retained_s } = new;
        access.token = self.kept(token);
        access.refresh = refresh.map(|refresh| self.kept(refresh)).unwrap_or_default();
        let name = self.name(token);
        let ends = access.created_unix_s.saturating_add(access.expires_in_s);
        // The refresh token is found through the access token's document, even after the access token has expired.
        let refresh_s = refresh.map_or(0, |_| refresh_s);
        let kept_until = access.created_unix_s.saturating_add(refresh_s).max(ends);
        let value = access.to_stored().to_string().into_bytes();
        let (client, created) = (access.client_id.clone(), access.created_unix_s);
        let store_refresh = async {
            match refresh {
                Some(refresh) => self.put(refresh_name(api, &self.kept(refresh)), value.clone(), Some(kept_until)).await,
                None => Ok(()),
            }
        };
        // Asked together, they make one write.
        let (session, access, listed, refresh) = tokio::join!(
            self.keys.put(self.keys.new_name(token), session, false),
            self.put(access_name(api, &name), value.clone(), Some(kept_until)),
            async {
                let tokens = tokens_name(api, &client);
                match &self.redis {
                    Some(redis) => {
                        redis.put_ending(KIND, &tokens, &name, ends).await?;
                        redis.take_out_ended(KIND, &tokens, created.saturating_sub(retained_s.max(refresh_s))).await
                    }
                    None => self.put(format!("{tokens}.{name}"), ends.to_string().into_bytes(), Some(kept_until)).await,
                }
            },
            store_refresh,
        );
        let stored = session.and(access).and(listed).and(refresh);
        if stored.is_err() {
            let _ = self.revoke_named(api, &name).await;
        }
        stored
    }

    /// The unexpired tokens of a client, sorted by expiry.
    pub async fn tokens(&self, api: &str, client: &str, now_unix_s: u64) -> Result<Vec<Listed>, StoreFault> {
        if let Some(redis) = &self.redis {
            let listed = redis.not_ended(KIND, &tokens_name(api, client), now_unix_s).await?;
            let listed = listed.into_iter().map(|(name, expires_unix_s)| Listed { shown: name.clone(), expires_unix_s, name });
            return Ok(listed.collect());
        }
        let prefix = format!("{}.", tokens_name(api, client));
        let mut listed = Vec::new();
        for (id, document) in self.under(&prefix).await? {
            // An id with more than a digest after the prefix belongs to a client with a longer id.
            let Some(digest) = id.strip_prefix(&prefix).and_then(parse_digest) else { continue };
            let expires_unix_s = std::str::from_utf8(&document).ok().and_then(|text| text.parse().ok()).unwrap_or_default();
            let name = hex(&digest);
            let shown = self.keys.shown_of(&digest).unwrap_or_else(|| name.clone());
            listed.push(Listed { shown, expires_unix_s, name });
        }
        listed.retain(|token| token.expires_unix_s >= now_unix_s);
        listed.sort_by(|one, other| (one.expires_unix_s, &one.shown).cmp(&(other.expires_unix_s, &other.shown)));
        Ok(listed)
    }

    /// The stored data of an access token.
    pub async fn access(&self, api: &str, token: &str) -> Result<Option<AccessToken>, StoreFault> {
        for name in self.names(token) {
            if let Some(document) = self.get(access_name(api, &name)).await? {
                return Ok(AccessToken::parse(&document));
            }
        }
        Ok(None)
    }

    /// The stored data of a refresh token.
    pub async fn refresh(&self, api: &str, token: &str) -> Result<Option<AccessToken>, StoreFault> {
        let document = self.get(refresh_name(api, &self.kept(token))).await?;
        Ok(document.and_then(|document| AccessToken::parse(&document)))
    }

    /// Deletes a refresh token. False when there was none: of several concurrent requests with one token, only one succeeds.
    pub async fn take_refresh(&self, api: &str, token: &str) -> Result<bool, StoreFault> {
        self.delete(refresh_name(api, &self.kept(token))).await
    }

    /// Notes which tokens of a family are valid now. False when the family has ended meanwhile: then they are not valid.
    pub async fn lead_family(&self, provider: &OauthProvider<'_>, client: &OauthClient, given: &Given) -> Result<bool, StoreFault> {
        let Some(refresh) = &given.refresh else { return Ok(true) };
        let Some(family) = TokenFamily::of(refresh) else { return Ok(true) };
        let (name, ended) = self.family_names(provider, client, &family);
        let tokens = json!({ "AccessToken": self.kept(&given.token), "RefreshToken": self.kept(refresh) });
        self.put(name, tokens.to_string().into_bytes(), Some(family_end(provider))).await?;
        // Must be the last step: ending a family first notes the end and then reads the tokens. One of the two therefore sees the other.
        Ok(self.get(ended).await?.is_none())
    }

    /// Handles an unknown refresh token: if it was used before, it or its successors have been stolen, and the whole family ends. Only the
    /// token's own client can cause this.
    pub async fn punish_reuse(&self, provider: &OauthProvider<'_>, client: &OauthClient, token: &str) -> Result<(), StoreFault> {
        let Some(family) = TokenFamily::of(token) else { return Ok(()) };
        let (name, ended) = self.family_names(provider, client, &family);
        if self.get(name.clone()).await?.is_none() {
            return Ok(());
        }
        let api = &provider.rules.api_id;
        tracing::warn!(api, client = client.id, "a refresh token was used again: all tokens derived from it are revoked");
        self.put(ended, b"{}".to_vec(), Some(family_end(provider))).await?;
        let Some(document) = self.get(name.clone()).await? else { return Ok(()) };
        let tokens: Value = serde_json::from_slice(&document).unwrap_or_default();
        self.revoke_kept(api, &text(&tokens, "AccessToken")).await?;
        self.delete(refresh_name(api, &text(&tokens, "RefreshToken"))).await?;
        self.delete(name).await.map(|_| ())
    }

    /// Revokes an access token of an API. False when there was none.
    pub async fn revoke_access(&self, api: &str, token: &str) -> Result<bool, StoreFault> {
        self.revoke_all_named(api, self.names(token)).await
    }

    /// Like [`TokenStore::revoke_access`], for a token in the form that its refresh token's document has.
    pub async fn revoke_kept(&self, api: &str, kept: &str) -> Result<bool, StoreFault> {
        self.revoke_all_named(api, self.names_of_kept(kept)).await
    }

    /// The form of a token in documents: its text, or its digest in the embedded store.
    pub fn kept(&self, token: &str) -> String {
        if self.redis.is_some() { token.to_owned() } else { hex(&key_format::digest(token)) }
    }

    /// Revokes all tokens of a client, including refresh tokens. Returns the number of access tokens.
    pub async fn revoke_all(&self, api: &str, client: &str) -> Result<usize, StoreFault> {
        // Includes expired access tokens: their refresh tokens may still be valid.
        let listed = self.tokens(api, client, 0).await?;
        for token in &listed {
            self.revoke_with_refresh(api, &token.name).await?;
        }
        Ok(listed.len())
    }

    /// Revokes the access tokens of a client, as Tyk does when the client's policy changes.
    pub async fn revoke_access_of(&self, api: &str, client: &str, now_unix_s: u64) -> Result<(), StoreFault> {
        for token in self.tokens(api, client, now_unix_s).await? {
            self.revoke_named(api, &token.name).await?;
        }
        Ok(())
    }

    /// Removes expired tokens from the lists of a shared store; the embedded store does so by itself.
    pub async fn purge(&self, ended_unix_s: u64) -> Result<(), StoreFault> {
        let Some(redis) = &self.redis else { return Ok(()) };
        for id in redis.ids(KIND).await?.iter().filter(|id| id.contains(".oauth-client-tokens.")) {
            redis.take_out_ended(KIND, id, ended_unix_s).await?;
        }
        Ok(())
    }
}

impl TokenStore {
    /// Name that a token's session and its document are stored under.
    fn name(&self, token: &str) -> String {
        match &self.redis {
            Some(_) => self.keys.shown_hash(token).unwrap_or_else(|| token.to_owned()),
            None => self.kept(token),
        }
    }

    /// The names that a token's session and its document may be stored under: the one for new tokens, and that of earlier versions.
    fn names(&self, token: &str) -> Vec<String> {
        let former = self.redis.as_ref().and_then(|_| self.keys.former_name(token));
        std::iter::once(self.name(token)).chain(former).collect()
    }

    /// Like [`TokenStore::names`], for a token in the form that documents have.
    fn names_of_kept(&self, kept: &str) -> Vec<String> {
        if self.redis.is_some() { self.names(kept) } else { vec![kept.to_owned()] }
    }

    /// Names of a family's two documents: its valid tokens, and the note that it has ended.
    fn family_names(&self, provider: &OauthProvider<'_>, client: &OauthClient, family: &TokenFamily) -> (String, String) {
        let (api, kept) = (&provider.rules.api_id, self.kept(family.as_str()));
        let name = |what: &str| format!("{api}.{what}.{}.{kept}", client.id);
        (name("oauth-refresh-family"), name("oauth-refresh-reused"))
    }

    async fn revoke_with_refresh(&self, api: &str, name: &str) -> Result<(), StoreFault> {
        let document = self.get(access_name(api, name)).await?;
        if let Some(access) =
            document.and_then(|document| AccessToken::parse(&document)).filter(|access| !access.refresh.is_empty())
        {
            self.delete(refresh_name(api, &access.refresh)).await?;
        }
        self.revoke_named(api, name).await.map(|_| ())
    }

    async fn revoke_all_named(&self, api: &str, names: Vec<String>) -> Result<bool, StoreFault> {
        let mut is_revoked = false;
        for name in names {
            is_revoked |= self.revoke_named(api, &name).await?;
        }
        Ok(is_revoked)
    }

    /// Revokes a token by its stored name. Affects only tokens of the API: any other key's name is ignored.
    async fn revoke_named(&self, api: &str, name: &str) -> Result<bool, StoreFault> {
        let Some(document) = self.get(access_name(api, name)).await? else { return Ok(false) };
        // The session goes first: without it, the rest is useless.
        match (&self.redis, parse_digest(name)) {
            (None, Some(digest)) => drop(self.keys.remove(KeyName { digest, shown: name.to_owned() }).await?),
            (None, None) => {}
            (Some(_), _) => drop(self.keys.remove_named(name).await?),
        }
        self.delete(access_name(api, name)).await?;
        if let Some(access) = AccessToken::parse(&document) {
            let tokens = tokens_name(api, &access.client_id);
            match &self.redis {
                Some(redis) => redis.take_out_ending(KIND, &tokens, name).await?,
                None => drop(self.delete(format!("{tokens}.{name}")).await?),
            }
        }
        Ok(true)
    }

    async fn get(&self, id: String) -> Result<Option<Vec<u8>>, StoreFault> {
        self.store.read(KIND, id).await
    }

    async fn put(&self, id: String, value: Vec<u8>, expires_unix_s: Option<u64>) -> Result<(), StoreFault> {
        self.store.write(KIND, id, value, expires_unix_s).await.map(|_| ())
    }

    async fn delete(&self, id: String) -> Result<bool, StoreFault> {
        self.store.remove(KIND, id).await
    }

    /// All documents whose names have this prefix; embedded store only, because a shared store has no order.
    async fn under(&self, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, StoreFault> {
        let (mut documents, mut after) = (Vec::new(), None);
        loop {
            let page = self.store.page(KIND, prefix.to_owned(), after, PAGE_DOCUMENTS_MAX).await?;
            documents.extend(page.documents);
            after = page.next;
            if after.is_none() {
                return Ok(documents);
            }
        }
    }
}

/// Time after which no token of a family that is issued now is valid.
fn family_end(provider: &OauthProvider<'_>) -> u64 {
    let settings = &provider.rules.settings;
    provider.unix_s.saturating_add(settings.refresh_s.max(settings.token_s))
}

fn index_name(api: &str, org: &str) -> String {
    format!("{api}.oauth-client-index.{org}")
}

fn set_name(api: &str) -> String {
    format!("{api}.oauth-clientset.oauth-clientid.")
}

fn tokens_name(api: &str, client: &str) -> String {
    format!("{api}.oauth-client-tokens.{client}")
}

fn code_name(api: &str, kept: &str) -> String {
    format!("{api}.oauth-authorize.{kept}")
}

/// Tyk has no such document: it treats a redeemed code like an unknown one.
fn redeemed_name(api: &str, kept: &str) -> String {
    format!("{api}.oauth-redeemed.{kept}")
}

fn access_name(api: &str, name: &str) -> String {
    format!("{api}.oauth-access.{name}")
}

fn refresh_name(api: &str, kept: &str) -> String {
    format!("{api}.oauth-refresh.{kept}")
}
