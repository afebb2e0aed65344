//! The official clients of OpenAI, Anthropic and Google call a server that answers with what this crate writes: whole answers, streams, tools, errors.
#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use tollgate_llm::{
    AnswerContext, ClientApi, EmbeddingApi, Fault, FaultKind, GeminiPath, Provider, ProviderApi, ProviderCredential,
};

const BYTES_MAX: usize = 1 << 20;

/// The provider's answers: to requests with tools a thought and two calls, to others a text.
const CALLS: &str = r#"event: message_start
data: {"type":"message_start","message":{"id":"msg_1","model":"claude-x","usage":{"input_tokens":10,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm"}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"sig"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"weather","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"city\":"}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"\"Bern\"}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_2","name":"now","input":{}}}

event: content_block_stop
data: {"type":"content_block_stop","index":2}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}

event: message_stop
data: {"type":"message_stop"}

"#;

const WHOLE_CALLS: &str = r#"{"id":"msg_1","model":"claude-x","content":[{"type":"thinking","thinking":"Hm","signature":"sig"},{"type":"tool_use","id":"toolu_1","name":"weather","input":{"city":"Bern"}},{"type":"tool_use","id":"toolu_2","name":"now","input":{}}],"stop_reason":"tool_use","usage":{"input_tokens":10,"output_tokens":9}}"#;

const TEXT: &str = r#"data: {"id":"chatcmpl-1","model":"gpt-x","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}

data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":"Grüezi "}}]}

data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":"🦀"},"finish_reason":"stop"}]}

data: {"id":"chatcmpl-1","choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":2}}}

data: [DONE]

"#;

const WHOLE_TEXT: &str = r#"{"id":"chatcmpl-1","model":"gpt-x","choices":[{"index":0,"message":{"content":"Grüezi 🦀"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":2}}}"#;

struct Response {
    status: u16,
    kind: &'static str,
    body: Vec<u8>,
}

/// What the path of Google's clients says, in the document.
fn called(path: &str, body: &[u8]) -> Option<Vec<u8>> {
    let (model, verb) = path.strip_prefix("/v1/models/")?.rsplit_once(':')?;
    let path = GeminiPath { model: model.to_owned(), stream: verb == "streamGenerateContent" };
    Some(path.into_body(body, BYTES_MAX).expect("an object"))
}

fn respond(path: &str, body: &[u8]) -> Response {
    let called = called(path, body);
    let body = called.as_deref().unwrap_or(body);
    let client = match path {
        "/v1/chat/completions" => ClientApi::OpenAiChat,
        "/v1/responses" => ClientApi::OpenAiResponses,
        "/v1/messages" => ClientApi::AnthropicMessages,
        "/v1/embeddings" => return embed(body),
        _ if called.is_some() => ClientApi::Gemini,
        _ => panic!("no path {path}"),
    };
    let fault = |fault: &Fault| {
        let (status, body) = client.write_fault(fault);
        Response { status, kind: "application/json", body }
    };
    let ask = match client.read(body, BYTES_MAX) {
        Ok(ask) => ask,
        Err(refused) => return fault(&refused.fault()),
    };
    match ask.model.as_str() {
        "busy" => return fault(&Fault::new(FaultKind::RateLimit, "Slow down")),
        "unknown" => return fault(&Fault::new(FaultKind::NotFound, "no such model")),
        _ => {}
    }
    let answer = AnswerContext::new(&ask, 1_700_000_000, "own1");
    let (api, stream, whole) = if ask.tools.is_empty() {
        (ProviderApi::OpenAi(tollgate_llm::Flavour::OpenAi), TEXT, WHOLE_TEXT)
    } else {
        (ProviderApi::Anthropic, CALLS, WHOLE_CALLS)
    };
    let provider = Provider { api, base_path: None, credential: ProviderCredential::None };
    if !ask.stream {
        let reply = provider.reply(200, whole.as_bytes(), BYTES_MAX).expect("an answer");
        return Response { status: 200, kind: "application/json", body: client.write_reply(&reply, &answer).expect("an answer") };
    }
    let (mut reader, mut writer, mut out) = (provider.stream(BYTES_MAX), client.stream(answer), Vec::new());
    // This model's streams break in the middle.
    let bytes = if ask.model == "broken" { &stream.as_bytes()[..stream.len() / 2] } else { stream.as_bytes() };
    for piece in bytes.chunks(13) {
        reader.push(piece).iter().for_each(|event| writer.write(event, &mut out));
    }
    reader.end().iter().for_each(|event| writer.write(event, &mut out));
    Response { status: 200, kind: "text/event-stream", body: out }
}

fn embed(body: &[u8]) -> Response {
    let provider = Provider { api: ProviderApi::Cohere, base_path: None, credential: ProviderCredential::None };
    let ask = EmbeddingApi::OpenAi.read(body, BYTES_MAX).expect("a request");
    provider.embedding_request(&ask).expect("a counterpart");
    let answer = br#"{"id":"e","embeddings":{"float":[[0.25,-1],[0.5,1.25e-1]]},"meta":{"billed_units":{"input_tokens":4}}}"#;
    let (body, usage) = provider.embedding_reply(200, answer, BYTES_MAX, &ask).expect("an answer");
    assert_eq!(usage.input, 4);
    Response { status: 200, kind: "application/json", body }
}

/// Serves one connection: request after request until the client closes it.
fn serve(stream: TcpStream) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut stream = stream;
    loop {
        let (mut line, mut length) = (String::new(), 0);
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let path = line.split(' ').nth(1).expect("a path").to_owned();
        loop {
            let mut header = String::new();
            reader.read_line(&mut header)?;
            if header.trim().is_empty() {
                break;
            }
            if let Some((_, value)) = header.split_once(':').filter(|(name, _)| name.eq_ignore_ascii_case("content-length")) {
                length = value.trim().parse().expect("a length");
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let Response { status, kind, body } = respond(path.split('?').next().expect("a path"), &body);
        write!(stream, "HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n", body.len())?;
        stream.write_all(&body)?;
    }
}

#[test]
fn official_clients_understand_every_answer() {
    let target = std::env::current_exe().expect("this program").ancestors().nth(3).expect("the target directory").to_owned();
    let venv = target.join("test-venv");
    if let Ok(reason) = std::fs::read_to_string(venv.join("models-unavailable")) {
        assert!(std::env::var_os("TOLLGATE_TESTS_MAY_SKIP").is_some(), "{reason}");
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || serve(stream));
        }
    });
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/official_clients.py");
    let output = Command::new(venv.join("bin/python")).arg(script).arg(url).output().expect("python");
    assert!(output.status.success(), "{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
}
