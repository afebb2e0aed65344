//! Guards of language models: what of requests and answers passes, what is taken out and put back, and who is told what.

use serde_json::{Value, json};

use super::harness::keys::{create, session_for};
use super::harness::llm_echo::{CHAT, EVENTS, JSON, MESSAGES, ask, asked, body_of, count, echo, models, said};
use super::harness::{Gateway, Setup, Upstream, reply, request, settled};

pub(super) fn start(upstream: &Upstream, guards: Value) -> Gateway {
    Setup::new(json!({})).api(models(upstream, guards)).start()
}

#[test]
fn what_no_guard_changes_passes_byte_for_byte() {
    let answer = r#"{"id":"c",  "choices":[{"index":0,"message":{"role":"assistant","content":"Hello \u0041"},"finish_reason":"stop"}], "x":1.0}"#;
    let events = "data: {\"id\":\"c\",  \"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello, \"}}]}\n\n: ping\n\ndata: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\r\n\r\ndata: [DONE]\n\n";
    let upstream = Upstream::start(move |seen| match body_of(seen)["stream"] == true {
        true => reply("200 OK", &[EVENTS], events),
        false => reply("200 OK", &[JSON], answer),
    });
    let gateway = start(
        &upstream,
        json!([
            {"name": "secrets", "kind": "secrets", "on": "both", "action": "redact"},
            {"name": "people", "kind": "personal_data", "on": "both"},
            {"name": "words", "patterns": ["(?i)forbidden"], "on": "both"},
            {"name": "size", "kind": "size", "bytes_max": 1000, "on": "both"},
            {"name": "schema", "kind": "schema", "on": "answer"},
        ]),
    );
    let body = r#"{ "model":"m", "messages":[{"role":"user","content":"H\u0069"}],  "logit_bias":{"1":2.0} }"#;
    let whole = gateway.connect().ask(request("POST", CHAT, &[JSON], body));
    assert_eq!((whole.status, whole.text().as_str()), (200, answer), "{whole}");
    assert!(upstream.last().text().contains(body));
    let body = r#"{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"Hi"}]}"#;
    assert_eq!(gateway.connect().ask(request("POST", CHAT, &[JSON], body)).text(), events);
}

#[test]
fn a_refusal_names_the_guard_and_nothing_of_the_text() {
    let upstream = echo();
    let gateway = start(
        &upstream,
        json!([
            {"name": "no-bombs", "patterns": ["(?i)\\bbombs?\\b"]},
            {"name": "topics", "kind": "allow", "patterns": ["invoice", "order"]},
            {"name": "keys", "kind": "secrets"},
            {"name": "short", "kind": "size", "tokens_max": 50},
        ]),
    );
    for (text, guard, status) in [
        ("an invoice for a BOMB", "no-bombs", 403),
        ("the weather", "topics", 403),
        ("order: ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", "keys", 403),
        (&"order ".repeat(40), "short", 400),
    ] {
        for path in [CHAT, MESSAGES] {
            let answer = ask(&gateway, path, text, true);
            assert_eq!((answer.status, answer.header("X-Tollgate-Llm-Guard")), (status, Some(guard)), "{text}: {answer}");
            let message = answer.json()["error"]["message"].as_str().unwrap().to_owned();
            assert!(message.contains(&format!("`{guard}`")), "{message}");
            assert!(
                !answer.text().contains("BOMB") && !answer.text().contains("ghp_") && !answer.text().contains("weather"),
                "{answer}"
            );
        }
        assert_eq!(count(&gateway, guard, "refused"), 2.0);
    }
    assert_eq!(upstream.requests(), 0);
    assert_eq!(said(&ask(&gateway, CHAT, "an invoice", false)), "an invoice");
    // Nothing hides in a member that is not known, behind escapes, or in a call of a tool.
    for body in [
        r#"{"model":"m","messages":[{"role":"user","content":[{"type":"new_kind","stuff":{"deep":["order a bomb"]}}]}]}"#,
        r#"{"model":"m","messages":[{"role":"user","content":"order a \u0062omb"}]}"#,
        r#"{"model":"m","messages":[{"role":"user","content":"order"},{"role":"assistant","tool_calls":[{"id":"i","type":"function","function":{"name":"f","arguments":"{\"a\":\"bomb\"}"}}]}]}"#,
        r#"{"model":"m","messages":[{"role":"user","content":"order"}],"tools":[{"type":"function","function":{"name":"f","description":"a bomb"}}]}"#,
        r#"{"model":"m","input":["order","bomb"]}"#,
    ] {
        let path = if body.contains("input") { "/m/v1/embeddings" } else { CHAT };
        let answer = gateway.connect().ask(request("POST", path, &[JSON], body));
        assert_eq!((answer.status, answer.header("X-Tollgate-Llm-Guard")), (403, Some("no-bombs")), "{body}: {answer}");
    }
}

