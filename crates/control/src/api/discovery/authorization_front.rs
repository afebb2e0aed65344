//! An authorization server in front of an identity provider that knows the gateway as its only client: clients register here (RFC 7591) or have a
//! document somewhere, users agree here and sign in there, and codes and refresh tokens are good only for the client that they were given to. Nothing is kept: what is to
//! be known later is sealed, and comes back from clients and browsers, to any gateway with the same secret.

use super::client::{ClientFacts, ClientFault, document_host, is_plain_url, loopback};
use super::consent::{Consent, refusal};
use super::{
    AUTHORIZATION_SERVER, DOCUMENT_WAITS, DiscoveryRequest, FORM, MirrorFault, TOKEN_BYTES_MAX, TOKEN_TIME_MAX, at, encoded,
    is_web_url, shown, text, well_known,
};
use crate::api::mcp_clients::{self, UsedClient};
use crate::mirrored_documents::MirroredDocument;
use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt;
use tollgate_access::oauth::{Challenge, OauthParameters, with_query};
use tollgate_access::secret::random_text;
use tollgate_clock::unix_s;
use tollgate_console::cookies;
use tollgate_data::discovery::AuthorizationRules;
use tollgate_http::form::encode_form;
use tollgate_model::api::PkceMethod;
use tollgate_outbound::{Call, Holder};

/// How long a user may take to agree and to sign in, and a client to fetch its tokens.
const SIGN_IN_S: u64 = 900;
const CODE_S: u64 = 60;
/// Most bytes of a client's state and scope.
const PARAMETER_BYTES_MAX: usize = 1_000;

/// Errors of the provider that are the client's.
const PASSED_ERRORS: [&str; 3] = ["invalid_grant", "invalid_scope", "invalid_request"];

/// What is sealed: kinds of facts.
const CLIENT: &str = "oauth client";
const CONSENT: &str = "oauth consent";
const STATE: &str = "oauth state";
const CODE: &str = "oauth code";
const REFRESH: &str = "oauth refresh token";

/// A request for a code, on its way through the browser.
#[derive(Serialize, Deserialize)]
struct RequestFacts {
    /// Digest of the client's id.
    client: String,
    redirect_uri: String,
    state: Option<String>,
    scope: String,
    challenge: String,
    /// Digest of what the browser's cookie says.
    browser: String,
    until_unix_s: u64,
    /// What the client calls itself, and the URL of its document if it has one.
    #[serde(default)]
    name: String,
    #[serde(default)]
    url: Option<String>,
}

/// A code of the provider, for one client.
#[derive(Serialize, Deserialize)]
struct CodeFacts {
    code: String,
    client: String,
    redirect_uri: String,
    challenge: String,
    scope: String,
    /// The gateway's own redirect URI, as the provider has got it.
    callback: String,
    until_unix_s: u64,
}

/// A refresh token of the provider, for one client.
#[derive(Serialize, Deserialize)]
struct RefreshFacts {
    token: String,
    client: String,
    /// What the user has agreed to.
    scope: String,
}

/// Why a client is not let in.
enum ClientRefusal {
    Unknown,
    Removed,
    StoreSilent,
    /// Why its document is of no use.
    Document(String),
}

impl fmt::Display for ClientRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClientRefusal::Unknown => f.write_str("The client is not registered here."),
            ClientRefusal::Removed => f.write_str("The client was removed."),
            ClientRefusal::StoreSilent => f.write_str("It is not known whether the client may be let in. Try again later."),
            ClientRefusal::Document(why) => write!(f, "The document that says who the client is cannot be used: {why}."),
        }
    }
}

/// The authorization server of one API.
pub(super) struct AuthorizationFront<'r> {
    pub request: &'r DiscoveryRequest<'r>,
    pub proxy: &'r AuthorizationRules,
}

