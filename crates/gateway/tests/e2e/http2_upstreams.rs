//! HTTP/2 to upstreams, and gRPC through the gateway.

use bytes::{BufMut, Bytes, BytesMut};
use h2::server::SendResponse;
use h2::{Reason, RecvStream};
use http::{HeaderMap, HeaderValue, Request, Response};
use serde_json::json;
use std::sync::Arc;
use tokio::sync::Semaphore;

use crate::harness::certificates::{Authority, server};
use crate::harness::http2::{Http2Upstream, ask, collect, connect, converse, get, post, upload, whole, write};
use crate::harness::{Gateway, Setup, Upstream, api, get as get_http1, ok, reply, request};

/// As many responses may be cut, as their clients have what came before.
static MAY_CUT: Semaphore = Semaphore::const_new(0);

async fn echo(request: Request<RecvStream>, mut respond: SendResponse<Bytes>) {
    let path = request.uri().path().to_owned();
    let authority = request.uri().authority().map(ToString::to_string).unwrap_or_default();
    let forwarded = request.headers().get("x-forwarded-for").cloned();
    let mut content = request.into_body();
    if path == "/reset" {
        return respond.send_reset(Reason::INTERNAL_ERROR);
    }
    let Ok(body) = collect(&mut content).await else { return };
    let mut head = Response::builder().header("x-authority", authority);
    if let Some(forwarded) = forwarded {
        head = head.header("x-seen-forwarded", forwarded);
    }
    if path == "/cut" {
        let mut stream = respond.send_response(head.body(()).unwrap(), false).unwrap();
        let _ = write(&mut stream, b"not all", false).await;
        // A reset takes back what has not left yet, the head too.
        MAY_CUT.acquire().await.unwrap().forget();
        return stream.send_reset(Reason::INTERNAL_ERROR);
    }
    if body.is_empty() {
        let _ = respond.send_response(head.body(()).unwrap(), true);
        return;
    }
    let Ok(mut stream) = respond.send_response(head.body(()).unwrap(), false) else { return };
    let _ = write(&mut stream, &body, true).await;
}

