//! Guards of what language models answer: whole, in pieces, by a schema, and by the word of somebody else.

use serde_json::{Value, json};

use super::harness::llm_echo::{CHAT, EVENTS, JSON, MESSAGES, ask, body_of, count, echo, post, said};
use super::harness::{Upstream, reply, settled};
use super::llm_guards::{judge, start};

#[test]
fn answers_are_guarded_also_in_pieces() {
    let upstream = echo();
    let guards = |action: &str| json!([{"name": "out", "kind": "personal_data", "on": "answer", "action": action}]);
    let text = "It is jane@example.com, they say";
    let gateway = start(&upstream, guards("redact"));
    for path in [CHAT, MESSAGES] {
        for stream in [false, true] {
            assert_eq!(said(&ask(&gateway, path, text, stream)), "It is [EMAIL], they say", "{path} {stream}");
        }
    }
    let gateway = start(&upstream, guards("refuse"));
    for path in [CHAT, MESSAGES] {
        let whole = ask(&gateway, path, text, false);
        assert_eq!((whole.status, whole.header("X-Tollgate-Llm-Guard")), (403, Some("out")), "{whole}");
        let stream = ask(&gateway, path, text, true);
        let told = said(&stream);
        assert!("It is ".starts_with(&told) && !told.is_empty(), "{told}");
        let text = stream.text();
        assert!(text.contains("`out`") && !text.contains("finish_reason\":\"stop") && !text.contains("message_stop"), "{text}");
        assert!(!text.contains("jane"), "{text}");
    }
    let gateway = start(&upstream, json!([{"name": "size", "kind": "size", "bytes_max": 20, "on": "answer"}]));
    assert_eq!(ask(&gateway, CHAT, text, false).status, 403);
    let stream = ask(&gateway, CHAT, text, true);
    assert_eq!((said(&stream).len(), stream.text().contains("too long")), (20, true), "{stream}");
}

#[test]
fn an_answer_that_somebody_objects_to_never_reaches_its_client() {
    let upstream = Upstream::start(|seen| {
        let stream = body_of(seen)["stream"] == true;
        let event = |delta: &str, stop: &str| {
            format!("data: {{\"id\":\"c\",\"choices\":[{{\"index\":0,\"delta\":{{{delta}}},\"finish_reason\":{stop}}}]}}\n\n")
        };
        match stream {
            true => reply(
                "200 OK",
                &[EVENTS],
                &format!(
                    "{}{}{}data: [DONE]\n\n",
                    event("\"content\":\"ev\"", "null"),
                    event("\"content\":\"il\"", "null"),
                    event("", "\"stop\"")
                ),
            ),
            false => reply(
                "200 OK",
                &[JSON],
                r#"{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":"evil"},"finish_reason":"stop"}]}"#,
            ),
        }
    });
    let hook = judge("evil", false);
    let of = |dry_run: bool| json!([{"name": "hook", "kind": "moderation", "url": hook.url(), "on": "answer", "dry_run": dry_run}]);
    let gateway = start(&upstream, of(false));
    for stream in [false, true] {
        let answer = ask(&gateway, CHAT, "Hi", stream);
        assert_eq!((answer.status, answer.text().contains("evil")), (403, false), "{answer}");
    }
    let gateway = start(&upstream, of(true));
    for stream in [false, true] {
        assert_eq!(said(&ask(&gateway, CHAT, "Hi", stream)), "evil");
    }
    settled("both are counted", || count(&gateway, "hook", "dry_run") == 2.0);
}

#[test]
fn an_answer_must_fit_the_schema_of_its_request() {
    let upstream = echo();
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, "required": ["name", "age"]});
    let body = |text: &str, stream: bool| {
        json!({
            "model": "m", "stream": stream, "messages": [{"role": "user", "content": text}],
            "response_format": {"type": "json_schema", "json_schema": {"name": "person", "schema": schema}},
        })
    };
    let good = r#"{"name":"Jane","age":30}"#;
    let gateway = start(&upstream, json!([{"name": "shape", "kind": "schema", "on": "answer"}]));
    for stream in [false, true] {
        assert_eq!(said(&post(&gateway, CHAT, &body(good, stream))), good);
    }
    for bad in [r#"{"name":7,"age":30,"more":"text that never comes"}"#, r#"{"name":"Jane"}"#, "Sure, here it is", "```json"] {
        let whole = post(&gateway, CHAT, &body(bad, false));
        assert_eq!((whole.status, whole.header("X-Tollgate-Llm-Guard")), (502, Some("shape")), "{whole}");
        let stream = post(&gateway, CHAT, &body(bad, true));
        let text = stream.text();
        assert!(text.contains("`shape`") && !text.contains("\"finish_reason\":\"stop\""), "{text}");
        assert!(!said(&stream).contains("text that never"), "{text}");
    }
    // Without a schema there is nothing to fit.
    assert_eq!(said(&ask(&gateway, CHAT, "Sure", true)), "Sure");
    let mut broken = body(good, false);
    broken["response_format"]["json_schema"]["schema"] = json!({"type": "nothing"});
    assert_eq!(post(&gateway, CHAT, &broken).status, 400);
    let gateway = start(&upstream, json!([{"name": "shape", "kind": "schema", "on": "answer", "action": "report"}]));
    assert_eq!(said(&post(&gateway, CHAT, &body("Sure", true))), "Sure");
    assert_eq!(count(&gateway, "shape", "matched"), 1.0);
}

#[test]
fn other_answers_of_a_request_with_several_are_guarded_each() {
    let upstream = Upstream::start(|seen| {
        let text = |choice: usize, text: &str| {
            format!(
                "data: {}\n\n",
                json!({"id": "c", "choices": [{"index": choice, "delta": {"content": text}, "finish_reason": null}]})
            )
        };
        let end = |choice: usize| {
            format!("data: {}\n\n", json!({"id": "c", "choices": [{"index": choice, "delta": {}, "finish_reason": "stop"}]}))
        };
        assert_eq!(body_of(seen)["n"], 2);
        // The pieces of the two are mixed.
        let events = [
            text(0, "a ja"),
            text(1, "b jo"),
            text(0, "ne@exa"),
            text(1, "hn@exa"),
            text(0, "mple.com"),
            end(0),
            text(1, "mple.org c"),
            end(1),
        ];
        reply("200 OK", &[EVENTS], &format!("{}data: [DONE]\n\n", events.concat()))
    });
    let gateway = start(&upstream, json!([{"name": "out", "kind": "personal_data", "on": "answer", "action": "redact"}]));
    let body = json!({"model": "m", "n": 2, "stream": true, "messages": [{"role": "user", "content": "Hi"}]});
    let answer = post(&gateway, CHAT, &body);
    let said = |choice: usize| -> String {
        let text = answer.text();
        let events = text.lines().filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data: ")?).ok());
        let of = events.filter(|event| event["choices"][0]["index"] == choice);
        of.filter_map(|event| Some(event["choices"][0]["delta"]["content"].as_str()?.to_owned())).collect()
    };
    assert_eq!((said(0).as_str(), said(1).as_str()), ("a [EMAIL]", "b [EMAIL] c"), "{answer}");
}
