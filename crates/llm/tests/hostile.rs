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

#[test]
fn a_letter_that_is_split_over_events_is_whole() {
    let texts = |api: ProviderApi, pieces: &[&str]| {
        let mut stream = provider(api).stream(BYTES_MAX);
        let event = |text: &str| match api {
            ProviderApi::OpenAi(_) => format!(r#"{{"id":"c","choices":[{{"index":0,"delta":{{"content":"{text}"}}}}]}}"#),
            ProviderApi::Gemini => {
                format!(r#"{{"responseId":"c","candidates":[{{"content":{{"parts":[{{"text":"{text}"}}]}}}}]}}"#)
            }
            ProviderApi::Cohere => format!(r#"{{"type":"content-delta","delta":{{"message":{{"content":{{"text":"{text}"}}}}}}}}"#),
            _ => format!(r#"{{"type":"content_block_delta","delta":{{"type":"text_delta","text":"{text}"}}}}"#),
        };
        let bytes = pieces.iter().map(|text| format!("data: {}\n\n", event(text))).collect::<String>();
        let mut events = stream.push(bytes.as_bytes());
        events.extend(stream.end());
        events
            .iter()
            .filter_map(|event| if let Event::TextDelta(text) = event { Some(text.as_str()) } else { None })
            .collect::<String>()
    };
    for api in [ProviderApi::OpenAi(Flavour::Vllm), ProviderApi::Gemini, ProviderApi::Cohere, ProviderApi::Anthropic] {
        for (pieces, text) in [
            (&[r"a\ud83d", r"\ude00b"][..], "a\u{1f600}b"),
            (&[r"\ud83d", "", r"\ude00\ud83d", r"\ude01"], "\u{1f600}\u{1f601}"),
            (&[r"\ud83d", "x"], "\u{fffd}x"),
            (&[r"\ude00x\ud83d\ud83d", r"\ude00"], "\u{fffd}x\u{fffd}\u{1f600}"),
            (&["\u{d55c}\\ud83d", r"\ude00"], "\u{d55c}\u{1f600}"),
        ] {
            assert_eq!(texts(api, pieces), text, "{api:?} {pieces:?}");
        }
    }
    // What never comes is replaced where the part ends.
    let pieces = [
        r#"{"id":"c","choices":[{"delta":{"content":"x\ud83d"}}]}"#,
        r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#,
        "[DONE]",
    ];
    let mut stream = provider(ProviderApi::OpenAi(Flavour::OpenAi)).stream(BYTES_MAX);
    let events = stream.push(pieces.map(|piece| format!("data: {piece}\n\n")).concat().as_bytes());
    let texts: Vec<&str> =
        events.iter().filter_map(|event| if let Event::TextDelta(text) = event { Some(text.as_str()) } else { None }).collect();
    assert_eq!(texts.concat(), "x\u{fffd}");
}

#[test]
fn what_an_answer_has_no_counterpart_for_is_a_fault_that_names_it() {
    let chat = ProviderApi::OpenAi(Flavour::OpenRouter);
    for (api, what, whole, event) in [
        (
            chat,
            "images",
            r#"{"choices":[{"message":{"content":"Here","images":[{"type":"image_url"}]}}]}"#,
            r#"{"choices":[{"delta":{"images":[{}]}}]}"#,
        ),
        (
            chat,
            "audio",
            r#"{"choices":[{"message":{"content":null,"audio":{"id":"a"}}}]}"#,
            r#"{"choices":[{"delta":{"audio":{"id":"a"}}}]}"#,
        ),
        (
            chat,
            "a second choice",
            r#"{"choices":[{"message":{"content":"a"}},{"index":1,"message":{"content":"b"}}]}"#,
            r#"{"choices":[{"index":1,"delta":{"content":"b"}}]}"#,
        ),
        (
            ProviderApi::Gemini,
            "inlineData",
            r#"{"candidates":[{"finishReason":"STOP","content":{"parts":[{"text":"Here: "},{"inlineData":{"data":"AAAA"}}]}}]}"#,
            r#"{"candidates":[{"content":{"parts":[{"inlineData":{"data":"AAAA"}}]}}]}"#,
        ),
        (
            ProviderApi::Gemini,
            "executableCode",
            r#"{"candidates":[{"finishReason":"STOP","content":{"parts":[{"executableCode":{"code":"1"}}]}}]}"#,
            r#"{"candidates":[{"content":{"parts":[{"executableCode":{"code":"1"}}]}}]}"#,
        ),
    ] {
        let fault = provider(api).reply(200, whole.as_bytes(), BYTES_MAX).expect_err("it has no counterpart");
        let mut stream = provider(api).stream(BYTES_MAX);
        let events = stream.push(format!("data: {event}\n\n").as_bytes());
        let found = faults(&events);
        for fault in [&fault, found[0]] {
            assert!(fault.status == 502 && fault.message.contains(&format!(" has {what}, ")), "{what}: {fault:?}");
        }
    }
}

#[test]
fn a_bound_goes_out_under_a_name_that_the_provider_knows() {
    let both = r#"{"model":"m","messages":[],"max_tokens":50,"max_completion_tokens":60}"#;
    let new = r#"{"model":"m","messages":[],"max_completion_tokens":60}"#;
    let none = r#"{"model":"m","messages":[]}"#;
    let members = |flavour: Flavour, body: &str| {
        let provider = provider(ProviderApi::OpenAi(flavour));
        let request =
            provider.passed_request(ClientApi::OpenAiChat, body.as_bytes(), BYTES_MAX, None, Some(20)).expect("a request");
        let sent: serde_json::Value = serde_json::from_slice(&request.body).expect("JSON");
        ["max_tokens", "max_completion_tokens"].map(|name| sent[name].as_u64())
    };
    for flavour in [Flavour::Ollama, Flavour::DeepSeek, Flavour::Mistral, Flavour::Vllm] {
        for body in [both, new, none] {
            assert_eq!(members(flavour, body), [Some(20), None], "{flavour:?} {body}");
        }
    }
    for (body, sent) in [(both, [Some(20); 2]), (new, [None, Some(20)]), (none, [None, Some(20)])] {
        assert_eq!(members(Flavour::OpenAi, body), sent, "{body}");
    }
}
