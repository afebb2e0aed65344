//! Trailers: what was decided by the headers of a message is not undone behind its body, over either version of HTTP and on both sides.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use http::{HeaderMap, HeaderName, HeaderValue, Response};
use serde_json::json;

use crate::harness::http2::{Http2Upstream, collect, connect, converse, post, upload};
use crate::harness::{self, Definition, Gateway, Upstream, get};
use crate::real_clients;

/// Trailers that no request may have, each said in a way of its own, and at the end one that passes.
const FORBIDDEN: [&str; 12] = [
    "Host: evil.test",
    "content-length: 500",
    "Transfer-Encoding: chunked",
    "Trailer: X-Sum",
    "Authorization: Bearer stolen",
    "COOKIE: session=stolen",
    "X-Forwarded-For: 10.0.0.1",
    "x_forwarded_for: 10.0.0.1",
    "X-Forwarded-Proto: https",
    "X-Real-IP: 10.0.0.1",
    "Content-Type: text/html",
    "Connection: close",
];

/// An API that forwards the trailers of requests.
fn api(id: &str, listen_path: &str, target: &str) -> Definition {
    harness::api(id, listen_path, target).set("tollgate/forward_request_trailers", true)
}

/// A request with a chunked body and these lines.
fn chunked(target: &str, headers: &[&str], trailers: &[&str]) -> String {
    let lines = |lines: &[&str]| lines.iter().map(|line| format!("{line}\r\n")).collect::<String>();
    let (headers, trailers) = (lines(headers), lines(trailers));
    format!(
        "POST {target} HTTP/1.1\r\nHost: gateway.test\r\nTransfer-Encoding: chunked\r\n{headers}\r\n4\r\nbody\r\n0\r\n{trailers}\r\n"
    )
}

fn names(trailers: &[(String, String)]) -> Vec<&str> {
    trailers.iter().map(|(name, _)| name.as_str()).collect()
}

#[test]
fn no_trailer_of_a_request_passes_unless_the_api_says_so() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [harness::api("a", "/a/", &upstream.url())]);
    let response = gateway.send(chunked("/a/", &["Trailer: X-Sum"], &["X-Sum: 7"]));
    assert_eq!((response.status, names(&upstream.last().trailers), upstream.last().text()), (200, vec![], "body".to_owned()));
    converse(async {
        let client = connect(gateway.port).await;
        assert_eq!(upload(&client, post("/a/"), b"body", Some(http2_trailers())).await.unwrap().status, 200);
    });
    assert_eq!((names(&upstream.last().trailers), upstream.last().text()), (vec![], "body".to_owned()));
}

#[test]
fn fields_that_frame_route_or_authenticate_do_not_come_behind_a_body() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url())]);
    let mut client = gateway.connect();
    let trailers = [&FORBIDDEN[..], &["X-Sum: 7"]].concat();
    for _ in 0..2 {
        assert_eq!(client.ask(chunked("/a/", &[], &trailers)).status, 200);
        assert_eq!((names(&upstream.last().trailers), upstream.last().text()), (vec!["X-Sum"], "body".to_owned()));
    }
    // Wherever the bytes are cut.
    for byte in chunked("/a/", &[], &trailers).as_bytes() {
        client.send([*byte]);
    }
    assert_eq!(client.response("POST").status, 200);
    assert_eq!(names(&upstream.last().trailers), ["X-Sum"]);
    assert_eq!(upstream.connections(), 1);
}

#[test]
fn no_trailer_has_the_name_of_a_header_that_the_api_uses() {
    let upstream = Upstream::ok();
    let plain = || api("a", "/a/", &upstream.url());
    let rows: Vec<(Definition, &str)> = vec![
        (plain().version("global_headers_remove", json!(["X-Admin"])), "x-admin"),
        (plain().version("global_headers_remove", json!(["X-Admin"])), "X_Admin"),
        (plain().version("global_headers", json!({"X-Role": "user"})), "X-ROLE"),
        (
            plain().list("transform_headers", json!([{"path": "/elsewhere", "method": "GET", "delete_headers": ["X-Gone"]}])),
            "X-Gone",
        ),
        (
            plain().list("transform_headers", json!([{"path": "/elsewhere", "method": "GET", "add_headers": {"X-Made": "1"}}])),
            "X-Made",
        ),
        (
            plain().set("enable_context_vars", true).version("global_headers", json!({"X-A": "$tyk_context.headers_X_Read"})),
            "X-Read",
        ),
        (
            plain()
                .set("enable_context_vars", true)
                .version("global_response_headers", json!({"X-A": "$tyk_context.headers_X_Read"})),
            "X-Read",
        ),
        (
            plain().list(
                "url_rewrites",
                json!([{"path": "/elsewhere", "method": "GET", "match_pattern": "x", "rewrite_to": "y", "triggers": [
                    {"on": "any", "options": {"header_matches": {"X-Cond": {"match_rx": "1"}}}, "rewrite_to": "z"}
                ]}]),
            ),
            "X-Cond",
        ),
        (plain().set("definition/key", "X-Version"), "X-Version"),
        (plain().set("tag_headers", json!(["X-Tag"])), "X-Tag"),
    ];
    for (definition, name) in rows {
        let gateway = Gateway::start(json!({}), [definition]);
        let response = gateway.send(chunked("/a/", &[], &[&format!("{name}: 1"), "X-Sum: 7"]));
        assert_eq!((response.status, names(&upstream.last().trailers)), (200, vec!["X-Sum"]), "{name}");
    }
    let gateway = Gateway::start(json!({}), [plain()]);
    gateway.send(chunked("/a/", &[], &["X-Admin: 1", "X-Sum: 7"]));
    assert_eq!(names(&upstream.last().trailers), ["X-Admin", "X-Sum"], "an API that does not use the name lets it pass");
}