impl AuthorizationFront<'_> {
    pub(super) async fn answer(
        &self,
        endpoint: &str,
        query: Option<&str>,
        headers: &HeaderMap,
        body: &Bytes,
        method: &Method,
    ) -> Response {
        let is_form = *method == Method::POST;
        let read = || match is_form {
            true => OauthParameters::read(None, Some(FORM), body),
            false => OauthParameters::read(query, None, b""),
        };
        match endpoint {
            "resource" => self.resource(),
            "server" => self.server().await.unwrap_or_else(|refused| refused),
            "register" => self.register(body),
            "authorize" | "callback" => match read() {
                Ok(form) if is_form => self.decided(&form, headers).await,
                Ok(parameters) if endpoint == "authorize" => self.authorize(&parameters, headers).await,
                Ok(parameters) => self.callback(&parameters, headers).await,
                Err(refused) => refusal(&format!("The request cannot be read: {}.", refused.description())),
            },
            "token" => match read() {
                // Clients read errors as JSON.
                Ok(form) => self.token(&form).await.unwrap_or_else(|refused| match refused.status() {
                    StatusCode::BAD_GATEWAY => {
                        oauth_error(StatusCode::BAD_GATEWAY, "server_error", "the identity provider gives no token")
                    }
                    _ => refused,
                }),
                Err(refused) => oauth_error(StatusCode::BAD_REQUEST, refused.code.name(), refused.description()),
            },
            _ => text(StatusCode::NOT_FOUND, "Not Found"),
        }
    }

    /// The document of the protected resource.
    fn resource(&self) -> Response {
        let listen_path = self.request.api.listen_path.trim_end_matches('/');
        let mut document = MirroredDocument::from([
            ("resource".to_owned(), json!(format!("{}{listen_path}/", self.request.origin))),
            ("authorization_servers".to_owned(), json!([self.request.own_server()])),
            ("bearer_methods_supported".to_owned(), json!(["header"])),
        ]);
        if !self.proxy.scopes.is_empty() {
            document.insert("scopes_supported".to_owned(), json!(self.proxy.scopes));
        }
        shown(&document)
    }

    /// The metadata of this server.
    async fn server(&self) -> Result<Response, Response> {
        let provider = self.provider().await?;
        let own = self.request.own_server();
        let mut metadata = MirroredDocument::from([
            ("issuer".to_owned(), json!(own)),
            ("authorization_endpoint".to_owned(), json!(format!("{own}/authorize"))),
            ("token_endpoint".to_owned(), json!(format!("{own}/token"))),
            ("registration_endpoint".to_owned(), json!(format!("{own}/register"))),
            ("response_types_supported".to_owned(), json!(["code"])),
            ("grant_types_supported".to_owned(), json!(["authorization_code", "refresh_token"])),
            ("code_challenge_methods_supported".to_owned(), json!(["S256"])),
            ("token_endpoint_auth_methods_supported".to_owned(), json!(["none"])),
            ("authorization_response_iss_parameter_supported".to_owned(), json!(true)),
            ("client_id_metadata_document_supported".to_owned(), json!(true)),
        ]);
        let scopes = (!self.proxy.scopes.is_empty()).then(|| json!(self.proxy.scopes));
        if let Some(scopes) = scopes.or_else(|| provider.get("scopes_supported").cloned()) {
            metadata.insert("scopes_supported".to_owned(), scopes);
        }
        Ok(shown(&metadata))
    }

    /// Registers a client: its id says all that is to be known of it.
    fn register(&self, body: &[u8]) -> Response {
        let refused = |code: &str, why: &str| oauth_error(StatusCode::BAD_REQUEST, code, why);
        let Ok(Value::Object(asked)) = serde_json::from_slice::<Value>(body) else {
            return refused("invalid_client_metadata", "the body must be a JSON object");
        };
        let facts = match ClientFacts::of_request(&asked, unix_s()) {
            Ok(facts) => facts,
            Err(fault @ ClientFault::Metadata(_)) => return refused("invalid_client_metadata", &fault.to_string()),
            Err(fault @ ClientFault::RedirectUri(_)) => return refused("invalid_redirect_uri", &fault.to_string()),
        };
        if let Some(uri) = facts.redirect_uris.iter().find(|uri| !self.may_return_to(uri)) {
            return refused("invalid_redirect_uri", &format!("users may not be sent to {uri:?}"));
        }
        let Some(id) = self.proxy.seal.sealed(CLIENT, &facts) else {
            return text(StatusCode::INTERNAL_SERVER_ERROR, "the client cannot be named");
        };
        let registered = json!({
            "client_id": id, "client_id_issued_at": facts.issued_unix_s, "client_name": facts.name, "redirect_uris": facts.redirect_uris,
            "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"], "token_endpoint_auth_method": "none",
        });
        (StatusCode::CREATED, [(header::CACHE_CONTROL, "no-store")], axum::Json(registered)).into_response()
    }

    /// Asks the user whether the client may be let in.
    async fn authorize(&self, parameters: &OauthParameters, headers: &HeaderMap) -> Response {
        let id = parameters.get("client_id");
        let client = match self.client(id).await {
            Ok(client) => client,
            Err(refused) => return refusal(&refused.to_string()),
        };
        let wanted = match (parameters.find("redirect_uri"), client.redirect_uris.as_slice()) {
            (Some(wanted), _) if client.has_redirect(wanted) => wanted.to_owned(),
            (None, [only]) => only.clone(),
            _ => return refusal("The address to send you back to is none that the client has registered."),
        };
        // What was allowed when the client registered may not be any more.
        if !self.may_return_to(&wanted) {
            return refusal("Users may not be sent to the client's address.");
        }
        let (state, scope) = (parameters.find("state").map(str::to_owned), parameters.get("scope"));
        let back = |code: &str, why: &str| self.back(&wanted, &[("error", code), ("error_description", why)], state.as_deref());
        if [state.as_deref().unwrap_or_default(), scope].iter().any(|text| text.len() > PARAMETER_BYTES_MAX) {
            return self.back(&wanted, &[("error", "invalid_request"), ("error_description", "a parameter is too long")], None);
        }
        if parameters.get("response_type") != "code" {
            return back("unsupported_response_type", "response_type must be code");
        }
        let challenge = parameters
            .find("code_challenge")
            .filter(|text| is_digest(text) && parameters.get("code_challenge_method") == PkceMethod::S256.name());
        let Some(challenge) = challenge else {
            return back("invalid_request", "a code_challenge of the method S256 is required");
        };
        let Some(nonce) = self.nonce(headers).or_else(|| random_text().ok().map(|random| digest(&random))) else {
            return text(StatusCode::INTERNAL_SERVER_ERROR, "no randomness");
        };
        let Some(scope) = granted(&self.proxy.scopes, scope) else {
            return back("invalid_scope", "none of these scopes can be had here");
        };
        let facts = RequestFacts {
            client: digest(id),
            redirect_uri: wanted.clone(),
            state,
            scope,
            challenge: challenge.to_owned(),
            browser: digest(&nonce),
            until_unix_s: unix_s() + SIGN_IN_S,
            name: client.name.clone(),
            url: document_host(id).map(|_| id.to_owned()),
        };
        let Some(request) = self.proxy.seal.sealed(CONSENT, &facts) else {
            return refusal("The request is too long.");
        };
        let api = &self.request.api.name;
        let host = document_host(id);
        let page = Consent { client: &client.name, host, api, scope: &facts.scope, redirect_uri: &wanted, request: &request };
        let mut response = page.page();
        if let Ok(cookie) = HeaderValue::from_str(&self.cookie(&nonce)) {
            response.headers_mut().append(header::SET_COOKIE, cookie);
        }
        response
    }

    /// Sends the user who has agreed on to the provider.
    async fn decided(&self, form: &OauthParameters, headers: &HeaderMap) -> Response {
        // Another site must not agree in the user's name, whatever cookies it could set.
        let says = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
        let is_own = says(header::ORIGIN) == Some(self.request.origin.as_str())
            || says(HeaderName::from_static("sec-fetch-site")) == Some("same-origin");
        if !is_own {
            return refusal("The answer comes from another page.");
        }
        let facts = match self.pending(CONSENT, form.get("request"), headers) {
            Ok(facts) => facts,
            Err(why) => return refusal(why),
        };
        if form.get("decision") != "agree" {
            let error = [("error", "access_denied"), ("error_description", "the user does not agree")];
            return self.back(&facts.redirect_uri, &error, facts.state.as_deref());
        }
        let provider = match self.provider().await {
            Ok(provider) => provider,
            Err(refused) => return refused,
        };
        let endpoint = provider.get("authorization_endpoint").and_then(Value::as_str).filter(|url| is_web_url(url));
        let (Some(endpoint), Some(state)) = (endpoint, self.proxy.seal.sealed(STATE, &facts)) else {
            return text(StatusCode::BAD_GATEWAY, "the identity provider has no authorization_endpoint");
        };
        let callback = self.callback_url();
        let mut parameters = vec![
            ("response_type", "code"),
            ("client_id", self.proxy.client_id.as_str()),
            ("redirect_uri", &callback),
            ("state", &state),
            ("code_challenge", &facts.challenge),
            ("code_challenge_method", "S256"),
        ];
        if !facts.scope.is_empty() {
            parameters.push(("scope", &facts.scope));
        }
        parameters.extend(self.proxy.parameters.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        redirect(&with_query(endpoint, &parameters))
    }

    /// Sends the user back to the client, with a code for that alone.
    async fn callback(&self, parameters: &OauthParameters, headers: &HeaderMap) -> Response {
        let facts = match self.pending(STATE, parameters.get("state"), headers) {
            Ok(facts) => facts,
            Err(why) => return refusal(why),
        };
        let back = |parameters: &[(&str, &str)]| self.back(&facts.redirect_uri, parameters, facts.state.as_deref());
        if let Some(error) = parameters.find("error") {
            return back(&[("error", error), ("error_description", parameters.get("error_description"))]);
        }
        // Another provider's answer is none (RFC 9207).
        let provider = self.provider().await.unwrap_or_default();
        let promises = provider.get("authorization_response_iss_parameter_supported") == Some(&Value::Bool(true));
        let is_other = match parameters.find("iss") {
            Some(said) => provider.get("issuer").and_then(Value::as_str) != Some(said),
            None => promises,
        };
        if is_other {
            return back(&[("error", "server_error"), ("error_description", "another identity provider has answered")]);
        }
        let Some(code) = parameters.find("code") else {
            return back(&[("error", "server_error"), ("error_description", "the identity provider gave no code")]);
        };
        let sealed = self.proxy.seal.sealed(
            CODE,
            &CodeFacts {
                code: code.to_owned(),
                client: facts.client.clone(),
                redirect_uri: facts.redirect_uri.clone(),
                challenge: facts.challenge.clone(),
                scope: facts.scope.clone(),
                callback: self.callback_url(),
                until_unix_s: unix_s() + CODE_S,
            },
        );
        match sealed {
            Some(code) => {
                self.note_use(&facts).await;
                back(&[("code", &code)])
            }
            None => back(&[("error", "server_error"), ("error_description", "the identity provider's code is too long")]),
        }
    }

    /// Fetches tokens for the client that a code or a refresh token was given to.
    async fn token(&self, form: &OauthParameters) -> Result<Response, Response> {
        let refused = |code: &str, why: &str| oauth_error(StatusCode::BAD_REQUEST, code, why);
        let id = form.get("client_id");
        // What a document says has nothing to do with codes and refresh tokens, which were given to its URL.
        if document_host(id).is_none() && self.proxy.seal.opened::<ClientFacts>(CLIENT, id).is_none() {
            return Err(oauth_error(StatusCode::UNAUTHORIZED, "invalid_client", "the client is not registered here"));
        }
        self.check_removed(id).await.map_err(|refused| match refused {
            ClientRefusal::StoreSilent => {
                oauth_error(StatusCode::SERVICE_UNAVAILABLE, "temporarily_unavailable", "try again later")
            }
            _ => oauth_error(StatusCode::UNAUTHORIZED, "invalid_client", "the client was removed"),
        })?;
        let client = digest(id);
        let mut asked = vec![("grant_type".to_owned(), form.get("grant_type").to_owned())];
        let scope = match form.get("grant_type") {
            "authorization_code" => {
                let verifier = form.get("code_verifier");
                let facts = self.proxy.seal.opened::<CodeFacts>(CODE, form.get("code"));
                let facts = facts.filter(|facts| facts.client == client && facts.until_unix_s >= unix_s());
                let Some(facts) = facts else {
                    return Err(refused("invalid_grant", "the code is none of this client's, or too old"));
                };
                if form.find("redirect_uri").is_some_and(|uri| uri != facts.redirect_uri) {
                    return Err(refused("invalid_grant", "the redirect_uri is another one"));
                }
                let challenge = Challenge { method: PkceMethod::S256, text: facts.challenge };
                if !challenge.is_met_by(verifier) {
                    return Err(refused("invalid_grant", "the code_verifier does not fit"));
                }
                asked.push(("code".to_owned(), facts.code));
                asked.push(("redirect_uri".to_owned(), facts.callback));
                asked.push(("code_verifier".to_owned(), verifier.to_owned()));
                facts.scope
            }
            "refresh_token" => {
                let facts = self.proxy.seal.opened::<RefreshFacts>(REFRESH, form.get("refresh_token"));
                let Some(facts) = facts.filter(|facts| facts.client == client) else {
                    return Err(refused("invalid_grant", "the refresh token is none of this client's"));
                };
                let known: Vec<String> = facts.scope.split_ascii_whitespace().map(str::to_owned).collect();
                if !form.get("scope").split_ascii_whitespace().all(|scope| known.iter().any(|known| known == scope)) {
                    return Err(refused("invalid_scope", "the user has not agreed to all of these scopes"));
                }
                // Some providers give more than was agreed to if they are asked for nothing.
                let scope = if form.get("scope").is_empty() { &facts.scope } else { form.get("scope") };
                if !scope.is_empty() {
                    asked.push(("scope".to_owned(), scope.to_owned()));
                }
                asked.push(("refresh_token".to_owned(), facts.token));
                facts.scope
            }
            _ => return Err(refused("unsupported_grant_type", "grant_type must be authorization_code or refresh_token")),
        };
        let reply = self.tokens(asked).await?;
        let mut given = match serde_json::from_slice(&reply.body) {
            Ok(Value::Object(given)) => given,
            _ => return Err(text(StatusCode::BAD_GATEWAY, "the identity provider's answer is no JSON")),
        };
        if !reply.status.is_success() {
            let error = given.get("error").and_then(Value::as_str).unwrap_or_default();
            // It is the gateway that the provider does not accept. A client that was told so would register anew.
            if !reply.status.is_client_error() || !PASSED_ERRORS.contains(&error) {
                tracing::warn!(
                    api = self.request.api.id,
                    status = reply.status.as_u16(),
                    error,
                    "the identity provider gives no token"
                );
                return Err(oauth_error(StatusCode::BAD_GATEWAY, "server_error", "the identity provider gives no token"));
            }
            let why = given.get("error_description").and_then(Value::as_str).unwrap_or_default();
            return Err(refused(error, why));
        }
        // It is for the gateway.
        given.remove("id_token");
        if let Some(token) = given.get("refresh_token").and_then(Value::as_str).map(str::to_owned) {
            match self.proxy.seal.sealed(REFRESH, &RefreshFacts { token, client, scope }) {
                Some(sealed) => drop(given.insert("refresh_token".to_owned(), sealed.into())),
                None => drop(given.remove("refresh_token")),
            }
        }
        let no_store = [(header::CACHE_CONTROL, "no-store"), (header::PRAGMA, "no-cache")];
        Ok((StatusCode::OK, no_store, axum::Json(given)).into_response())
    }

    /// Asks the provider for tokens, as its client.
    async fn tokens(&self, mut asked: Vec<(String, String)>) -> Result<tollgate_outbound::CallReply, Response> {
        let provider = self.provider().await?;
        let missing = || text(StatusCode::BAD_GATEWAY, "the identity provider has no token_endpoint");
        let endpoint = provider.get("token_endpoint").and_then(Value::as_str).ok_or_else(missing)?;
        let endpoint: Uri = endpoint.parse().map_err(|_| missing())?;
        let tls = self.request.rules.tls.for_host(endpoint.host().unwrap_or_default());
        let mut call = Call::get(endpoint, tls, TOKEN_TIME_MAX, TOKEN_BYTES_MAX);
        call.method = Method::POST;
        call.redirects_max = 0;
        // What a server takes that does not say it (RFC 8414, section 2).
        let known = provider.get("token_endpoint_auth_methods_supported").and_then(Value::as_array);
        let takes_form = known.is_some_and(|known| known.iter().any(|method| method == "client_secret_post"));
        let (id, secret) = (&self.proxy.client_id, &self.proxy.client_secret);
        if secret.is_empty() || takes_form {
            asked.push(("client_id".to_owned(), id.clone()));
        }
        if takes_form && !secret.is_empty() {
            asked.push(("client_secret".to_owned(), secret.clone()));
        } else if !secret.is_empty() {
            let basic = STANDARD.encode(format!("{}:{}", encode_form(id), encode_form(secret)));
            if let Ok(value) = HeaderValue::from_str(&format!("Basic {basic}")) {
                call.headers.insert(header::AUTHORIZATION, value);
            }
        }
        call.body = encoded(asked.iter().map(|(name, value)| (name, value))).into();
        call.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(FORM));
        call.headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
        self.request.client.call_within(&self.request.rules.upstream, call).await.map_err(|fault| {
            tracing::warn!(api = self.request.api.id, %fault, "the identity provider does not give a token");
            text(StatusCode::BAD_GATEWAY, "the identity provider gives no answer")
        })
    }

    /// The metadata of the identity provider.
    async fn provider(&self) -> Result<MirroredDocument, Response> {
        let issuer = &self.request.rules.upstream;
        let path = issuer.path().trim_end_matches('/');
        let places =
            [Some(well_known(issuer, AUTHORIZATION_SERVER)), Some(at(issuer, &format!("{path}/.well-known/openid-configuration")))];
        let metadata = self.request.fetched(places).await.map_err(|fault: MirrorFault| {
            self.request.warn(&fault, "the metadata of an identity provider can't be read");
            text(StatusCode::BAD_GATEWAY, "the identity provider gives no metadata")
        })?;
        let said = metadata.get("issuer").and_then(Value::as_str).unwrap_or_default();
        if said.trim_end_matches('/') != self.request.rules.upstream_url.trim_end_matches('/') {
            tracing::warn!(api = self.request.api.id, said, "the metadata of an identity provider is another one's");
            return Err(text(StatusCode::BAD_GATEWAY, "the identity provider's metadata is another one's"));
        }
        Ok(metadata)
    }

    /// A request that has come back, if it has in the same browser.
    fn pending(&self, kind: &str, sealed: &str, headers: &HeaderMap) -> Result<RequestFacts, &'static str> {
        let facts: Option<RequestFacts> = self.proxy.seal.opened(kind, sealed);
        let facts = facts.ok_or("The request was not made here.")?;
        if facts.until_unix_s < unix_s() {
            return Err("The request is too old. Start again in the client.");
        }
        match self.nonce(headers) {
            Some(nonce) if digest(&nonce) == facts.browser => Ok(facts),
            _ => Err("The request was begun in another browser, or cookies are blocked."),
        }
    }

    /// The client with an id, unless it was removed.
    async fn client(&self, id: &str) -> Result<ClientFacts, ClientRefusal> {
        let Some(host) = document_host(id) else {
            let client = self.proxy.seal.opened::<ClientFacts>(CLIENT, id).ok_or(ClientRefusal::Unknown)?;
            self.check_removed(id).await?;
            return Ok(client);
        };
        self.check_removed(id).await?;
        let holder = Holder { owner: self.request.api.id.clone(), network: None };
        let _waits =
            DOCUMENT_WAITS.take(holder, 1).ok_or_else(|| ClientRefusal::Document("too many documents are read".to_owned()))?;
        let tls = self.request.rules.tls.for_host(host);
        let check = |document: &[u8]| ClientFacts::of_document(id, document).map(drop).map_err(|fault| fault.to_string());
        let documents = &self.request.control.mirrored_documents;
        let document = documents.of_client(&self.request.client, tls, (id, host), check).await;
        let document = document.map_err(|fault| ClientRefusal::Document(fault.to_string()))?;
        let client = ClientFacts::of_document(id, &document).map_err(|fault| ClientRefusal::Document(fault.to_string()))?;
        Ok(ClientFacts { name: if client.name.is_empty() { host.to_owned() } else { client.name }, ..client })
    }

    async fn check_removed(&self, id: &str) -> Result<(), ClientRefusal> {
        match mcp_clients::is_removed(self.request.control, &self.request.api.id, &digest(id)).await {
            Ok(false) => Ok(()),
            Ok(true) => Err(ClientRefusal::Removed),
            Err(fault) => {
                tracing::error!(api = self.request.api.id, %fault, "whether a client was removed can't be read");
                Err(ClientRefusal::StoreSilent)
            }
        }
    }

    /// Notes for operators that a user has signed in.
    async fn note_use(&self, facts: &RequestFacts) {
        let now = unix_s();
        let used = UsedClient {
            name: facts.name.clone(),
            url: facts.url.clone(),
            redirect_uri: facts.redirect_uri.split('?').next().unwrap_or_default().to_owned(),
            first_unix_s: now,
            last_unix_s: now,
        };
        mcp_clients::note_use(self.request.control, &self.request.api.id, &facts.client, used).await;
    }

    /// Whether a client may have users sent there.
    fn may_return_to(&self, uri: &str) -> bool {
        is_plain_url(uri)
            && match self.proxy.redirect_uris.as_slice() {
                [] => loopback(uri).is_some(),
                listed => listed.iter().any(|pattern| pattern.is_match(uri)),
            }
    }

    /// Sends the user back to the client.
    fn back(&self, redirect_uri: &str, parameters: &[(&str, &str)], state: Option<&str>) -> Response {
        let own = self.request.own_server();
        let state = state.map(|state| ("state", state));
        let all: Vec<(&str, &str)> =
            parameters.iter().copied().filter(|(_, value)| !value.is_empty()).chain(state).chain([("iss", own.as_str())]).collect();
        redirect(&with_query(redirect_uri, &all))
    }

    fn callback_url(&self) -> String {
        format!("{}/callback", self.request.own_server())
    }

    fn is_secure(&self) -> bool {
        self.request.origin.starts_with("https:")
    }

    fn cookie_name(&self) -> String {
        let prefix = if self.is_secure() { "__Host-" } else { "" };
        format!("{prefix}tollgate-authorize-{}", digest(&self.request.api.id).get(..8).unwrap_or_default())
    }

    fn cookie(&self, nonce: &str) -> String {
        let secure = if self.is_secure() { "; Secure" } else { "" };
        format!("{}={nonce}; Path=/; HttpOnly; SameSite=Lax; Max-Age={SIGN_IN_S}{secure}", self.cookie_name())
    }

    /// What the browser's cookie says. One that is there twice says nothing.
    fn nonce(&self, headers: &HeaderMap) -> Option<String> {
        let name = self.cookie_name();
        let mut values = cookies(headers, &name);
        let value = values.next().filter(|value| is_digest(value))?;
        values.next().is_none().then(|| value.to_owned())
    }
}

