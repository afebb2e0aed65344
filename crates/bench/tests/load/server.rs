//! A small HTTP/1.1 server of blocking threads that behaves as each test wants, and remembers what it got.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// One request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    /// Head with its empty line.
    pub head: String,
    pub body: String,
    /// Its number on its connection, from 0.
    pub on_connection: usize,
}

impl Received {
    pub(crate) fn line(&self) -> &str {
        self.head.lines().next().unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let wanted = name.to_ascii_lowercase();
        self.head
            .lines()
            .find_map(|line| line.split_once(": ").filter(|(name, _)| name.to_ascii_lowercase() == wanted))
            .map(|(_, value)| value)
    }
}

/// What the server does with a request: bytes to send, and whether to keep the connection.
pub(crate) type Behaviour = dyn Fn(&Received, usize) -> (Vec<u8>, bool) + Send + Sync;

pub(crate) struct Server {
    pub address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Server {
    /// Answers the n-th request as `behaviour` says.
    pub(crate) fn start(behaviour: impl Fn(&Received, usize) -> (Vec<u8>, bool) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let received = Arc::new(Mutex::new(Vec::new()));
        let (behaviour, all): (Arc<Behaviour>, _) = (Arc::new(behaviour), Arc::clone(&received));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (behaviour, all) = (Arc::clone(&behaviour), Arc::clone(&all));
                std::thread::spawn(move || serve(stream.unwrap(), &*behaviour, &all));
            }
        });
        Server { address, received }
    }

    /// Answers everything with 200 and `ok`.
    pub(crate) fn ok() -> Self {
        Server::start(|_, _| (response(200, "ok"), true))
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }
}

pub(crate) fn response(status: u16, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

fn serve(stream: TcpStream, behaviour: &Behaviour, all: &Mutex<Vec<Received>>) {
    stream.set_nodelay(true).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    for on_connection in 0.. {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head).unwrap_or(0) == 0 {
                return;
            }
        }
        let mut request = Received { head, body: String::new(), on_connection };
        let length = request.header("content-length").map_or(0, |length| length.parse().unwrap());
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        request.body = String::from_utf8(body).unwrap();
        let number = {
            let mut all = all.lock().unwrap();
            all.push(request.clone());
            all.len() - 1
        };
        let (bytes, keep) = behaviour(&request, number);
        if (&stream).write_all(&bytes).is_err() || !keep {
            let _ = stream.shutdown(std::net::Shutdown::Both);
            return;
        }
    }
}
