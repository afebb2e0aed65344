//! What all gateways on one store know: the plan of each certificate, accounts at issuers, what is shown to issuers, and who is at work on what.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use tollgate_clock::unix_ns;
use tollgate_store::{DocumentSpace, Store, StoreFault};

const SPACE: DocumentSpace = DocumentSpace::Acme;
const PLAN: &str = "plan";
const STAMP: &str = "stamp";
const SHOWN: &str = "shown";
/// How often a change is tried again that others were faster with.
const CHANGES_MAX: usize = 20;
/// How long a gateway may be at work on a certificate until another one may begin.
const WORK_S_MAX: u64 = 600;
/// How long an answer to an issuer is kept.
const SHOWN_S_MAX: u64 = 3600;

/// The certificates of all gateways on one store, by name: their hosts, sorted, with commas between them.
pub type CertificatePlan = BTreeMap<String, PlannedCertificate>;

/// What became of a certificate. Times are in seconds since 1970.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlannedCertificate {
    /// Its id among the stored certificates; empty before there is one.
    pub id: String,
    /// The one before, which is removed after a while.
    pub old_id: String,
    /// Directory of the issuer.
    pub issuer: String,
    /// Since when it is there.
    pub since_unix_s: u64,
    /// When it ends.
    pub ends_unix_s: u64,
    /// When it is renewed.
    pub renew_unix_s: u64,
    /// When its issuer is asked again when that is to be.
    pub ask_unix_s: u64,
    /// Tries that failed since the last one that did not.
    pub failures: u32,
    /// Why the last one failed.
    pub error: String,
    /// When it may be tried again.
    pub again_unix_s: u64,
    /// Whether a client asked for it, and no configuration.
    pub is_on_demand: bool,
    /// When its issuer is asked next whether it is revoked; its end if it does not say whom to ask.
    pub status_unix_s: u64,
    /// Until when handshakes hand out the last answer; 0 if there is none.
    pub staple_ends_unix_s: u64,
    /// Digest of that answer.
    pub staple: String,
    /// Why there was none the last time.
    pub status_error: String,
}

/// The documents in the store.
#[derive(Clone)]
pub struct AcmeDocuments(pub Arc<dyn Store>);

/// What is shown to issuers that make TLS connections: by host, the digest of the key authorization in hexadecimal, with the time until which it is needed.
pub(crate) type ShownDigests = BTreeMap<String, (String, u64)>;

