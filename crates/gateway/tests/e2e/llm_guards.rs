//! Guards of language models: what of requests and answers passes, what is taken out and put back, and who is told what.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::llm_echo::{CHAT, EVENTS, JSON, MESSAGES, ask, asked, body_of, count, echo, models, said};
use crate::harness::{Gateway, Seen, Setup, Upstream, api, reply, request, skip};

fn start(upstream: &Upstream, guards: Value) -> Gateway {
    Setup::new(json!({})).api(models(upstream, guards)).start()
}

#[test]
fn a_stream_goes_on_event_by_event_through_its_guards() {
    let (go, may_go) = std::sync::mpsc::sync_channel::<()>(10);
    let may_go = std::sync::Mutex::new(may_go);
    let upstream = Upstream::raw(move |mut wire, _| {
        if Seen::read(&mut wire).is_none() {
            return;
        }
        let _ = wire.try_send(format!("HTTP/1.1 200 OK\r\n{EVENTS}\r\nConnection: close\r\n\r\n"));
        for word in ["one, ", "two, ", "three "] {
            let _ = wire
                .try_send(format!("data: {{\"id\":\"c\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{word}\"}}}}]}}\n\n"));
            let _ = may_go.lock().unwrap().recv_timeout(Duration::from_secs(20));
        }
        let _ = wire.try_send("data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n");
    });
    let gateway = start(
        &upstream,
        json!([
            {"name": "people", "kind": "personal_data", "on": "both", "action": "redact"},
            {"name": "secrets", "kind": "secrets", "on": "both"},
        ]),
    );
    let mut wire = gateway.connect();
    let body = json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": "jane@example.com"}]});
    wire.send(request("POST", CHAT, &[JSON], &body.to_string()));
    wire.head().unwrap();
    for word in ["one, ", "two, ", "three "] {
        let mut text = String::new();
        while !text.contains(word) {
            let chunk = wire.chunk().unwrap();
            assert!(!chunk.is_empty(), "{text}");
            text += &String::from_utf8_lossy(&chunk);
        }
        go.send(()).unwrap();
    }
}

#[test]
fn without_a_word_of_somebody_else_the_definition_decides() {
    let upstream = echo();
    let slow = Arc::new(AtomicBool::new(true));
    let is_slow = slow.clone();
    let silent = Upstream::start(move |_| {
        if is_slow.load(Ordering::SeqCst) {
            thread::sleep(Duration::from_secs(2));
        }
        reply("200 OK", &[JSON], "nothing that is understood")
    });
    let of = |on_failure: &str| json!([{"name": "hook", "kind": "moderation", "url": silent.url(), "timeout_s": 0.3, "on_failure": on_failure}]);
    for (on_failure, status) in [("refuse", 503), ("pass", 200)] {
        let gateway = start(&upstream, of(on_failure));
        for is_slow in [true, false] {
            slow.store(is_slow, Ordering::SeqCst);
            assert_eq!(ask(&gateway, CHAT, "Hi", false).status, status, "{on_failure} {is_slow}");
        }
        assert_eq!(count(&gateway, "hook", "failed"), 2.0);
    }
}

