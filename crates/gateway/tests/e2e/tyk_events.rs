//! The same requests as were sent to Tyk 5.14.0, and the bodies that its default template made of their events. Where the event here is another
//! one, the case says why.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::harness::jws::hs256;
use crate::harness::tokens::SECRET;
use crate::harness::{Definition, Gateway, Upstream, api, eventually, request};
use crate::webhooks::webhook;

/// Requests, of which most are refused, each with another event; and the recorded `event`, `message` and `key`; `None` if there was no event.
type Case = (&'static str, Vec<String>, Option<(&'static str, &'static str, &'static str)>);

const AUTH: &str = "Auth Failure";
const VERSION: &str = "Attempted access to disallowed version / path.";

fn authorization(value: &str) -> Vec<String> {
    vec![format!("Authorization: {value}")]
}

fn cases() -> Vec<Case> {
    let none = Vec::new;
    let token = |claims: Value| authorization(&format!("Bearer {}", hs256(SECRET, &claims)));
    let forged = |claims: Value| authorization(&format!("Bearer {}", hs256(b"another secret that has enough bytes", &claims)));
    vec![
        ("/k/x?q=1", none(), None),
        ("/k/x?q=1", authorization("wrong"), Some(("AuthFailure", AUTH, "wrong"))),
        ("/k/x", authorization("expired"), Some(("KeyExpired", "Attempted access from expired key.", "defaultexpired"))),
        ("/k/x", authorization("inactive"), Some(("KeyExpired", "Attempted access from inactive key.", "defaultinactive"))),
        ("/k/x", authorization("other"), None),
        ("/k/r?a=b", authorization("rate"), None),
        ("/k/r?a=b", authorization("rate"), Some(("RatelimitExceeded", "Rate Limit Exceeded", "defaultrate"))),
        ("/k/q", authorization("quota"), None),
        ("/k/q", authorization("quota"), Some(("QuotaExceeded", "Key Quota Limit Exceeded", "defaultquota"))),
        ("/k/black", authorization("good"), Some(("VersionFailure", VERSION, ""))),
        ("/ver/x", none(), Some(("VersionFailure", VERSION, ""))),
        ("/basic/x", none(), None),
        // Tyk has the whole header line, with the password.
        ("/basic/x", authorization("Basic am9lOndyb25n"), Some(("AuthFailure", AUTH, "joe"))),
        ("/basic/x", authorization("Bearer zzz"), None),
        ("/jwt/x", none(), Some(("AuthFailure", AUTH, ""))),
        ("/jwt/y", authorization("Bearer abc"), Some(("AuthFailure", AUTH, ""))),
        ("/jwt/z", forged(json!({"sub": "u1", "exp": 4_000_000_000_u64})), Some(("AuthFailure", AUTH, ""))),
        ("/jwt/e", token(json!({"sub": "u1", "exp": 1000})), Some(("AuthFailure", AUTH, ""))),
        ("/jwt/i", token(json!({"exp": 4_000_000_000_u64})), Some(("AuthFailure", AUTH, "[NOT FOUND]"))),
        ("/hmac/x", none(), Some(("AuthFailure", AUTH, ""))),
        // Tyk has the whole header line.
        (
            "/hmac/x",
            vec![
                "Date: Mon, 02 Jan 2006 15:04:05 MST".to_owned(),
                r#"Authorization: Signature keyId="nobody",algorithm="hmac-sha1",headers="date",signature="abc""#.to_owned(),
            ],
            Some(("AuthFailure", AUTH, "nobody")),
        ),
        ("/ip/x", none(), Some(("AuthFailure", AUTH, "127.0.0.1"))),
        ("/grl/x", none(), None),
        ("/grl/x", none(), Some(("RatelimitExceeded", "API Rate Limit Exceeded", "apilimiter-defaultgrl"))),
    ]
}

fn definitions(upstream: &Upstream, receiver: &Upstream) -> Vec<Definition> {
    let hook = || json!([webhook(receiver, json!({"event_timeout": 1}))]);
    let events = json!({
        "AuthFailure": hook(), "KeyExpired": hook(), "RatelimitExceeded": hook(), "QuotaExceeded": hook(), "VersionFailure": hook()
    });
    let plain = |id: &str| api(id, &format!("/{id}/"), &upstream.url()).set("event_handlers", json!({"events": events}));
    vec![
        plain("k").with_keys().list("black_list", json!([{"path": "/black"}])),
        plain("ver")
            .set("version_data", json!({"not_versioned": false, "versions": {"v1": {"name": "v1", "use_extended_paths": true}}})),
        plain("basic").with_keys().set("use_basic_auth", true),
        plain("jwt")
            .with_keys()
            .set("enable_jwt", true)
            .set("jwt_signing_method", "hmac")
            .set("jwt_source", STANDARD.encode(SECRET))
            .set("jwt_identity_base_field", "sub")
            .set("jwt_default_policies", json!(["gold"])),
        plain("hmac").with_keys().set("enable_signature_checking", true).set("hmac_allowed_clock_skew", -1),
        plain("ip").set("enable_ip_whitelisting", true).set("allowed_ips", json!(["10.0.0.1"])),
        plain("grl").set("global_rate_limit", json!({"rate": 1, "per": 60})),
    ]
}

