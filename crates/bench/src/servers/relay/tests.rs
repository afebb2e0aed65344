use super::pair::Pair;
use super::turn;
use crate::servers::listeners;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

/// More bytes than the buffers of any socket hold.
const LARGE_BYTES: usize = 32 << 20;

/// A relay to this address, running as long as the tests.
fn relay_to(upstream: SocketAddr) -> SocketAddr {
    let listener = listeners::open(SocketAddr::from(([127, 0, 0, 1], 0)), Some(1)).expect("a port").pop().expect("a listener");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || turn(listener, |client| Pair::new(client, upstream)));
    address
}

/// A relay to a server that handles each connection with `serve`.
fn relay_to_server(serve: impl Fn(TcpStream) + Clone + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let upstream = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, serve) = (stream.expect("a connection"), serve.clone());
            thread::spawn(move || serve(stream));
        }
    });
    relay_to(upstream)
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a time limit");
    stream
}

/// Bytes that reveal their position.
fn large() -> Vec<u8> {
    (0..LARGE_BYTES / 8).flat_map(|number| number.to_le_bytes()).collect()
}

fn read_all(mut stream: impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("the stream to its end");
    bytes
}

/// Sends received bytes back.
fn echo(stream: TcpStream) {
    let (mut reader, mut writer) = (&stream, &stream);
    std::io::copy(&mut reader, &mut writer).expect("an echo");
}

#[test]
fn requests_pass_one_after_the_other_on_each_of_many_connections() {
    const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    let relay = relay_to_server(|mut stream| {
        let mut request = [0; 512];
        while let Ok(1..) = stream.read(&mut request) {
            stream.write_all(ANSWER).expect("an answer");
        }
    });
    let mut clients: Vec<TcpStream> = (0..50).map(|_| connect(relay)).collect();
    for _ in 0..20 {
        for client in &mut clients {
            client.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("a request");
        }
        for client in &mut clients {
            let mut answer = [0; ANSWER.len()];
            client.read_exact(&mut answer).expect("an answer");
            assert_eq!(answer, ANSWER);
        }
    }
}

#[test]
fn an_end_of_one_side_leaves_the_other_open() {
    // The server responds after it has read everything, so only if the end of the stream is passed on.
    let relay = relay_to_server(|mut stream| {
        let request = read_all(&stream);
        stream.write_all(&request).expect("an answer");
    });
    let mut client = connect(relay);
    client.write_all(b"all of it").expect("a request");
    client.shutdown(Shutdown::Write).expect("an end");
    assert_eq!(read_all(&client), b"all of it");

    // The reverse: the server's end comes first, and what the client sends afterwards still arrives.
    let (sender, receiver) = std::sync::mpsc::channel();
    let relay = relay_to_server(move |stream| {
        stream.shutdown(Shutdown::Write).expect("an end");
        sender.send(read_all(&stream)).expect("a listener");
    });
    let mut client = connect(relay);
    assert_eq!(read_all(&client), b"");
    client.write_all(b"late").expect("a request");
    drop(client);
    assert_eq!(receiver.recv_timeout(Duration::from_secs(30)).expect("what came"), b"late");
}

#[test]
fn large_bodies_pass_both_ways_at_once_and_unchanged() {
    let relay = relay_to_server(echo);
    let client = connect(relay);
    let mut writer = client.try_clone().expect("a second handle");
    let sender = thread::spawn(move || {
        writer.write_all(&large()).expect("a body");
        writer.shutdown(Shutdown::Write).expect("an end");
    });
    assert!(read_all(&client) == large(), "the body came back changed");
    sender.join().expect("the sender");
}

#[test]
fn a_client_that_does_not_read_stops_the_upstream_and_nobody_else() {
    let relay = relay_to_server(|mut stream| {
        let mut request = [0; 4];
        stream.read_exact(&mut request).expect("a request");
        if &request == b"much" {
            let _ = stream.write_all(&large());
        } else {
            stream.write_all(&request).expect("an answer");
        }
    });
    let mut slow = connect(relay);
    slow.write_all(b"much").expect("a request");
    thread::sleep(Duration::from_millis(100));
    let mut quick = connect(relay);
    quick.write_all(b"ping").expect("a request");
    assert_eq!(read_all(&quick), b"ping");
    assert!(read_all(&slow) == large(), "the body came changed");
}

#[test]
fn an_upstream_that_is_not_there_ends_the_connection() {
    let closed = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let relay = relay_to(closed);
    for _ in 0..3 {
        let mut client = connect(relay);
        let ended = client.write_all(b"GET / HTTP/1.1\r\n\r\n").and_then(|()| client.read(&mut [0; 8]));
        match ended {
            Ok(read) => assert_eq!(read, 0),
            Err(error) => assert!(!matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{error}"),
        }
    }
}
