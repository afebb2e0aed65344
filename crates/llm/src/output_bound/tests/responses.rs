use super::{passed, stream};
use crate::{ClientApi, Flavour, ProviderApi};
use serde_json::{Value, json};

fn event(sequence: u64, mut data: Value) -> String {
    data["sequence_number"] = sequence.into();
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().expect("a type"))
}

fn sent(events: impl IntoIterator<Item = Value>) -> String {
    events.into_iter().enumerate().map(|(at, data)| event(at as u64, data)).collect()
}

fn created() -> Value {
    let response = json!({"id": "resp_1", "object": "response", "model": "gpt", "status": "in_progress", "incomplete_details": null,
        "output": [], "usage": null, "metadata": {"a": "b"}});
    json!({"type": "response.created", "response": response})
}

fn added(index: u64, item: Value) -> Value {
    json!({"type": "response.output_item.added", "output_index": index, "item": item})
}

fn delta(kind: &str, id: &str, index: u64, text: &str) -> Value {
    json!({"type": kind, "item_id": id, "output_index": index, "content_index": 0, "summary_index": 0, "delta": text})
}

/// A thought that is complete, and a message of so many words.
fn answer(words: usize) -> Vec<Value> {
    let thought = json!({"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "x"});
    let message = json!({"id": "msg_1", "type": "message", "status": "in_progress", "role": "assistant", "content": []});
    let mut events = vec![
        created(),
        added(0, thought.clone()),
        json!({"type": "response.output_item.done", "output_index": 0, "item": thought}),
        added(1, message),
        json!({"type": "response.content_part.added", "item_id": "msg_1", "output_index": 1, "content_index": 0,
            "part": {"type": "output_text", "text": "", "annotations": []}}),
    ];
    events.extend((0..words).map(|_| delta("response.output_text.delta", "msg_1", 1, "word ")));
    events
}

fn bounded(events: Vec<Value>, tokens_max: u64, piece: usize) -> (String, bool, Vec<Value>) {
    let bytes = sent(events);
    let stream = stream(ProviderApi::OpenAi(Flavour::OpenAi), ClientApi::OpenAiResponses, tokens_max);
    let (text, goes_on) = passed(stream, &bytes, piece);
    let datas = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let read = datas.map(|data| serde_json::from_str(data).expect("JSON")).collect();
    (text, goes_on, read)
}

#[test]
fn an_answer_within_its_bound_passes_byte_for_byte() {
    let mut events = answer(5);
    events.push(json!({"type": "response.completed", "response": {"id": "resp_1", "status": "completed", "usage": {"input_tokens": 3, "output_tokens": 5}}}));
    let (text, goes_on, _) = bounded(events.clone(), 5, 7);
    assert!(goes_on);
    assert_eq!(text, sent(events));
}

#[test]
fn an_answer_beyond_its_bound_ends_with_the_providers_own_ids_and_numbers() {
    for piece in [1, 50, 100_000] {
        let (text, goes_on, events) = bounded(answer(8), 3, piece);
        assert!(!goes_on);
        assert_eq!(text.matches("\"delta\":\"word \"").count(), 3, "{text}");
        let numbers: Vec<u64> = events.iter().filter_map(|event| event["sequence_number"].as_u64()).collect();
        assert_eq!(numbers, (0..events.len() as u64).collect::<Vec<_>>(), "{text}");
        let [.., text_done, part_done, item_done, last] = events.as_slice() else { panic!("{text}") };
        let part = json!({"type": "output_text", "text": "word word word ", "annotations": [], "logprobs": []});
        let item = json!({"id": "msg_1", "type": "message", "status": "incomplete", "role": "assistant", "content": [part]});
        assert_eq!((&text_done["type"], &text_done["text"]), (&json!("response.output_text.done"), &json!("word word word ")));
        assert_eq!((&text_done["item_id"], &text_done["output_index"]), (&json!("msg_1"), &json!(1)));
        assert_eq!((&part_done["type"], &part_done["part"]), (&json!("response.content_part.done"), &part));
        assert_eq!((&item_done["type"], &item_done["item"]), (&json!("response.output_item.done"), &item));
        assert_eq!(last["type"], "response.incomplete");
        let response = &last["response"];
        assert_eq!((&response["id"], &response["status"]), (&json!("resp_1"), &json!("incomplete")));
        assert_eq!(
            (&response["incomplete_details"]["reason"], &response["metadata"]),
            (&json!("max_output_tokens"), &json!({"a": "b"}))
        );
        assert_eq!((response["output"].as_array().map(Vec::len), &response["output"][1]), (Some(2), &item));
        assert_eq!((&response["usage"]["input_tokens"], &response["usage"]["output_tokens"]), (&json!(7), &json!(3)));
    }
}

#[test]
fn whatever_is_open_is_ended_as_what_it_is() {
    let call =
        json!({"id": "fc_1", "type": "function_call", "status": "in_progress", "call_id": "c", "name": "f", "arguments": ""});
    let thought = json!({"id": "rs_1", "type": "reasoning", "summary": []});
    let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "content": []});
    for (item, kind, names, member) in [
        (call, "response.function_call_arguments", &["response.function_call_arguments.done"] as &[_], "/arguments"),
        (
            thought,
            "response.reasoning_summary_text",
            &["response.reasoning_summary_text.done", "response.reasoning_summary_part.done"],
            "/summary/0/text",
        ),
        (message.clone(), "response.refusal", &["response.refusal.done", "response.content_part.done"], "/content/0/refusal"),
        (message, "response.invented", &[], "/none"),
    ] {
        let id = item["id"].as_str().expect("an id").to_owned();
        let deltas = (0..4).map(|_| delta(&format!("{kind}.delta"), &id, 0, "word "));
        let events = [created(), added(0, item)].into_iter().chain(deltas).collect();
        let (text, goes_on, events) = bounded(events, 2, 64);
        assert!(!goes_on);
        let ends: Vec<&str> = events.iter().skip(4).filter_map(|event| event["type"].as_str()).collect();
        let expected: Vec<&str> = names.iter().copied().chain(["response.output_item.done", "response.incomplete"]).collect();
        assert_eq!(ends, expected, "{text}");
        let item = events.last().and_then(|last| last.pointer("/response/output/0")).expect("the item");
        assert_eq!((item["id"].as_str(), item["status"].as_str()), (Some(id.as_str()), Some("incomplete")));
        assert_eq!(item.pointer(member).and_then(Value::as_str), (!names.is_empty()).then_some("word word "), "{text}");
    }
}

#[test]
fn a_stream_without_a_beginning_ends_too() {
    let (text, goes_on, events) = bounded(vec![delta("response.output_text.delta", "m", 0, "one two three")], 2, 64);
    assert!(!goes_on);
    assert_eq!(events.len(), 1, "{text}");
    assert_eq!(events[0]["response"]["status"], "incomplete");
}
