use super::RequestIdentity;
use crate::client::ClientApi;

fn bytes(body: &str) -> Option<Vec<u8>> {
    RequestIdentity::read(body.as_bytes()).map(|identity| identity.without_model().bytes())
}

#[test]
fn what_changes_no_answer_changes_no_identity() {
    let same = [
        r#"{"model":"m","messages":[{"role":"user","content":"a"}],"temperature":0}"#,
        r#"{ "temperature":0, "messages":[{"content":"a","role":"user"}],"model":"other"}"#,
        r#"{"model":"m","messages":[{"role":"user","content":"\u0061"}],"temperature":0,"user":"u","stream":true,"metadata":{"a":"b"}}"#,
    ];
    for other in same {
        assert_eq!(bytes(same[0]), bytes(other), "{other}");
    }
}

#[test]
fn what_may_change_an_answer_changes_the_identity() {
    let bodies = [
        r#"{"messages":[{"role":"user","content":"a"}]}"#,
        r#"{"messages":[{"role":"user","content":"a "}]}"#,
        r#"{"messages":[{"role":"system","content":"a"}]}"#,
        r#"{"messages":[{"role":"user","content":["a"]}]}"#,
        r#"{"messages":[{"role":"user","content":"a","name":"b"}]}"#,
        r#"{"messages":[{"role":"user","content":"a"}],"tools":[]}"#,
        r#"{"messages":[{"role":"user","content":"a"}],"temperature":1}"#,
        r#"{"messages":[{"role":"user","content":"a"}],"temperature":"1"}"#,
        r#"{"messages":[{"role":"user","content":"a"},{}]}"#,
        r#"{"messages":[{"role":"user","content":"a\",\"1:b"}]}"#,
    ];
    for (at, one) in bodies.iter().enumerate() {
        for other in bodies.iter().skip(at + 1) {
            assert_ne!(bytes(one), bytes(other), "{one} {other}");
        }
    }
}

#[test]
fn what_can_be_understood_in_two_ways_has_no_identity() {
    for body in [r#"{"messages":[{"role":"user","content":"a","content":"b"}]}"#, r#"{"a":1,"a":1}"#, "[]", "{"] {
        assert_eq!(bytes(body), None, "{body}");
    }
}

#[test]
fn the_temperature_is_found_where_each_api_has_it() {
    for (body, expected) in [
        (r#"{"temperature":0.5}"#, Some(0.5)),
        (r#"{"generationConfig":{"temperature":0.5}}"#, Some(0.5)),
        (r#"{"generation_config":{"temperature":1}}"#, Some(1.0)),
        (r#"{"generationConfig":{}}"#, None),
    ] {
        assert_eq!(RequestIdentity::read(body.as_bytes()).expect("an identity").temperature(), expected, "{body}");
    }
}

#[test]
fn the_question_is_the_users_last_text() {
    let cases = [
        (ClientApi::OpenAiChat, r#"{"messages":[{"role":"system","content":"s"},{"role":"user","content":"q"}]}"#, Some("q")),
        (ClientApi::AnthropicMessages, r#"{"messages":[{"role":"user","content":[{"type":"text","text":"q"}]}]}"#, Some("q")),
        (ClientApi::OpenAiResponses, r#"{"input":"q"}"#, Some("q")),
        (ClientApi::OpenAiResponses, r#"{"input":[{"role":"user","content":[{"type":"input_text","text":"q"}]}]}"#, Some("q")),
        (ClientApi::OpenAiChat, r#"{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}]}"#, None),
        (
            ClientApi::OpenAiChat,
            r#"{"messages":[{"role":"user","content":[{"type":"text","text":"q"},{"type":"image_url"}]}]}"#,
            None,
        ),
        (ClientApi::OpenAiChat, r#"{"messages":[]}"#, None),
        (ClientApi::Gemini, r#"{"contents":[{"parts":[{"text":"q"}]}]}"#, Some("q")),
        (ClientApi::Gemini, r#"{"contents":[{"role":"user","parts":[{"text":"q"}]}]}"#, Some("q")),
        (ClientApi::Gemini, r#"{"contents":[{"role":"model","parts":[{"text":"q"}]}]}"#, None),
        (ClientApi::Gemini, r#"{"contents":[{"parts":[{"text":"q"},{"text":"r"}]}]}"#, None),
    ];
    for (api, body, question) in cases {
        let mut identity = RequestIdentity::read(body.as_bytes()).expect("it is JSON");
        let before = identity.bytes();
        assert_eq!(identity.take_question(api).as_deref(), question, "{body}");
        assert_eq!(identity.bytes() == before, question.is_none(), "{body}");
    }
    let rest = |body: &str| {
        let mut identity = RequestIdentity::read(body.as_bytes()).expect("it is JSON");
        identity.take_question(ClientApi::OpenAiChat);
        identity.bytes()
    };
    let of = |system: &str, question: &str| {
        rest(&format!(r#"{{"messages":[{{"role":"system","content":"{system}"}},{{"role":"user","content":"{question}"}}]}}"#))
    };
    assert_eq!(of("s", "one"), of("s", "another"));
    assert_ne!(of("s", "one"), of("t", "one"));
}
