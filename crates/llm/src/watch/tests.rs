use super::{AnswerFormat, UsageReader};
use crate::form::Stop;

/// (api, is a stream, bytes, input, output, cached, stop, bytes of text)
type Case = (AnswerFormat, bool, &'static str, u64, u64, u64, Option<Stop>, u64);

const CASES: &[Case] = &[
    (
        AnswerFormat::OpenAiChat,
        false,
        r#"{"choices":[{"message":{"content":"H\"ä\u00e4","usage":{"prompt_tokens":99}},"finish_reason":"length"}],"usage":{"prompt_tokens":5,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":3}}}"#,
        5,
        7,
        3,
        Some(Stop::OutputLimit),
        11,
    ),
    (
        AnswerFormat::OpenAiChat,
        true,
        "data: {\"choices\":[{\"delta\":{\"content\":\"ab\"}}],\"usage\":null}\n\n: c\n\ndata:{\"choices\":[{\"delta\":{\"content\":\"c\"},\"finish_reason\":\"stop\"}]}\r\n\r\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":7}}\n\ndata: [DONE]\n\n",
        5,
        7,
        0,
        Some(Stop::End),
        3,
    ),
    (
        AnswerFormat::Anthropic,
        true,
        "event: message_start\ndata: {\"message\":{\"usage\":{\"input_tokens\":5,\"cache_read_input_tokens\":2,\"output_tokens\":1}}}\n\nevent: content_block_delta\ndata: {\"delta\":{\"text\":\"data: {\"}}\n\nevent: message_delta\ndata: {\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":9}}\n\n",
        7,
        9,
        2,
        Some(Stop::ToolCalls),
        7,
    ),
    (
        AnswerFormat::OpenAiResponses,
        true,
        "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"abc\"}\n\nevent: response.completed\ndata: {\"response\":{\"status\":\"completed\",\"output\":[{\"content\":[{\"text\":\"abc\"}],\"status\":\"completed\"}],\"usage\":{\"input_tokens\":4,\"output_tokens\":6,\"input_tokens_details\":{\"cached_tokens\":1}}}}\n\n",
        4,
        6,
        1,
        Some(Stop::End),
        3,
    ),
    (
        AnswerFormat::Gemini,
        true,
        "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"ab\"}]}}],\"usageMetadata\":{\"promptTokenCount\":5}}\r\n\r\ndata: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"c\",\"thought\":true}]},\"finishReason\":\"MAX_TOKENS\"}],\"usageMetadata\":{\"promptTokenCount\":5,\"candidatesTokenCount\":7,\"thoughtsTokenCount\":2,\"cachedContentTokenCount\":3}}\r\n\r\n",
        5,
        9,
        3,
        Some(Stop::OutputLimit),
        3,
    ),
    (
        AnswerFormat::Gemini,
        false,
        r#"{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":5}}"#,
        5,
        0,
        0,
        Some(Stop::Filtered),
        0,
    ),
];

#[test]
fn usage_is_found_wherever_the_bytes_are_cut() {
    for (api, is_stream, text, input, output, cached, stop, text_bytes) in CASES {
        for size in 1..=text.len() {
            let mut reader = UsageReader::new(*api, *is_stream);
            text.as_bytes().chunks(size).for_each(|piece| reader.push(piece));
            let usage = reader.usage().expect("usage");
            assert_eq!((usage.input, usage.output, usage.cached_read), (*input, *output, *cached), "{text} by {size}");
            assert_eq!((reader.stop(), reader.text_bytes()), (*stop, *text_bytes), "{text} by {size}");
            assert!(!usage.is_doubtful);
        }
    }
}

#[test]
fn hostile_answers_keep_nothing() {
    let mut reader = UsageReader::new(AnswerFormat::OpenAiChat, false);
    for _ in 0..100_000 {
        reader.push(b"{\"usage\":[");
    }
    assert!(reader.usage().is_none());
    let mut reader = UsageReader::new(AnswerFormat::OpenAiChat, false);
    reader.push(b"{\"usage\":{\"a\":\"");
    for _ in 0..100_000 {
        reader.push(b"0123456789");
    }
    reader.push(b"\",\"prompt_tokens\":1}}]]]");
    assert!(reader.usage().is_none());
}

#[test]
fn figures_that_cannot_be_are_marked() {
    for figures in [
        r#"{"prompt_tokens":-1,"completion_tokens":2}"#,
        r#"{"prompt_tokens":1e30,"completion_tokens":2}"#,
        r#"{"completion_tokens":2}"#,
        r#"{"prompt_tokens":"5","completion_tokens":2}"#,
        r#"{"prompt_tokens":5,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":6}}"#,
    ] {
        let mut reader = UsageReader::new(AnswerFormat::OpenAiChat, false);
        reader.push(format!("{{\"usage\":{figures}}}").as_bytes());
        assert!(reader.usage().expect("usage").is_doubtful, "{figures}");
    }
}

#[test]
fn an_answer_without_tokens_is_known_by_the_sum() {
    let read = |figures: &str| {
        let mut reader = UsageReader::new(AnswerFormat::OpenAiChat, false);
        reader.push(format!("{{\"usage\":{figures}}}").as_bytes());
        let usage = reader.usage().expect("usage");
        (usage.input, usage.output, usage.is_doubtful)
    };
    assert_eq!(read(r#"{"prompt_tokens":4,"total_tokens":4}"#), (4, 0, false), "embeddings");
    assert_eq!(read(r#"{"prompt_tokens":4,"total_tokens":9}"#), (4, 5, false));
    for figures in [
        r#"{"prompt_tokens":4}"#,
        r#"{"prompt_tokens":4,"total_tokens":3}"#,
        r#"{"total_tokens":4}"#,
        r#"{"prompt_tokens":4,"completion_tokens":-1,"total_tokens":4}"#,
    ] {
        assert!(read(figures).2, "{figures}");
    }
}

#[test]
fn an_error_is_known_from_what_only_looks_like_one() {
    for (api, stream, expected) in [
        (AnswerFormat::OpenAiChat, r#"data: {"error":{"message":"no"}}"#, true),
        (AnswerFormat::OpenAiChat, r#"data: {"error":null,"choices":[{"delta":{"content":"\"error\":{"}}]}"#, false),
        (AnswerFormat::Anthropic, r#"data: {"type":"error","error":{"type":"overloaded_error"}}"#, true),
        (AnswerFormat::Anthropic, r#"data: {"type":"content_block_delta","delta":{"partial_json":"{\"error\":{}}"}}"#, false),
        (AnswerFormat::Gemini, r#"data: {"error":{"code":503}}"#, true),
        (AnswerFormat::OpenAiResponses, r#"data: {"type":"error","code":"server_error","message":"no"}"#, true),
        (
            AnswerFormat::OpenAiResponses,
            r#"data: {"type":"response.failed","response":{"status":"failed","error":{"code":"x"}}}"#,
            true,
        ),
        (
            AnswerFormat::OpenAiResponses,
            r#"data: {"type":"response.created","response":{"status":"in_progress","error":null}}"#,
            false,
        ),
    ] {
        let mut reader = UsageReader::new(api, true);
        stream.as_bytes().chunks(3).for_each(|piece| reader.push(piece));
        reader.push(b"\n\ndata: {\"x\":1}\n\n");
        assert_eq!(reader.has_error(), expected, "{stream}");
    }
}
