use super::{TextChannel, TextKind, answer_texts, event_texts, request_texts, spliced, text_at};

fn texts(document: &str) -> Vec<String> {
    request_texts(document.as_bytes()).iter().map(|place| text_at(document.as_bytes(), &place.range).into_owned()).collect()
}

#[test]
fn what_is_said_in_a_request_is_found_wherever_it_is() {
    let chat = r#"{"model":"m","messages":[{"role":"user","name":"n","content":"a \"b\" \u00fc"},{"role":"user","content":[
        {"type":"text","text":"c"},{"type":"image_url","image_url":{"url":"https://x"}},{"type":"new","other":["d",{"e":"f"}]}]},
        {"role":"assistant","tool_calls":[{"id":"i","type":"function","function":{"name":"t","arguments":"{\"g\":1}"}}]}],"user":"h"}"#;
    assert_eq!(texts(chat), ["a \"b\" ü", "c", "d", "f", "{\"g\":1}", "h"]);
    let anthropic = r#"{"system":[{"type":"text","text":"a"}],"messages":[{"role":"assistant","content":[
        {"type":"thinking","thinking":"b","signature":"s"},{"type":"tool_use","id":"i","name":"n","input":{"name":"c","d":["e"]}}]}]}"#;
    assert_eq!(texts(anthropic), ["a", "b", "c", "e"]);
    let google = r#"{"model":"m","stream":false,"systemInstruction":{"parts":[{"text":"a"}]},"contents":[{"role":"user","parts":[{"text":"b"},
        {"fileData":{"mimeType":"image/png","fileUri":"https://x"}},{"functionCall":{"name":"f","args":{"name":"c","url":["d"]}}},
        {"functionResponse":{"name":"f","response":{"id":"e"}}},{"text":"f","thought":true,"thoughtSignature":"s"}]}]}"#;
    assert_eq!(texts(google), ["a", "b", "c", "d", "e", "f"]);
    let kinds: Vec<_> = request_texts(google.as_bytes()).iter().map(|place| place.kind).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == TextKind::Thought).count(), 1);
    assert_eq!(kinds.last(), Some(&TextKind::Thought));
    assert_eq!(texts(r#"{"model":"m","input":"a"}"#), ["a"]);
    assert_eq!(texts(r#"{"model":"m","input":[{"role":"user","id":"x","content":[{"type":"input_text","text":"a"}]}]}"#), ["a"]);
    assert_eq!(texts(r#"{"model":"m","input":["a","b"]}"#), ["a", "b"]);
}

#[test]
fn bytes_are_no_text_but_plain_documents_are() {
    let data = "QUJD".repeat(100);
    assert_eq!(texts(&format!(r#"{{"source":{{"type":"base64","data":"{data}"}}}}"#)), Vec::<String>::new());
    assert_eq!(texts(&format!(r#"{{"file_data":"data:application/pdf;base64,{data}"}}"#)), Vec::<String>::new());
    assert_eq!(texts(r#"{"source":{"type":"text","data":"plain words"}}"#), ["plain words"]);
    assert_eq!(texts(r#"{"source":{"type":"text","data":"AKIAABCDEFGHIJKLMNOP"}}"#), ["AKIAABCDEFGHIJKLMNOP"]);
}

#[test]
fn what_is_no_json_does_no_harm() {
    for document in ["", "\"", "{", "\"\\", "{\"a", "]}", "[[[[", "{\"a\":\"b\\\"", "tru", &"[".repeat(100_000)] {
        let places = request_texts(document.as_bytes());
        assert!(places.iter().all(|place| place.range.end <= document.len()), "{document}");
        event_texts(document.as_bytes());
    }
}

#[test]
fn a_change_leaves_all_else_as_it_was() {
    let document = r#"{ "a":"one",  "n":1.0, "b":["two\u0041"] }"#;
    let places = request_texts(document.as_bytes());
    let changes: Vec<_> =
        places.iter().map(|place| (place.range.clone(), format!("<{}>", text_at(document.as_bytes(), &place.range)))).collect();
    let made = spliced(document.as_bytes(), &changes);
    assert_eq!(String::from_utf8_lossy(&made), r#"{ "a":"<one>",  "n":1.0, "b":["<twoA>"] }"#);
}

#[test]
fn texts_of_answers_are_those_that_clients_show() {
    let answer = r#"{"id":"i","model":"m","choices":[{"message":{"role":"assistant","content":"a","tool_calls":[{"id":"x","function":
        {"name":"f","arguments":"{}"}}]},"finish_reason":"stop"}]}"#;
    let found: Vec<_> = answer_texts(answer.as_bytes())
        .iter()
        .map(|place| (text_at(answer.as_bytes(), &place.range).into_owned(), place.kind))
        .collect();
    assert_eq!(found, [("a".to_owned(), TextKind::Text), ("{}".to_owned(), TextKind::Arguments)]);
    let answer = r#"{"content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"tool_use","input":{"id":"in"}}],"stop_reason":"x"}"#;
    let kinds: Vec<_> = answer_texts(answer.as_bytes()).iter().map(|place| place.kind).collect();
    assert_eq!(kinds, [TextKind::Thought, TextKind::Text]);
    let answer = r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"t","thought":true},{"text":"a"},{"functionCall":{"name":"f","args":{"b":"c"}}}]},
        "finishReason":"STOP"}],"modelVersion":"m","responseId":"r"}"#;
    let kinds: Vec<_> = answer_texts(answer.as_bytes()).iter().map(|place| place.kind).collect();
    assert_eq!(kinds, [TextKind::Thought, TextKind::Text, TextKind::Text]);
}

#[test]
fn events_say_which_text_goes_on_and_which_ends() {
    let channel = |name: &str, indices: &[u64]| TextChannel { indices: indices.to_vec(), name: name.to_owned() };
    type Case = (&'static str, Vec<(TextChannel, bool)>, Vec<Option<u64>>);
    let cases: [Case; 13] = [
        (r#"{"choices":[{"index":1,"delta":{"content":"a"}}]}"#, vec![(channel("content", &[1]), true)], vec![]),
        (
            r#"{"choices":[{"delta":{"content":"a"},"index":1,"finish_reason":"stop"}]}"#,
            vec![(channel("content", &[1]), true)],
            vec![Some(1)],
        ),
        (
            r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":2,"function":{"arguments":"a"}}]},"finish_reason":null}]}"#,
            vec![(channel("arguments", &[0, 2]), true)],
            vec![],
        ),
        (
            r#"{"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":"a"}}"#,
            vec![(channel("text", &[3]), true)],
            vec![],
        ),
        (r#"{"type":"content_block_stop","index":3}"#, vec![], vec![Some(3)]),
        (
            r#"{"type":"response.output_text.delta","output_index":1,"content_index":0,"delta":"a"}"#,
            vec![(channel("response.output_text.delta", &[1, 0]), true)],
            vec![],
        ),
        (
            r#"{"type":"response.output_text.done","output_index":1,"content_index":0,"text":"a"}"#,
            vec![(channel("text", &[1, 0]), false)],
            vec![Some(1)],
        ),
        (r#"{"candidates":[{"content":{"parts":[{"text":"a"}]},"index":1}]}"#, vec![(channel("parts", &[2]), true)], vec![Some(3)]),
        (
            r#"{"candidates":[{"content":{"parts":[{"text":"a","thought":true},{"text":"b"}]}}]}"#,
            vec![(channel("parts", &[1]), true), (channel("parts", &[0]), true)],
            vec![Some(0), Some(1)],
        ),
        (
            r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"text":"a","thought":true}}}]}}]}"#,
            vec![(channel("parts", &[0]), false)],
            vec![Some(0), Some(1)],
        ),
        (
            r#"{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}"#,
            vec![(channel("parts", &[0]), true)],
            vec![Some(0), Some(1)],
        ),
        ("[DONE]", vec![], vec![None]),
        (r#"{"error":{"message":"m"}}"#, vec![], vec![None]),
    ];
    for (data, texts, ends) in cases {
        let found = event_texts(data.as_bytes());
        let told: Vec<_> = found.texts.iter().map(|text| (text.channel.clone(), text.is_delta)).collect();
        assert_eq!((told, found.ends), (texts, ends), "{data}");
    }
}
