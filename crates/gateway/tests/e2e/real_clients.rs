//! HTTP/2, gRPC and WebSockets as programs that are not ours speak them: h2load, openssl, grpcio, and Python's h2 with wsproto.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::harness::certificates::Authority;
use crate::harness::definition::merge;
use crate::harness::{Gateway, Setup, Upstream, api, reply, skip};

/// A gRPC server and its client. A server says where it listens and lives as long as its standard input.
const GRPC: &str = r#"
import sys, threading, grpc
from concurrent import futures
mode, place, pem = sys.argv[1:4]
pem = open(pem, "rb").read() if pem else None

def say(request, context):
    seen = dict(context.invocation_metadata())
    if request == b"missing":
        context.set_trailing_metadata((("x-why", "told"),))
        context.abort(grpc.StatusCode.NOT_FOUND, "there is none: 100%")
    if request == b"slow":
        threading.Event().wait(5)
    context.send_initial_metadata((("x-initial", seen.get("x-asked", "")),))
    context.set_trailing_metadata((("x-trailing-bin", b"\x00\xff"),))
    return request

def count(request, context):
    for number in range(int(request)):
        yield b"%d" % number

def add(requests, context):
    return b"%d" % sum(len(request) for request in requests)

def chat(requests, context):
    for request in requests:
        yield b"re: " + request

if mode == "server":
    server = grpc.server(futures.ThreadPoolExecutor(64))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("test.Echo", {
        "Say": grpc.unary_unary_rpc_method_handler(say),
        "Count": grpc.unary_stream_rpc_method_handler(count),
        "Add": grpc.stream_unary_rpc_method_handler(add),
        "Chat": grpc.stream_stream_rpc_method_handler(chat),
    }),))
    if pem:
        port = server.add_secure_port(place, grpc.ssl_server_credentials([(pem, pem)]))
    else:
        port = server.add_insecure_port(place)
    server.start()
    print(port, flush=True)
    sys.stdin.read()
    server.stop(None)
    sys.exit()

channel = grpc.secure_channel(place, grpc.ssl_channel_credentials(pem)) if pem else grpc.insecure_channel(place)
unary = channel.unary_unary("/test.Echo/Say")
for message in [b"hello", b"", b"x" * 3_000_000]:
    answer, call = unary.with_call(message, timeout=20, metadata=(("x-asked", "yes"),))
    assert answer == message, len(answer)
    assert ("x-initial", "yes") in call.initial_metadata(), call.initial_metadata()
    assert ("x-trailing-bin", b"\x00\xff") in call.trailing_metadata(), call.trailing_metadata()
pending = [unary.future(b"%d" % number, timeout=20) for number in range(200)]
assert [call.result() for call in pending] == [b"%d" % number for number in range(200)]

def failure(call):
    try:
        call()
    except grpc.RpcError as error:
        return error
    raise AssertionError("it did not fail")

error = failure(lambda: unary(b"missing", timeout=20))
assert (error.code(), error.details()) == (grpc.StatusCode.NOT_FOUND, "there is none: 100%"), error
assert ("x-why", "told") in error.trailing_metadata()
error = failure(lambda: unary(b"slow", timeout=0.5))
assert error.code() == grpc.StatusCode.DEADLINE_EXCEEDED, error
error = failure(lambda: channel.unary_unary("/test.Echo/Nothing")(b"", timeout=20))
assert error.code() == grpc.StatusCode.UNIMPLEMENTED, error

counted = list(channel.unary_stream("/test.Echo/Count")(b"1000", timeout=20))
assert counted == [b"%d" % number for number in range(1000)]
added = channel.stream_unary("/test.Echo/Add")((b"x" * 1000 for _ in range(500)), timeout=20)
assert added == b"500000", added

answers = None
def questions():
    # Each question waits for the answer to the one before.
    yield b"0"
    for number in range(1, 50):
        turn.acquire()
        yield b"%d" % number
turn = threading.Semaphore(0)
answers = channel.stream_stream("/test.Echo/Chat")(questions(), timeout=20)
for number, answer in enumerate(answers):
    assert answer == b"re: %d" % number, answer
    turn.release()
assert number == 49
print("all is well")
"#;

/// Many messages of ten bytes each way, while another client calls.
const MANY_MESSAGES: &str = r#"
import sys, threading, grpc
COUNT = 50_000
place = sys.argv[1]

def channel():
    return grpc.insecure_channel(place, options=[("grpc.use_local_subchannel_pool", 1)])

over, calls, failures = threading.Event(), [0], []
def bystander():
    say = channel().unary_unary("/test.Echo/Say")
    while not over.is_set():
        try:
            assert say(b"hello", timeout=20) == b"hello"
            calls[0] += 1
        except Exception as error:
            failures.append(error)
            return

