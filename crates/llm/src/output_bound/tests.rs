use super::{BoundedStream, OutputBound};
use crate::{AnswerContext, Ask, ClientApi, Flavour, Provider, ProviderApi, ProviderCredential};

fn stream(api: ProviderApi, client: ClientApi, tokens_max: u64) -> BoundedStream {
    let provider = Provider { api, base_path: None, credential: ProviderCredential::None };
    let answer = AnswerContext::new(&Ask { include_usage: true, ..Ask::default() }, 1, "x");
    BoundedStream::new(&provider, client, answer, OutputBound::new(tokens_max, 7), 5_000_000)
}

fn passed(mut stream: BoundedStream, bytes: &str, piece: usize) -> (String, bool) {
    let mut out = Vec::new();
    let goes_on = bytes.as_bytes().chunks(piece).fold(true, |_, piece| stream.push(piece, &mut out));
    stream.end(&mut out);
    (String::from_utf8(out).expect("text"), goes_on)
}

fn chunk(text: &str) -> String {
    format!("data: {{\"id\":\"c\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n")
}

fn chat(count: usize) -> String {
    let end = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    format!("{}{}{end}", chunk(""), chunk("word ").repeat(count))
}

#[test]
fn an_answer_within_its_bound_passes_byte_for_byte() {
    for piece in [1, 7, 1_000] {
        let bytes = chat(5);
        assert_eq!(passed(stream(ProviderApi::OpenAi(Flavour::OpenAi), ClientApi::OpenAiChat, 5), &bytes, piece), (bytes, true));
    }
}

#[test]
fn an_answer_beyond_its_bound_ends_for_its_length() {
    for piece in [1, 7, 1_000] {
        let (text, goes_on) = passed(stream(ProviderApi::OpenAi(Flavour::Vllm), ClientApi::OpenAiChat, 3), &chat(5), piece);
        assert!(!goes_on);
        assert_eq!((text.matches("word ").count(), text.matches("\"length\"").count()), (3, 1), "{text}");
        assert!(text.ends_with("data: [DONE]\n\n") && !text.contains("\"stop\""), "{text}");
    }
}

#[test]
fn an_answer_of_google_ends_with_its_reason_and_usage() {
    let event = "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"word \"}]}}],\"usageMetadata\":{\"promptTokenCount\":4},\"responseId\":\"r\",\"modelVersion\":\"g\"}\r\n\r\n";
    let (text, goes_on) = passed(stream(ProviderApi::Gemini, ClientApi::Gemini, 2), &event.repeat(5), 50);
    assert!(!goes_on && text.starts_with(&event.repeat(2)) && text.matches("word ").count() == 2, "{text}");
    let end = r#""finishReason":"MAX_TOKENS","index":0}],"usageMetadata":{"promptTokenCount":4,"candidatesTokenCount":2,"totalTokenCount":6},"modelVersion":"g","responseId":"r"}"#;
    assert!(text.trim_end().ends_with(end), "{text}");
}

#[test]
fn a_message_of_anthropic_ends_with_all_its_events() {
    let begin = r#"event: message_start
data: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"c","content":[],"usage":{"input_tokens":11,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

"#;
    let delta = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"word \"}}\n\n";
    let bytes = format!("{begin}{}", delta.repeat(5));
    let (text, _) = passed(stream(ProviderApi::Anthropic, ClientApi::AnthropicMessages, 2), &bytes, 100);
    assert!(text.starts_with(begin) && text.matches("word ").count() == 2, "{text}");
    let rest = text.rsplit("word ").next().unwrap_or_default();
    let names: Vec<&str> = rest.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
    assert_eq!(names, ["content_block_stop", "message_delta", "message_stop"], "{text}");
    assert!(rest.contains("\"max_tokens\"") && rest.contains("\"output_tokens\":2"), "{rest}");
}

#[test]
fn an_event_counts_all_the_words_that_it_has() {
    let words = chunk(&"word ".repeat(50));
    let (text, goes_on) =
        passed(stream(ProviderApi::OpenAi(Flavour::OpenAi), ClientApi::OpenAiChat, 591), &words.repeat(60), 1_000);
    assert!(!goes_on);
    assert_eq!(text.matches("word ").count(), 550, "the twelfth event would exceed it");
    let large = chunk(&"word ".repeat(600_000));
    let (text, goes_on) = passed(stream(ProviderApi::OpenAi(Flavour::OpenAi), ClientApi::OpenAiChat, 30), &large, 100_000);
    assert!(!goes_on && !text.contains("word") && text.contains("\"length\""), "{text:.300}");
    let long = chunk(&"a".repeat(128 * 31));
    let (text, goes_on) = passed(stream(ProviderApi::OpenAi(Flavour::OpenAi), ClientApi::OpenAiChat, 30), &long, 1_000);
    assert!(!goes_on && !text.contains("aa"), "{text:.300}");
}

#[test]
fn a_client_that_asks_for_usage_is_told_the_likely_prompt_of_an_answer_that_is_ended() {
    let (text, _) = passed(stream(ProviderApi::OpenAi(Flavour::OpenAi), ClientApi::OpenAiChat, 3), &chat(5), 100);
    assert!(text.contains("\"prompt_tokens\":7,\"completion_tokens\":3,"), "{text}");
}

#[test]
fn what_comes_behind_an_event_that_nobody_understands_is_bounded_too() {
    let bytes = format!("{}data: {{broken\n\n{}", chunk("word "), chunk("word ").repeat(100));
    let (text, goes_on) = passed(stream(ProviderApi::OpenAi(Flavour::OpenAi), ClientApi::OpenAiChat, 20), &bytes, 100);
    assert!(!goes_on && text.matches("word ").count() <= 20, "{text}");
}

#[test]
fn comments_behind_the_end_of_an_answer_count_for_nothing() {
    let bytes = format!("{}: bye\n\n: bye\n\n", chat(5));
    assert_eq!(passed(stream(ProviderApi::OpenAi(Flavour::OpenAi), ClientApi::OpenAiChat, 5), &bytes, 9), (bytes, true));
}

#[test]
fn usage_that_is_told_with_each_event_bounds_what_has_no_words() {
    let event = |told: usize| {
        format!(
            "data: {{\"candidates\":[{{\"content\":{{\"parts\":[{{\"text\":\"天天中彩票\"}}]}}}}],\"usageMetadata\":{{\"promptTokenCount\":4,\"candidatesTokenCount\":{told}}},\"responseId\":\"r\"}}\n\n"
        )
    };
    let bytes: String = (1..=10).map(|at| event(at * 100)).collect();
    let (text, goes_on) = passed(stream(ProviderApi::Gemini, ClientApi::Gemini, 300), &bytes, 70);
    assert!(!goes_on);
    assert_eq!(text.matches("天天中彩票").count(), 3, "{text}");
}

mod responses;
