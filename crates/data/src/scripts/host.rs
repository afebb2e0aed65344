//! What scripts of an API can do beside calculating: write to the log, send requests, read and store keys. A script's thread waits for the
//! answer; requests and keys are handled on a thread of their own.

use crate::header_names::canonical_name;
use crate::registry::Registry;
use futures_util::future::join_all;
use http::{HeaderName, HeaderValue};
use std::future::Future;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;
use tollgate_access::keys::{Keys, in_place_of, prepared};
use tollgate_clock::unix_s;
use tollgate_javascript::{HttpCall, HttpReply, ProgramFault, ScriptHost};
use tollgate_model::calendar::rfc3339;
use tollgate_model::session::Session;
use tollgate_outbound::{Call, CallClient, CallLimits, CallReply};
use tollgate_tls::TlsSettings;

/// Tyk's answer for a key that does not exist.
const KEY_UNKNOWN: &str = r#"{"status":"error","message":"Key not found"}"#;

pub(super) struct GatewayHost {
    api: String,
    registry: Arc<Registry>,
    tls: TlsSettings,
    body_bytes_max: usize,
}

impl GatewayHost {
    /// What the scripts of an API can do. `tls` is for its upstreams.
    pub(super) fn new(api: &str, registry: &Arc<Registry>, tls: TlsSettings, body_bytes_max: usize) -> Self {
        GatewayHost { api: api.to_owned(), registry: registry.clone(), tls, body_bytes_max }
    }

    /// Runs work on the thread for calls, and waits for its result.
    fn wait<T: Send + 'static>(
        &self,
        time_max: Duration,
        work: impl FnOnce(Arc<CallClient>) -> std::pin::Pin<Box<dyn Future<Output = T> + Send>>,
    ) -> Option<T> {
        let client = self.registry.script_client.get()?;
        let (sender, receiver) = sync_channel(1);
        let work = work(client.clone());
        client.spawn(async move {
            // Fails only if the script no longer waits.
            let _ = sender.try_send(work.await);
        });
        receiver.recv_timeout(time_max).ok()
    }

    fn calls(&self, calls: Vec<HttpCall>, time_max: Duration) -> Vec<Option<Call>> {
        let limits = CallLimits { time_max, body_bytes_max: self.body_bytes_max };
        let called = |HttpCall { method, url, headers, body }: HttpCall| {
            Call::of_texts(&method, &url, &headers, body, &self.tls, limits).map_err(|why| self.warn(&why)).ok()
        };
        calls.into_iter().map(called).collect()
    }

    fn warn(&self, why: &str) {
        tracing::warn!(api = self.api, why, "a script's request was not sent");
    }
}

impl ScriptHost for GatewayHost {
    fn load_failed(&self, fault: &ProgramFault) {
        tracing::error!(api = self.api, %fault, "a script can't be loaded; its calls fail");
    }

    fn log(&self, text: &str) {
        tracing::info!(api = self.api, "script: {text}");
    }

    fn raw_log(&self, text: &str) {
        tracing::info!("{text}");
    }

    fn send(&self, call: HttpCall, time_max: Duration) -> Option<HttpReply> {
        self.send_all(vec![call], true, time_max).pop().flatten()
    }

    fn send_all(&self, calls: Vec<HttpCall>, in_turn: bool, time_max: Duration) -> Vec<Option<HttpReply>> {
        let calls = self.calls(calls, time_max);
        let api = self.api.clone();
        let done = self.wait(time_max, |client| {
            Box::pin(async move {
                let one = |call: Option<Call>| {
                    let (client, api) = (&client, &api);
                    async move {
                        let reply = client.call(call?).await;
                        reply.map(reply_of).inspect_err(|fault| tracing::warn!(api, %fault, "a script's request failed")).ok()
                    }
                };
                if !in_turn {
                    return join_all(calls.into_iter().map(one)).await;
                }
                let mut replies = Vec::new();
                for call in calls {
                    replies.push(one(call).await);
                }
                replies
            })
        });
        done.unwrap_or_default()
    }

    fn key(&self, key: &str, _: &str, time_max: Duration) -> String {
        let Some(keys) = self.registry.script_keys.get().cloned() else { return KEY_UNKNOWN.to_owned() };
        let key = key.to_owned();
        let found = self.wait(time_max, |_| Box::pin(async move { read_key(&keys, &key).await }));
        found.flatten().unwrap_or_else(|| KEY_UNKNOWN.to_owned())
    }

    fn set_key(&self, key: &str, session: &str, keep_counters: bool, time_max: Duration) -> Result<(), String> {
        let keys = self.registry.script_keys.get().cloned().ok_or("there are no keys")?;
        let (session, _) = Session::parse(session.as_bytes()).map_err(|_| "the session is not a JSON object of one")?;
        let key = key.to_owned();
        let done = self.wait(time_max, |_| Box::pin(async move { store_key(&keys, &key, session, keep_counters).await }));
        done.unwrap_or_else(|| Err("the store did not answer in time".to_owned()))
    }
}

fn reply_of(reply: CallReply) -> HttpReply {
    let headers = reply.headers.iter();
    let line = |(name, value): (&HeaderName, &HeaderValue)| {
        (canonical_name(name.as_str()), String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    HttpReply { status: reply.status.as_u16(), headers: headers.map(line).collect(), body: reply.body.to_vec() }
}

/// The session of a key as JSON. It includes no password, not even a hashed one.
async fn read_key(keys: &Arc<Keys>, key: &str) -> Option<String> {
    let view = keys.view(key, "").await.ok()?;
    let digest = view.digest_of(key).or_else(|| view.digest_of(&view.known(key, "")?))?;
    let mut session = view.live_session(&digest, unix_s())?;
    session.basic_auth_data.password.clear();
    serde_json::to_string(&session).ok()
}

/// Stores a session under a key, as `PUT /tyk/keys/{key}` does; a new key is named exactly so, as in Tyk.
async fn store_key(keys: &Arc<Keys>, key: &str, mut session: Session, keep_counters: bool) -> Result<(), String> {
    let applied = keys.with_policies(&session).map_err(|problem| problem.to_string())?;
    if applied.access_rights.is_empty() && !keys.rules.allow_master_keys {
        return Err("a key must have at least one access right".to_owned());
    }
    session.last_updated = unix_s().to_string();
    let view = keys.view(key, &session.org_id).await.map_err(|fault| fault.to_string())?;
    let name = view.name_of(&view.known(key, &session.org_id).unwrap_or_else(|| key.to_owned()));
    let keep_counters = keep_counters || keys.keeps_quotas(&session);
    let session = prepared(session).await?;
    let put = move |old: Option<Session>| {
        let session = session.clone();
        Some(match old {
            Some(old) => in_place_of(&old, Session { date_created: old.date_created.clone(), ..session }),
            None => Session { date_created: rfc3339(unix_s()), ..session },
        })
    };
    keys.rewrite(name, keep_counters, put).await.map(|_| ()).map_err(|fault| fault.to_string())
}