#[test]
fn no_trailer_has_the_name_of_a_credential() {
    let upstream = Upstream::ok();
    let definition = api("a", "/a/", &upstream.url()).with_keys().set("auth/auth_header_name", "X-Secret-Key");
    let gateway = Gateway::start(json!({}), [definition]);
    let session = json!({"access_rights": {"a": {"api_id": "a", "versions": ["Default"]}}, "org_id": "default"});
    assert_eq!(gateway.control("POST", "/tyk/keys/alice", &session.to_string()).status, 200);
    let response = gateway.send(chunked("/a/", &["X-Secret-Key: alice"], &["X-Secret-Key: bob", "X-Sum: 7"]));
    assert_eq!((response.status, names(&upstream.last().trailers)), (200, vec!["X-Sum"]));
}

#[test]
fn no_trailer_has_the_name_of_a_header_that_the_gateway_uses_for_all_apis() {
    let upstream = Upstream::ok();
    let conf = json!({"tollgate": {"request_id": true, "client_ip_header": "X-Edge-Client"}});
    let gateway = Gateway::start(conf, [api("a", "/a/", &upstream.url())]);
    let response = gateway.send(chunked("/a/", &[], &["X-Request-Id: mine", "X-Edge-Client: 10.0.0.1", "X-Sum: 7"]));
    assert_eq!((response.status, names(&upstream.last().trailers)), (200, vec!["X-Sum"]));
}

#[test]
fn rules_of_every_api_on_the_way_count() {
    let upstream = Upstream::ok();
    let outer = api("outer", "/outer/", "tyk://inner/").version("global_headers_remove", json!(["X-Outer"]));
    let inner = api("inner", "/inner/", &upstream.url()).version("global_headers_remove", json!(["X-Inner"]));
    let gateway = Gateway::start(json!({}), [outer, inner]);
    let response = gateway.send(chunked("/outer/", &[], &["X-Outer: 1", "X-Inner: 1", "X-Sum: 7"]));
    assert_eq!((response.status, names(&upstream.last().trailers)), (200, vec!["X-Sum"]));
}

#[test]
fn rules_for_response_headers_hold_for_trailers_too() {
    let upstream = Upstream::start(|_| {
        let lines =
            "X-Powered-By: up\r\nx-set: up\r\nSet-Cookie: a=b\r\nContent-Length: 9\r\nX-Own: up\r\ngrpc-status: 0\r\nX-Sum: 7\r\n";
        format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4;a=b\r\nbody\r\n000\r\n{lines}\r\n").into_bytes()
    });
    let definition = api("a", "/a/", &upstream.url())
        .version("global_response_headers_remove", json!(["X-Powered-By"]))
        .version("global_response_headers", json!({"X-Set": "gateway"}))
        .list("transform_response_headers", json!([{"path": "/p", "method": "GET", "delete_headers": ["X-Own"]}]));
    let gateway = Gateway::start(json!({}), [definition]);
    let mut client = gateway.connect();
    let global = client.ask(get("/a/"));
    assert_eq!((names(&global.trailers), global.text()), (vec!["X-Own", "grpc-status", "X-Sum"], "body".to_owned()));
    assert_eq!(names(&client.ask(get("/a/p")).trailers), ["grpc-status", "X-Sum"]);
    converse(async {
        let client = connect(gateway.port).await;
        let answer = upload(&client, post("/a/"), b"x", None).await.unwrap();
        let mut names: Vec<String> = answer.trailers.unwrap().keys().map(|name| name.as_str().to_owned()).collect();
        names.sort();
        assert_eq!((names.join(" "), answer.body.as_slice()), ("grpc-status x-own x-sum".to_owned(), &b"body"[..]));
    });
}

