//! What is said between a command and a provider.

use super::super::{CommandFailure, TlsOf};
use super::callback::{ANSWER_TIME_MAX, returned};
use super::{Login, unix_s};
use crate::visible;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http_body_util::Full;
use hyper::body::Bytes;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::Duration;
use tokio::net::TcpListener;
use tollgate_outbound::{HttpClient, HttpClientSettings};

/// Largest answer of a provider.
const ANSWER_BYTES_MAX: usize = 256 << 10;
/// Time for a person to sign in.
const SIGN_IN_TIME_MAX: Duration = Duration::from_secs(600);
/// Seconds between two questions of the device flow, if the provider does not say (RFC 8628, 3.2).
const POLL_S: u64 = 5;
/// A provider, for one of its public clients.
pub(super) struct Provider {
    client_id: String,
    scope: String,
    issuer: String,
    document: Value,
    http: ProviderClient,
}

struct ProviderClient {
    client: HttpClient,
    runtime: tokio::runtime::Runtime,
}

impl Provider {
    /// Reads what a provider says of itself; it must be the one that the gateway names.
    pub(super) fn discover(issuer: &str, client_id: &str, scope: &str, tls: TlsOf) -> Result<Self, CommandFailure> {
        let http = ProviderClient::new(tls)?;
        let url = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
        let document = http.runtime.block_on(http.json("GET", &url, None)).and_then(|(status, document)| match status {
            200 => Ok(document),
            status => Err(format!("status {status}")),
        });
        let document = document.map_err(|why| CommandFailure::Unreachable(format!("{url}: {why}")))?;
        if document.get("issuer").and_then(Value::as_str) != Some(issuer) {
            return Err(CommandFailure::Refused(format!("{url} is of another issuer")));
        }
        let (client_id, scope, issuer) = (client_id.to_owned(), scope.to_owned(), issuer.to_owned());
        Ok(Provider { client_id, scope, issuer, document, http })
    }

    /// An endpoint of the provider. A page is opened there, and secrets are sent: neither over a way that the issuer itself does not use.
    fn endpoint(&self, name: &str) -> Result<&str, CommandFailure> {
        let endpoint = self.document.get(name).and_then(Value::as_str).unwrap_or_default();
        let is_usable = endpoint.starts_with("https://") || (endpoint.starts_with("http://") && self.issuer.starts_with("http://"));
        if is_usable { Ok(endpoint) } else { Err(CommandFailure::Refused(format!("the provider has no usable {name}"))) }
    }

    /// Signs in with a browser that comes back to a port of this machine.
    pub(super) fn browser(&self) -> Result<Login, CommandFailure> {
        let (state, nonce, verifier) = (random()?, random()?, random()?);
        let authorization = self.endpoint("authorization_endpoint")?;
        let challenge = challenge(&verifier);
        let signing_in = async {
            let listener = TcpListener::bind("127.0.0.1:0").await.map_err(|error| error.to_string())?;
            let port = listener.local_addr().map_err(|error| error.to_string())?.port();
            let redirect_uri = format!("http://127.0.0.1:{port}/callback");
            let query = form(&[
                ("response_type", "code"),
                ("client_id", &self.client_id),
                ("redirect_uri", &redirect_uri),
                ("scope", &self.scope),
                ("state", &state),
                ("nonce", &nonce),
                ("code_challenge", &challenge),
                ("code_challenge_method", "S256"),
                // Without it, some providers give no token to renew with.
                ("prompt", "consent"),
            ]);
            let separator = if authorization.contains('?') { '&' } else { '?' };
            let url = format!("{authorization}{separator}{query}");
            eprintln!("Sign in with a browser on this machine:\n  {}", visible::text(&url));
            open(&url);
            let code = tokio::time::timeout(SIGN_IN_TIME_MAX, returned(&listener, &state, &self.issuer)).await;
            let code = code.map_err(|_| "nobody has signed in".to_owned())??;
            Ok::<_, String>((code, redirect_uri))
        };
        let (code, redirect_uri) = self.http.runtime.block_on(signing_in).map_err(CommandFailure::Refused)?;
        let pairs = [
            ("grant_type", "authorization_code"),
            ("code", &code),
            ("redirect_uri", &redirect_uri),
            ("client_id", &self.client_id),
            ("code_verifier", &verifier),
        ];
        let endpoint = self.endpoint("token_endpoint")?;
        let answer = self.http.runtime.block_on(self.http.json("POST", endpoint, Some(form(&pairs))));
        let (status, answer) = answer.map_err(CommandFailure::Unreachable)?;
        if status != 200 {
            return Err(CommandFailure::Refused(format!("the provider refuses: {}", reason(status, &answer))));
        }
        self.login(&answer, Some(&nonce))
    }

