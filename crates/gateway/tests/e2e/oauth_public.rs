//! OAuth 2.0 clients that can keep no secret: codes with a proof and refresh tokens are for them, and nothing else is.

use serde_json::{Value, json};

use crate::harness::Response;
use crate::harness::gateway::SECRET;
use crate::harness::oauth::{call, error, text};
use crate::harness::oauth_app::{log_in, make_clients, refused, renew};
use crate::jwt_issuers::python;
use crate::oauth_clients::{Stage, stage};

/// A gateway with the public client `app` and the client `shop` with a secret.
fn with_clients() -> Stage {
    let stage = stage(json!({}), |api| api);
    make_clients(&stage.gateway);
    stage
}

#[test]
fn a_refresh_token_that_comes_several_times_at_once_is_worth_nothing() {
    let Stage { gateway, upstream: _upstream, .. } = with_clients();
    for _ in 0..10 {
        let first = log_in(&gateway);
        let answers: Vec<Response> = std::thread::scope(|scope| {
            let asked: Vec<_> = (0..4).map(|_| scope.spawn(|| renew(&gateway, &first))).collect();
            asked.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let given: Vec<&Response> = answers.iter().filter(|answer| answer.status == 200).collect();
        assert!(given.len() <= 1, "of several who use one at the same time, one has it at most");
        for answer in given {
            assert_eq!(call(&gateway, &text(&answer.json()["access_token"])).status, 403);
            assert_eq!(error(&renew(&gateway, &answer.json())), refused());
        }
        assert_eq!(call(&gateway, &text(&first["access_token"])).status, 403);
    }
    assert_eq!(gateway.control("GET", "/tyk/oauth/clients/a/app/tokens", "").json(), json!([]));
}

#[test]
fn operators_cannot_give_it_a_secret() {
    let Stage { gateway, upstream: _upstream, .. } = with_clients();
    let refused = |method: &str, target: &str, body: Value| {
        let answer = gateway.control(method, target, &body.to_string());
        assert_eq!(answer.status, 400, "{answer}");
        assert_eq!(answer.json()["message"], "a public client can have no secret");
    };
    refused("POST", "/tyk/oauth/clients/create", json!({"api_id": "a", "public": true, "secret": "s"}));
    refused("PUT", "/tyk/oauth/clients/a/app/rotate", json!({}));
    let changed = gateway.control("PUT", "/tyk/oauth/clients/a/app", r#"{"description": "d", "policy_id": "gold"}"#).json();
    assert_eq!((&changed["public"], &changed["secret"], &changed["description"]), (&json!(true), &Value::Null, &json!("d")));
    assert_eq!(gateway.control("GET", "/tyk/oauth/clients/a/app", "").json(), changed);
    let changed = gateway.control("PUT", "/tyk/oauth/clients/a/shop", r#"{"public": true, "policy_id": "gold"}"#).json();
    assert_eq!((&changed["public"], &changed["secret"]), (&Value::Null, &json!("s3cret")), "what a client is does not change");
}

/// An app of others: it has an id and nothing to show.
const APP: &str = r#"
import json
from urllib.parse import urlsplit, parse_qs
import requests
from authlib.common.security import generate_token
from authlib.integrations.requests_client import OAuth2Session

base, secret = BASE, SECRET
session = OAuth2Session("app", token_endpoint_auth_method="none", redirect_uri="https://app.test/cb", code_challenge_method="S256",
                        token_endpoint=base + "oauth/token", scope="read")
verifier = generate_token(48)
url, state = session.create_authorization_url(base + "oauth/authorize", code_verifier=verifier)
sent = requests.get(url, allow_redirects=False)
query = parse_qs(urlsplit(sent.headers["location"]).query)
asked = requests.post(base + "tyk/oauth/authorize-client/", data={k: v[0] for k, v in query.items()},
                      headers={"x-tyk-authorization": secret})
token = session.fetch_token(base + "oauth/token", authorization_response=asked.json()["redirect_to"], code_verifier=verifier, state=state)
used = session.get(base + "x").status_code
renewed = session.refresh_token(base + "oauth/token")
came_to = [used, session.get(base + "x").status_code, renewed["refresh_token"] != token["refresh_token"]]
try:
    OAuth2Session("app", token_endpoint_auth_method="none").fetch_token(base + "oauth/token", grant_type="client_credentials")
except Exception as error:
    came_to.append(error.error)
print(json.dumps(came_to))
"#;

#[test]
fn an_app_of_others_logs_in_without_a_secret() {
    let Stage { gateway, upstream: _upstream, .. } = with_clients();
    let base = format!("http://127.0.0.1:{}/a/", gateway.port);
    let Some(came_to) = python(&APP.replacen("BASE, SECRET", &format!("{base:?}, {SECRET:?}"), 1)) else { return };
    assert_eq!(came_to, json!([200, 200, true, "unauthorized_client"]));
}