#[test]
fn events_of_requests_have_the_bodies_that_tyk_makes_of_them() {
    let (upstream, receiver) = (Upstream::ok(), Upstream::ok());
    let gateway = Gateway::start(json!({"hash_keys": false}), definitions(&upstream, &receiver));
    let rights = |id: &str| json!({id: {"api_id": id, "api_name": id, "versions": ["Default"]}});
    for (name, change) in [
        ("good", json!({})),
        ("expired", json!({"expires": 1})),
        ("inactive", json!({"is_inactive": true})),
        ("other", json!({"access_rights": rights("grl")})),
        ("rate", json!({"rate": 1, "per": 60})),
        ("quota", json!({"quota_max": 1, "quota_renewal_rate": 3600})),
    ] {
        let mut session = json!({"org_id": "default", "rate": 1000, "per": 1, "quota_max": -1, "access_rights": rights("k")});
        session.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let answer = gateway.control("POST", &format!("/tyk/keys/{name}"), &session.to_string());
        assert_eq!(answer.status, 200, "{answer}");
    }
    let mut wrong = Vec::new();
    for (target, lines, recorded) in cases() {
        let before = receiver.requests();
        let lines: Vec<&str> = lines.iter().map(String::as_str).chain(["Connection: close"]).collect();
        let answer = gateway.send(request("GET", target, &lines, ""));
        let path = target.split('?').next().unwrap();
        match recorded {
            None => {
                // An event would be there before that of the next request.
                continue;
            }
            Some((event, message, key)) => {
                eventually("the event is told", || receiver.requests() > before);
                let told: Value = serde_json::from_str(&receiver.last().text()).expect("JSON");
                let expected = json!({"event": event, "message": message, "path": path, "origin": "127.0.0.1", "key": key});
                if told != expected {
                    wrong.push(format!("{target} {lines:?} {}: {told}, not {expected}", answer.status));
                }
            }
        }
    }
    let events = cases().iter().filter(|(_, _, recorded)| recorded.is_some()).count();
    assert_eq!(receiver.requests(), events, "some are events here and not in Tyk");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn changes_of_keys_have_tyks_words() {
    let receiver = Upstream::ok();
    let hook = || json!([webhook(&receiver, json!({"event_timeout": 1}))]);
    let events = json!({"TokenCreated": hook(), "TokenUpdated": hook(), "TokenDeleted": hook()});
    let upstream = Upstream::ok();
    let gateway = Gateway::start(
        json!({"hash_keys": false, "event_handlers": {"events": events}}),
        [api("k", "/k/", &upstream.url()).with_keys()],
    );
    let session = json!({
        "org_id": "default", "rate": 1, "per": 1, "quota_max": -1,
        "access_rights": {"k": {"api_id": "k", "api_name": "k", "versions": ["Default"]}}
    });
    for (method, path, event, message, org) in [
        ("POST", "/tyk/keys/named", "TokenCreated", "Key modified.", "default"),
        ("PUT", "/tyk/keys/named", "TokenUpdated", "Key modified.", "default"),
        ("POST", "/tyk/keys", "TokenCreated", "Key modified.", "default"),
        ("POST", "/tyk/keys/create", "TokenCreated", "Key generated.", "default"),
        ("DELETE", "/tyk/keys/defaultnamed", "TokenDeleted", "Key deleted.", ""),
    ] {
        let before = receiver.requests();
        let body = if method == "DELETE" { String::new() } else { session.to_string() };
        assert_eq!(gateway.control(method, path, &body).status, 200, "{method} {path}");
        eventually("the event is told", || receiver.requests() > before);
        let told: Value = serde_json::from_str(&receiver.last().text()).expect("JSON");
        assert_eq!(
            (&told["event"], &told["message"], &told["org"]),
            (&json!(event), &json!(message), &json!(org)),
            "{method} {path}"
        );
    }
}