beside = threading.Thread(target=bystander)
beside.start()
mine = channel()
added = mine.stream_unary("/test.Echo/Add")((b"0123456789" for _ in range(COUNT)), timeout=60)
assert added == b"%d" % (10 * COUNT), added
counted = sum(1 for _ in mine.unary_stream("/test.Echo/Count")(b"%d" % COUNT, timeout=60))
assert counted == COUNT, counted
answers = mine.stream_stream("/test.Echo/Chat")((b"0123456789" for _ in range(COUNT)), timeout=60)
assert sum(answer == b"re: 0123456789" for answer in answers) == COUNT
over.set()
beside.join()
assert not failures, failures
assert calls[0] > 0
print("all is well")
"#;

/// A WebSocket over HTTP/2 with Python's h2 and wsproto.
const WEBSOCKET: &str = r#"
import socket, sys
import h2.config, h2.connection, h2.events, h2.settings
import wsproto.frame_protocol as frames
from wsproto.connection import Connection, ConnectionType
from wsproto.events import BytesMessage, CloseConnection, Message, Ping, Pong, TextMessage

wire = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 20)
http = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
http.initiate_connection()
wire.sendall(http.data_to_send())

def events():
    while True:
        data = wire.recv(65536)
        assert data, "closed"
        for event in http.receive_data(data):
            yield event
        wire.sendall(http.data_to_send())

stream = events()
for event in stream:
    if isinstance(event, h2.events.RemoteSettingsChanged):
        break
assert http.remote_settings.enable_connect_protocol == 1
request = [(":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "http"), (":path", "/a/chat"),
           (":authority", "gateway.test"), ("sec-websocket-version", "13")]
http.send_headers(1, request)
wire.sendall(http.data_to_send())
for event in stream:
    if isinstance(event, h2.events.ResponseReceived):
        assert dict(event.headers)[":status"] == "200", event.headers
        break
talk = Connection(ConnectionType.CLIENT)

def send(event):
    data = talk.send(event)
    while data:
        room = min(http.local_flow_control_window(1), http.max_outbound_frame_size, len(data))
        if room == 0:
            take(next(stream))
            continue
        http.send_data(1, data[:room])
        wire.sendall(http.data_to_send())
        data = data[room:]

got = []
def take(event):
    if isinstance(event, h2.events.DataReceived):
        http.acknowledge_received_data(event.flow_controlled_length, 1)
        wire.sendall(http.data_to_send())
        talk.receive_data(event.data)
        got.extend(talk.events())

def message(kind):
    whole = None
    while True:
        while got:
            event = got.pop(0)
            if not isinstance(event, kind):
                continue
            if not isinstance(event, Message):
                return event
            whole = event.data if whole is None else whole + event.data
            if event.message_finished:
                return whole
        take(next(stream))

for text in ["hello", "", "x" * 200_000]:
    send(TextMessage(data=text))
    assert message(TextMessage) == text
send(BytesMessage(data=b"\x00\xff" * 10))
assert bytes(message(BytesMessage)) == b"\x00\xff" * 10
send(Ping(payload=b"?"))
assert bytes(message(Pong).payload) == b"?"
send(CloseConnection(code=1000, reason="done"))
assert message(CloseConnection).code == 1000
print("all is well")
"#;

/// Python with the packages of these tests; `None` where they could not be installed, which is said.
pub(crate) fn python() -> Option<PathBuf> {
    let program = std::env::current_exe().expect("this test");
    let venv = program.ancestors().nth(3).expect("the target directory").join("test-venv");
    if let Ok(reason) = std::fs::read_to_string(venv.join("clients-unavailable")) {
        skip(&reason);
        return None;
    }
    let python = venv.join("bin/python");
    assert!(python.exists(), "{} is missing: run scripts/test-deps.sh tests", python.display());
    Some(python)
}

#[track_caller]
fn run(python: &Path, script: &str, arguments: &[&str]) {
    let output =
        Command::new(python).args(["-c", script]).args(arguments).env_remove("http_proxy").env_remove("https_proxy").output();
    let output = output.expect("python runs");
    let (said, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.ends_with("all is well\n"), "{said}{complained}");
}

/// A server in Python that ends with its standard input.
struct GrpcServer {
    child: Child,
    port: u16,
}

impl GrpcServer {
    fn start(python: &Path, place: &str, pem: &str) -> GrpcServer {
        let mut command = Command::new(python);
        command.args(["-c", GRPC, "server", place, pem]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("python runs");
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).expect("its port");
        let port = line.trim().parse().unwrap_or_else(|_| panic!("the server says {line:?}"));
        GrpcServer { child, port }
    }
}

impl Drop for GrpcServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Certificates of a test on disk: one for `localhost` with its key, and who signed it.
struct Certificates {
    dir: tempfile::TempDir,
}

impl Certificates {
    fn new() -> Certificates {
        let dir = tempfile::tempdir().unwrap();
        let authority = Authority::new("real clients");
        authority.issue(&["localhost"]).write(dir.path(), "own.pem");
        std::fs::write(dir.path().join("roots.pem"), authority.pem()).unwrap();
        Certificates { dir }
    }

    fn path(&self, name: &str) -> String {
        self.dir.path().join(name).to_str().unwrap().to_owned()
    }

    /// TLS with clients, HTTP/2 among it.
    fn conf(&self) -> Value {
        json!({"http_server_options": {"use_ssl": true, "enable_http2": true, "certificates": [{"cert_file": self.path("own.pem")}]}})
    }
}

#[test]
fn h2load_has_every_request_answered() {
    let certificates = Certificates::new();
    let upstream = Upstream::start(|seen| reply("200 OK", &[], &"x".repeat(if seen.target == "/large" { 100_000 } else { 20 })));
    let plain = Gateway::start(json!({}), [api("a", "/a/", &upstream.url())]);
    let secure = Gateway::start(certificates.conf(), [api("a", "/a/", &upstream.url())]);
    for (url, requests) in [
        (format!("http://127.0.0.1:{}/a/small", plain.port), "3000"),
        (format!("http://127.0.0.1:{}/a/large", plain.port), "300"),
        (format!("https://localhost:{}/a/small", secure.port), "3000"),
        (format!("https://localhost:{}/a/large", secure.port), "300"),
    ] {
        let mut h2load = Command::new("h2load");
        let output =
            h2load.args(["-n", requests, "-c", "5", "-m", "20", "-T", "20"]).arg(&url).output().expect("h2load, of nghttp2-client");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let expected =
            format!("{requests} total, {requests} started, {requests} done, {requests} succeeded, 0 failed, 0 errored, 0 timeout");
        assert!(said.contains(&expected), "{url}: {said}{}", String::from_utf8_lossy(&output.stderr));
        let protocol = if url.starts_with("https") { "Application protocol: h2\n" } else { "Application protocol: h2c\n" };
        assert!(said.contains(protocol), "{said}");
    }
}

#[test]
fn openssl_is_offered_http_2() {
    let certificates = Certificates::new();
    let gateway = Gateway::start(certificates.conf(), []);
    for (offer, agreed) in [("h2,http/1.1", "h2"), ("http/1.1", "http/1.1")] {
        let connect = format!("127.0.0.1:{}", gateway.port);
        let arguments =
            ["s_client", "-connect", &connect, "-servername", "localhost", "-verify_hostname", "localhost", "-alpn", offer];
        let mut openssl = Command::new("openssl");
        let output =
            openssl.args(arguments).args(["-CAfile", &certificates.path("roots.pem")]).stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.contains(&format!("ALPN protocol: {agreed}\n")), "{said}");
        assert!(said.contains("Verify return code: 0 (ok)"), "{said}");
    }
}

