//! HashiCorp Consul: the key-value store, over `GET /v1/kv/...?raw`.

use super::{ANSWER_BYTES_MAX, ANSWER_TIME_MAX, client_settings, member, unavailable};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue, Request, StatusCode, Uri};
use http_body_util::Full;
use hyper::body::Bytes;
use tokio::time::timeout;
use tollgate_http::form::encode_form;
use tollgate_model::config::{CollectorTls, ConsulSettings};
use tollgate_model::reference::SecretFault;
use tollgate_outbound::{HttpClient, HttpFault};
use tollgate_tls::collector_config;

pub(super) struct Consul {
    client: HttpClient,
    /// Scheme, host and port.
    address: String,
    /// `&dc=...` if a data centre is configured.
    parameters: String,
    headers: HeaderMap,
}

impl Consul {
    pub(super) fn new(settings: &ConsulSettings) -> Result<Self, String> {
        let tls = CollectorTls {
            ca_file: settings.tls_config.ca_file.clone(),
            cert_file: settings.tls_config.cert_file.clone(),
            key_file: settings.tls_config.key_file.clone(),
            insecure_skip_verify: settings.tls_config.insecure_skip_verify,
            ..CollectorTls::default()
        };
        let secret = |text: String| {
            let mut value =
                HeaderValue::try_from(text).map_err(|_| "the token or password is not a valid header value".to_owned())?;
            value.set_sensitive(true);
            Ok::<_, String>(value)
        };
        let mut headers = HeaderMap::new();
        if !settings.token.is_empty() {
            headers.insert("x-consul-token", secret(settings.token.clone())?);
        }
        let auth = &settings.http_auth;
        if !auth.username.is_empty() {
            headers.insert(
                AUTHORIZATION,
                secret(format!("Basic {}", STANDARD.encode(format!("{}:{}", auth.username, auth.password))))?,
            );
        }
        let scheme = if settings.scheme.is_empty() { "http" } else { settings.scheme.as_str() };
        let address = match settings.address.split_once("://") {
            Some(_) => settings.address.clone(),
            None => format!("{scheme}://{}", settings.address),
        };
        let parameters = match settings.datacenter.as_str() {
            "" => String::new(),
            name => format!("&dc={}", encode_form(name)),
        };
        let client = HttpClient::new(collector_config(&tls)?, client_settings());
        Ok(Consul { client, address: address.trim_end_matches('/').to_owned(), parameters, headers })
    }

    /// The value of a key; with a field, that member of a value in JSON.
    pub(super) async fn read(&self, key: &str, field: Option<&str>) -> Result<String, SecretFault> {
        let url = format!("{}/v1/kv/{}?raw{}", self.address, key.trim_start_matches('/'), self.parameters);
        let url: Uri = url.parse().map_err(|_| unavailable("the key is not a part of a URL"))?;
        let mut request = Request::new(Full::new(Bytes::new()));
        *request.uri_mut() = url;
        request.headers_mut().clone_from(&self.headers);
        let answer = timeout(ANSWER_TIME_MAX, self.client.send(request, ANSWER_BYTES_MAX)).await;
        let answer =
            answer.map_err(|_| unavailable("the store does not answer"))?.map_err(|fault: HttpFault| unavailable(fault))?;
        match (answer.status, field) {
            (StatusCode::NOT_FOUND, _) => Err(SecretFault::Missing),
            (StatusCode::OK, None) => String::from_utf8(answer.body.to_vec()).map_err(|_| unavailable("the value is not text")),
            (StatusCode::OK, Some(field)) => {
                let value = serde_json::from_slice(&answer.body).map_err(|_| unavailable("the value is not JSON"))?;
                member(&value, field)
            }
            (status, _) => Err(unavailable(format!("the store answered with status {}", status.as_u16()))),
        }
    }
}