    /// Signs in with a code that a person enters elsewhere.
    pub(super) fn device(&self) -> Result<Login, CommandFailure> {
        let endpoint = self.endpoint("device_authorization_endpoint")?;
        // RFC 8628 says nothing of PKCE, which some providers can require here too, and the others step over.
        let verifier = random()?;
        let body = form(&[
            ("client_id", &self.client_id),
            ("scope", &self.scope),
            ("code_challenge", &challenge(&verifier)),
            ("code_challenge_method", "S256"),
        ]);
        let answer = self.http.runtime.block_on(self.http.json("POST", endpoint, Some(body)));
        let (status, answer) = answer.map_err(CommandFailure::Unreachable)?;
        let text = |member: &str| answer.get(member).and_then(Value::as_str).unwrap_or_default();
        if status != 200 || text("device_code").is_empty() {
            return Err(CommandFailure::Refused(format!("the provider refuses: {}", reason(status, &answer))));
        }
        eprintln!("Open {} and enter the code {}", visible::text(text("verification_uri")), visible::text(text("user_code")));
        let seconds = |member: &str| answer.get(member).and_then(Value::as_u64);
        let ends = unix_s() + seconds("expires_in").unwrap_or(SIGN_IN_TIME_MAX.as_secs()).min(SIGN_IN_TIME_MAX.as_secs());
        let mut pause_s = seconds("interval").unwrap_or(POLL_S).clamp(1, 60);
        let pairs = [
            ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
            ("device_code", text("device_code")),
            ("client_id", &self.client_id),
            ("code_verifier", &verifier),
        ];
        let token_endpoint = self.endpoint("token_endpoint")?;
        while unix_s() < ends {
            let asked = self.http.runtime.block_on(async {
                tokio::time::sleep(Duration::from_secs(pause_s)).await;
                self.http.json("POST", token_endpoint, Some(form(&pairs))).await
            });
            let (status, answer) = asked.map_err(CommandFailure::Unreachable)?;
            match answer.get("error").and_then(Value::as_str) {
                None if status == 200 => return self.login(&answer, None),
                Some("authorization_pending") => {}
                Some("slow_down") => pause_s += POLL_S,
                _ => return Err(CommandFailure::Refused(format!("the provider refuses: {}", reason(status, &answer)))),
            }
        }
        Err(CommandFailure::Refused("nobody has entered the code".to_owned()))
    }

    /// What is kept of a token endpoint's answer. The token came from the provider itself, so its signature is left to the gateway.
    fn login(&self, answer: &Value, nonce: Option<&str>) -> Result<Login, CommandFailure> {
        let refused = |why: &str| CommandFailure::Refused(format!("the provider's answer is not usable: {why}"));
        let id_token = answer.get("id_token").and_then(Value::as_str).ok_or_else(|| refused("it has no identity token"))?;
        let claims = claims(id_token).ok_or_else(|| refused("its identity token is none"))?;
        if claims.get("iss").and_then(Value::as_str) != Some(self.issuer.as_str()) {
            return Err(refused("its identity token is of another issuer"));
        }
        if nonce.is_some_and(|nonce| claims.get("nonce").and_then(Value::as_str) != Some(nonce)) {
            return Err(refused("its identity token is of another sign-in"));
        }
        let revocation_endpoint = self.endpoint("revocation_endpoint").ok().map(str::to_owned);
        Ok(Login {
            issuer: self.issuer.clone(),
            client_id: self.client_id.clone(),
            token_endpoint: self.endpoint("token_endpoint")?.to_owned(),
            revocation_endpoint,
            id_token: id_token.to_owned(),
            refresh_token: answer.get("refresh_token").and_then(Value::as_str).map(str::to_owned),
            expires_unix_s: expiry(&claims),
        })
    }
}

