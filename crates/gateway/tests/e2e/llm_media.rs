//! Sound, pictures and moderations: they pass to providers of OpenAI's API, whatever they are.

use serde_json::{Value, json};

use crate::harness::{Definition, Gateway, Response, Seen, Setup, Upstream, api, eventually, reply, request};

const JSON: &str = "Content-Type: application/json";
const FORM: &str = "Content-Type: multipart/form-data; boundary=xyz";
/// Sound, which is no text.
const SOUND: &[u8] = b"ID3\x00\xff\xfe\r\n--xy\r\n-xyz\r\n";

fn openai() -> Upstream {
    Upstream::start(|seen| match seen.target.as_str() {
        "/v1/moderations" => reply("200 OK", &[JSON], r#"{"id":"modr-1","results":[{"flagged":false}]}"#),
        "/v1/audio/speech" => {
            let mut answer =
                format!("HTTP/1.1 200 OK\r\nContent-Type: audio/mpeg\r\nContent-Length: {}\r\n\r\n", SOUND.len()).into_bytes();
            answer.extend_from_slice(SOUND);
            answer
        }
        "/v1/audio/transcriptions" | "/v1/audio/translations" => reply(
            "200 OK",
            &[JSON],
            r#"{"text":"Hello","usage":{"type":"tokens","input_tokens":14,"output_tokens":3,"total_tokens":17}}"#,
        ),
        "/v1/images/generations" | "/v1/images/edits" => reply(
            "200 OK",
            &[JSON],
            r#"{"created":1,"data":[{"b64_json":"AAAA"}],"usage":{"input_tokens":9,"output_tokens":40,"total_tokens":49}}"#,
        ),
        _ => reply("404 Not Found", &[JSON], r#"{"error":{"message":"no such path","type":"invalid_request_error"}}"#),
    })
}

fn definition(more: Value, upstream: &Upstream, other: &Upstream) -> Definition {
    let mut llm = json!({
        "providers": [
            {"name": "open", "kind": "openai", "url": upstream.url(), "key": "sk-provider-secret", "models": ["omni-*", "gpt-image-1", "whisper-1", "tts-1"]},
            {"name": "down", "kind": "openai", "url": other.url()},
            {"name": "claude", "kind": "anthropic", "url": other.url(), "models": ["claude-*"]},
        ],
        "models": [{"name": "ears", "targets": [{"provider": "down", "model": "x"}, {"provider": "open", "model": "whisper-1"}]}],
    });
    more.as_object().unwrap().iter().for_each(|(name, value)| llm[name] = value.clone());
    api("m", "/m/", "").set("tollgate/llm", llm)
}

fn post(gateway: &Gateway, path: &str, kind: &str, body: &[u8]) -> Response {
    let mut text = request("POST", path, &[kind, &format!("Content-Length: {}", body.len())], "").into_bytes();
    text.extend_from_slice(body);
    gateway.connect().ask(text)
}

fn form(model: &str) -> Vec<u8> {
    let mut body = format!("--xyz\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\n{model}\r\n--xyz\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.mp3\"\r\nContent-Type: audio/mpeg\r\n\r\n").into_bytes();
    body.extend_from_slice(SOUND);
    body.extend_from_slice(b"\r\n--xyz--\r\n");
    body
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[test]
fn sound_pictures_and_moderations_pass_with_the_gateway_s_key() {
    let (upstream, down) = (openai(), Upstream::start(|_| reply("503 Service Unavailable", &[JSON], "{}")));
    let gateway = Setup::new(json!({})).api(definition(json!({}), &upstream, &down)).start();
    for (path, body) in [
        ("/m/v1/moderations", json!({"input": "Hi"})),
        ("/m/v1/moderations", json!({"input": "Hi", "model": "omni-moderation-latest"})),
        ("/m/v1/images/generations", json!({"model": "gpt-image-1", "prompt": "a bridge", "other": {"kept": 1}})),
    ] {
        let answer = post(&gateway, path, JSON, body.to_string().as_bytes());
        assert_eq!((answer.status, answer.header("Content-Type")), (200, Some("application/json")), "{answer}");
        assert_eq!(answer.header("X-Tollgate-Llm-Provider"), Some("open"));
        let (seen, sent): (Seen, Value) = (upstream.last(), serde_json::from_slice(&upstream.last().body).unwrap());
        assert_eq!(seen.header("Authorization"), Some("Bearer sk-provider-secret"));
        assert!(body.as_object().unwrap().iter().all(|(name, value)| sent[name] == *value), "{sent}");
        assert!(sent["model"].is_string(), "{sent}");
    }
    let answer = post(&gateway, "/m/v1/audio/speech", JSON, br#"{"model":"tts-1","input":"Hi","voice":"alloy"}"#);
    assert_eq!((answer.status, answer.header("Content-Type"), answer.body.as_slice()), (200, Some("audio/mpeg"), SOUND));

    // An alias, whose first provider is down.
    let answer = post(&gateway, "/m/v1/audio/transcriptions", FORM, &form("ears"));
    assert_eq!((answer.status, &answer.json()["text"]), (200, &json!("Hello")), "{answer}");
    assert_eq!(down.requests(), 1);
    let seen = upstream.last();
    let kind = seen.header("Content-Type").unwrap().to_owned();
    assert!(kind.starts_with("multipart/form-data; boundary=") && !kind.contains("xyz"), "{kind}");
    assert!(contains(&seen.body, b"name=\"model\"\r\n\r\nwhisper-1\r\n") && contains(&seen.body, SOUND), "{}", seen.text());
    assert!(contains(&seen.body, b"filename=\"a.mp3\"\r\nContent-Type: audio/mpeg"), "{}", seen.text());
    let line = r#"tollgate_llm_tokens_total{api="m",model="ears",provider="open",kind="output"} 3"#;
    eventually("it is counted", || gateway.control("GET", "/tyk/metrics", "").text().contains(line));
    gateway.expect_no_panic();
}

#[test]
fn what_cannot_pass_is_refused_in_the_client_s_form() {
    let (upstream, other) = (openai(), openai());
    let gateway = Setup::new(json!({})).api(definition(json!({}), &upstream, &other)).start();
    let twice = [&form("claude-x")[..form("claude-x").len() - 9], b"\r\n", &form("whisper-1")].concat();
    for (path, kind, body, status) in [
        ("/m/v1/audio/speech", JSON, br#"{"model":"claude-x","input":"Hi"}"#.to_vec(), 400),
        ("/m/v1/audio/speech", JSON, br#"{"input":"Hi"}"#.to_vec(), 400),
        ("/m/v1/audio/speech", JSON, br#"{"model":"nobody","input":"Hi"}"#.to_vec(), 404),
        ("/m/v1/audio/transcriptions", FORM, b"--xyz--".to_vec(), 400),
        ("/m/v1/audio/transcriptions", FORM, b"nothing".to_vec(), 400),
        ("/m/v1/audio/transcriptions", FORM, twice, 400),
        ("/m/v1/audio/nothing", JSON, br#"{"model":"tts-1"}"#.to_vec(), 404),
    ] {
        let answer = post(&gateway, path, kind, &body);
        assert_eq!(answer.status, status, "{path}: {answer}");
        assert!(answer.json()["error"]["message"].is_string(), "{answer}");
    }
    assert_eq!(upstream.requests() + other.requests(), 0);
    let large = post(&gateway, "/m/v1/audio/transcriptions", FORM, &vec![b'x'; (32 << 20) + 1]);
    assert_eq!(large.status, 413, "{}", large.status);
    gateway.expect_no_panic();
}

#[test]
fn a_form_passes_no_guard_unseen() {
    let (upstream, other) = (openai(), openai());
    for (guard, statuses) in [
        (json!({"name": "g", "kind": "deny", "patterns": ["bridge"]}), [400, 403]),
        (json!({"name": "g", "kind": "deny", "patterns": ["bridge"], "dry_run": true}), [200, 200]),
    ] {
        let gateway = Setup::new(json!({})).api(definition(json!({"guards": [guard]}), &upstream, &other)).start();
        let sound = post(&gateway, "/m/v1/audio/transcriptions", FORM, &form("whisper-1"));
        let picture = post(&gateway, "/m/v1/images/generations", JSON, br#"{"model":"gpt-image-1","prompt":"a bridge"}"#);
        assert_eq!([sound.status, picture.status], statuses, "{sound} {picture}");
        assert_eq!(post(&gateway, "/m/v1/images/generations", JSON, br#"{"model":"gpt-image-1","prompt":"a cat"}"#).status, 200);
    }
}

#[test]
fn budgets_count_what_has_a_bound() {
    let (upstream, down) = (openai(), openai());
    for (unit, soft, status) in
        [("tokens", false, 400), ("usd", false, 400), ("tokens", true, 200), ("usd", true, 200), ("requests", false, 200)]
    {
        let budget = json!({"name": "b", "max": 3, "unit": unit, "per": "month", "soft": soft});
        let gateway = Setup::new(json!({})).api(definition(json!({"budgets": [budget]}), &upstream, &down)).start();
        let ask = || post(&gateway, "/m/v1/audio/transcriptions", FORM, &form("whisper-1"));
        let answer = ask();
        assert_eq!(answer.status, status, "{unit} {soft}: {answer}");
        if status == 400 {
            assert!(answer.text().contains("budget `b`"), "{answer}");
        }
        match unit {
            "requests" => assert_eq!([ask().status, ask().status, ask().status], [200, 200, 429]),
            "tokens" if soft => eventually("17 tokens are more than 3", || ask().status == 429),
            _ => {}
        }
    }
}
