//! Accounts at issuers, and the connections to them.

use crate::documents::AcmeDocuments;
use base64::Engine;
use base64::engine::general_purpose::{URL_SAFE, URL_SAFE_NO_PAD};
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use instant_acme::{Account, AccountCredentials, BodyWrapper, BytesResponse, Error, ExternalAccountKey, NewAccount};
use std::pin::Pin;
use std::time::Duration;
use tollgate_model::config::AcmeIssuer;
use tollgate_outbound::{HttpClient, HttpClientSettings, ProxyChooser};
use tollgate_tls::{Library, TlsRules, client_config};

/// For one request and its answer.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(30);
/// A chain has some kilobytes.
const ANSWER_BYTES_MAX: usize = 1 << 20;
const IDLE_MAX: Duration = Duration::from_secs(30);

/// The account at an issuer: that of the store, or a new one.
///
/// # Errors
/// Why there is none.
pub(crate) async fn account(
    issuer: &AcmeIssuer,
    documents: &AcmeDocuments,
    proxies: Option<&ProxyChooser>,
) -> Result<Account, String> {
    let store_fault = |fault: tollgate_store::StoreFault| fault.to_string();
    if let Some(credentials) = documents.account(&issuer.directory).await.map_err(store_fault)?
        && let Ok(credentials) = serde_json::from_slice(&credentials)
    {
        return restored(issuer, credentials, proxies).await;
    }
    let external = issuer.external_account.as_ref().map(|external| {
        let decoded = URL_SAFE_NO_PAD.decode(&external.key).or_else(|_| URL_SAFE.decode(&external.key));
        decoded.map(|key| ExternalAccountKey::new(external.id.clone(), &key))
    });
    let external = external.transpose().map_err(|error| format!("external_account.key: {error}"))?;
    let contact: Vec<&str> = issuer.contact.iter().map(String::as_str).collect();
    let new = NewAccount { contact: &contact, terms_of_service_agreed: issuer.agree_to_terms, only_return_existing: false };
    let builder = Account::builder_with_http(Box::new(IssuerClient::new(issuer, proxies)?));
    let (account, credentials) =
        builder.create(&new, issuer.directory.clone(), external.as_ref()).await.map_err(|error| error.to_string())?;
    let text = serde_json::to_vec(&credentials).map_err(|error| error.to_string())?;
    let stored = documents.write_account(&issuer.directory, text.clone()).await.map_err(store_fault)?;
    if stored == text {
        tracing::info!(issuer = issuer.directory, account = account.id(), "an account at an issuer of certificates was made");
        return Ok(account);
    }
    // Another gateway has made one at the same time: all use that.
    restored(issuer, serde_json::from_slice(&stored).map_err(|error| error.to_string())?, proxies).await
}

async fn restored(issuer: &AcmeIssuer, credentials: AccountCredentials, proxies: Option<&ProxyChooser>) -> Result<Account, String> {
    let account = Account::builder_with_http(Box::new(IssuerClient::new(issuer, proxies)?)).from_credentials(credentials);
    account.await.map_err(|error| error.to_string())
}

/// The connections to an issuer.
struct IssuerClient(HttpClient);

impl IssuerClient {
    fn new(issuer: &AcmeIssuer, proxies: Option<&ProxyChooser>) -> Result<Self, String> {
        let own = Some(issuer.authorities.to_string_lossy().into_owned()).filter(|file| !file.is_empty());
        let rules = TlsRules { authorities: own.into_iter().collect(), ..TlsRules::default() };
        let tls = client_config(&rules, &Library::default())?;
        let settings = HttpClientSettings { http2: false, idle_max: IDLE_MAX, connect_time_max: Some(ANSWER_TIME_MAX) };
        Ok(IssuerClient(HttpClient::through(tls, settings, proxies.cloned())))
    }
}

type IssuerAnswer = Pin<Box<dyn Future<Output = Result<BytesResponse, Error>> + Send>>;

impl instant_acme::HttpClient for IssuerClient {
    fn request(&self, request: Request<BodyWrapper<Bytes>>) -> IssuerAnswer {
        let client = self.0.clone();
        Box::pin(async move {
            let failed = |why: String| Error::Other(why.into());
            let (head, body) = request.into_parts();
            let body = body.collect().await.map_or_else(|never| match never {}, |body| body.to_bytes());
            let sent = client.send(Request::from_parts(head, Full::new(body)), ANSWER_BYTES_MAX);
            let answer = tokio::time::timeout(ANSWER_TIME_MAX, sent).await.map_err(|_| failed("no answer in time".to_owned()))?;
            let answer = answer.map_err(|fault| failed(fault.to_string()))?;
            let mut response = Response::new(Full::new(answer.body));
            *response.status_mut() = answer.status;
            *response.headers_mut() = answer.headers;
            Ok(BytesResponse::from(response))
        })
    }
}