impl AcmeDocuments {
    /// The plan of all certificates.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn plan(&self) -> Result<CertificatePlan, StoreFault> {
        Ok(self.read(PLAN).await?.1)
    }

    /// Changes the plan. `change` may be called several times, if others change it too.
    pub(crate) async fn change_plan(&self, change: impl Fn(&mut CertificatePlan)) -> Result<(), StoreFault> {
        self.change(PLAN, change).await
    }

    /// Has a certificate renewed as soon as a gateway looks. `false` if there is no plan for it.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn renew_now(&self, name: &str) -> Result<bool, StoreFault> {
        let is_known = self.plan().await?.contains_key(name);
        self.change_plan(|plan| {
            if let Some(planned) = plan.get_mut(name) {
                planned.renew_unix_s = 0;
                planned.again_unix_s = 0;
            }
        })
        .await?;
        Ok(is_known)
    }

    pub(crate) async fn shown(&self) -> Result<ShownDigests, StoreFault> {
        Ok(self.read(SHOWN).await?.1)
    }

    pub(crate) async fn change_shown(&self, now_unix_s: u64, change: impl Fn(&mut ShownDigests)) -> Result<(), StoreFault> {
        self.change(SHOWN, |shown: &mut ShownDigests| {
            shown.retain(|_, (_, until)| *until > now_unix_s);
            change(shown);
        })
        .await
    }

    /// Until when something is shown that is shown now.
    pub(crate) fn shown_until(now_unix_s: u64) -> u64 {
        now_unix_s + SHOWN_S_MAX
    }

    /// Differs after each change of plan or answers.
    pub(crate) async fn stamp(&self) -> Result<Option<Vec<u8>>, StoreFault> {
        self.0.read(SPACE, STAMP.to_owned()).await
    }

    /// The answer to an issuer that asks with a token over HTTP.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn answer(&self, token: &str) -> Result<Option<Vec<u8>>, StoreFault> {
        let is_token =
            (1..=512).contains(&token.len()) && token.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        if is_token { self.0.read(SPACE, token_id(token)).await } else { Ok(None) }
    }

    pub(crate) async fn write_answer(&self, token: &str, answer: &str, now_unix_s: u64) -> Result<(), StoreFault> {
        let expires = Some(now_unix_s + SHOWN_S_MAX);
        self.0.write(SPACE, token_id(token), answer.as_bytes().to_vec(), expires).await.map(drop)
    }

    pub(crate) async fn remove_answer(&self, token: &str) -> Result<(), StoreFault> {
        self.0.remove(SPACE, token_id(token)).await.map(drop)
    }

    /// The credentials of the account at an issuer.
    pub(crate) async fn account(&self, issuer: &str) -> Result<Option<Vec<u8>>, StoreFault> {
        self.0.read(SPACE, account_id(issuer)).await
    }

    /// Stores the credentials of an account, unless somebody was faster: then it returns those.
    pub(crate) async fn write_account(&self, issuer: &str, credentials: Vec<u8>) -> Result<Vec<u8>, StoreFault> {
        let was_there = self.0.write_over(SPACE, account_id(issuer), None, credentials.clone(), None).await?;
        let stored = if was_there { self.account(issuer).await? } else { None };
        Ok(stored.unwrap_or(credentials))
    }

    pub(crate) async fn remove_account(&self, issuer: &str) -> Result<(), StoreFault> {
        self.0.remove(SPACE, account_id(issuer)).await.map(drop)
    }

    /// The last answer of an issuer that a certificate is not revoked.
    pub(crate) async fn staple(&self, id: &str) -> Result<Option<Vec<u8>>, StoreFault> {
        self.0.read(SPACE, staple_id(id)).await
    }

    pub(crate) async fn write_staple(&self, id: &str, response: Vec<u8>, ends_unix_s: u64) -> Result<(), StoreFault> {
        self.0.write(SPACE, staple_id(id), response, Some(ends_unix_s)).await.map(drop)
    }

    /// Begins work on a certificate; `false` if another gateway is at it.
    pub(crate) async fn begin(&self, name: &str, node: &str, now_unix_s: u64) -> Result<bool, StoreFault> {
        let expires = Some(now_unix_s + WORK_S_MAX);
        self.0.write_over(SPACE, work_id(name), None, node.as_bytes().to_vec(), expires).await.map(|was_there| !was_there)
    }

    pub(crate) async fn end(&self, name: &str) -> Result<(), StoreFault> {
        self.0.remove(SPACE, work_id(name)).await.map(drop)
    }

    async fn read<T: Default + DeserializeOwned>(&self, id: &str) -> Result<(Option<Vec<u8>>, T), StoreFault> {
        let text = self.0.read(SPACE, id.to_owned()).await?;
        let value = text.as_deref().map(serde_json::from_slice).transpose().unwrap_or_else(|error| {
            tracing::error!(id, %error, "a document of issued certificates can't be read: it counts as empty");
            None
        });
        Ok((text, value.unwrap_or_default()))
    }

    async fn change<T: Default + Serialize + DeserializeOwned + PartialEq + Clone>(
        &self,
        id: &str,
        change: impl Fn(&mut T),
    ) -> Result<(), StoreFault> {
        for _ in 0..CHANGES_MAX {
            let (text, before) = self.read::<T>(id).await?;
            let mut after = before.clone();
            change(&mut after);
            if after == before {
                return Ok(());
            }
            // Maps of texts and numbers can be written.
            let new = serde_json::to_vec(&after).unwrap_or_default();
            let is_replacement = text.is_some();
            let existed = self.0.write_over(SPACE, id.to_owned(), text, new, None).await?;
            if existed == is_replacement {
                let mut random = [0; 16];
                // Without random bytes, the time still differs.
                let _ = getrandom::fill(&mut random);
                let stamp = [&unix_ns().to_be_bytes()[..], &random].concat();
                return self.0.write(SPACE, STAMP.to_owned(), stamp, None).await.map(drop);
            }
        }
        tracing::warn!(id, "a document of issued certificates was changed by others all the time");
        Ok(())
    }
}

fn token_id(token: &str) -> String {
    format!("token-{token}")
}

fn account_id(issuer: &str) -> String {
    format!("account-{}", tollgate_tls::hex_sha256(issuer.as_bytes()))
}

fn staple_id(certificate: &str) -> String {
    format!("staple-{certificate}")
}

fn work_id(name: &str) -> String {
    format!("work-{}", tollgate_tls::hex_sha256(name.as_bytes()))
}
