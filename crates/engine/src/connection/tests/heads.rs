//! Heads that are no requests or no responses.

use super::*;

#[test]
fn a_head_that_is_no_request_is_answered_and_ends_the_connection() {
    let long = format!("GET /{} HTTP/1.1\nHost: t\n\n", "x".repeat(40_000));
    let many = format!("GET / HTTP/1.1\nHost: t\n{}\n", "A: b\n".repeat(120));
    for (head, status) in [
        ("GET / HTTP/1.1\nHost : t\n\n", "400 Bad Request"),
        ("GET / HTTP/1.1\nHost: t\nContent-Length: 1\nContent-Length: 2\n\n", "400 Bad Request"),
        (&long, "431 Request Header Fields Too Large"),
        (&many, "431 Request Header Fields Too Large"),
        ("CONNECT t:443 HTTP/1.1\nHost: t\n\n", "501 Not Implemented"),
        ("GET / HTTP/3.0\nHost: t\n\n", "505 HTTP Version Not Supported"),
    ] {
        let head: &'static str = Box::leak(head.to_owned().into_boxed_str());
        let length = status.len();
        let lines = format!("Content-Type: text/plain; charset=utf-8\nConnection: close\nContent-Length: {length}");
        let refused = Box::leak(format!("HTTP/1.1 {status}\n{lines}\n\n{status}").into_boxed_str());
        play(&[Client(head), ClientGets(refused), ClientSeesEnd, Pass(2_000), Over]);
        after_an_exchange(&[Client(head), ClientGets(refused), ClientSeesEnd]);
    }
}

#[test]
fn a_head_that_is_no_response_is_the_upstreams_fault() {
    let long = format!("HTTP/1.1 200 OK\nX: {}\n", "x".repeat(40_000));
    for (head, fault) in [
        ("hello\n\n", "UpstreamMalformed(Syntax)"),
        ("HTTP/1.1 200 OK\nContent-Length: 1\nContent-Length: 2\n\n", "UpstreamMalformed(ContentLength)"),
        (&long, "UpstreamHeadTooLarge"),
        ("HTTP/1.1 101 Switching Protocols\nConnection: Upgrade\nUpgrade: websocket\n\n", "UpstreamClosed"),
    ] {
        let head: &'static str = Box::leak(head.to_owned().into_boxed_str());
        let length = fault.len();
        let told = Box::leak(format!("HTTP/1.1 502 Bad Gateway\nContent-Length: {length}\n\n{fault}").into_boxed_str());
        let exchange = [Client(GET), UpstreamTakes, UpstreamGets(GET_UP), Upstream(head), ClientGets(told), UpstreamSeesEnd];
        // The client has done nothing wrong.
        play(&[&exchange[..], &[Client(GET), UpstreamTakes, UpstreamGets(GET_UP), Upstream(OK), ClientGets(OK)]].concat());
    }
}

#[test]
fn a_response_head_may_come_in_pieces_behind_interim_ones() {
    let begin = [Client(GET), UpstreamTakes, UpstreamGets(GET_UP), Upstream("HTTP/1.1 103 Early Hints\nLink: </a>\n\nHTTP/1.1 2")];
    let middle = [ClientGets("HTTP/1.1 103 Early Hints\nLink: </a>\n\n"), Pass(1_000), Upstream("00 OK\nContent-Length: 2\n")];
    play(&[&begin[..], &middle, &[ClientGets(""), Upstream("\nok"), ClientGets(OK)]].concat());
}
