//! Upstreams that a test scripts: well-behaved ones that answer whole requests, and raw ones that do anything with their socket.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::wire::{Broken, Connection, Framing, Head, find};

/// A request as the upstream received it.
#[derive(Debug, Clone)]
pub struct Seen {
    pub method: String,
    pub target: String,
    pub version: String,
    pub head: Head,
    pub body: Vec<u8>,
    pub trailers: Vec<(String, String)>,
    pub framing: Framing,
}

impl Seen {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.get(name)
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Reads one request; `None` when the gateway has closed the connection.
    pub fn read(wire: &mut Connection) -> Option<Seen> {
        let head = match wire.head() {
            Ok(head) => head,
            Err(Broken::Closed | Broken::Cut(_) | Broken::Silent) => return None,
            Err(broken) => panic!("the gateway sent a broken head: {broken}"),
        };
        let mut seen = Seen::of(head);
        match wire.request_body(&seen.head) {
            Ok(body) => {
                seen.body = body.bytes;
                seen.trailers = body.trailers;
                seen.framing = body.framing;
                Some(seen)
            }
            Err(Broken::Cut(_)) => None,
            Err(broken) => panic!("the gateway sent a broken body: {broken}"),
        }
    }

    /// A request of which only the head was read.
    pub fn of(head: Head) -> Seen {
        let mut words = head.first.split(' ').map(str::to_owned);
        let mut word = || words.next().unwrap_or_default();
        Seen {
            method: word(),
            target: word(),
            version: word(),
            head,
            body: Vec::new(),
            trailers: Vec::new(),
            framing: Framing::None,
        }
    }
}

/// A listening upstream. It stops accepting when dropped; its connections end with the gateway.
pub struct Upstream {
    pub address: SocketAddr,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    seen: Mutex<Vec<Seen>>,
    complaints: Mutex<Vec<String>>,
    connections: AtomicUsize,
    stopped: AtomicBool,
}

impl Upstream {
    /// Answers each whole request with the bytes that `answer` returns. It keeps the connection unless those bytes say
    /// `Connection: close`, or are empty.
    pub fn start(answer: impl Fn(&Seen) -> Vec<u8> + Send + Sync + 'static) -> Upstream {
        Upstream::start_at("127.0.0.1:0", answer)
    }

    pub fn start_at(address: &str, answer: impl Fn(&Seen) -> Vec<u8> + Send + Sync + 'static) -> Upstream {
        Upstream::listen(address, move |state, socket, index| serve(state, Connection::over(socket), index, &answer))
    }

    /// As `start`, behind TLS.
    pub fn tls(config: Arc<rustls::ServerConfig>, answer: impl Fn(&Seen) -> Vec<u8> + Send + Sync + 'static) -> Upstream {
        Upstream::listen("127.0.0.1:0", move |state, socket, index| {
            let session = rustls::ServerConnection::new(config.clone()).expect("a TLS session");
            let stream = rustls::StreamOwned::new(session, socket.try_clone().expect("a second handle"));
            serve(state, Connection::with(Box::new(stream), socket), index, &answer);
        })
    }

    /// Answers every request with a short 200.
    pub fn ok() -> Upstream {
        Upstream::start(|_| crate::ok())
    }

    /// Hands over each connection with its number, to misbehave at will. Nothing is recorded unless `handle` calls `note`.
    pub fn raw(handle: impl Fn(Connection, usize) + Send + Sync + 'static) -> Upstream {
        Upstream::listen("127.0.0.1:0", move |_, socket, index| handle(Connection::over(socket), index))
    }

    /// Reads each whole request, then sends these bytes and closes.
    pub fn once(bytes: impl Into<Vec<u8>>) -> Upstream {
        let bytes = bytes.into();
        Upstream::listen("127.0.0.1:0", move |state, socket, _| {
            let mut wire = Connection::over(socket);
            if let Some(seen) = Seen::read(&mut wire) {
                state.seen.lock().unwrap().push(seen);
                let _ = wire.try_send(&bytes);
            }
        })
    }

    fn listen(address: &str, handle: impl Fn(&State, TcpStream, usize) + Send + Sync + 'static) -> Upstream {
        let listener = TcpListener::bind(address).expect("a free port");
        let address = listener.local_addr().expect("an address");
        let state = Arc::new(State::default());
        let (shared, handle) = (state.clone(), Arc::new(handle));
        thread::spawn(move || {
            for socket in listener.incoming() {
                if shared.stopped.load(Ordering::SeqCst) {
                    break;
                }
                let Ok(socket) = socket else { break };
                let index = shared.connections.fetch_add(1, Ordering::SeqCst);
                let (state, handle) = (shared.clone(), handle.clone());
                thread::spawn(move || handle(&state, socket, index));
            }
        });
        Upstream { address, state }
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// `http://…` to put into a definition, without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.state.seen.lock().unwrap().clone()
    }

    pub fn last(&self) -> Seen {
        self.seen().pop().expect("the upstream was asked")
    }

    /// The request targets it was asked for since the last call.
    pub fn take_targets(&self) -> Vec<String> {
        self.state.seen.lock().unwrap().drain(..).map(|seen| seen.target).collect()
    }

    pub fn requests(&self) -> usize {
        self.state.seen.lock().unwrap().len()
    }

    pub fn connections(&self) -> usize {
        self.state.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.state.stopped.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        let complaints = self.state.complaints.lock().unwrap().clone();
        if !thread::panicking() {
            assert!(complaints.is_empty(), "the gateway sent to its upstream: {complaints:?}");
        }
    }
}

fn serve(state: &State, mut wire: Connection, index: usize, answer: &dyn Fn(&Seen) -> Vec<u8>) {
    loop {
        let read = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| Seen::read(&mut wire)));
        let seen = match read {
            Ok(Some(seen)) => seen,
            Ok(None) => return,
            Err(_) => {
                state.complaints.lock().unwrap().push(format!("something unreadable on connection {index}"));
                return;
            }
        };
        state.seen.lock().unwrap().push(seen.clone());
        let bytes = answer(&seen);
        let head = &bytes[..bytes.len().min(1024)];
        let closes = head.is_empty() || find(&head.to_ascii_lowercase(), b"\r\nconnection: close\r\n").is_some();
        if wire.try_send(&bytes).is_err() || closes {
            return;
        }
    }
}
