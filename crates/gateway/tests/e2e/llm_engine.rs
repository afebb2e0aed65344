//! A real engine behind the gateway: llama.cpp's own server with a tiny model. What it counts is what budgets count.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::harness::{ChildProcess, Connection, Gateway, Response, Setup, api, eventually, get, request, skip};
use crate::llm_budgets::spent;
use crate::llm_judges::virtual_environment;

const JSON: &str = "Content-Type: application/json";
const WORDS: [&str; 10] = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

struct ModelEngine {
    _process: ChildProcess,
    _folder: tempfile::TempDir,
    url: String,
}

impl ModelEngine {
    /// `None` without its packages.
    fn start() -> Option<ModelEngine> {
        let venv = virtual_environment()?;
        if let Ok(reason) = std::fs::read_to_string(venv.join("engine-unavailable")) {
            skip(&reason);
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/llm_engine.py");
        let mut command = Command::new(venv.join("bin/python"));
        command
            .arg(script)
            .arg(folder.path().join("model.gguf"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut process = ChildProcess::start(&mut command);
        let mut line = String::new();
        BufReader::new(process.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with("http://127.0.0.1:"), "the engine does not start: {line}");
        Some(ModelEngine { _process: process, _folder: folder, url: line.trim().to_owned() })
    }

    fn connect(&self) -> Connection {
        Connection::open(self.url.rsplit(':').next().unwrap().parse().unwrap())
    }

    /// Whether it writes an answer, and how many tokens of prompt and answer it has at the moment.
    fn slot(&self) -> (bool, u64) {
        let slots = self.connect().ask(get("/slots")).json();
        (slots[0]["is_processing"] == true, slots[0]["n_prompt_tokens"].as_u64().unwrap())
    }

    fn gateway(&self, more: Value) -> Gateway {
        let mut llm = json!({"providers": [{"name": "p", "kind": "llama_cpp", "url": self.url, "models": ["*"]}]});
        more.as_object().unwrap().iter().for_each(|(name, value)| llm[name] = value.clone());
        Setup::new(json!({})).api(api("m", "/m/", "").set("tollgate/llm", llm)).start()
    }
}

/// A question in each API of clients: path, document, and where the text of a whole answer is.
fn questions(text: &str, tokens: u64) -> [(&'static str, Value, &'static str); 4] {
    let messages = json!([{"role": "user", "content": text}]);
    let contents = json!([{"role": "user", "parts": [{"text": text}]}]);
    [
        ("/m/v1/chat/completions", json!({"model": "m", "max_tokens": tokens, "messages": messages}), "/choices/0/message/content"),
        ("/m/v1/responses", json!({"model": "m", "max_output_tokens": tokens, "input": text}), "/output/0/content/0/text"),
        ("/m/v1/messages", json!({"model": "m", "max_tokens": tokens, "messages": messages}), "/content/0/text"),
        (
            "/m/v1beta/models/m:generateContent",
            json!({"contents": contents, "generationConfig": {"maxOutputTokens": tokens}}),
            "/candidates/0/content/parts/0/text",
        ),
    ]
}

fn post(gateway: &Gateway, path: &str, body: &Value) -> Response {
    gateway.connect().ask(request("POST", path, &[JSON], &body.to_string()))
}

/// The same as a stream.
fn post_stream(gateway: &Gateway, path: &str, body: &Value) -> Response {
    if let Some(path) = path.strip_suffix("generateContent") {
        return post(gateway, &format!("{path}streamGenerateContent?alt=sse"), body);
    }
    let mut body = body.clone();
    body["stream"] = true.into();
    post(gateway, path, &body)
}

/// The words of a text; it has nothing else.
fn words(text: &str) -> usize {
    let words = text.split_whitespace();
    words.inspect(|word| assert!(WORDS.contains(word), "{text}")).count()
}

/// The text in the pieces of a stream, in whichever API.
fn streamed(answer: &Response) -> String {
    let places = ["/choices/0/delta/content", "/delta/text", "/delta", "/candidates/0/content/parts/0/text"];
    let text = answer.text();
    let events = text.lines().filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data: ")?).ok());
    events.filter_map(|event| Some(places.iter().find_map(|place| event.pointer(place)?.as_str())?.to_owned())).collect()
}

#[test]
fn a_real_engine_answers_every_client_and_budgets_count_what_it_counts() {
    let Some(engine) = ModelEngine::start() else { return };
    let budgets = json!([{"name": "all", "max": 100_000, "unit": "tokens", "per": "month"}]);
    let gateway = engine.gateway(json!({"budgets": budgets}));
    let body = json!({"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": "Hi"}]}).to_string();
    let own = engine.connect().ask(request("POST", "/v1/chat/completions", &[JSON], &body)).json();
    let prompt = own["usage"]["prompt_tokens"].as_u64().unwrap_or_else(|| panic!("{own}"));
    let mut sum = 0;
    for (path, body, place) in questions("Hi", 5) {
        let answer = post(&gateway, path, &body);
        let text = answer.json().pointer(place).and_then(Value::as_str).unwrap_or_else(|| panic!("{answer}")).to_owned();
        assert_eq!((answer.status, words(&text)), (200, 5), "{answer}");
        let told =
            ["in", "out"].map(|side| answer.header(&format!("x-tollgate-llm-tokens-{side}")).unwrap().parse::<u64>().unwrap());
        assert_eq!(told, [prompt, 5], "{answer}");
        let answer = post_stream(&gateway, path, &body);
        assert_eq!((answer.status, words(&streamed(&answer))), (200, 5), "{answer}");
        sum += 2 * (prompt + 5);
        eventually("the stream is counted", || spent(&gateway, "api", "all") == sum as f64);
    }
    gateway.expect_no_panic();
}

#[test]
fn a_real_engine_keeps_to_schemas_and_its_errors_are_told_in_each_api() {
    let Some(engine) = ModelEngine::start() else { return };
    let gateway = engine.gateway(json!({}));
    let schema = json!({"type": "object", "properties": {"place": {"type": "string", "enum": ["Bonn"]}}, "required": ["place"], "additionalProperties": false});
    let formats = [
        json!({"response_format": {"type": "json_schema", "json_schema": {"name": "place", "schema": schema}}}),
        json!({"text": {"format": {"type": "json_schema", "name": "place", "schema": schema}}}),
        json!({"output_config": {"format": {"type": "json_schema", "schema": schema}}}),
        json!({"generationConfig": {"responseMimeType": "application/json", "responseJsonSchema": schema}}),
    ];
    let long = questions(&"word ".repeat(20_000), 5);
    for (((path, mut body, place), format), (_, long, _)) in questions("Where?", 2_000).into_iter().zip(formats).zip(long) {
        format.as_object().into_iter().flatten().for_each(|(name, value)| body[name] = value.clone());
        let answer = post(&gateway, path, &body);
        let text = answer.json().pointer(place).and_then(Value::as_str).unwrap_or_else(|| panic!("{answer}")).to_owned();
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap_or_default(), json!({"place": "Bonn"}), "{answer}");
        let answer = post(&gateway, path, &long);
        assert_eq!(answer.status, 400, "{answer}");
        assert!(answer.json()["error"]["message"].as_str().is_some_and(|words| words.contains("context")), "{answer}");
    }
    gateway.expect_no_panic();
}

