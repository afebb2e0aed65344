//! Clients and providers that mean harm: everything has a bound, and every stream an end.
#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use tollgate_llm::{ClientApi, Event, Fault, Flavour, Provider, ProviderApi, ProviderCredential, ToolCall};

const BYTES_MAX: usize = 1 << 20;
const CLIENTS: [ClientApi; 4] =
    [ClientApi::OpenAiChat, ClientApi::OpenAiResponses, ClientApi::AnthropicMessages, ClientApi::Gemini];
const PROVIDERS: [ProviderApi; 5] =
    [ProviderApi::OpenAi(Flavour::OpenAi), ProviderApi::Anthropic, ProviderApi::Gemini, ProviderApi::Bedrock, ProviderApi::Cohere];

fn provider(api: ProviderApi) -> Provider {
    Provider { api, base_path: None, credential: ProviderCredential::None }
}

fn faults(events: &[Event]) -> Vec<&Fault> {
    events.iter().filter_map(|event| if let Event::Fault(fault) = event { Some(fault) } else { None }).collect()
}

#[test]
fn an_event_without_end_is_a_fault_at_its_bound() {
    for api in PROVIDERS {
        for start in [&b"data: \""[..], b"event: x\n", b"", b"\x00\x7f\xff\xff\x00\x00\x00\x00"] {
            let mut stream = provider(api).stream(1 << 16);
            let mut events = stream.push(start);
            for _ in 0..640 {
                events.extend(stream.push(&[b'a'; 16 << 10]));
            }
            events.extend(stream.end());
            assert_eq!(faults(&events).len(), 1, "{api:?}");
            assert!(stream.is_over());
            assert_eq!(events.len(), 1, "{api:?}");
        }
    }
}

#[test]
fn a_stream_that_says_nothing_is_a_fault() {
    for api in PROVIDERS {
        let mut stream = provider(api).stream(BYTES_MAX);
        assert!(stream.push(b"").is_empty());
        assert_eq!(faults(&stream.end()).len(), 1, "{api:?}");
        assert!(stream.end().is_empty());
    }
}

#[test]
fn deep_documents_are_refused_on_both_sides() {
    let deep = "[".repeat(200_000) + &"]".repeat(200_000);
    for client in CLIENTS {
        for body in [deep.clone(), format!(r#"{{"model":"m","x":{deep}}}"#), "{\"a\":".repeat(200) + "1" + &"}".repeat(200)] {
            let refused = client.read(body.as_bytes(), BYTES_MAX).expect_err("refused");
            assert!(refused.why.contains("too deep"), "{refused:?}");
        }
    }
    let body = format!(r#"{{"candidates":{deep},"choices":{deep},"content":{deep},"output":{deep},"message":{deep}}}"#);
    for api in PROVIDERS {
        assert!(provider(api).reply(200, body.as_bytes(), 4 << 20).is_err(), "{api:?}");
        let _ = provider(api).reply(500, body.as_bytes(), 4 << 20).expect_err("an error");
        let mut stream = provider(api).stream(4 << 20);
        let mut events = stream.push(format!("data: {body}\n\n").as_bytes());
        events.extend(stream.end());
        assert_eq!(faults(&events).len(), 1, "{api:?}");
    }
}

#[test]
fn arguments_that_are_deep_are_refused() {
    let deep = "[".repeat(150) + &"]".repeat(150);
    let call = format!(r#"{{"id":"a","type":"function","function":{{"name":"f","arguments":"{{\"a\":{deep}}}"}}}}"#);
    let body = format!(r#"{{"model":"m","messages":[{{"role":"assistant","tool_calls":[{call}]}}]}}"#);
    assert!(ClientApi::OpenAiChat.read(body.as_bytes(), BYTES_MAX).is_err());
}

#[test]
fn large_documents_and_many_values_are_refused() {
    let many = format!(r#"{{"model":"m","messages":[{}]}}"#, vec!["0"; 1_100_000].join(","));
    for client in CLIENTS {
        assert!(client.read(&vec![b' '; BYTES_MAX + 1], BYTES_MAX).expect_err("refused").why.contains("too large"));
        assert!(client.read(many.as_bytes(), 16 << 20).expect_err("refused").why.contains("too many values"));
    }
    for api in PROVIDERS {
        assert!(provider(api).reply(200, many.as_bytes(), 16 << 20).is_err());
    }
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    for client in CLIENTS {
        assert!(client.read(b"{\"model\":\"\xff\xfe\",\"messages\":[]}", BYTES_MAX).is_err());
    }
    for api in PROVIDERS {
        assert!(provider(api).reply(200, b"\xff\xfe", BYTES_MAX).is_err());
    }
}

#[test]
fn messages_of_errors_are_bounded() {
    let body = format!(r#"{{"error":{{"message":"{}"}},"message":"{0}"}}"#, "ä".repeat(100_000));
    for api in PROVIDERS {
        let fault = provider(api).reply(400, body.as_bytes(), BYTES_MAX).expect_err("an error");
        assert!(fault.message.len() <= Fault::MESSAGE_BYTES_MAX, "{api:?}");
    }
}

#[test]
fn parts_of_a_stream_are_counted() {
    let mut stream = provider(ProviderApi::Gemini).stream(BYTES_MAX);
    let event = br#"data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"f"}}]}}]}"#;
    let mut events = Vec::new();
    for _ in 0..20_000 {
        events.extend(stream.push(event));
        events.extend(stream.push(b"\n\n"));
    }
    assert_eq!(faults(&events).len(), 1);
    assert!(stream.is_over());
}

#[test]
fn numbers_that_nobody_reads_stay_as_they_are() {
    let arguments = r#"{"big":12345678901234567890123,"small":1.50}"#;
    let body = format!(
        r#"{{"model":"m","max_tokens":9,"messages":[{{"role":"assistant","content":[{{"type":"tool_use","id":"a","name":"f","input":{arguments}}}]}}],"tools":[{{"name":"f","input_schema":{{"maximum":{arguments}}}}}]}}"#
    );
    let ask = ClientApi::AnthropicMessages.read(body.as_bytes(), BYTES_MAX).expect("a request");
    for api in PROVIDERS {
        let body = String::from_utf8(provider(api).request(&ask).expect("a counterpart").body).expect("text");
        assert!(body.contains(&format!(r#""maximum":{arguments}"#)), "{api:?}: {body}");
        assert!(body.contains("12345678901234567890123"), "{api:?}");
    }
    let reply = tollgate_llm::Reply {
        parts: vec![tollgate_llm::Part::ToolCall(ToolCall { arguments: arguments.to_owned(), ..ToolCall::default() })],
        ..tollgate_llm::Reply::default()
    };
    let body = ClientApi::AnthropicMessages.write_reply(&reply, &tollgate_llm::AnswerContext::default()).expect("an answer");
    assert!(String::from_utf8(body).expect("text").contains(arguments));
}
