use super::*;
use crate::message::{RightEntry, SessionState};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tollgate_model::session::Session;

fn lines(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn entries(entries: &[(&str, &str)]) -> Vec<MapEntry> {
    entries.iter().map(|(key, value)| MapEntry { key: (*key).to_owned(), value: (*value).to_owned() }).collect()
}

fn call(kind: HookKind) -> HookCall {
    HookCall {
        core: 0,
        kind,
        index: 0,
        name: "hook".into(),
        api: Arc::new(PluginApi {
            id: "api".to_owned(),
            org_id: "org".to_owned(),
            bundle_hash: "hash".to_owned(),
            config_data: Some(json!({"a": 1})),
            config_text: Some("{\"a\":1}".to_owned()),
        }),
        request: PluginRequest {
            method: "POST".to_owned(),
            scheme: "https",
            url: "/a?b=1&b=2".to_owned(),
            absolute_url: None,
            request_uri: "/x/a?b=1&b=2".to_owned(),
            headers: lines(&[("X-One", "1"), ("X-Two", "2"), ("X-One", "3")]),
            host: "host".to_owned(),
            params: lines(&[("b", "1"), ("b", "2")]),
            body: b"body".to_vec(),
        },
        session: None,
        token: None,
        response: None,
        raw_body_only: false,
        trace_parent: None,
        time_max: Duration::from_secs(1),
    }
}

/// What an object that a server returns means.
fn returned(object: &Object, asked: &AskedHook) -> Result<HookAnswer, HookFault> {
    answer(ObjectAnswer::decode(object.encode_to_vec().as_slice()).unwrap(), asked)
}

#[test]
fn a_request_is_sent_as_tyk_sends_it() {
    let (object, _) = object(call(HookKind::Pre));
    assert_eq!((object.hook_type, object.hook_name.as_str(), &object.session), (1, "hook", &None));
    assert_eq!(object.spec, entries(&[("OrgID", "org"), ("APIID", "api"), ("bundle_hash", "hash"), ("config_data", "{\"a\":1}")]));
    let request = object.request.unwrap();
    assert_eq!(request.headers, entries(&[("X-One", "1"), ("X-Two", "2"), ("Host", "host")]));
    assert_eq!(request.params, entries(&[("b", "1")]));
    assert_eq!(request.return_overrides.unwrap().response_code, -1);
    let seen = [request.method, request.scheme, request.url, request.request_uri, request.body];
    assert_eq!(seen, ["POST", "https", "/a?b=1&b=2", "/x/a?b=1&b=2", "body"]);
    assert_eq!(request.raw_body, b"body");
}

#[test]
fn a_body_that_is_no_text_is_sent_as_bytes_only() {
    for (body, raw_body_only, text) in [(&b"\xff\xfe"[..], false, ""), (b"text", true, ""), (b"text", false, "text")] {
        let mut call = call(HookKind::Pre);
        (call.request.body, call.raw_body_only) = (body.to_vec(), raw_body_only);
        let request = object(call).0.request.unwrap();
        assert_eq!((request.body.as_str(), request.raw_body.as_slice()), (text, body));
    }
}

#[test]
fn a_session_keeps_all_fields_on_its_way_there_and_back() {
    let written = json!({
        "last_check": 1, "allowance": 2.0, "rate": 3.0, "per": 4.0, "expires": 5, "quota_max": 6, "quota_renews": 7,
        "quota_remaining": 8, "quota_renewal_rate": 9, "org_id": "org", "oauth_client_id": "client", "oauth_keys": {"a": "b"},
        "access_rights": {"api": {"api_name": "name", "api_id": "api", "versions": ["v1"],
            "allowed_urls": [{"url": "/a", "methods": ["GET"]}]}},
        "basic_auth_data": {"password": "p", "hash_type": "bcrypt"}, "jwt_data": {"secret": "s"}, "hmac_enabled": true,
        "hmac_string": "h", "is_inactive": true, "apply_policy_id": "p0", "apply_policies": ["p1", "p2"], "data_expires": 10,
        "monitor": {"trigger_limits": [50.0, 80.0]}, "enable_detailed_recording": true, "meta_data": {"m": "n"},
        "tags": ["t"], "alias": "alias", "last_updated": "11", "id_extractor_deadline": 12, "session_lifetime": 13,
        "post_expiry_action": "retain", "post_expiry_grace_period": 14
    });
    let (session, _) = Session::from_value(&written).unwrap();
    let sent = session::message(session.clone(), Some("key"));
    assert_eq!(sent.key_id, "key");
    assert_eq!(session::session(sent), session);
}

#[test]
fn metadata_that_is_no_text_is_sent_as_json() {
    let (session, _) = Session::from_value(&json!({"meta_data": {"text": "a", "list": [1, 2], "number": 3}})).unwrap();
    let mut call = call(HookKind::Post);
    call.session = Some(Box::new(session));
    let (object, _) = object(call);
    assert_eq!(object.metadata, entries(&[("text", "a"), ("list", "[1,2]"), ("number", "3")]));
    assert_eq!(object.session.unwrap().metadata, object.metadata);
}

#[test]
fn only_a_check_of_identity_returns_a_session_and_its_token() {
    let object_of = || Object {
        request: Some(MiniRequestObject { url: "/a".to_owned(), method: "GET".to_owned(), ..MiniRequestObject::default() }),
        session: Some(Box::new(SessionState {
            rate: 5.0,
            metadata: entries(&[("token", "old")]),
            access_rights: vec![RightEntry { key: "api".to_owned(), value: None }],
            ..SessionState::default()
        })),
        metadata: entries(&[("token", "new"), ("more", "1")]),
        ..Object::default()
    };
    for kind in [HookKind::Pre, HookKind::AuthCheck, HookKind::PostKeyAuth, HookKind::Post] {
        let (_, asked) = object(call(kind));
        let answer = returned(&object_of(), &asked).unwrap();
        match answer.session {
            SessionChange::Whole(session) if kind == HookKind::AuthCheck => {
                assert_eq!((answer.token.as_str(), session.rate), ("new", 5.0));
                assert_eq!(session.meta_data.get("more"), Some(&json!("1")));
                assert!(session.access_rights.contains_key("api"));
            }
            SessionChange::Kept => assert!(kind != HookKind::AuthCheck && answer.token.is_empty()),
            other => panic!("{kind:?}: {other:?}"),
        }
    }
}

#[test]
fn overrides_count_from_status_1_on_and_an_error_is_their_body() {
    for (code, error, body, wanted) in [
        (-1, "e", "b", None),
        (0, "e", "b", None),
        (200, "", "b", Some((200, "b"))),
        (200, "", "", Some((200, ""))),
        (403, "e", "b", Some((403, "e"))),
        (401, "", "", Some((401, "Key not authorised"))),
    ] {
        let overrides = Overrides {
            response_code: code,
            response_error: error.to_owned(),
            response_body: body.to_owned(),
            ..Overrides::default()
        };
        let made = changes(RequestAnswer { return_overrides: Some(overrides), ..RequestAnswer::default() }).overrides;
        assert_eq!(made.as_ref().map(|made| (made.status, made.body.as_str())), wanted, "{code}");
    }
}

#[test]
fn a_response_hook_has_a_session_without_a_caller() {
    for (kind, has_session) in [(HookKind::Pre, false), (HookKind::Post, false), (HookKind::Response, true)] {
        let (object, _) = object(call(kind));
        assert_eq!(object.session.and_then(|session| session.jwt_data).is_some(), has_session, "{kind:?}");
    }
}

#[test]
fn headers_of_a_response_follow_the_map_of_first_values() {
    let original = lines(&[("A", "1"), ("A", "2"), ("B", "3")]);
    for (headers, wanted) in [
        // Unchanged: the lines count.
        (&[("A", "1"), ("B", "3")][..], &[("A", "1"), ("A", "2"), ("B", "3")][..]),
        (&[("A", "9"), ("B", "3")], &[("A", "9"), ("A", "2"), ("B", "3")]),
        (&[("B", "3")], &[("B", "3")]),
        (&[("A", "1"), ("B", "3"), ("C", "4")], &[("A", "1"), ("A", "2"), ("B", "3"), ("C", "4")]),
    ] {
        let mut call = call(HookKind::Response);
        call.response = Some(PluginResponse { status: 200, headers: original.clone(), body: b"body".to_vec() });
        let (mut object, asked) = object(call);
        let response = object.response.as_mut().unwrap();
        response.headers = entries(headers);
        (response.raw_body, response.status_code) = (b"new".to_vec(), 201);
        let made = returned(&object, &asked).unwrap().response.unwrap();
        assert_eq!(made, PluginResponse { status: 201, headers: lines(wanted), body: b"new".to_vec() }, "{headers:?}");
    }
}

#[test]
fn an_answer_without_its_object_is_a_fault() {
    let (_, asked) = object(call(HookKind::Pre));
    assert!(matches!(returned(&Object::default(), &asked), Err(HookFault::Failed(_))));
    let (_, asked) = object(call(HookKind::Response));
    assert!(matches!(returned(&Object::default(), &asked), Err(HookFault::Failed(_))));
}
