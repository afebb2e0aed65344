//! The OAuth 2.0 provider as programs of others meet it: Authlib and Requests go through every grant as their users do.

use serde_json::{Value, json};

use crate::harness::gateway::SECRET;
use crate::harness::oauth::make_client;
use crate::jwt_issuers::python;
use crate::keys::session_for;
use crate::oauth_clients::{Stage, stage};

/// What the programs do; each step ends with what it has come to.
const CLIENT: &str = r#"
import json
from urllib.parse import urlsplit, parse_qs
import requests
from authlib.common.security import generate_token
from authlib.integrations.requests_client import OAuth2Session

base, secret = BASE, SECRET
token_url = base + "oauth/token"
came_to = {}

def consent(url):
    # The gateway sends the browser to the login page; that has its user consent, and asks for the code.
    sent = requests.get(url, allow_redirects=False)
    assert sent.status_code == 307, sent.text
    parts = urlsplit(sent.headers["location"])
    assert parts.netloc == "login.test", sent.headers
    asked = requests.post(base + "tyk/oauth/authorize-client/", data={k: v[0] for k, v in parse_qs(parts.query).items()},
                          headers={"x-tyk-authorization": secret})
    assert asked.status_code == 200, asked.text
    return asked.json()["redirect_to"]

def used(session):
    return session.get(base + "x").status_code

for method in ["client_secret_basic", "client_secret_post"]:
    session = OAuth2Session("shop", "s3cret=/+", token_endpoint_auth_method=method, scope="read")
    token = session.fetch_token(token_url, grant_type="client_credentials")
    came_to[method] = [token["token_type"], token["scope"], used(session)]

session = OAuth2Session("shop", "s3cret=/+", scope="read write", redirect_uri="https://app.test/cb", token_endpoint=token_url,
                        code_challenge_method="S256")
verifier = generate_token(48)
url, state = session.create_authorization_url(base + "oauth/authorize", code_verifier=verifier)
token = session.fetch_token(token_url, authorization_response=consent(url), code_verifier=verifier, state=state)
came_to["code"] = [token["scope"], used(session)]
old = dict(token)
token = session.refresh_token(token_url)
came_to["refresh"] = [old["access_token"] != token["access_token"], old["refresh_token"] != token["refresh_token"], used(session)]
told = session.introspect_token(base + "oauth/introspect", token=token["access_token"]).json()
came_to["introspect"] = [told["active"], told["client_id"], told["scope"]]
revoked = session.revoke_token(base + "oauth/revoke", token=token["access_token"], token_type_hint="access_token")
came_to["revoke"] = [revoked.status_code, used(session)]
try:
    OAuth2Session("shop", "s3cret=/+").fetch_token(token_url, grant_type="refresh_token", refresh_token=old["refresh_token"])
except Exception as error:
    came_to["replay"] = error.error

wrong = OAuth2Session("shop", "s3cret=/+", redirect_uri="https://app.test/cb", code_challenge_method="S256")
url, state = wrong.create_authorization_url(base + "oauth/authorize", code_verifier=verifier)
try:
    wrong.fetch_token(token_url, authorization_response=consent(url), code_verifier=generate_token(48), state=state)
except Exception as error:
    came_to["verifier"] = error.error

session = OAuth2Session("shop", "s3cret=/+")
token = session.fetch_token(token_url, username="alice", password="open sesame & more")
came_to["password"] = ["refresh_token" in token, used(session)]
try:
    OAuth2Session("shop", "wrong").fetch_token(token_url, grant_type="client_credentials")
except Exception as error:
    came_to["secret"] = error.error

session = OAuth2Session("shop", "s3cret=/+", redirect_uri="https://app.test/cb")
url, state = session.create_authorization_url(base + "oauth/authorize", response_type="token")
token = session.fetch_token(authorization_response=consent(url), state=state)
came_to["implicit"] = [token["token_type"], used(session)]
print(json.dumps(came_to))
"#;

#[test]
fn a_client_of_others_goes_through_every_grant() {
    let Stage { gateway, upstream: _upstream, .. } = stage(json!({}), |api| api);
    make_client(&gateway, json!({"secret": "s3cret=/+"}));
    let user = session_for(&["a"], json!({"basic_auth_data": {"password": "open sesame & more"}}));
    assert_eq!(gateway.control("POST", "/tyk/keys/alice?org_id=default", &user.to_string()).status, 200);
    let base = format!("http://127.0.0.1:{}/a/", gateway.port);
    let script = CLIENT.replacen("BASE, SECRET", &format!("{:?}, {SECRET:?}", base), 1);
    let Some(came_to) = python(&script) else { return };
    let expected: Value = json!({
        "client_secret_basic": ["bearer", "read", 200],
        "client_secret_post": ["bearer", "read", 200],
        "code": ["read write", 200],
        "refresh": [true, true, 200],
        "introspect": [true, "shop", "read write"],
        "revoke": [200, 403],
        "replay": "invalid_grant",
        "verifier": "invalid_grant",
        "password": [true, 200],
        "secret": "unauthorized_client",
        "implicit": ["bearer", 200],
    });
    assert_eq!(came_to, expected);
}
