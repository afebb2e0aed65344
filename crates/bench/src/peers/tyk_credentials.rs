//! Tokens, passwords and signatures for gateways with Tyk's definitions and control API: fields of the definition, requests to the
//! control API, and headers of callers.

use super::rsa_key::RsaKey;
use super::tyk_words::{api_id, control_headers, merge, right};
use super::{ControlRequest, Credential, Program, Setup, TokenFile, own_program};
use crate::probe::{self, HOST};
use crate::scenario::{Case, CredentialKind};
use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const POLICY: &str = "bench";
const PASSWORD: &str = "open sesame";
const HMAC_SECRET: &str = "a secret";
const REDIRECT_URI: &str = "https://bench.test/";
/// Token lifetime, longer than any run.
const TOKEN_LIFETIME: Duration = Duration::from_secs(86_400);
/// Number of users that tokens name in turn.
const USERS: u32 = 100;
/// The date that signatures cover; gateways do not check its age by default.
const DATE: &str = "Thu, 01 Jan 2026 00:00:00 GMT";

/// The definition's fields for this method.
pub(crate) fn definition(method: CredentialKind, setup: &Setup) -> Value {
    match method {
        CredentialKind::Oauth => json!({"use_oauth2": true, "oauth_meta": {"allowed_authorize_types": ["token"]}}),
        CredentialKind::Jwt => json!({
            "enable_jwt": true,
            "jwt_signing_method": "rsa",
            "jwt_source": format!("http://{HOST}:{}/jwks.json", setup.second_port),
            "jwt_default_policies": [POLICY],
        }),
        CredentialKind::Basic => json!({"use_basic_auth": true, "basic_auth": {"cache_ttl": TOKEN_LIFETIME.as_secs()}}),
        CredentialKind::HmacSignature | CredentialKind::RsaSignature => json!({"enable_signature_checking": true}),
    }
}

/// Writes the policy for JWTs; `None` if no case uses JWTs.
pub(crate) fn policies(setup: &Setup) -> Result<Option<PathBuf>, String> {
    let rights: BTreeMap<String, Value> = of_method(setup, CredentialKind::Jwt).map(|(number, _)| access(number)).collect();
    if rights.is_empty() {
        return Ok(None);
    }
    let policy = json!({"id": POLICY, "org_id": "default", "rate": 0, "per": 0, "quota_max": -1, "access_rights": rights});
    setup.write("policies.json", json!({POLICY: policy}).to_string()).map(Some)
}

/// The issuer that serves the key set of JWTs; `None` if no case uses JWTs.
pub(crate) fn issuer(setup: &Setup) -> Result<Option<Program>, String> {
    if of_method(setup, CredentialKind::Jwt).next().is_none() {
        return Ok(None);
    }
    let keys = RsaKey::of(&setup.dir)?.key_set().to_string();
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{keys}", keys.len());
    let file = setup.write("issuer.answer", answer)?;
    let listen = format!("{HOST}:{}", setup.second_port);
    let program = Program::new("issuer", &own_program()?).args(["relay", "--threads", "1", "--listen", &listen, "--answer"]);
    Ok(Some(Program { port: Some(setup.second_port), ..program.args([file]) }))
}

/// The credentials of callers, by the case's index in the setup.
pub(crate) fn credentials(setup: &Setup) -> Result<BTreeMap<usize, Credential>, String> {
    let mut made = BTreeMap::new();
    for (number, case) in setup.cases.iter().enumerate() {
        let Some(method) = case.api.auth_method else { continue };
        let credential = match method {
            CredentialKind::Oauth => header(format!("Bearer {}", oauth_token(setup, number)?)),
            CredentialKind::Jwt => tokens(setup, case, number)?,
            CredentialKind::Basic => basic(setup, number)?,
            CredentialKind::HmacSignature => {
                let made = json!({"hmac_enabled": true, "hmac_string": HMAC_SECRET});
                let key = hmac::Key::new(hmac::HMAC_SHA256, HMAC_SECRET.as_bytes());
                let sign = |text: &[u8]| Ok(hmac::sign(&key, text).as_ref().to_vec());
                signature(case, &create_key(setup, number, made)?, "hmac-sha256", sign)?
            }
            CredentialKind::RsaSignature => {
                let key = RsaKey::of(&setup.dir)?;
                let certificate = control(setup, "/tyk/certs?org_id=default", &key.public_pem()?, "id")?;
                let made = json!({"enable_http_signature_validation": true, "rsa_certificate_id": certificate});
                signature(case, &create_key(setup, number, made)?, "rsa-sha256", |text| key.sign(text))?
            }
        };
        made.insert(number, credential);
    }
    Ok(made)
}

