//! WebSockets, against a server by tungstenite.

use crate::command::load;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// Answers each message by `answer`; without one it closes the socket. Counts open sockets.
fn server(answer: fn(usize, tungstenite::Bytes) -> Option<tungstenite::Bytes>) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let sockets = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&sockets);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let counted = Arc::clone(&counted);
            std::thread::spawn(move || {
                // The look whether the server is there ends before the handshake.
                let Ok(mut socket) = tungstenite::accept(stream.unwrap()) else { return };
                counted.fetch_add(1, SeqCst);
                let mut number = 0;
                while let Ok(message) = socket.read() {
                    let tungstenite::Message::Binary(bytes) = message else { continue };
                    let Some(reply) = answer(number, bytes) else { return };
                    socket.send(tungstenite::Message::Binary(reply)).unwrap();
                    number += 1;
                }
            });
        }
    });
    (address, sockets)
}

#[test]
fn each_worker_exchanges_messages_on_its_own_websocket() {
    let (address, sockets) = server(|_, bytes| Some(bytes));
    let run = load("-n 300 -c 3 --ws -d hello", &[&format!("http://{address}/socket")]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(run.result["status"], serde_json::json!({"101": 300}));
    assert_eq!((&run.result["bytes"]["body"], sockets.load(SeqCst)), (&serde_json::json!(1500), 3));
}

#[test]
fn a_message_that_is_not_the_one_sent_is_a_failure() {
    let (address, _) = server(|number, bytes| Some(if number == 1 { "other".into() } else { bytes }));
    let run = load("-n 3 -c 1 --ws -d hello", &[&format!("http://{address}/socket")]);
    assert_eq!((run.code, &run.result["status"]), (1, &serde_json::json!({"101": 2})), "{}", run.stderr);
    assert!(run.stdout.contains("the server's message is not the one sent"), "{}", run.stdout);
}

#[test]
fn a_closed_websocket_is_a_failure_and_is_opened_again() {
    let (address, sockets) = server(|number, bytes| (number < 1).then_some(bytes));
    let run = load("-n 4 -c 1 --ws -d hello", &[&format!("http://{address}/socket")]);
    assert_eq!((run.code, &run.result["requests"]["failed"]), (1, &serde_json::json!(2)), "{}", run.stdout);
    assert_eq!(sockets.load(SeqCst), 2);
}

#[test]
fn a_refused_handshake_counts_with_its_status() {
    let server = crate::server::Server::start(|_, _| (crate::server::response(403, "no"), true));
    let run = load("-n 4 -c 2 --ws", &[&server.url("/socket")]);
    assert_eq!((run.code, &run.result["status"]), (0, &serde_json::json!({"403": 4})), "{}", run.stderr);
    assert_eq!(server.received()[0].header("upgrade"), Some("websocket"));
}
