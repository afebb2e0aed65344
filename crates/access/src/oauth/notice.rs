//! Notifies an API's owner of new tokens, as Tyk does: a POST to `notifications.oauth_on_keychange_url`. It is sent in the background, with
//! four attempts in half a minute; its content is never logged.

use http::header::{CONTENT_TYPE, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tollgate_model::api::Notifications;
use tollgate_outbound::{Call, CallClient};
use tollgate_tls::TlsRules;

/// Number of attempts, and the pause between them.
const ATTEMPTS: u32 = 4;
const BETWEEN: Duration = Duration::from_secs(10);
/// Deadline of one attempt.
const CALL_TIME_MAX: Duration = Duration::from_secs(10);
/// Longest answer that is read; nobody uses it.
const ANSWER_BYTES_MAX: usize = 64 << 10;
/// Most notices in flight, some KiB each. If there are more, the receiver has been down for long, and new notices are dropped.
const ON_THE_WAY_MAX: usize = 1_024;

/// A new token.
pub struct TokenNotice {
    pub auth_code: String,
    pub new_token: String,
    pub refresh_token: String,
    pub old_refresh_token: String,
}

/// Sends notices.
#[derive(Default)]
pub struct Notices {
    on_the_way: AtomicUsize,
}

impl Notices {
    /// Sends a notice in the background if the API has a URL for it; returns at once.
    pub fn send(self: &Arc<Self>, auth_client: Option<Arc<CallClient>>, to: &Notifications, notice: &TokenNotice) {
        if to.oauth_on_keychange_url.is_empty() {
            return;
        }
        let (Ok(uri), Ok(secret)) = (to.oauth_on_keychange_url.parse::<Uri>(), HeaderValue::from_str(&to.shared_secret)) else {
            tracing::warn!("nobody is notified of a new token: the URL or the secret of `notifications` is unusable");
            return;
        };
        let Some(auth_client) = auth_client else { return };
        if self.on_the_way.fetch_add(1, Ordering::AcqRel) >= ON_THE_WAY_MAX {
            self.on_the_way.fetch_sub(1, Ordering::AcqRel);
            tracing::warn!(url = to.oauth_on_keychange_url, "a notification of a new token is dropped: too many are waiting");
            return;
        }
        let kind = if notice.old_refresh_token.is_empty() { "new" } else { "refresh" };
        let body = json!({
            "auth_code": notice.auth_code,
            "new_oauth_token": notice.new_token,
            "refresh_token": notice.refresh_token,
            "old_refresh_token": notice.old_refresh_token,
            "notification_type": kind,
        });
        let mut headers = HeaderMap::new();
        // Tyk's own spelling, which receivers may match.
        headers.insert(USER_AGENT, HeaderValue::from_static("Tyk-Gatewy-Notifications"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert("x-tyk-shared-secret", secret);
        let body = hyper::body::Bytes::from(body.to_string());
        let (notices, caller) = (self.clone(), auth_client.clone());
        let call = move || Call {
            method: Method::POST,
            uri: uri.clone(),
            headers: headers.clone(),
            body: body.clone(),
            tls: TlsRules::default(),
            time_max: CALL_TIME_MAX,
            body_bytes_max: ANSWER_BYTES_MAX,
            redirects_max: 0,
        };
        auth_client.spawn(async move {
            for attempt in 1..=ATTEMPTS {
                let why = match caller.call(call()).await {
                    Ok(reply) if reply.status == StatusCode::OK => break,
                    Ok(reply) => format!("status {}", reply.status.as_u16()),
                    Err(fault) => fault.to_string(),
                };
                tracing::warn!(why, attempt, "the receiver of notifications of new tokens does not answer with success");
                if attempt < ATTEMPTS {
                    tokio::time::sleep(BETWEEN).await;
                }
            }
            notices.on_the_way.fetch_sub(1, Ordering::AcqRel);
        });
    }
}