fn header(value: String) -> Credential {
    Credential { headers: vec![("Authorization".to_owned(), value)], tokens: None }
}

fn oauth_token(setup: &Setup, number: usize) -> Result<String, String> {
    let (api, right) = access(number);
    let client = format!("bench-{number}");
    let body = json!({"client_id": client, "api_id": api, "redirect_uri": REDIRECT_URI});
    control(setup, "/tyk/oauth/clients/create", &body.to_string(), "client_id")?;
    let rules = json!({"org_id": "default", "access_rights": {&api: right}}).to_string();
    let body = json!({"api_id": api, "response_type": "token", "client_id": client, "key_rules": rules});
    control(setup, "/tyk/oauth/authorize-client", &body.to_string(), "access_token")
}

fn tokens(setup: &Setup, case: &Case, number: usize) -> Result<Credential, String> {
    let key = RsaKey::of(&setup.dir)?;
    let expires = (SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default() + TOKEN_LIFETIME).as_secs();
    let token =
        |count: u32| key.token(&json!({"sub": format!("user-{}", count % USERS), "jti": count.to_string(), "exp": expires}));
    let first = token(0)?;
    if case.request.tokens == 0 {
        return Ok(header(first));
    }
    let all: Vec<String> = (0..case.request.tokens).map(token).collect::<Result<_, _>>()?;
    let path = setup.write(&format!("tokens-{number}"), all.join("\n") + "\n")?;
    let forget = ControlRequest { method: "DELETE", path: "/tyk/cache/jwks", headers: control_headers(setup) };
    let tokens = TokenFile { path, first, count: u64::from(case.request.tokens), forget };
    Ok(Credential { tokens: Some(tokens), ..header("{token}".to_owned()) })
}

fn basic(setup: &Setup, number: usize) -> Result<Credential, String> {
    let name = format!("alice-{number}");
    let session = session(number, json!({"basic_auth_data": {"password": PASSWORD}}));
    control(setup, &format!("/tyk/keys/{name}?org_id=default"), &session.to_string(), "key")?;
    Ok(header(format!("Basic {}", STANDARD.encode(format!("{name}:{PASSWORD}")))))
}

fn create_key(setup: &Setup, number: usize, more: Value) -> Result<String, String> {
    control(setup, "/tyk/keys/create", &session(number, more).to_string(), "key")
}

/// HTTP signatures, draft-cavage-http-signatures-10.
fn signature(
    case: &Case,
    key_id: &str,
    algorithm: &str,
    sign: impl Fn(&[u8]) -> Result<Vec<u8>, String>,
) -> Result<Credential, String> {
    let text = format!("(request-target): {} {}\ndate: {DATE}", case.request.method.to_ascii_lowercase(), case.path());
    let signature = STANDARD.encode(sign(text.as_bytes())?);
    let value = format!(
        "Signature keyId=\"{key_id}\",algorithm=\"{algorithm}\",headers=\"(request-target) date\",signature=\"{signature}\""
    );
    let mut credential = header(value);
    credential.headers.push(("Date".to_owned(), DATE.to_owned()));
    Ok(credential)
}

fn session(number: usize, more: Value) -> Value {
    let (api, right) = access(number);
    let mut session = json!({"org_id": "default", "expires": 0, "quota_max": -1, "access_rights": {api: right}});
    merge(&mut session, more);
    session
}

/// The API of a case, and the right to call it.
fn access(number: usize) -> (String, Value) {
    let api = api_id(number, 0);
    let right = right(&api);
    (api, right)
}

fn of_method<'a>(setup: &'a Setup, method: CredentialKind) -> impl Iterator<Item = (usize, &'a Case)> {
    setup.cases.iter().copied().enumerate().filter(move |(_, case)| case.api.auth_method == Some(method))
}

/// Posts to the control API and returns a string field of the response.
fn control(setup: &Setup, path: &str, body: &str, wanted: &str) -> Result<String, String> {
    let mut headers = control_headers(setup);
    if body.starts_with('{') {
        headers.push(("content-type".to_owned(), "application/json".to_owned()));
    }
    let answer = probe::send(setup.listener(), "POST", path, &headers, body.as_bytes())?;
    let refused = || format!("POST {path} was answered with {}: {}", answer.status, answer.body.trim());
    let value: Value = serde_json::from_str(&answer.body).map_err(|_| refused())?;
    value.get(wanted).and_then(Value::as_str).map(str::to_owned).ok_or_else(refused)
}