/// A sign-in with new tokens.
///
/// # Errors
/// The provider does not answer, or does not renew it; this says why, without what to do.
pub(super) fn renewed(login: &Login, tls: TlsOf) -> Result<Login, CommandFailure> {
    let ended = |why: &str| CommandFailure::Secret(why.to_owned());
    let refresh = login.refresh_token.as_deref().ok_or_else(|| ended("the provider gave nothing to renew it with"))?;
    let http = ProviderClient::new(tls)?;
    let pairs = [("grant_type", "refresh_token"), ("refresh_token", refresh), ("client_id", &login.client_id)];
    let answer = http.runtime.block_on(http.json("POST", &login.token_endpoint, Some(form(&pairs))));
    let (status, answer) = answer.map_err(|why| CommandFailure::Unreachable(format!("{}: {why}", login.token_endpoint)))?;
    if status >= 500 {
        return Err(CommandFailure::Unreachable(format!("{}: {}", login.token_endpoint, reason(status, &answer))));
    }
    let text = |member: &str| answer.get(member).and_then(Value::as_str);
    let id_token = text("id_token").filter(|_| status == 200).ok_or_else(|| ended(&reason(status, &answer)))?;
    let claims = claims(id_token).filter(|claims| claims.get("iss").and_then(Value::as_str) == Some(login.issuer.as_str()));
    Ok(Login {
        id_token: id_token.to_owned(),
        expires_unix_s: expiry(&claims.ok_or_else(|| ended("the provider's answer is not usable"))?),
        refresh_token: text("refresh_token").map(str::to_owned).or_else(|| login.refresh_token.clone()),
        ..login.clone()
    })
}

/// Tells the provider that the tokens are not needed any more (RFC 7009).
pub(super) fn revoke(login: &Login, tls: TlsOf) -> Result<(), String> {
    let (Some(endpoint), Some(token)) = (&login.revocation_endpoint, &login.refresh_token) else { return Ok(()) };
    let http = ProviderClient::new(tls).map_err(|failure| failure.to_string())?;
    let (status, answer) =
        http.runtime.block_on(http.json("POST", endpoint, Some(form(&[("token", token), ("client_id", &login.client_id)]))))?;
    if status == 200 { Ok(()) } else { Err(reason(status, &answer)) }
}

impl ProviderClient {
    fn new(tls: TlsOf) -> Result<Self, CommandFailure> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| CommandFailure::Refused(format!("cannot start: {error}")))?;
        let tls = tls(false).map_err(CommandFailure::Refused)?;
        let settings = HttpClientSettings { http2: false, idle_max: ANSWER_TIME_MAX, connect_time_max: None };
        Ok(ProviderClient { client: HttpClient::new(tls, settings), runtime })
    }

    /// Status and document of an answer; null for one that is no JSON.
    async fn json(&self, method: &str, url: &str, form: Option<String>) -> Result<(u16, Value), String> {
        let request = http::Request::builder().method(method).uri(url).header("accept", "application/json");
        let request = request.header("content-type", "application/x-www-form-urlencoded").header("connection", "close");
        let request = request.body(Full::new(Bytes::from(form.unwrap_or_default()))).map_err(|error| error.to_string())?;
        let sent = tokio::time::timeout(ANSWER_TIME_MAX, self.client.send(request, ANSWER_BYTES_MAX)).await;
        let answer =
            sent.map_err(|_| format!("no answer within {} s", ANSWER_TIME_MAX.as_secs()))?.map_err(|fault| fault.to_string())?;
        Ok((answer.status.as_u16(), serde_json::from_slice(&answer.body).unwrap_or_default()))
    }
}

/// Opens a browser if there is one; the address is printed anyway.
fn open(url: &str) {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let _ = Command::new(program).arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
}

/// What stands for a verifier until it is shown (RFC 7636, 4.2).
fn challenge(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()))
}

fn claims(token: &str) -> Option<Value> {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?).ok()?).ok()
}

fn expiry(claims: &Value) -> u64 {
    claims.get("exp").and_then(Value::as_f64).map_or(0, |time| time.max(0.0) as u64)
}

fn reason(status: u16, answer: &Value) -> String {
    let text = |member: &str| answer.get(member).and_then(Value::as_str);
    text("error_description").or(text("error")).map_or_else(|| format!("status {status}"), str::to_owned)
}

fn form(pairs: &[(&str, &str)]) -> String {
    let pair = |(name, value): &(&str, &str)| format!("{name}={}", utf8_percent_encode(value, NON_ALPHANUMERIC));
    pairs.iter().map(pair).collect::<Vec<_>>().join("&")
}

/// 256 bits of the system's randomness.
fn random() -> Result<String, CommandFailure> {
    let mut bytes = [0u8; 32];
    let read = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    read.map_err(|error| CommandFailure::Refused(format!("no random numbers: {error}")))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}
