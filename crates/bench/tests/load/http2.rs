//! HTTP/2 with prior knowledge, against hyper.

use crate::command::load;
use bytes::Bytes;
use serde_json::json;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// Answers `/` with 200 and the request's body, everything else with 404; counts connections.
fn server() -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let counted = Arc::clone(&counted);
                tokio::spawn(async move {
                    // The look whether the server is there ends before the handshake.
                    let Ok(mut connection) = h2::server::handshake(stream).await else { return };
                    counted.fetch_add(1, SeqCst);
                    while let Some(Ok((request, mut respond))) = connection.accept().await {
                        tokio::spawn(async move {
                            let status = if request.uri().path() == "/" { 200 } else { 404 };
                            let mut body = request.into_body();
                            let mut echo = Vec::new();
                            while let Some(Ok(data)) = body.data().await {
                                body.flow_control().release_capacity(data.len()).unwrap();
                                echo.extend_from_slice(&data);
                            }
                            let response = http::Response::builder().status(status).body(()).unwrap();
                            let mut stream = respond.send_response(response, echo.is_empty()).unwrap();
                            if !echo.is_empty() {
                                stream.send_data(Bytes::from(echo), true).unwrap();
                            }
                        });
                    }
                });
            }
        });
    });
    (address, connections)
}

#[test]
fn workers_share_http2_connections() {
    let (address, connections) = server();
    let run = load("-n 500 -c 20 --threads 1 -h2", &[&format!("http://{address}/")]);
    assert_eq!((run.code, &run.result["status"]), (0, &json!({"200": 500})), "{}", run.stderr);
    assert_eq!((connections.load(SeqCst), &run.result["load"]["protocol"]), (1, &json!("h2")));
    let run = load("-n 500 -c 20 --threads 1 -h2 --streams 5", &[&format!("http://{address}/x")]);
    assert_eq!(run.result["status"], json!({"404": 500}), "{}", run.stderr);
    assert_eq!(run.result["connections"]["opened"], 4);
}

#[test]
fn bodies_are_sent_and_read_over_http2() {
    let (address, _) = server();
    let body = "x".repeat(100_000);
    let run = load("-n 20 -c 4 -h2 -m POST", &["-d", &body, &format!("http://{address}/")]);
    assert_eq!((run.code, &run.result["bytes"]["body"]), (0, &2_000_000.into()), "{}", run.stderr);
}

#[test]
fn a_server_without_http2_is_a_clear_failure() {
    let server = crate::server::Server::ok();
    let run = load("-n 4 -c 2 -h2 -t 2", &[&server.url("/")]);
    assert_eq!((run.code, &run.result["requests"]["failed"]), (1, &4.into()), "{}", run.stderr);
}