#[test]
fn a_hard_budget_is_never_passed_by_what_a_real_engine_counts() {
    let Some(engine) = ModelEngine::start() else { return };
    let budgets = json!([{"name": "all", "max": 300, "unit": "tokens", "per": "month"}]);
    let gateway = engine.gateway(json!({"budgets": budgets}));
    let mut sum = 0;
    for (path, body, _) in questions("Hi", 40).into_iter().cycle() {
        let answer = post(&gateway, path, &body);
        if answer.status == 429 {
            break;
        }
        let told =
            ["in", "out"].map(|side| answer.header(&format!("x-tollgate-llm-tokens-{side}")).unwrap().parse::<u64>().unwrap());
        sum += told.iter().sum::<u64>();
        assert!(sum <= 300, "{sum}: {answer}");
    }
    assert!(sum as f64 >= 0.9 * 300.0, "what is left is too little for one more answer of 16 tokens: {sum}");
    assert_eq!(spent(&gateway, "api", "all"), sum as f64);
}

#[test]
fn a_real_engine_stops_when_its_client_hangs_up_and_what_it_wrote_is_paid() {
    let Some(engine) = ModelEngine::start() else { return };
    let tokens_max = 60_000;
    let budgets = json!([{"name": "all", "max": 1_000_000, "unit": "completion_tokens", "per": "month"}]);
    let gateway = engine.gateway(json!({"budgets": budgets}));
    let mut before = 0.0;
    for (path, mut body, _) in questions("Hi", tokens_max).into_iter().take(3) {
        body["stream"] = true.into();
        let mut wire = gateway.connect();
        wire.send(request("POST", path, &[JSON], &body.to_string()));
        assert!(wire.head().unwrap().raw.starts_with(b"HTTP/1.1 200"));
        let mut events = 0;
        while events < 50 {
            events += String::from_utf8_lossy(&wire.chunk().unwrap()).matches("data: ").count();
        }
        assert_eq!(spent(&gateway, "api", "all") - before, tokens_max as f64, "as long as it goes on, it may cost so much");
        drop(wire);
        eventually("the engine has stopped", || !engine.slot().0);
        let (_, written) = engine.slot();
        assert!(written < tokens_max, "it has not written all that it might: {written}");
        eventually("it is counted", || spent(&gateway, "api", "all") - before < tokens_max as f64);
        let paid = spent(&gateway, "api", "all") - before;
        assert!(paid >= 40.0, "what the client has read is paid: {paid}");
        before += paid;
    }
    gateway.expect_no_panic();
}
