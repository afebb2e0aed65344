//! `tollgate-bench relay` as a user starts it, in front of the real upstream.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

/// A server of `tollgate-bench` that has said where it listens; ends with the test.
struct Server {
    child: Child,
    first_line: String,
}

impl Server {
    fn start(words: &[&str]) -> Server {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate-bench"));
        let mut child = command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("tollgate-bench");
        let mut first_line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first_line).expect("a first line");
        Server { child, first_line }
    }

    /// The first address in its first line.
    fn address(&self) -> String {
        let (_, rest) = self.first_line.split_once("127.0.0.1:").expect("an address");
        let port: String = rest.chars().take_while(char::is_ascii_digit).collect();
        format!("127.0.0.1:{port}")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The answer's head, and how long its body was.
fn get(address: &str, path: &str) -> (String, usize) {
    let mut stream = TcpStream::connect(address).expect("a connection");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n").expect("a request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    (head.to_owned(), body.len())
}

#[test]
fn the_upstream_answers_through_it() {
    let upstream = Server::start(&["upstream", "--listen", "127.0.0.1:0", "--threads", "1"]);
    let relay = Server::start(&["relay", "--listen", "127.0.0.1:0", "--upstream", &upstream.address(), "--threads", "2"]);
    assert!(relay.first_line.contains(&format!("to {} (2 threads)", upstream.address())), "{}", relay.first_line);
    for _ in 0..8 {
        let (head, bytes) = get(&relay.address(), "/size/300KB");
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        assert_eq!(bytes, 300 * 1024);
    }
}

#[test]
fn whatever_comes_is_answered_with_the_bytes_of_a_file() {
    let file = std::env::temp_dir().join(format!("tollgate-bench-answer-{}", std::process::id()));
    // More than the sockets' buffers hold at once.
    let answer: Vec<u8> = (0..8 << 20).map(|place: u32| place.to_le_bytes()[place as usize % 3]).collect();
    std::fs::write(&file, &answer).unwrap();
    let relay = Server::start(&["relay", "--listen", "127.0.0.1:0", "--answer", file.to_str().unwrap(), "--threads", "1"]);
    std::fs::remove_file(&file).unwrap();
    assert!(relay.first_line.contains("answering with 8388608 bytes (1 threads)"), "{}", relay.first_line);
    let mut clients: Vec<_> = (0..3).map(|_| TcpStream::connect(relay.address()).expect("a connection")).collect();
    for turn in 0..3 {
        for client in &mut clients {
            client.write_all(b"\0 is no request").unwrap();
        }
        for client in &mut clients {
            let mut came = vec![0; answer.len()];
            client.read_exact(&mut came).unwrap();
            assert!(came == answer, "turn {turn}");
        }
    }
}

#[test]
fn an_answer_that_cannot_be_read_is_said_and_so_is_none() {
    let said = |words: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_tollgate-bench")).args(words).output().expect("tollgate-bench");
        assert!(!output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let unreadable = said(&["relay", "--listen", "127.0.0.1:0", "--answer", "/nothing/is/here"]);
    assert!(unreadable.contains("cannot read /nothing/is/here"), "{unreadable}");
    let neither = said(&["relay", "--listen", "127.0.0.1:0"]);
    assert!(neither.contains("--upstream <IP:PORT>"), "{neither}");
}

#[test]
fn a_port_that_is_taken_is_said() {
    let other = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = other.local_addr().unwrap().to_string();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate-bench"));
    let output = command.args(["relay", "--listen", &taken, "--upstream", "127.0.0.1:1"]).output().expect("tollgate-bench");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains(&format!("cannot listen on {taken}")), "{said}");
}
