//! HashiCorp Vault: the key-value engine, version 1 or 2, over `GET /v1/...`.

use super::{ANSWER_BYTES_MAX, ANSWER_TIME_MAX, client_settings, member, unavailable};
use http::{HeaderValue, Request, StatusCode, Uri};
use http_body_util::Full;
use hyper::body::Bytes;
use serde_json::Value;
use std::time::Duration;
use tokio::time::timeout;
use tollgate_model::config::VaultSettings;
use tollgate_model::reference::SecretFault;
use tollgate_outbound::{HttpClient, HttpFault};
use tollgate_tls::{Library, TlsRules, client_config};

/// Between two attempts.
const PAUSE: Duration = Duration::from_millis(200);
/// Most attempts, whatever is configured: somebody waits for the answer.
const TRIES_MAX: u32 = 5;

pub(super) struct Vault {
    client: HttpClient,
    /// Without a slash at its end.
    address: String,
    token: HeaderValue,
    tries: u32,
    time_max: Duration,
    is_version_1: bool,
}

impl Vault {
    pub(super) fn new(settings: &VaultSettings) -> Result<Self, String> {
        let address = if settings.agent_address.is_empty() { &settings.address } else { &settings.agent_address };
        let mut token = HeaderValue::from_str(&settings.token).map_err(|_| "the token is not a valid header value".to_owned())?;
        token.set_sensitive(true);
        Ok(Vault {
            client: HttpClient::new(client_config(&TlsRules::default(), &Library::default())?, client_settings()),
            address: address.trim_end_matches('/').to_owned(),
            token,
            tries: settings.max_retries.saturating_add(1).min(TRIES_MAX),
            time_max: if settings.timeout == 0 {
                ANSWER_TIME_MAX
            } else {
                Duration::from_nanos(settings.timeout).min(ANSWER_TIME_MAX)
            },
            is_version_1: settings.kv_version == 1,
        })
    }

    /// The field of the secret at a path; without a field, the whole secret as JSON.
    pub(super) async fn read(&self, path: &str, field: Option<&str>) -> Result<String, SecretFault> {
        let url = self.url(path)?;
        let mut tried = self.try_once(&url).await;
        for _ in 1..self.tries {
            if !matches!(tried, Err(SecretFault::Unavailable(_))) {
                break;
            }
            tokio::time::sleep(PAUSE).await;
            tried = self.try_once(&url).await;
        }
        let mut answer = tried?;
        let mut data = answer.get_mut("data").map(Value::take).unwrap_or_default();
        if !self.is_version_1 {
            data = data.get_mut("data").map(Value::take).unwrap_or_default();
        }
        match field {
            _ if !data.is_object() => Err(SecretFault::Missing),
            Some(field) => member(&data, field),
            None => Ok(data.to_string()),
        }
    }

    /// Version 2 has its secrets below `data`, after the name of the engine.
    fn url(&self, path: &str) -> Result<Uri, SecretFault> {
        let path = path.trim_matches('/');
        let path = match path.split_once('/') {
            Some((engine, rest)) if !self.is_version_1 => format!("{engine}/data/{rest}"),
            None if !self.is_version_1 => return Err(unavailable("the path must begin with the name of the engine")),
            _ => path.to_owned(),
        };
        format!("{}/v1/{path}", self.address).parse().map_err(|_| unavailable("the path is not a part of a URL"))
    }

    async fn try_once(&self, url: &Uri) -> Result<Value, SecretFault> {
        let mut request = Request::new(Full::new(Bytes::new()));
        *request.uri_mut() = url.clone();
        request.headers_mut().insert("x-vault-token", self.token.clone());
        request.headers_mut().insert("x-vault-request", HeaderValue::from_static("true"));
        let answer = timeout(self.time_max, self.client.send(request, ANSWER_BYTES_MAX)).await;
        let answer =
            answer.map_err(|_| unavailable("the store does not answer"))?.map_err(|fault: HttpFault| unavailable(fault))?;
        match answer.status {
            StatusCode::OK => serde_json::from_slice(&answer.body).map_err(|_| unavailable("the answer is not JSON")),
            StatusCode::NOT_FOUND => Err(SecretFault::Missing),
            status => Err(unavailable(format!("the store answered with status {}", status.as_u16()))),
        }
    }
}

#[cfg(test)]
mod tests;
