//! Bodies of requests that are waited for, read, refused or left unread, and responses that are kept.

use super::*;

const EXPECTS: &str = "POST /a HTTP/1.1\nHost: t\nExpect: 100-continue\nContent-Length: 2\n\n";
const EXPECTS_UP: &str = "POST /a HTTP/1.1\nHost: up\nX-Forwarded-For: 192.0.2.1\nExpect: 100-continue\nContent-Length: 2\n\n";
const CONTINUE: &str = "HTTP/1.1 100 Continue\n\n";
const OWN: &str = "HTTP/1.1 200 OK\nContent-Length: 3\n\nown";
const LAST_OWN: &str = "HTTP/1.1 200 OK\nConnection: close\nContent-Length: 3\n\nown";

#[test]
fn a_client_that_waits_to_be_told_to_go_on_is_told_by_the_upstream() {
    let begin = [Client(EXPECTS), UpstreamTakes, UpstreamGets(EXPECTS_UP), Pass(1_000), ClientGets(""), Upstream(CONTINUE)];
    let end = [ClientGets(CONTINUE), Client("hi"), UpstreamGets("hi"), Upstream(OK), ClientGets(OK)];
    play(&[&begin[..], &end, &AGAIN].concat());
}

#[test]
fn a_refusal_ends_the_connection_of_a_client_that_waits_to_be_told_to_go_on() {
    let expects = "POST /reply HTTP/1.1\nHost: t\nExpect: 100-continue\nContent-Length: 2\n\n";
    play(&[Client(expects), ClientGets(LAST_OWN), ClientSeesEnd]);
}

#[test]
fn a_small_body_behind_an_early_answer_is_read_and_a_large_one_is_not() {
    let small = "POST /reply HTTP/1.1\nHost: t\nContent-Length: 10\n\n12345";
    let large = "POST /reply HTTP/1.1\nHost: t\nContent-Length: 100000\n\n12345";
    let chunked = "POST /reply HTTP/1.1\nHost: t\nTransfer-Encoding: chunked\n\n5\n12345\n";
    let next = "67890GET /reply HTTP/1.1\nHost: t\n\n";
    let next_chunk = "0\n\nGET /reply HTTP/1.1\nHost: t\n\n";
    play(&[Client(small), ClientGets(OWN), Pass(1_900), Client(next), ClientGets(OWN)]);
    play(&[Client(chunked), ClientGets(OWN), Pass(1_900), Client(next_chunk), ClientGets(OWN)]);
    play(&[Client(small), ClientGets(OWN), Pass(2_000), ClientSeesEnd, Over]);
    play(&[Client(large), ClientGets(LAST_OWN), ClientSeesEnd]);
}

#[test]
fn a_body_that_the_handler_wants_goes_on_when_it_is_whole() {
    let up = "POST /read/10 HTTP/1.1\nHost: up\nX-Forwarded-For: 192.0.2.1\nContent-Length: 10\n\n1234567890";
    let begin = [Client("POST /read/10 HTTP/1.1\nHost: t\nContent-Length: 10\n\n12345"), Pass(5_000), UpstreamGets("")];
    let end = [Client("67890"), UpstreamTakes, UpstreamGets(up), Upstream(OK), ClientGets(OK)];
    play(&[&begin[..], &end, &AGAIN].concat());
}

#[test]
fn a_client_that_waits_to_be_told_to_go_on_is_told_when_the_handler_wants_its_body() {
    let expects = "POST /read/2 HTTP/1.1\nHost: t\nExpect: 100-continue\nContent-Length: 2\n\n";
    let up = "POST /read/2 HTTP/1.1\nHost: up\nX-Forwarded-For: 192.0.2.1\nExpect: 100-continue\nContent-Length: 2\n\nhi";
    let begin = [Client(expects), ClientGets(CONTINUE), UpstreamGets(""), Client("hi"), UpstreamTakes, UpstreamGets(up)];
    play(&[&begin[..], &[Upstream(OK), ClientGets(OK)], &AGAIN].concat());
}

#[test]
fn a_body_that_is_larger_than_the_handler_wants_is_refused_at_once() {
    let told = "HTTP/1.1 413 Request Entity Too Large\nContent-Length: 9\n\ntoo large";
    let last = "HTTP/1.1 413 Request Entity Too Large\nConnection: close\nContent-Length: 9\n\ntoo large";
    let announced = "POST /read/10 HTTP/1.1\nHost: t\nContent-Length: 100000\n\n12345";
    play(&[Client(announced), ClientGets(last), ClientSeesEnd]);
    // Little may be left of this one, and the next request is behind it.
    let chunked = "POST /read/10 HTTP/1.1\nHost: t\nTransfer-Encoding: chunked\n\n14\n01234567890123456789\n";
    play(&[Client(chunked), ClientGets(told), Client("0\n\nGET /reply HTTP/1.1\nHost: t\n\n"), ClientGets(OWN)]);
}

