//! Providers of OpenID Connect that lie, browsers that are led astray, and logout tokens that are none.

use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

use crate::harness::jws::{Signer, compact, hs256, now};
use crate::harness::{Gateway, Response, Upstream, eventually, reply};
use crate::operator_providers::{PUBLIC, begun, browse, cookie_of, operators, session, start_with};
use crate::operator_tokens::call;

/// An issuer that gives out what it is told to.
struct Liar {
    server: Upstream,
    token: Arc<Mutex<String>>,
    /// What it tells of whoever has signed in; null for an endpoint that fails.
    userinfo: Arc<Mutex<Value>>,
    signer: Arc<Signer>,
}

impl Liar {
    fn new() -> Liar {
        let signer = Arc::new(Signer::new("k"));
        let token = Arc::new(Mutex::new(String::new()));
        let userinfo = Arc::new(Mutex::new(json!({"sub": "ann"})));
        let (jwk, given, told) = (signer.jwk(), token.clone(), userinfo.clone());
        let server = Upstream::start(move |request| {
            let host = request.header("host").unwrap_or_default().to_owned();
            let issuer = format!("http://{host}");
            let body = match request.target.as_str() {
                "/.well-known/openid-configuration" => json!({
                    "issuer": issuer, "jwks_uri": format!("{issuer}/jwks"), "authorization_endpoint": format!("{issuer}/auth"),
                    "token_endpoint": format!("{issuer}/token"), "userinfo_endpoint": format!("{issuer}/me"),
                }),
                "/jwks" => json!({"keys": [jwk]}),
                "/me" if told.lock().unwrap().is_null() || request.header("authorization") != Some("Bearer x") => {
                    return reply("401 Unauthorized", &[], "");
                }
                "/me" => told.lock().unwrap().clone(),
                _ => json!({"id_token": *given.lock().unwrap(), "token_type": "Bearer", "access_token": "x"}),
            };
            reply("200 OK", &["Content-Type: application/json"], &body.to_string())
        });
        Liar { server, token, userinfo, signer }
    }

    /// Signs in with claims, of which the nonce is right unless `change` says otherwise.
    fn sign_in(&self, gateway: &Gateway, sign: impl Fn(&Value) -> String, change: &Value) -> Response {
        let sign_in = || {
            let (url, cookie) = begun(gateway, "test");
            let claims = self.claims(&json!({"nonce": parameter(&url, "nonce")}), change);
            *self.token.lock().unwrap() = sign(&claims);
            browse(gateway, &format!("/tyk/console/login/test/callback?code=x&state={}", parameter(&url, "state")), &cookie)
        };
        patiently(sign_in)
    }

    fn claims(&self, more: &Value, change: &Value) -> Value {
        let url = self.server.url();
        let mut claims = json!({
            "iss": url.trim_end_matches('/'), "aud": "console", "sub": "ann", "groups": ["ops"], "iat": now(), "exp": now() + 600,
        });
        for (name, value) in more.as_object().unwrap().iter().chain(change.as_object().unwrap()) {
            claims[name] = value.clone();
            if value.is_null() {
                claims.as_object_mut().unwrap().remove(name);
            }
        }
        claims
    }

    fn issuer(&self) -> String {
        self.server.url().trim_end_matches('/').to_owned()
    }
}

/// Tries again while an address has to wait after wrong tries.
fn patiently(mut sign_in: impl FnMut() -> Response) -> Response {
    let mut answer = sign_in();
    eventually("the address may try again", || {
        let waits = answer.status == 429;
        if waits {
            answer = sign_in();
        }
        !waits
    });
    answer
}

/// A parameter of a URL.
fn parameter(url: &str, name: &str) -> String {
    let pair = url.split(['?', '&']).find_map(|pair| pair.strip_prefix(&format!("{name}=")));
    pair.expect("a parameter").to_owned()
}

/// Nobody got in: no session, and no way to another site.
fn expect_closed(answer: &Response, why: &dyn std::fmt::Display) {
    assert!(answer.status == 403 && cookie_of(answer, "tollgate_console").is_none(), "{why}: {answer}");
    assert!(answer.header("location").is_none(), "{why}: {answer}");
}