#[test]
fn grpcio_calls_in_every_way_over_h2c() {
    let Some(python) = python() else { return };
    let server = GrpcServer::start(&python, "127.0.0.1:0", "");
    let gateway = Gateway::start(json!({}), [api("grpc", "/", &format!("h2c://127.0.0.1:{}", server.port))]);
    run(&python, GRPC, &["client", &format!("127.0.0.1:{}", gateway.port), ""]);
}

#[test]
fn grpcio_sends_and_receives_50_000_small_messages_beside_other_calls() {
    let Some(python) = python() else { return };
    let server = GrpcServer::start(&python, "127.0.0.1:0", "");
    let conf = json!({"tollgate": {"threads": 1}});
    let gateway = Gateway::start(conf, [api("grpc", "/", &format!("h2c://127.0.0.1:{}", server.port))]);
    run(&python, MANY_MESSAGES, &[&format!("127.0.0.1:{}", gateway.port)]);
}

#[test]
fn grpcio_calls_in_every_way_over_tls() {
    let Some(python) = python() else { return };
    let certificates = Certificates::new();
    let server = GrpcServer::start(&python, "localhost:0", &certificates.path("own.pem"));
    let mut conf = certificates.conf();
    merge(&mut conf, &json!({"proxy_enable_http2": true}));
    let gateway = Setup::new(conf)
        .api(api("grpc", "/", &format!("https://localhost:{}", server.port)))
        .env("SSL_CERT_FILE", certificates.path("roots.pem"))
        .start();
    run(&python, GRPC, &["client", &format!("localhost:{}", gateway.port), &certificates.path("roots.pem")]);
}

#[test]
fn wsproto_talks_through_a_stream_of_h2() {
    let Some(python) = python() else { return };
    let upstream = crate::websockets_http2::websocket_server();
    let gateway = Gateway::start(crate::upgrade::enabled(), [api("a", "/a/", &upstream)]);
    run(&python, WEBSOCKET, &[&gateway.port.to_string()]);
}