#[test]
fn the_official_clients_get_kept_and_guarded_answers() {
    let target = std::env::current_exe().expect("this program").ancestors().nth(3).expect("the target directory").to_owned();
    let venv = target.join("test-venv");
    if let Ok(reason) = std::fs::read_to_string(venv.join("models-unavailable")) {
        return skip(&reason);
    }
    let upstream = echo();
    // It speaks Chat Completions alone, so that answers of the other two APIs are translated.
    let llm = json!({
        "providers": [{"name": "p", "kind": "vllm", "url": upstream.url(), "models": ["*"]}],
        "cache": {"by": "api"},
        "guards": [
            {"name": "people", "kind": "personal_data", "action": "redact"},
            {"name": "words", "patterns": ["forbidden"]},
            {"name": "answers", "patterns": ["unwanted"], "on": "answer"},
        ],
    });
    let gateway = Setup::new(json!({})).api(api("m", "/m/", "").set("tollgate/llm", llm)).start();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/llm_guarded_clients.py");
    let url = format!("http://127.0.0.1:{}/m", gateway.port);
    let output = Command::new(venv.join("bin/python")).args([script, &url]).output().expect("python");
    let (told, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(told.ends_with("all is well\n"), "{told}{complained}");
    let kept = upstream.seen().iter().filter(|seen| seen.text().contains("[EMAIL_1]")).count();
    assert_eq!(kept, 3, "one of each API");
    assert!(!upstream.seen().iter().any(|seen| seen.text().contains("@example")), "no address has left");
}

#[test]
fn much_text_and_bad_patterns_hold_up_nobody() {
    let upstream = echo();
    let gateway = start(
        &upstream,
        json!([
            {"name": "people", "kind": "personal_data", "action": "redact", "on": "both"},
            {"name": "hard", "patterns": ["(a*)*b(c|d)*x{3}", "(x+x+)+y"], "on": "both"},
        ]),
    );
    let mails: String = (0..200_000).map(|number| format!("a{number}@b.com ")).collect();
    assert_eq!(ask(&gateway, CHAT, &mails, false).status, 403, "more than can be put back");
    let text = "x".repeat(200_000);
    assert_eq!(said(&ask(&gateway, CHAT, &text, false)).len(), text.len());
    assert_eq!(said(&ask(&gateway, CHAT, &"x".repeat(3_000), true)).len(), 3_000);
    let brackets = format!(r#"{{"model":"m","messages":{}{}}}"#, "[".repeat(5_000), "]".repeat(5_000));
    assert_eq!(gateway.connect().ask(request("POST", CHAT, &[JSON], &brackets)).status, 400);
    gateway.expect_no_panic();
}

#[test]
fn a_guard_that_cannot_be_is_refused_by_name() {
    let upstream = echo();
    let gateway = Setup::new(json!({})).api(api("other", "/other/", "http://127.0.0.1:1")).start();
    for (guard, expected) in [
        (json!({"name": "g"}), "guards[0].patterns"),
        (json!({"name": "g", "patterns": ["("]}), "guards[0].patterns[0]"),
        (json!({"name": "g", "patterns": ["a*"]}), "finds empty texts"),
        (json!({"name": "a b", "patterns": ["a"]}), "guards[0].name"),
        (json!({"name": "g", "kind": "secrets", "patterns": ["a"]}), "guards[0].patterns"),
        (json!({"name": "g", "kind": "secrets", "only": ["passwords"]}), "guards[0].only[0]"),
        (json!({"name": "g", "kind": "size"}), "bytes_max or tokens_max"),
        (json!({"name": "g", "kind": "size", "bytes_max": 1, "action": "redact"}), "guards[0].action"),
        (json!({"name": "g", "kind": "schema"}), "guards[0].on"),
        (json!({"name": "g", "kind": "moderation"}), "guards[0].url"),
        (json!({"name": "g", "kind": "moderation", "url": "http://h", "timeout_s": 100}), "guards[0].timeout_s"),
        (json!({"name": "g", "kind": "magic"}), "guards[0].kind"),
        (json!({"name": "g", "patterns": ["a"], "dryrun": true}), "guards[0].dryrun"),
    ] {
        let definition = models(&upstream, json!([guard])).set("name", "m");
        let answer = gateway.control("POST", "/tyk/apis", &definition.0.to_string());
        assert!(answer.status == 400 && answer.text().contains(expected), "{guard}: {answer}");
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("m.json");
        std::fs::write(&file, definition.0.to_string()).unwrap();
        let checked = Command::new(env!("CARGO_BIN_EXE_tollgate")).arg("check").arg(&file).output().unwrap();
        let told = format!("{}{}", String::from_utf8_lossy(&checked.stdout), String::from_utf8_lossy(&checked.stderr));
        assert!(!checked.status.success() && told.contains(expected), "{guard}: {told}");
    }
}

#[test]
fn what_is_taken_out_of_a_request_is_put_back_in_its_answer() {
    let upstream = echo();
    let gateway = start(
        &upstream,
        json!([
            {"name": "secrets", "kind": "secrets", "action": "redact"},
            {"name": "people", "kind": "personal_data", "action": "redact"},
        ]),
    );
    let text =
        "I am jane@example.com, card 4111 1111 1111 1111, key AKIAIOSFODNN7EXAMPLE; again jane@example.com. Own: [EMAIL_1] ü";
    let hidden = "I am [EMAIL_2], card [CARD_1], key [AWS_KEY_1]; again [EMAIL_2]. Own: [EMAIL_1] ü";
    for path in [CHAT, MESSAGES] {
        for stream in [false, true] {
            let answer = ask(&gateway, path, text, stream);
            assert_eq!(said(&answer), text, "{path} {stream}");
            assert_eq!(asked(&body_of(&upstream.last())), hidden, "{path} {stream}");
        }
    }
    assert!(!gateway.log().contains("jane@") && !gateway.log().contains("AKIA"), "{}", gateway.log());
    assert!(gateway.log().contains("a guard of language models has found something"));
    assert_eq!((count(&gateway, "people", "checked"), count(&gateway, "people", "matched")), (4.0, 4.0));
    gateway.expect_no_panic();
}
