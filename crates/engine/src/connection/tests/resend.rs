//! Requests that the handler has sent again.

use super::*;

const ASK: &str = "GET /resend/10 HTTP/1.1\nHost: t\n\n";
const FIRST: &str = "GET /resend/10 HTTP/1.1\nHost: up\nX-Forwarded-For: 192.0.2.1\n\n";
const OTHER: &str = "GET /resend/10 HTTP/1.1\nHost: other\nX-Forwarded-For: 192.0.2.1\n\n";
const BUSY: &str = "HTTP/1.1 503 Service Unavailable\nContent-Length: 4\n\nbusy";

#[test]
fn a_request_is_sent_again_after_a_fault_and_after_a_response_that_the_handler_does_not_want() {
    for bad in [&[UpstreamLeaves][..], &[Upstream("garbage\n\n")], &[Upstream(BUSY)]] {
        let begin = [Client(ASK), UpstreamTakes, UpstreamGets(FIRST)];
        let end = [UpstreamTakes, UpstreamGets(OTHER), Upstream(OK), ClientGets(OK)];
        play(&[&begin, bad, &end].concat());
    }
}

#[test]
fn the_client_gets_the_last_try_when_the_handler_has_enough() {
    let begin =
        [Client(ASK), UpstreamTakes, UpstreamGets(FIRST), Upstream(BUSY), UpstreamTakes, UpstreamGets(OTHER), Upstream(BUSY)];
    play(&[&begin[..], &[UpstreamTakes, UpstreamGets(OTHER), Upstream(BUSY), ClientGets(BUSY)]].concat());
    play(&[&begin[..], &[UpstreamTakes, UpstreamGets(OTHER), UpstreamLeaves, ClientGets(CUT)]].concat());
}

#[test]
fn a_body_is_sent_again_whole_and_what_comes_later_follows() {
    let half = "POST /resend/10 HTTP/1.1\nHost: t\nContent-Length: 6\n\nabc";
    let (sent, other) = (
        "POST /resend/10 HTTP/1.1\nHost: up\nX-Forwarded-For: 192.0.2.1\nContent-Length: 6\n\nabc",
        "POST /resend/10 HTTP/1.1\nHost: other\nX-Forwarded-For: 192.0.2.1\nContent-Length: 6\n\nabc",
    );
    play(&[
        Client(half),
        UpstreamTakes,
        UpstreamGets(sent),
        UpstreamLeaves,
        UpstreamTakes,
        UpstreamGets(other),
        Client("def"),
        UpstreamGets("def"),
        Upstream(OK),
        ClientGets(OK),
    ]);
}

#[test]
fn a_body_above_the_bound_is_forwarded_and_not_sent_again() {
    let begin = "POST /resend/4 HTTP/1.1\nHost: t\nContent-Length: 6\n\nabc";
    let sent = "POST /resend/4 HTTP/1.1\nHost: up\nX-Forwarded-For: 192.0.2.1\nContent-Length: 6\n\nabc";
    play(&[Client(begin), UpstreamTakes, UpstreamGets(sent), Client("def"), UpstreamGets("def"), UpstreamLeaves, ClientGets(CUT)]);
}

#[test]
fn nothing_is_sent_again_after_the_first_byte_to_the_client() {
    let hint = "HTTP/1.1 103 Early Hints\n\n";
    play(&[Client(ASK), UpstreamTakes, UpstreamGets(FIRST), Upstream(hint), ClientGets(hint), UpstreamLeaves, ClientGets(CUT)]);
    play(&[Client(ASK), UpstreamTakes, UpstreamGets(FIRST), Upstream(hint), ClientGets(hint), Upstream(BUSY), ClientGets(BUSY)]);
    let part = "HTTP/1.1 200 OK\nContent-Length: 10\n\n12345";
    play(&[Client(ASK), UpstreamTakes, UpstreamGets(FIRST), Upstream(part), ClientGets(part), UpstreamLeaves, ClientSeesEnd, Over]);
}

#[test]
fn the_faults_of_clients_are_not_tried_again() {
    let half = "POST /resend/10 HTTP/1.1\nHost: t\nTransfer-Encoding: chunked\n\n3\nabc\n";
    let sent = "POST /resend/10 HTTP/1.1\nHost: up\nX-Forwarded-For: 192.0.2.1\nTransfer-Encoding: chunked\n\n3\nabc\n";
    play(&[Client(half), UpstreamTakes, UpstreamGets(sent), ClientLeaves, UpstreamSeesEnd, Over]);
}

#[test]
fn the_next_request_starts_anew() {
    let first = [Client(ASK), UpstreamTakes, UpstreamGets(FIRST), UpstreamLeaves];
    let again = [UpstreamTakes, UpstreamGets(OTHER), Upstream(OK), ClientGets(OK)];
    play(&[&first[..], &again, &AGAIN].concat());
}
