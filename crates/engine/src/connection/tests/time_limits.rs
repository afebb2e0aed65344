//! Each stage ends when it has lasted too long, and not before.

use super::*;

const HEAD_LATE: &str = "HTTP/1.1 408 Request Timeout\nContent-Type: text/plain; charset=utf-8\nConnection: close\nContent-Length: 19\n\n408 Request Timeout";
const HALF_POST: &str = "POST /a HTTP/1.1\nHost: t\nContent-Length: 10\n\n12345";
const HALF_POST_UP: &str = "POST /a HTTP/1.1\nHost: up\nX-Forwarded-For: 192.0.2.1\nContent-Length: 10\n\n12345";
const HALF_OK: &str = "HTTP/1.1 200 OK\nContent-Length: 10\n\n12345";

#[test]
fn a_client_without_a_request_is_closed_after_the_idle_time() {
    play(&[Pass(119_900), ClientGets(""), Pass(100), ClientSeesEnd, Over]);
}

#[test]
fn the_idle_time_begins_anew_with_the_end_of_an_exchange() {
    let again = [Pass(60_000), AGAIN[0], AGAIN[1], Pass(10_000), AGAIN[2], AGAIN[3]];
    after_an_exchange(&[&again[..], &[Pass(119_900), ClientGets(""), Pass(100), ClientSeesEnd, Over]].concat());
}

#[test]
fn a_head_must_be_complete_in_time_however_its_bytes_come() {
    let pieces = [Pass(50_000), Client("GET /a HTT"), Pass(14_000), Client("P/1.1\nHost: t\n"), Pass(900), ClientGets("")];
    play(&[&pieces[..], &[Pass(100), ClientGets(HEAD_LATE), ClientSeesEnd]].concat());
    play(&[&pieces[..], &[Client("\n"), UpstreamTakes, UpstreamGets(GET_UP), Upstream(OK), ClientGets(OK)]].concat());
}

#[test]
fn a_body_must_go_on_coming() {
    let begin = [Client(HALF_POST), UpstreamTakes, UpstreamGets(HALF_POST_UP), Pass(59_900), Client("6"), UpstreamGets("6")];
    let end = [Pass(59_900), ClientGets(""), Pass(100), ClientGets(CLIENT_LATE), ClientSeesEnd, UpstreamSeesEnd];
    play_within(any_speed(), &[begin, end].concat());
}

#[test]
fn a_body_must_come_at_a_least_speed() {
    // Twenty seconds of grace, of which a byte earns two milliseconds.
    let begin = [Client(HALF_POST), UpstreamTakes, UpstreamGets(HALF_POST_UP), Pass(10_000), Client("6"), UpstreamGets("6")];
    let end = [Pass(9_900), ClientGets(""), Pass(200), ClientGets(CLIENT_LATE), ClientSeesEnd, UpstreamSeesEnd];
    play(&[begin, end].concat());
}

#[test]
fn an_upstream_must_answer_in_time_and_a_hint_is_no_answer() {
    let hint = "HTTP/1.1 103 Early Hints\nLink: </a.css>\n\n";
    let begin = [Client(GET), UpstreamTakes, UpstreamGets(GET_UP), Pass(20_000), Upstream(hint), ClientGets(hint)];
    let end = [Pass(9_900), ClientGets(""), Pass(100), ClientGets(UPSTREAM_LATE), UpstreamSeesEnd];
    // The client keeps its connection.
    let next = [Client(GET), UpstreamTakes, UpstreamGets(GET_UP), Upstream(OK), ClientGets(OK)];
    play(&[&begin[..], &end, &next].concat());
}

#[test]
fn an_exchange_may_have_a_time_limit_of_its_own() {
    let begin = [Client("GET /quick/5000 HTTP/1.1\nHost: t\n\n"), UpstreamTakes];
    let up = UpstreamGets("GET /quick/5000 HTTP/1.1\nHost: up\nX-Forwarded-For: 192.0.2.1\n\n");
    let end = [up, Pass(4_900), ClientGets(""), Pass(100), ClientGets(UPSTREAM_LATE), UpstreamSeesEnd];
    play(&[&begin[..], &end].concat());
}

#[test]
fn a_response_that_stops_is_cut() {
    let begin = [Client(GET), UpstreamTakes, UpstreamGets(GET_UP), Pass(29_900), Upstream(HALF_OK), ClientGets(HALF_OK)];
    let middle = [Pass(59_900), Upstream("6"), ClientGets("6")];
    let end = [Pass(59_900), ClientGets(""), Pass(100), ClientSeesEnd, UpstreamSeesEnd, Over];
    play(&[&begin[..], &middle, &end].concat());
}

#[test]
fn a_request_is_held_for_the_time_that_the_handler_asks_for() {
    let held = [Client("GET /wait/2000 HTTP/1.1\nHost: t\n\n"), Pass(1_900), UpstreamGets(""), Pass(100), UpstreamTakes];
    let up = UpstreamGets("GET /wait/2000 HTTP/1.1\nHost: up\nX-Forwarded-For: 192.0.2.1\n\n");
    play(&[&held[..], &[up, Upstream(OK), ClientGets(OK)]].concat());
    // Nothing is sent for a client that has left.
    play(&[Client("GET /wait/2000 HTTP/1.1\nHost: t\n\n"), Pass(1_000), ClientLeaves, Over, Pass(5_000)]);
}

