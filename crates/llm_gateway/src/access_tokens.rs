//! Access tokens of service accounts: asked for when a request needs one, and kept until shortly before they end.

use crate::failure::{Failure, FailureKind};
use std::time::Duration;
use tokio::sync::Mutex;
use tollgate_clock::unix_s;
use tollgate_llm::{AccessToken, FaultKind, ServiceAccount};
use tollgate_outbound::{Call, CallClient, CallLimits};
use tollgate_tls::TlsSettings;

/// A token is not used for a request when it ends so soon: it must be good until the provider has read it.
const MARGIN_S: u64 = 60;
/// An account that got no token does not ask again for so long.
const PAUSE_S: u64 = 5;
const TIME_MAX: Duration = Duration::from_secs(10);
const BODY_BYTES_MAX: usize = 64 << 10;

/// The tokens of one account.
pub(crate) struct AccessTokens {
    account: ServiceAccount,
    // One request at a time asks; the others wait for its answer.
    last: Mutex<LastToken>,
}

#[derive(Default)]
struct LastToken {
    text: String,
    ends_unix_s: u64,
    failed_until_unix_s: u64,
}

impl AccessTokens {
    pub(crate) fn new(account: ServiceAccount) -> Self {
        AccessTokens { account, last: Mutex::default() }
    }

    /// The provider did not accept this token.
    pub(crate) async fn forget(&self, text: &str) {
        let mut last = self.last.lock().await;
        if last.text == text {
            last.ends_unix_s = 0;
        }
    }

    /// A token that is good for a while.
    ///
    /// # Errors
    /// The account gets none.
    pub(crate) async fn token(&self, client: &CallClient, tls: &TlsSettings) -> Result<String, Failure> {
        let mut last = self.last.lock().await;
        let now_unix_s = unix_s();
        if now_unix_s + MARGIN_S < last.ends_unix_s {
            return Ok(last.text.clone());
        }
        if now_unix_s < last.failed_until_unix_s {
            return Err(failed("there was none a moment ago"));
        }
        match self.new_token(client, tls, now_unix_s).await {
            Ok(token) => {
                *last = LastToken { text: token.text, ends_unix_s: now_unix_s + token.life_s, failed_until_unix_s: 0 };
                Ok(last.text.clone())
            }
            Err(why) => {
                last.failed_until_unix_s = now_unix_s + PAUSE_S;
                Err(failed(&why))
            }
        }
    }

    async fn new_token(&self, client: &CallClient, tls: &TlsSettings, now_unix_s: u64) -> Result<AccessToken, String> {
        let form = self.account.token_form(now_unix_s)?;
        let headers = [("content-type".to_owned(), "application/x-www-form-urlencoded".to_owned())];
        let limits = CallLimits { time_max: TIME_MAX, body_bytes_max: BODY_BYTES_MAX };
        let call = Call::of_texts("POST", self.account.token_url(), &headers, form.into_bytes(), tls, limits);
        let reply = client.call(call.map_err(|_| "its token_uri cannot be asked")?).await.map_err(|error| error.to_string())?;
        if !reply.status.is_success() {
            return Err(format!("status {}", reply.status.as_u16()));
        }
        Ok(ServiceAccount::read_token(&reply.body)?)
    }
}

fn failed(why: &str) -> Failure {
    let why = format!("the service account got no access token: {why}");
    let failure = Failure::new(FaultKind::Server, "the provider does not accept the gateway's credential", why);
    Failure { kind: FailureKind::Failed, ..failure }
}