#[test]
fn a_provider_that_lies_lets_nobody_in() {
    let liar = Liar::new();
    let gateway = start_with(json!({}), operators(&liar.issuer(), PUBLIC));
    let signed = |claims: &Value| liar.signer.token(claims);
    // The right sign-in after each wrong one shows that nothing else was wrong.
    let expect_right = || {
        let right = liar.sign_in(&gateway, signed, &json!({}));
        assert!(right.status == 200 && cookie_of(&right, "tollgate_console").is_some(), "{right}");
    };
    expect_right();
    for change in [
        json!({"iss": "http://elsewhere.example"}),
        json!({"iss": format!("{}/", liar.issuer())}),
        json!({"aud": "commands"}),
        json!({"aud": ["console", "other"]}),
        json!({"aud": ["console", "other"], "azp": "other"}),
        json!({"azp": "other"}),
        json!({"aud": null}),
        json!({"nonce": "of another sign-in"}),
        json!({"nonce": null}),
        json!({"exp": now() - 600}),
        json!({"exp": null}),
        json!({"nbf": now() + 600}),
        json!({"iat": now() + 600}),
        json!({"iat": null}),
        json!({"sub": null}),
        json!({"groups": ["nobody"]}),
        json!({"groups": "opsx"}),
        json!({"groups": null}),
        json!({"events": {"http://schemas.openid.net/event/backchannel-logout": {}}}),
    ] {
        expect_closed(&liar.sign_in(&gateway, signed, &change), &change);
        expect_right();
    }
    let other = Signer::new("k");
    let public = liar.signer.jwk().to_string();
    let signs: [&dyn Fn(&Value) -> String; 7] = [
        &|claims| other.token(claims),
        &|claims| compact(&json!({"alg": "none"}), claims, |_| Vec::new()),
        &|claims| hs256(b"the secret: of a client", claims),
        // The public key as a shared secret.
        &|claims| hs256(public.as_bytes(), claims),
        &|claims| compact(&json!({"alg": "ES256", "kid": "k"}), claims, |_| vec![0; 64]),
        &|claims| format!("{}x", liar.signer.token(claims)),
        &|_| String::new(),
    ];
    for (number, sign) in signs.iter().enumerate() {
        expect_closed(&liar.sign_in(&gateway, sign, &json!({})), &number);
        expect_right();
    }
    // An identity token of the console's client is none for commands.
    let bearer =
        |change: &Value| call(&gateway, &liar.signer.token(&liar.claims(&json!({}), change)), "GET", "/tyk/apis", "").status;
    assert_eq!(bearer(&json!({"aud": "commands"})), 200);
    for change in [json!({}), json!({"aud": "commands", "exp": now() - 600}), json!({"aud": "commands", "groups": []})] {
        assert_eq!(bearer(&change), 403, "{change}");
    }
}

#[test]
fn userinfo_adds_what_a_token_lacks_for_the_same_person_and_changes_nothing() {
    let liar = Liar::new();
    let gateway = start_with(json!({}), operators(&liar.issuer(), PUBLIC));
    let sign_in = |change: &Value, userinfo: Value| {
        *liar.userinfo.lock().unwrap() = userinfo;
        liar.sign_in(&gateway, |claims| liar.signer.token(claims), change)
    };
    let lacking = json!({"groups": null});
    let right = || {
        let answer = sign_in(&lacking, json!({"sub": "ann", "groups": ["ops"]}));
        let cookie = cookie_of(&answer, "tollgate_console").unwrap_or_else(|| panic!("{answer}"));
        assert_eq!(session(&gateway, &cookie).json()["user"], "test:ann");
    };
    right();
    for (change, userinfo) in [
        (&lacking, json!({"sub": "eve", "groups": ["ops"]})),
        (&lacking, json!({"groups": ["ops"]})),
        (&lacking, json!({"sub": ["ann"], "groups": ["ops"]})),
        (&lacking, json!({"sub": "ann", "groups": ["nobody"]})),
        (&lacking, json!(["ann"])),
        // A token that has groups is not completed.
        (&json!({"groups": ["nobody"]}), json!({"sub": "ann", "groups": ["ops"]})),
    ] {
        expect_closed(&sign_in(change, userinfo.clone()), &format!("{change} {userinfo}"));
        right();
    }
    let failing = sign_in(&lacking, Value::Null);
    assert!(failing.status == 502 && cookie_of(&failing, "tollgate_console").is_none(), "{failing}");
}

#[test]
fn a_userinfo_that_fails_locks_out_nobody_whose_rules_need_none_of_it() {
    let liar = Liar::new();
    let mut settings = operators(&liar.issuer(), PUBLIC);
    settings["providers"][0]["name_claim"] = json!("email");
    let gateway = start_with(json!({}), settings);
    let signed_in = |userinfo: Value| {
        *liar.userinfo.lock().unwrap() = userinfo;
        let answer = liar.sign_in(&gateway, |claims| liar.signer.token(claims), &json!({}));
        let cookie = cookie_of(&answer, "tollgate_console").unwrap_or_else(|| panic!("{answer}"));
        session(&gateway, &cookie).json()["user"].clone()
    };
    assert_eq!(signed_in(Value::Null), "test:ann");
    assert_eq!(signed_in(json!({"sub": "ann", "email": "ann@example.com"})), "test:ann@example.com");
}