/// Trailers as HTTP/2 can have them.
fn http2_trailers() -> HeaderMap {
    let mut trailers = HeaderMap::new();
    for name in ["x-admin", "x-forwarded-for", "authorization", "content-length", "host", "cookie", "x-sum"] {
        trailers.insert(HeaderName::from_static(name), HeaderValue::from_static("1"));
    }
    trailers
}

#[test]
fn http_2_on_either_side_makes_no_difference() {
    let one = Upstream::ok();
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let note = seen.clone();
    let two = Http2Upstream::start(None, move |request, mut respond| {
        let note = note.clone();
        async move {
            let mut content = request.into_body();
            let _ = collect(&mut content).await;
            let trailers = content.trailers().await.ok().flatten().unwrap_or_default();
            note.lock().unwrap().extend(trailers.keys().map(|name| name.as_str().to_owned()));
            let _ = respond.send_response(Response::new(()), true);
        }
    });
    let rules = |definition: Definition| definition.version("global_headers_remove", json!(["X-Admin"]));
    let apis = [rules(api("one", "/one/", &one.url())), rules(api("two", "/two/", &format!("h2c://{}", two.address)))];
    let gateway = Gateway::start(json!({}), apis);
    let trailers = [&FORBIDDEN[..], &["X-Admin: 1", "X-Sum: 7"]].concat();
    assert_eq!(gateway.send(chunked("/two/", &[], &trailers)).status, 200);
    assert_eq!(*seen.lock().unwrap(), ["x-sum"]);
    converse(async {
        let client = connect(gateway.port).await;
        for path in ["/one/", "/two/"] {
            assert_eq!(upload(&client, post(path), b"body", Some(http2_trailers())).await.unwrap().status, 200);
        }
    });
    assert_eq!(names(&one.last().trailers), ["x-sum"]);
    assert_eq!(*seen.lock().unwrap(), ["x-sum", "x-sum"]);
}

/// Answers with the headers that an application sees once it has read the body. Says where it listens and lives as long as its standard input.
const UVICORN: &str = r#"
import json, socket, sys, threading, uvicorn

async def app(scope, receive, send):
    while (await receive()).get("more_body"):
        pass
    body = json.dumps([[name.decode(), value.decode()] for name, value in scope["headers"]]).encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", str(len(body)).encode())]})
    await send({"type": "http.response.body", "body": body})

listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen()
print(listener.getsockname()[1], flush=True)
server = uvicorn.Server(uvicorn.Config(app, http="httptools", lifespan="off", log_level="error"))

def wait():
    sys.stdin.read()
    server.should_exit = True

threading.Thread(target=wait, daemon=True).start()
server.run(sockets=[listener])
"#;

struct Uvicorn {
    child: Child,
    port: u16,
}

impl Uvicorn {
    fn start() -> Option<Uvicorn> {
        let mut command = Command::new(real_clients::python()?);
        command.args(["-c", UVICORN]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("python runs");
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).expect("its port");
        let port = line.trim().parse().unwrap_or_else(|_| panic!("the server says {line:?}"));
        Some(Uvicorn { child, port })
    }
}

impl Drop for Uvicorn {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn an_application_behind_uvicorn_sees_no_header_that_was_removed() {
    let Some(uvicorn) = Uvicorn::start() else { return };
    let definition = api("a", "/a/", &format!("http://127.0.0.1:{}", uvicorn.port));
    let gateway = Gateway::start(json!({}), [definition.version("global_headers_remove", json!(["X-Admin"]))]);
    let seen = |response: crate::harness::Response| {
        let lines: Vec<(String, String)> = serde_json::from_slice(&response.body).unwrap_or_else(|_| panic!("{response}"));
        lines
    };
    let values = |lines: &[(String, String)], name: &str| -> Vec<String> {
        lines.iter().filter(|(own, _)| own == name).map(|(_, value)| value.clone()).collect()
    };
    let trailers = ["X-Admin: 1", "X-Forwarded-For: 10.0.0.1", "Authorization: stolen", "Host: evil.test"];
    // The head first, so that the application runs before the trailers come.
    let ask = |port: u16, target: &str| {
        let whole = chunked(target, &["X-Admin: 0"], &trailers);
        let (head, rest) = whole.split_at(whole.find("body").unwrap());
        let mut client = crate::harness::Connection::open(port);
        client.send(head);
        client.send(rest);
        seen(client.response("POST"))
    };
    let direct = ask(uvicorn.port, "/");
    assert!(
        values(&direct, "x-admin").contains(&"1".to_owned()),
        "this server merges no trailers, so that the test shows nothing: {direct:?}"
    );
    let behind = ask(gateway.port, "/a/");
    assert!(values(&behind, "x-admin").is_empty(), "{behind:?}");
    assert_eq!(values(&behind, "x-forwarded-for"), ["127.0.0.1"]);
    assert!(values(&behind, "authorization").is_empty());
    assert_eq!(values(&behind, "host"), [format!("127.0.0.1:{}", uvicorn.port)]);
}
