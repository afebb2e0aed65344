use super::{MASK, RawKeys, has_mask, mask, unmask};
use serde_json::{Value, json};

struct Key;

impl RawKeys for Key {
    fn is_raw_key(&self, text: &str) -> bool {
        text == "raw-key"
    }
}

/// A document of nested members, in which secrets contain `S3`, and no other text does.
fn document() -> Value {
    json!({
        "name": "shop",
        "jwt_source": "UzMgc2VjcmV0",
        "enable_jwt": true,
        "auth": {"auth_header_name": "Authorization", "use_cookie": true, "cookie_name": "session", "param_name": "token"},
        "auth_configs": {"jwt": {"jwt_source": "aHR0cHM6Ly9rZXlzLmV4YW1wbGUuY29tLw=="}},
        "basic_auth": {"body_password_regexp": "pw=(.*)", "disable_caching": false},
        "proxy": {"target_url": "https://user:S3@shop.int/", "listen_path": "/shop/"},
        "upstream_auth": {"basic_auth": {"username": "me", "password": "S3"}, "oauth": {"clientCredentials": {"clientSecret": "S3"}}},
        "request_signing": {"secret": "S3", "key_id": "x", "header_list": ["date"]},
        "CORS": {"allowed_headers": ["X-Custom"], "allow_credentials": true},
        "version_data": {"versions": {"Default": {
            "global_headers": {"X-Api-Key": "S3", "X-Plain": "S3"},
            "global_headers_remove": ["X-Debug"],
            "extended_paths": {
                "transform_headers": [{"path": "/a", "add_headers": {"Authorization": "Bearer S3"}, "delete_headers": ["X"]}],
                "url_rewrites": [{"path": "/b", "rewrite_to": "/c?api_key=S3"}, {"path": "/d", "rewrite_to": "/e?colour=red"}]
            }
        }}},
        "config_data": {"payment_api_key": "S3", "limit": 7, "from": "env://PAYMENT", "webhook_secret": "secrets://hook"},
        "basic_auth_data": {"password": "S3", "hash_type": "bcrypt"},
        "hmac_string": "S3",
        "oauth_keys": {"client": "S3"},
        "rows": [{"value": "raw-key", "hits": 3}],
        "by_key": {"raw-key": 7}
    })
}

#[test]
fn secrets_are_masked_and_everything_else_stays() {
    let mut shown = document();
    mask(&mut shown, &Key);
    let text = shown.to_string();
    assert!(!text.contains("S3") && !text.contains("raw-key") && !text.contains("UzMg"), "{text}");
    for kept in [
        "Authorization",
        "\"session\"",
        "\"token\"",
        "pw=(.*)",
        "/shop/",
        "\"me\"",
        "\"date\"",
        "X-Custom",
        "X-Debug",
        "X-Plain",
        "colour=red",
        "env://PAYMENT",
        "secrets://hook",
        "bcrypt",
        "aHR0cHM6",
        "\"limit\":7",
        "\"hits\":3",
    ] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
}

#[test]
fn a_document_that_comes_back_gets_its_secrets_back() {
    let stored = document();
    let mut sent = stored.clone();
    mask(&mut sent, &());
    assert!(has_mask(&sent));
    sent["name"] = "new name".into();
    unmask(&mut sent, Some(&stored), &()).unwrap();
    let mut expected = stored;
    expected["name"] = "new name".into();
    assert_eq!(sent, expected);
}

#[test]
fn items_of_lists_keep_their_own_secrets() {
    let item = |name: &str, secret: &str| json!({"id": name, "secret": secret});
    let stored = json!({"clients": [item("a", "1"), item("b", "2"), item("c", "3")]});
    for (sent, expected) in [
        (vec![item("b", MASK), item("c", MASK)], Ok(vec![item("b", "2"), item("c", "3")])),
        (vec![item("c", MASK), item("b", MASK), item("a", MASK)], Ok(vec![item("c", "3"), item("b", "2"), item("a", "1")])),
        (
            vec![item("a", MASK), item("renamed", MASK), item("c", "new")],
            Ok(vec![item("a", "1"), item("renamed", "2"), item("c", "new")]),
        ),
        (vec![item("a", MASK), item("renamed", MASK)], Err(vec!["$.clients[1].secret".to_owned()])),
    ] {
        let mut document = json!({"clients": sent});
        let result = unmask(&mut document, Some(&stored), &()).map(|()| document["clients"].as_array().unwrap().clone());
        assert_eq!(result, expected);
    }
}

#[test]
fn a_mask_without_a_secret_is_named() {
    let mut document = json!({"a b": {"secret": MASK}, "hmac_string": MASK});
    assert_eq!(unmask(&mut document, None, &()), Err(vec!["$[\"a b\"].secret".to_owned(), "$.hmac_string".to_owned()]));
    assert_eq!(unmask(&mut json!({"hmac_string": "new"}), None, &()), Ok(()));
}
