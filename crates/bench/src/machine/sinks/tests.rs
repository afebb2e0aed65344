use super::{ANSWER, Sinks, request_bytes};
use crate::probe::HOST;
use std::io::{Read, Write};
use std::net::TcpStream;

#[test]
fn a_batch_that_comes_in_pieces_is_one_batch() {
    let sinks = Sinks::open().expect("sinks");
    let mut stream = TcpStream::connect((HOST, sinks.ports.collector)).expect("the collector");
    for piece in
        ["POST /v1/traces HTTP/1.1\r\nContent-", "Length: 6\r\n\r\nabc", "def", "POST / HTTP/1.1\r\ncontent-length: 0\r\n\r\n"]
    {
        stream.write_all(piece.as_bytes()).expect("written");
    }
    let mut answers = vec![0; ANSWER.len() * 2];
    stream.read_exact(&mut answers).expect("two answers");
    assert_eq!(answers, [ANSWER, ANSWER].concat());
    assert_eq!((sinks.take_batches(), sinks.take_batches()), (2, 0));
}

#[test]
fn a_request_has_a_length_once_its_head_is_there() {
    assert_eq!(request_bytes(b"POST / HTTP/1.1\r\nContent-Length: 5\r\n"), None);
    assert_eq!(request_bytes(b"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\n"), Some(43));
}
