use super::beginning;
use crate::client::ClientApi::{self, AnthropicMessages, Gemini, OpenAiChat, OpenAiResponses};

#[test]
fn a_conversation_begins_as_it_did_before() {
    let user = r#"{"role":"user","content":"Hi"}"#;
    let cases: [(ClientApi, &str, String, &[&str]); 6] = [
        (
            OpenAiChat,
            "messages",
            format!(r#"{{"role":"system","content":"s"}},{user}"#),
            &[r#"{"role":"system","content":"s"}"#, user],
        ),
        (OpenAiChat, "messages", user.to_owned(), &[user]),
        (AnthropicMessages, "messages", user.to_owned(), &[r#""s""#, user]),
        (OpenAiResponses, "input", user.to_owned(), &[r#""t""#, user]),
        (Gemini, "contents", r#"{"parts":[{"text":"Hi"}]}"#.to_owned(), &[r#"{"parts":[]}"#, r#"{"parts":[{"text":"Hi"}]}"#]),
        (OpenAiChat, "messages", String::new(), &[]),
    ];
    for (api, member, begin, expected) in cases {
        for more in ["", r#",{"role":"assistant","content":"Hello"},{"role":"user","content":"More"}"#] {
            let more = if begin.is_empty() { "" } else { more };
            let body = format!(
                r#"{{"model":"m","system":"s","instructions":"t","system_instruction":{{"parts":[]}},"{member}":[{begin}{more}]}}"#
            );
            assert_eq!(beginning(api, body.as_bytes()), expected, "{body}");
        }
    }
    assert_eq!(beginning(OpenAiResponses, br#"{"input":"Hi"}"#), [r#""Hi""#]);
    assert_eq!(beginning(OpenAiChat, b"{").len() + beginning(OpenAiChat, b"[]").len() + beginning(OpenAiChat, b"{}").len(), 0);
}