fn redirect(url: &str) -> Response {
    match HeaderValue::from_str(url) {
        Ok(url) => {
            (StatusCode::SEE_OTHER, [(header::LOCATION, url), (header::CACHE_CONTROL, HeaderValue::from_static("no-store"))])
                .into_response()
        }
        Err(_) => refusal("The address to send you to cannot be used."),
    }
}

fn oauth_error(status: StatusCode, code: &str, why: &str) -> Response {
    let error = json!({"error": code, "error_description": why});
    (status, [(header::CACHE_CONTROL, "no-store")], axum::Json(error)).into_response()
}

/// Scopes of those that can be had; all of them if none is asked for, `None` if none of what is asked for can.
fn granted(known: &[String], asked: &str) -> Option<String> {
    if asked.trim().is_empty() {
        return Some(known.join(" "));
    }
    let granted: Vec<&str> = asked.split_ascii_whitespace().filter(|scope| known.iter().any(|known| known == scope)).collect();
    (!granted.is_empty() || known.is_empty()).then(|| granted.join(" "))
}

/// A digest of 32 bytes as text.
fn digest(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(blake3::hash(text.as_bytes()).as_bytes())
}

/// Whether a text is one of 32 bytes, as challenges and nonces are.
fn is_digest(text: &str) -> bool {
    text.len() == 43 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

#[cfg(test)]
mod tests {
    use super::granted;

    #[test]
    fn scopes_are_those_of_the_definition() {
        let known = ["read".to_owned(), "write".to_owned()];
        assert_eq!(granted(&known, ""), Some("read write".to_owned()));
        assert_eq!(granted(&known, "admin read"), Some("read".to_owned()));
        assert_eq!(granted(&known, "admin"), None);
        assert_eq!(granted(&[], "admin"), Some(String::new()));
    }
}