#[test]
fn an_h2c_upstream_is_asked_over_one_connection() {
    let upstream = Http2Upstream::start(None, echo);
    let conf = json!({"tollgate": {"threads": 1}});
    let gateway = Gateway::start(conf, [api("a", "/a/", &format!("h2c://{}", upstream.address))]);
    let mut client = gateway.connect();
    for size in [1, 100_000, 3_000_000] {
        let body = "x".repeat(size);
        let response = client.ask(request("POST", "/a/echo", &[], &body));
        assert_eq!((response.status, response.body.len()), (200, size));
        assert_eq!(response.header("x-authority"), Some(upstream.address.to_string().as_str()));
        assert_eq!(response.header("x-seen-forwarded"), Some("127.0.0.1"));
    }
    let empty = client.ask(get_http1("/a/"));
    assert_eq!((empty.status, empty.header("content-length")), (200, Some("0")));
    let chunked = client.ask("POST /a/ HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
    assert_eq!(chunked.text(), "abc");
    assert_eq!(upstream.connections(), 1);
    for _ in 0..2 {
        assert_eq!(gateway.get("/a/reset").status, 500);
        let mut wire = gateway.connect();
        wire.send(get_http1("/a/cut"));
        assert_eq!(wire.head().expect("a head").get("transfer-encoding"), Some("chunked"));
        assert_eq!(wire.exactly(12).expect("a chunk"), b"7\r\nnot all\r\n");
        MAY_CUT.add_permits(1);
        assert!(wire.chunk().is_err());
        assert_eq!(gateway.get("/a/").status, 200);
    }
    assert_eq!(upstream.connections(), 1, "a failed stream does not cost the connection");
}

#[test]
fn many_exchanges_at_once_share_connections() {
    let upstream = Http2Upstream::start(None, |request, respond| async move {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        echo(request, respond).await;
    });
    let conf = json!({"tollgate": {"threads": 1}});
    let gateway = Gateway::start(conf, [api("a", "/a/", &format!("h2c://{}", upstream.address))]);
    assert_eq!(gateway.get("/a/").status, 200);
    converse(async {
        let client = connect(gateway.port).await;
        let tasks: Vec<_> = (0..150)
            .map(|number| {
                let client = client.clone();
                tokio::task::spawn_local(async move {
                    let body = format!("{number}");
                    let answer = upload(&client, post("/a/"), body.as_bytes(), None).await.unwrap();
                    assert_eq!(answer.text(), body);
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
    assert!(upstream.connections() < 20, "{}", upstream.connections());
}

#[test]
fn over_tls_the_upstream_chooses_the_protocol() {
    let authority = Authority::new("servers");
    let made = authority.issue(&["localhost"]);
    let new = Http2Upstream::start(Some(server(&made)), echo);
    let old = Upstream::tls(Arc::new(server(&made)), |_| ok());
    let dir = tempfile::tempdir().unwrap();
    let roots = dir.path().join("roots.pem");
    std::fs::write(&roots, authority.pem()).unwrap();
    let start = |enabled: bool| {
        Setup::new(json!({"proxy_enable_http2": enabled, "http_server_options": {"enable_websockets": true}}))
            .api(api("new", "/new/", &format!("https://localhost:{}", new.address.port())))
            .api(api("old", "/old/", &format!("https://localhost:{}", old.port())))
            .env("SSL_CERT_FILE", roots.to_str().unwrap())
            .start()
    };
    let gateway = start(true);
    assert_eq!((gateway.get("/new/").status, gateway.get("/old/").status), (200, 200));
    assert_eq!(old.last().version, "HTTP/1.1");
    let gateway = start(false);
    assert_eq!((gateway.get("/new/").status, gateway.get("/old/").status), (500, 200), "it speaks HTTP/2 alone");
}

#[test]
fn an_upgrade_goes_over_http_1_1_where_other_requests_do_not() {
    let authority = Authority::new("servers");
    let made = authority.issue(&["localhost"]);
    let mut config = server(&made);
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let upstream = Upstream::tls(Arc::new(config), |seen| match seen.header("upgrade") {
        Some(_) => b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello".to_vec(),
        None => reply("200 OK", &[], "plain"),
    });
    let dir = tempfile::tempdir().unwrap();
    let roots = dir.path().join("roots.pem");
    std::fs::write(&roots, authority.pem()).unwrap();
    let gateway = Setup::new(json!({"proxy_enable_http2": true, "http_server_options": {"enable_websockets": true}}))
        .api(api("a", "/a/", &format!("https://localhost:{}", upstream.port())))
        .env("SSL_CERT_FILE", roots.to_str().unwrap())
        .start();
    let mut wire = gateway.connect();
    let response = wire.ask(request("GET", "/a/", &["Connection: Upgrade", "Upgrade: websocket"], ""));
    assert_eq!(response.status, 101);
    assert_eq!(wire.exactly(5).unwrap(), b"hello");
}

#[test]
fn an_upgrade_to_http_2_is_never_passed_on() {
    let upstream = Upstream::start(|seen| reply("200 OK", &[], seen.header("upgrade").unwrap_or("none")));
    let gateway = Gateway::start(json!({"http_server_options": {"enable_websockets": true}}), [api("a", "/a/", &upstream.url())]);
    for line in ["Upgrade: h2c", "Upgrade: H2C", "Upgrade: websocket, h2c"] {
        let lines = ["Connection: Upgrade, HTTP2-Settings", line, "HTTP2-Settings: AAMAAABkAAQAAP__"];
        assert_eq!(gateway.send(request("GET", "/a/", &lines, "")).text(), "none", "{line}");
    }
}

// --- gRPC ---

fn message(text: &str) -> Bytes {
    let mut message = BytesMut::new();
    message.put_u8(0);
    message.put_u32(text.len() as u32);
    message.put_slice(text.as_bytes());
    message.freeze()
}

fn call(path: &str) -> Request<()> {
    Request::post(format!("http://gateway.test{path}"))
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .header("grpc-timeout", "60S")
        .body(())
        .unwrap()
}

/// Answers each message as it comes, and ends with a status in its trailers.
async fn grpc(request: Request<RecvStream>, mut respond: SendResponse<Bytes>) {
    assert_eq!(request.headers().get("te").unwrap(), "trailers");
    assert_eq!(request.headers().get("content-type").unwrap(), "application/grpc");
    let head = Response::builder().header("content-type", "application/grpc");
    if request.uri().path().ends_with("/Missing") {
        let head = head.header("grpc-status", "12").header("grpc-message", "unimplemented");
        let _ = respond.send_response(head.body(()).unwrap(), true);
        return;
    }
    let Ok(mut stream) = respond.send_response(head.body(()).unwrap(), false) else { return };
    let mut content = request.into_body();
    while let Some(Ok(data)) = content.data().await {
        let _ = content.flow_control().release_capacity(data.len());
        if stream.send_data(data, false).is_err() {
            return;
        }
    }
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from_static("0"));
    trailers.insert("grpc-message", HeaderValue::from_static("done"));
    let _ = stream.send_trailers(trailers);
}

fn grpc_gateway() -> (Gateway, Http2Upstream) {
    let upstream = Http2Upstream::start(None, grpc);
    let gateway = Gateway::start(json!({}), [api("a", "/", &format!("h2c://{}", upstream.address))]);
    (gateway, upstream)
}

#[test]
fn a_unary_grpc_call_gets_its_message_and_its_status() {
    let (gateway, _upstream) = grpc_gateway();
    converse(async {
        let client = connect(gateway.port).await;
        let answer = upload(&client, call("/test.Echo/Say"), &message("hello"), None).await.unwrap();
        assert_eq!((answer.status, answer.body), (200, message("hello").to_vec()));
        let trailers = answer.trailers.expect("trailers");
        let value = |name: &str| trailers.get(name).and_then(|value| value.to_str().ok());
        assert_eq!((value("grpc-status"), value("grpc-message")), (Some("0"), Some("done")));

        let missing = upload(&client, call("/test.Echo/Missing"), &message("x"), None).await.unwrap();
        assert_eq!((missing.status, missing.header("grpc-status"), missing.body.len()), (200, Some("12"), 0));
    });
}

#[test]
fn a_grpc_stream_flows_in_both_directions_at_once() {
    let (gateway, _upstream) = grpc_gateway();
    converse(async {
        let client = connect(gateway.port).await;
        let mut ready = client.clone().ready().await.unwrap();
        let (answer, mut stream) = ready.send_request(call("/test.Echo/Chat"), false).unwrap();
        stream.send_data(message("first"), false).unwrap();
        let answer = answer.await.unwrap();
        assert_eq!(answer.status(), 200);
        let mut content = answer.into_body();
        for text in ["first", "second", "third"] {
            if text != "first" {
                stream.send_data(message(text), false).unwrap();
            }
            let mut got = Vec::new();
            while got.len() < message(text).len() {
                let data = content.data().await.unwrap().unwrap();
                content.flow_control().release_capacity(data.len()).unwrap();
                got.extend_from_slice(&data);
            }
            assert_eq!(got, message(text), "each message comes back before the next is sent");
        }
        stream.send_data(Bytes::new(), true).unwrap();
        assert!(collect(&mut content).await.unwrap().is_empty());
        let trailers = content.trailers().await.unwrap().expect("trailers");
        assert_eq!(trailers.get("grpc-status").unwrap(), "0");
    });
}

#[test]
fn a_client_that_cancels_cancels_at_the_upstream() {
    let (cancelled, told) = std::sync::mpsc::channel();
    let upstream = Http2Upstream::start(None, move |request, mut respond| {
        let cancelled = cancelled.clone();
        async move {
            let mut content = request.into_body();
            let reset = std::future::poll_fn(|cx| respond.poll_reset(cx)).await;
            let _ = content.data().await;
            let _ = cancelled.send(reset.is_ok());
        }
    });
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &format!("h2c://{}", upstream.address))]);
    converse(async {
        let client = connect(gateway.port).await;
        let mut ready = client.clone().ready().await.unwrap();
        let (answer, mut stream) = ready.send_request(post("/a/"), false).unwrap();
        write(&mut stream, b"x", false).await.unwrap();
        while upstream.connections() == 0 {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        stream.send_reset(Reason::CANCEL);
        drop(answer);
        assert_eq!(ask(&client, get("/none")).await.unwrap().status, 404);
    });
    assert!(told.recv_timeout(crate::harness::PATIENCE).expect("the upstream is told"));
    let _ = whole;
}
