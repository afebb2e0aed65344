use super::{AnswerRecorder, replayed};
use crate::answer::AnswerContext;
use crate::client::ClientApi;
use crate::form::{Ask, Part, ReasoningPart, Reply, Stop, ToolCall, Usage};

const APIS: [ClientApi; 4] = [ClientApi::OpenAiChat, ClientApi::OpenAiResponses, ClientApi::AnthropicMessages, ClientApi::Gemini];

fn context() -> AnswerContext {
    AnswerContext::new(&Ask { model: "m".to_owned(), include_usage: true, ..Ask::default() }, 1, "id")
}

fn reply(parts: Vec<Part>, stop: Stop) -> Reply {
    let usage = Usage { input: 7, output: 3, ..Usage::default() };
    Reply { id: String::new(), model: "m".to_owned(), parts, stop, usage }
}

fn stream_of(api: ClientApi, reply: &Reply) -> Vec<u8> {
    let (mut writer, mut bytes) = (api.stream(context()), Vec::new());
    replayed(reply).iter().for_each(|event| writer.write(event, &mut bytes));
    bytes
}

fn recorded(api: ClientApi, is_stream: bool, bytes: &[u8], piece: usize) -> Option<Reply> {
    let mut recorder = AnswerRecorder::new(api, is_stream, 1 << 20);
    bytes.chunks(piece).for_each(|piece| recorder.push(piece));
    recorder.end()
}

#[test]
fn an_answer_is_the_same_after_it_was_played_and_recorded_again() {
    let call =
        ToolCall { id: "call_1".to_owned(), name: "weather".to_owned(), arguments: r#"{"a":"ü"}"#.to_owned(), signature: None };
    let thought = ReasoningPart { text: "hm".to_owned(), signature: Some("proof".to_owned()), redacted: None };
    for parts in [
        vec![Part::Text("Hello ü".to_owned())],
        vec![Part::Reasoning(thought), Part::Text("Hello".to_owned()), Part::ToolCall(call)],
    ] {
        let stop = if parts.len() > 1 { Stop::ToolCalls } else { Stop::End };
        let reply = reply(parts, stop);
        for api in APIS {
            let whole = api.write_reply(&reply, &context()).expect("it can be said");
            for (is_stream, bytes) in [(false, whole), (true, stream_of(api, &reply))] {
                for piece in [1, 7, bytes.len()] {
                    let read = recorded(api, is_stream, &bytes, piece).unwrap_or_else(|| panic!("{api:?} {is_stream}"));
                    assert_eq!(read.parts, reply.parts, "{api:?} {is_stream}");
                    assert_eq!((read.stop, read.usage), (reply.stop, reply.usage), "{api:?} {is_stream}");
                }
            }
        }
    }
}

#[test]
fn what_is_not_a_whole_good_answer_is_nothing() {
    let good = reply(vec![Part::Text("Hello".to_owned())], Stop::End);
    for api in APIS {
        let bytes = stream_of(api, &good);
        assert_eq!(recorded(api, true, bytes.get(..bytes.len() / 2).expect("it is longer"), 9), None, "{api:?}");
        let whole = api.write_reply(&good, &context()).expect("it can be said");
        assert_eq!(recorded(api, false, whole.get(..whole.len() - 2).expect("it is longer"), 9), None, "{api:?}");
        assert_eq!(recorded(api, true, &stream_of(api, &reply(good.parts.clone(), Stop::Filtered)), 9), None, "{api:?}");
        let mut recorder = AnswerRecorder::new(api, false, 5);
        recorder.push(&whole);
        assert_eq!(recorder.end(), None, "it is too large");
    }
    let refused = br#"{"choices":[{"message":{"content":null,"refusal" : "No"},"finish_reason":"stop"}]}"#;
    assert_eq!(recorded(ClientApi::OpenAiChat, false, refused, 9), None);
    let chunk = b"data: {\"choices\":[{\"delta\":{\"refusal\":\"No\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    assert_eq!(recorded(ClientApi::OpenAiChat, true, chunk, 1), None);
    for part in [r#""inlineData": {"data":"aGk="}"#, r#""executableCode":{"code":"x"}"#] {
        let answer = format!(r#"{{"candidates":[{{"content":{{"parts":[{{"text":"a"}},{{{part}}}]}},"finishReason":"STOP"}}]}}"#);
        assert_eq!(recorded(ClientApi::Gemini, false, answer.as_bytes(), 9), None, "{part}");
        assert_eq!(recorded(ClientApi::Gemini, true, format!("data: {answer}\n\n").as_bytes(), 1), None, "{part}");
    }
}