#[test]
fn an_answer_counts_once_in_the_browser_that_asked_and_leads_nowhere_else() {
    let (liar, other) = (Liar::new(), Liar::new());
    let mut settings = operators(&liar.issuer(), PUBLIC);
    let mut second = settings["providers"][0].clone();
    second["name"] = json!("other");
    second["issuer"] = json!(other.issuer());
    settings["providers"].as_array_mut().unwrap().push(second);
    let gateway = start_with(json!({}), settings);

    // Whatever someone puts into the addresses, the browser ends at the console.
    let (url, cookie) = begun(&gateway, "test?next=https://evil.example/&redirect_uri=https://evil.example/");
    assert!(url.starts_with(&liar.issuer()) && !url.contains("evil"), "{url}");
    let state = parameter(&url, "state");
    *liar.token.lock().unwrap() = liar.signer.token(&liar.claims(&json!({"nonce": parameter(&url, "nonce")}), &json!({})));
    let callback = |provider: &str, more: &str| format!("/tyk/console/login/{provider}/callback?code=x&state={state}{more}");
    // An answer of one provider at the address of the other: a mix-up would send the code to the wrong one.
    let asked = other.server.requests();
    let mixed = browse(&gateway, &callback("other", ""), &cookie);
    expect_closed(&mixed, &"a mix-up");
    assert_eq!(other.server.requests(), asked, "the other provider was asked");

    let (url, cookie) = begun(&gateway, "test");
    let state = parameter(&url, "state");
    *liar.token.lock().unwrap() = liar.signer.token(&liar.claims(&json!({"nonce": parameter(&url, "nonce")}), &json!({})));
    let callback = |more: &str| format!("/tyk/console/login/test/callback?code=x&state={state}{more}");
    // Another browser, with a sign-in of its own: who sends someone such a link signs them in as nobody.
    let (_, foreign) = begun(&gateway, "test");
    for (target, cookie, why) in [
        (callback(""), foreign.as_str(), "another browser"),
        (callback(""), "", "no browser"),
        (callback("&state=x"), &cookie, "two states"),
    ] {
        expect_closed(&patiently(|| browse(&gateway, &target, cookie)), &why);
    }
    let (url, cookie) = begun(&gateway, "test");
    let state = parameter(&url, "state");
    *liar.token.lock().unwrap() = liar.signer.token(&liar.claims(&json!({"nonce": parameter(&url, "nonce")}), &json!({})));
    let target = format!(
        "/tyk/console/login/test/callback?code=x&state={state}&next=https://evil.example/&iss={}",
        "http://elsewhere.example"
    );
    expect_closed(&patiently(|| browse(&gateway, &target, &cookie)), &"another issuer");

    // A session that was there before is not the one after, and ends.
    let right = liar.sign_in(&gateway, |claims| liar.signer.token(claims), &json!({}));
    let before = cookie_of(&right, "tollgate_console").expect("a session");
    let page = right.text();
    assert!(page.contains("url=/tyk/console/\"") && !page.contains("://"), "{page}");
    let (url, cookie) = begun(&gateway, "test");
    *liar.token.lock().unwrap() = liar.signer.token(&liar.claims(&json!({"nonce": parameter(&url, "nonce")}), &json!({})));
    let target = format!("/tyk/console/login/test/callback?code=x&state={}", parameter(&url, "state"));
    let answer = browse(&gateway, &target, &format!("{before}; {cookie}"));
    let after = cookie_of(&answer, "tollgate_console").expect("a session");
    assert_ne!(before, after);
    assert_eq!((session(&gateway, &before).status, session(&gateway, &after).status), (401, 200));
    // The same answer again, as someone who has read it along the way would send it.
    expect_closed(&patiently(|| browse(&gateway, &target, &cookie)), &"a replay");
}

#[test]
fn only_a_right_logout_token_ends_a_session_and_only_once() {
    let liar = Liar::new();
    let gateway = start_with(json!({}), operators(&liar.issuer(), PUBLIC));
    let signed = |claims: &Value| liar.signer.token(claims);
    let answer = liar.sign_in(&gateway, signed, &json!({"sid": "one"}));
    let cookie = cookie_of(&answer, "tollgate_console").expect("a session");
    let event = json!({"events": {"http://schemas.openid.net/event/backchannel-logout": {}}, "sid": "one", "jti": "a"});
    let tell = |token: &str| {
        let body = format!("logout_token={token}");
        let lines = ["Content-Type: application/x-www-form-urlencoded", "Connection: close"];
        gateway.send(crate::harness::request("POST", "/tyk/console/login/test/back-channel", &lines, &body)).status
    };
    let other = Signer::new("k");
    assert_eq!(tell(&other.token(&liar.claims(&event, &json!({})))), 400);
    assert_eq!(tell(&compact(&json!({"alg": "none"}), &liar.claims(&event, &json!({})), |_| Vec::new())), 400);
    for change in [
        json!({"events": null}),
        json!({"events": {}}),
        json!({"nonce": "x"}),
        json!({"aud": "somebody"}),
        json!({"iss": "http://elsewhere.example"}),
        json!({"iat": now() - 3600}),
        json!({"iat": null}),
        json!({"exp": now() - 600}),
        json!({"sid": null, "sub": null}),
        json!({"jti": null}),
    ] {
        assert_eq!(tell(&signed(&liar.claims(&event, &change))), 400, "{change}");
    }
    assert_eq!(tell(&signed(&liar.claims(&event, &json!({"sid": "two", "jti": "b"})))), 200);
    assert_eq!(session(&gateway, &cookie).status, 200, "another session has ended");
    let right = signed(&liar.claims(&event, &json!({})));
    assert_eq!(tell(&right), 200);
    assert_eq!(session(&gateway, &cookie).status, 401);
    assert_eq!(tell(&right), 400, "a replay");
}