#[test]
fn a_request_that_waits_for_work_goes_on_with_its_end_or_when_its_time_is_over() {
    let up = UpstreamGets("GET /work HTTP/1.1\nHost: up\nX-Forwarded-For: 192.0.2.1\n\n");
    for (wait, end) in [(Pass(1_000), WorkEnds), (Pass(4_900), Pass(100))] {
        let begin = [Client("GET /work HTTP/1.1\nHost: t\n\n"), wait, ClientGets(""), end];
        play(&[&begin[..], &[UpstreamTakes, up, Upstream(OK), ClientGets(OK)]].concat());
    }
}

#[test]
fn a_body_that_the_handler_wants_must_come_in_the_time_of_a_head() {
    let begin = [Client("POST /read/10 HTTP/1.1\nHost: t\nContent-Length: 10\n\n12345"), Pass(14_000), Client("6")];
    play(&[&begin[..], &[Pass(900), ClientGets(""), Pass(100), ClientGets(HEAD_LATE), ClientSeesEnd]].concat());
}

/// An upstream that has sent the head of a large response.
fn begin_large(limits: Limits) -> Play {
    let mut play = Play::new(limits);
    for step in [Client(GET), UpstreamTakes, UpstreamGets(GET_UP), Upstream("HTTP/1.1 200 OK\nContent-Length: 100000000\n\n")] {
        play.step(step).unwrap();
    }
    play
}

/// A response that is larger than everything that may hold bytes on its way, to a client that does not read. Says how many bytes the
/// upstream got rid of.
fn fill(limits: Limits) -> (Play, usize) {
    let mut play = begin_large(limits);
    let mut sent = 0;
    loop {
        let more = play.upstream.send_some(&[b'x'; 10_000]);
        if more == 0 {
            return (play, sent);
        }
        sent += more;
        play.settle();
    }
}

#[test]
fn a_client_that_does_not_read_holds_its_upstream_back_and_is_cut() {
    // What the socket holds counts as taken at the first look, after 15 seconds. 20 more are too slow.
    for (limits, limit_ms) in [(Limits::default(), 35_000), (any_speed(), 60_000)] {
        let (mut play, sent) = fill(limits);
        assert!(sent < 2_000_000, "{sent} bytes are held");
        play.pass(limit_ms - 100);
        play.step(UpstreamGets("")).unwrap();
        play.pass(200);
        play.step(UpstreamSeesEnd).unwrap();
        play.step(Over).unwrap();
        assert!(play.client.receive_bytes() < sent, "what the client did not take is lost");
        play.step(ClientSeesEnd).unwrap();
        play.finish();
    }
}

#[test]
fn a_client_that_reads_now_and_then_gets_everything() {
    let (mut play, mut sent) = fill(any_speed());
    let mut got = play.client.receive_bytes();
    for _ in 0..5 {
        play.settle();
        play.pass(50_000);
        sent += play.upstream.send_some(&[b'x'; 100_000]);
        play.settle();
        got += play.client.receive_bytes();
    }
    play.settle();
    got += play.client.receive_bytes();
    assert_eq!(got, sent + "HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n".len() + DATE_BYTES);
    play.step(UpstreamLeaves).unwrap();
    play.step(ClientSeesEnd).unwrap();
    play.finish();
}

#[test]
fn an_upstream_has_its_whole_time_after_a_client_that_was_late() {
    let (mut full, _) = fill(any_speed());
    let held = full.client.receive_bytes();
    // A little more than the client's socket holds: the rest waits in the gateway, and the upstream has nothing left to send.
    let mut play = begin_large(any_speed());
    for _ in 0..=held / 10_000 {
        assert_eq!(play.upstream.send_some(&[b'x'; 10_000]), 10_000);
        play.settle();
    }
    play.pass(50_000);
    let at_first = play.client.receive_bytes();
    play.settle();
    assert!(at_first > 0 && play.client.receive_bytes() > 0, "nothing waited in the gateway");
    play.pass(59_900);
    play.step(Upstream("y")).unwrap();
    play.step(ClientGets("y")).unwrap();
    play.step(UpstreamLeaves).unwrap();
    play.step(ClientSeesEnd).unwrap();
    play.finish();
}

#[test]
fn an_upstream_that_does_not_read_its_request_is_late() {
    let mut play = Play::new(any_speed());
    play.step(Client("POST /a HTTP/1.1\nHost: t\nContent-Length: 100000000\n\n")).unwrap();
    play.step(UpstreamTakes).unwrap();
    let mut sent = 0;
    loop {
        let more = play.client.send_some(&[b'x'; 10_000]);
        if more == 0 {
            break;
        }
        sent += more;
        play.settle();
    }
    assert!(sent < 2_000_000, "{sent} bytes are held");
    play.pass(59_900);
    play.step(ClientGets("")).unwrap();
    play.pass(100);
    // What the client still sends is not the next request.
    let late = "HTTP/1.1 504 Gateway Timeout\nConnection: close\nContent-Length: 15\n\nUpstreamTimeout";
    play.step(ClientGets(late)).unwrap();
    play.step(ClientSeesEnd).unwrap();
    assert!(play.upstream.receive_bytes() < sent);
    play.step(UpstreamSeesEnd).unwrap();
    play.finish();
}
