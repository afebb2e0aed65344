use super::{Passed, PassedChange, UsageFilter, passed_body};
use crate::{AnswerFormat, UsageReader};

#[test]
fn only_the_model_changes() {
    let body = br#"{ "x": [1.50, 12345678901234567890123], "model":"a" ,"stream":true}"#;
    assert_eq!(passed_body(body, 1_000, PassedChange::default()).expect("passes"), body);
    let changed =
        passed_body(body, 1_000, PassedChange { model: Some("b"), asks_usage: true, output_tokens_max: None }).expect("passes");
    assert_eq!(
        String::from_utf8(changed).expect("text"),
        r#"{"x":[1.50, 12345678901234567890123],"model":"b","stream":true,"stream_options":{"include_usage":true}}"#
    );
    assert_eq!(Passed::read(body, 1_000).expect("read"), Passed { model: "a".to_owned(), stream: true, include_usage: false });
    assert!(Passed::read(body, 10).is_err());
    assert!(Passed::read(br#"{"model":"a","model":"b"}"#, 100).is_err());
}

/// What passes of a stream in pieces of so many bytes, as the gateway watches it.
fn filtered(stream: &[u8], size: usize, event_bytes_max: usize) -> Vec<u8> {
    let mut usage = UsageReader::new(AnswerFormat::OpenAiChat, true);
    let (mut filter, mut out) = (UsageFilter::new(event_bytes_max), Vec::new());
    for piece in stream.chunks(size) {
        usage.push(piece);
        filter.push(piece, usage.usage().is_some(), &mut out);
    }
    filter.end(&mut out);
    out
}

#[test]
fn usage_alone_is_taken_out_wherever_the_stream_is_cut() {
    let stream = b"data: {\"choices\":[{\"delta\":{}}],\"usage\":{\"a\":1}}\n\n: x\n\ndata: {\"choices\":[],\"usage\":{\"a\":1}}\n\ndata: [DONE]\n\nrest";
    let wanted = b"data: {\"choices\":[{\"delta\":{}}],\"usage\":{\"a\":1}}\n\n: x\n\ndata: [DONE]\n\nrest";
    for size in 1..stream.len() {
        assert_eq!(filtered(stream, size, 1_000), wanted);
        assert_eq!(filtered(stream, size, 20), stream, "what is too large passes");
    }
}

#[test]
fn a_bound_takes_the_place_of_the_clients() {
    let bounded = |body: &str, member| {
        let change = PassedChange { output_tokens_max: Some((member, 7)), ..PassedChange::default() };
        String::from_utf8(passed_body(body.as_bytes(), 1_000, change).expect("passes")).expect("text")
    };
    assert_eq!(bounded(r#"{"model":"a","x":1}"#, "max_tokens"), r#"{"model":"a","x":1,"max_tokens":7}"#);
    assert_eq!(bounded(r#"{"max_tokens":99,"model":"a"}"#, "max_completion_tokens"), r#"{"max_tokens":7,"model":"a"}"#);
    // A name that the provider may not know is left out.
    assert_eq!(bounded(r#"{"max_completion_tokens":null,"model":"a"}"#, "max_tokens"), r#"{"model":"a","max_tokens":7}"#);
}