#[test]
fn a_body_beyond_the_limit_of_its_exchange_is_refused() {
    let told = "HTTP/1.1 413 Request Entity Too Large\nConnection: close\nContent-Length: 12\n\nBodyTooLarge";
    let announced = Client("POST /most/4 HTTP/1.1\nHost: t\nContent-Length: 5\n\n12345");
    play(&[announced, ClientGets(told), ClientSeesEnd]);
    let begin = Client("POST /most/14 HTTP/1.1\nHost: t\nTransfer-Encoding: chunked\n\n4\n1234\n");
    let up = UpstreamGets("POST /most/14 HTTP/1.1\nHost: up\nX-Forwarded-For: 192.0.2.1\nTransfer-Encoding: chunked\n\n4\n1234\n");
    play(&[begin, UpstreamTakes, up, Client("4\n5678\n"), ClientGets(told), ClientSeesEnd, UpstreamSeesEnd]);
}

#[test]
fn a_body_with_broken_framing_is_refused() {
    let told = "HTTP/1.1 400 Bad Request\nConnection: close\nContent-Length: 20\n\nBodyMalformed(Chunk)";
    let begin = Client("POST /a HTTP/1.1\nHost: t\nTransfer-Encoding: chunked\n\n4\n1234\n");
    let up = UpstreamGets("POST /a HTTP/1.1\nHost: up\nX-Forwarded-For: 192.0.2.1\nTransfer-Encoding: chunked\n\n4\n1234\n");
    play(&[begin, UpstreamTakes, up, Client("none\n"), ClientGets(told), ClientSeesEnd, UpstreamSeesEnd]);
}

#[test]
fn a_response_that_the_handler_keeps_goes_out_changed_when_it_is_whole() {
    let up = UpstreamGets("GET /keep/4 HTTP/1.1\nHost: up\nX-Forwarded-For: 192.0.2.1\n\n");
    let begin = [Client("GET /keep/4 HTTP/1.1\nHost: t\n\n"), UpstreamTakes, up];
    let small = [Upstream("HTTP/1.1 200 OK\nContent-Length: 4\n\nab"), Pass(1_000), ClientGets(""), Upstream("cd")];
    play(&[&begin[..], &small, &[ClientGets("HTTP/1.1 200 OK\nContent-Length: 4\n\nABCD")], &AGAIN].concat());
    let large = [Upstream("HTTP/1.1 200 OK\nContent-Length: 5\n\nab"), UpstreamSeesEnd];
    play(&[&begin[..], &large, &[ClientGets("HTTP/1.1 502 Bad Gateway\nContent-Length: 9\n\ntoo large")]].concat());
}

#[test]
fn a_response_to_head_has_no_body() {
    let head = "HTTP/1.1 200 OK\nContent-Length: 1000\n\n";
    let up = UpstreamGets("HEAD /a HTTP/1.1\nHost: up\nX-Forwarded-For: 192.0.2.1\n\n");
    let exchange = [Client("HEAD /a HTTP/1.1\nHost: t\n\n"), UpstreamTakes, up, Upstream(head), ClientGets(head)];
    play(&[&exchange[..], &AGAIN].concat());
}

#[test]
fn the_handler_is_told_what_passed_and_when() {
    let mut play = Play::new(Limits::default());
    let post = "POST /a HTTP/1.1\nHost: t\nContent-Length: 2\n\nhi";
    let up = UpstreamGets("POST /a HTTP/1.1\nHost: up\nX-Forwarded-For: 192.0.2.1\nContent-Length: 2\n\nhi");
    for step in [Client(post), UpstreamTakes, up, Pass(700), Upstream("HTTP/1.1 200 OK\nContent-Length: 2\n\n")] {
        play.step(step).unwrap();
    }
    for step in [Pass(300), Upstream("ok"), ClientGets(OK)] {
        play.step(step).unwrap();
    }
    let ended = play.last_ended();
    assert_eq!((ended.request_body_bytes, ended.response_bytes), (2, (OK.replace('\n', "\r\n").len() + DATE_BYTES) as u64));
    let times = ended.times.expect("the exchange is timed");
    let (sent, answered) = (times.sent.unwrap(), times.answered.unwrap());
    let milliseconds = [answered.since(sent), times.end.since(answered)].map(|time| time.as_millis());
    assert_eq!((milliseconds, times.at_once), ([700, 300], false));
    play.finish();
}
