use super::*;

#[test]
fn a_client_is_stored_and_shown_as_tyk_does() {
    let text =
        br#"{"client_id": "shop", "redirect_uri": "https://a.test/", "policy_id": "gold", "secret": "s", "meta_data": {"a": 1}}"#;
    let client = OauthClient::from_written(text).ok().unwrap().client;
    let stored =
        r#"{"id":"shop","secret":"s","redirecturi":"https://a.test/","meta_data":{"a":1},"policyid":"gold","description":""}"#;
    assert_eq!(client.to_stored().to_string(), stored);
    let again = OauthClient::parse(stored.as_bytes()).unwrap();
    let shown = r#"{"client_id":"shop","redirect_uri":"https://a.test/","policy_id":"gold","secret":"s","meta_data":{"a":1},"description":""}"#;
    assert_eq!(serde_json::to_string(&again.to_shown()).unwrap(), shown);
    let bare = OauthClient { id: "b".into(), ..OauthClient::default() };
    assert_eq!(
        serde_json::to_string(&bare.to_shown()).unwrap(),
        r#"{"client_id":"b","redirect_uri":"","secret":"","meta_data":null,"description":""}"#
    );
    assert_eq!(bare.to_stored().to_string(), r#"{"id":"b","secret":"","redirecturi":"","policyid":"","description":""}"#);
}

#[test]
fn a_secret_may_be_escaped() {
    let client = OauthClient { secret: "a+b/c=%".into(), ..OauthClient::default() };
    assert!(client.secret_is("a+b/c=%"));
    assert!(client.secret_is("a%2Bb%2Fc%3D%25"));
    for wrong in ["", "a+b/c=", "a b/c=%"] {
        assert!(!client.secret_is(wrong), "{wrong}");
    }
    assert!(!OauthClient::default().secret_is(""), "a client without a secret has no way in");
}

#[test]
fn what_is_no_client_is_not_taken() {
    for text in ["", "[]", "7", r#"{"client_id": 7}"#, r#"{"redirect_uri": []}"#] {
        assert_eq!(OauthClient::from_written(text.as_bytes()).err(), Some(None), "{text}");
    }
    for text in [r#"{"client_id": "a/b"}"#, r#"{"client_id": "a:b"}"#, r#"{"secret": "a\nb"}"#] {
        assert!(matches!(OauthClient::from_written(text.as_bytes()).err(), Some(Some(_))), "{text}");
    }
}

#[test]
fn new_secrets_have_tyks_form_and_differ() {
    let (one, other) = (new_client_secret().unwrap(), new_client_secret().unwrap());
    assert_ne!(one, other);
    let text = String::from_utf8(STANDARD.decode(&one).unwrap()).unwrap();
    assert_eq!((one.len(), text.len(), text.matches('-').count()), (48, 36, 4));
}

#[test]
fn a_public_client_has_no_secret_that_anybody_could_show() {
    let public = OauthClient::from_written(br#"{"client_id": "app", "public": true}"#).ok().unwrap().client;
    let stored = OauthClient { secret: "made".into(), ..public };
    let text = r#"{"id":"app","secret":"made","redirecturi":"","policyid":"","description":"","public":true}"#;
    assert_eq!(stored.to_stored().to_string(), text);
    let again = OauthClient::parse(text.as_bytes()).unwrap();
    assert!(again.is_public && !again.secret_is("made") && !again.secret_is(""));
    let shown = r#"{"client_id":"app","redirect_uri":"","public":true,"meta_data":null,"description":""}"#;
    assert_eq!(serde_json::to_string(&again.to_shown()).unwrap(), shown);
    let with_secret = OauthClient::from_written(br#"{"public": true, "secret": "s"}"#).err();
    assert_eq!(with_secret, Some(Some("a public client can have no secret")));
    assert_eq!(OauthClient::from_written(br#"{"public": "yes"}"#).err(), Some(None));
}