#[test]
fn a_dry_run_changes_nothing_and_counts() {
    let upstream = echo();
    let gateway = start(
        &upstream,
        json!([
            {"name": "words", "patterns": ["secret"], "dry_run": true, "on": "both"},
            {"name": "people", "kind": "personal_data", "action": "redact", "dry_run": true},
            {"name": "told", "patterns": ["secret"], "action": "report"},
        ]),
    );
    for stream in [false, true] {
        let text = "a secret of jane@example.com";
        assert_eq!(said(&ask(&gateway, CHAT, text, stream)), text);
        assert_eq!(asked(&body_of(&upstream.last())), text);
    }
    assert_eq!((count(&gateway, "words", "dry_run"), count(&gateway, "words", "refused")), (4.0, 0.0));
    assert_eq!(
        (count(&gateway, "people", "dry_run"), count(&gateway, "told", "matched"), count(&gateway, "told", "dry_run")),
        (2.0, 2.0, 0.0)
    );
}

/// Somebody who objects to texts with this word.
pub(super) fn judge(word: &'static str, openai: bool) -> Upstream {
    Upstream::start(move |seen| {
        let body = body_of(seen);
        let texts = body[if openai { "input" } else { "texts" }].as_array().cloned().unwrap_or_default();
        let flagged: Vec<bool> = texts.iter().map(|text| text.as_str().unwrap_or_default().contains(word)).collect();
        let answer = match openai {
            true => json!({"results": flagged.iter().map(|flagged| json!({"flagged": flagged})).collect::<Vec<_>>()}),
            false => json!({"flagged": flagged.contains(&true), "reason": "because"}),
        };
        reply("200 OK", &[JSON], &answer.to_string())
    })
}

#[test]
fn somebody_else_says_what_passes() {
    let (upstream, hook, openai) = (echo(), judge("evil", false), judge("bad", true));
    let guards = json!([
        {"name": "hook", "kind": "moderation", "url": hook.url(), "key": "hook-key", "on": "both"},
        {"name": "openai", "kind": "moderation", "url": format!("{}/v1/moderations", openai.url()), "api": "openai", "model": "omni"},
    ]);
    let gateway = Setup::new(json!({})).api(models(&upstream, guards).with_keys()).start();
    let key = create(&gateway, &session_for(&["m"], json!({"alias": "team a"})));
    let line = format!("Authorization: Bearer {key}");
    let ask = |text: &str, stream: bool| {
        let body = json!({"model": "m", "messages": [{"role": "user", "content": text}], "stream": stream});
        gateway.connect().ask(request("POST", CHAT, &[JSON, &line], &body.to_string()))
    };
    for stream in [false, true] {
        assert_eq!(said(&ask("all is good", stream)), "all is good");
        for (text, guard) in [("an evil plan", "hook"), ("a bad plan", "openai")] {
            let answer = ask(text, stream);
            assert_eq!((answer.status, answer.header("X-Tollgate-Llm-Guard")), (403, Some(guard)), "{answer}");
        }
    }
    assert_eq!(upstream.requests(), 2);
    let seen = hook.seen();
    let told = body_of(&seen[0]);
    assert_eq!(told, json!({"texts": ["all is good"], "api": "m", "key": "team a", "on": "request"}));
    assert_eq!(seen[0].header("Authorization"), Some("Bearer hook-key"));
    assert_eq!(body_of(&seen[1])["on"], "answer");
    assert_eq!(body_of(&openai.last())["model"], "omni");
}

#[test]
fn kept_answers_are_guarded_for_each_who_gets_them() {
    let upstream = echo();
    let guards = json!([{"name": "people", "kind": "personal_data", "action": "redact"}]);
    let definition = models(&upstream, guards).set("tollgate/llm/cache", json!({"by": "api"}));
    let gateway = Setup::new(json!({})).api(definition).start();
    let mails = ["jane@example.com", "john@example.org"];
    for (at, mail) in mails.iter().enumerate() {
        for stream in [false, true] {
            let answer = ask(&gateway, CHAT, &format!("mail {mail}"), stream);
            assert_eq!(said(&answer), format!("mail {mail}"), "each has its own put back");
            let is_first = at == 0 && !stream;
            assert_eq!(answer.header("X-Tollgate-Llm-Cache"), Some(if is_first { "miss" } else { "hit" }), "{answer}");
        }
    }
    assert_eq!(upstream.requests(), 1);
}

#[test]
fn changed_guards_hold_from_the_next_request_on() {
    let upstream = echo();
    let gateway = start(&upstream, json!([{"name": "words", "patterns": ["first"]}]));
    assert_eq!((ask(&gateway, CHAT, "first", false).status, ask(&gateway, CHAT, "second", false).status), (403, 200));
    gateway.write_api(&models(&upstream, json!([{"name": "words", "patterns": ["second"]}])));
    gateway.reload();
    settled("the new ones hold", || ask(&gateway, CHAT, "second", false).status == 403);
    assert_eq!(ask(&gateway, CHAT, "first", false).status, 200);
    assert!(count(&gateway, "words", "refused") >= 2.0, "figures go on");
}
