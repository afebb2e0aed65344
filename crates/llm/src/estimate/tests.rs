use super::Estimate;
use crate::ClientApi;

#[test]
fn upper_is_at_least_the_bytes_and_likely_is_below() {
    let body = br#"{"model":"m","messages":[{"role":"system","content":"Be short"},{"role":"user","content":[{"type":"text","text":"Gr\u00fcezi"},{"type":"image_url","image_url":{"url":"https://x.example/a.png"}}]}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}]}"#;
    let estimate = Estimate::of(&ClientApi::OpenAiChat.read(body, 10_000).expect("a request"), "m", None);
    // Two messages, two texts, a picture, tools, one tool with its name and schema.
    assert_eq!(estimate.upper, 8 + 8 + 8 + 7 + 5_000 + 600 + 16 + 1 + 17);
    assert!(estimate.likely < estimate.upper);
}
