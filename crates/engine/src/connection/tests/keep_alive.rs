//! What becomes of the two connections behind an exchange.

use super::*;

#[test]
fn requests_behind_each_other_share_both_connections() {
    after_an_exchange(&[&AGAIN[..], &AGAIN, &AGAIN].concat());
}

#[test]
fn requests_that_are_sent_ahead_wait_for_their_turn() {
    let pair = "GET /a HTTP/1.1\nHost: t\n\nGET /b HTTP/1.1\nHost: t\n\nGET /reply HTTP/1.1\nHost: t\n\n";
    let second = UpstreamGets("GET /b HTTP/1.1\nHost: up\nX-Forwarded-For: 192.0.2.1\n\n");
    let first = [Client(pair), UpstreamTakes, UpstreamGets(GET_UP), Pass(1_000), UpstreamGets(""), Upstream(OK)];
    let both = "HTTP/1.1 200 OK\nContent-Length: 2\n\nokHTTP/1.1 200 OK\nContent-Length: 3\n\nown";
    play(&[&first[..], &[ClientGets(OK), second, Pass(1_000), ClientGets(""), Upstream(OK), ClientGets(both)]].concat());
}

#[test]
fn only_so_much_is_taken_ahead_of_a_response() {
    let mut play = Play::new(Limits::default());
    for step in [Client(GET), UpstreamTakes, UpstreamGets(GET_UP), Pass(300)] {
        play.step(step).unwrap();
    }
    let mut sent = 0;
    // The socket itself holds some, too.
    while sent < 2_000_000 {
        let more = play.client.send_some(&[b'x'; 10_000]);
        if more == 0 {
            break;
        }
        sent += more;
        play.settle();
    }
    assert!(sent < 1_000_000, "{sent} bytes are held");
    play.step(Upstream(OK)).unwrap();
    play.step(ClientGets(
        "HTTP/1.1 200 OK\nContent-Length: 2\n\nokHTTP/1.1 431 Request Header Fields Too Large\n\
         Content-Type: text/plain; charset=utf-8\nConnection: close\nContent-Length: 35\n\n431 Request Header Fields Too Large",
    ))
    .unwrap();
    play.step(ClientSeesEnd).unwrap();
    play.finish();
}

#[test]
fn the_connection_ends_when_the_client_says_so() {
    let closed = "HTTP/1.1 200 OK\nContent-Length: 2\nConnection: close\n\nok";
    let kept = "HTTP/1.1 200 OK\nContent-Length: 2\nConnection: keep-alive\n\nok";
    for (request, response, ends) in [
        ("GET /a HTTP/1.1\nHost: t\nConnection: close\n\n", closed, true),
        ("GET /a HTTP/1.0\nHost: t\n\n", closed, true),
        ("GET /a HTTP/1.0\nHost: t\nConnection: keep-alive\n\n", kept, false),
    ] {
        let exchange = [Client(request), UpstreamTakes, UpstreamGets(GET_UP), Upstream(OK), ClientGets(response)];
        let then = if ends { vec![ClientSeesEnd] } else { AGAIN.to_vec() };
        play(&[&exchange[..], &then].concat());
    }
}

#[test]
fn a_client_that_sends_on_behind_the_last_response_is_read_for_a_moment() {
    let end = [Client("GET /reply HTTP/1.1\nHost: t\nConnection: close\n\n"), Client("more")];
    let own = ClientGets("HTTP/1.1 200 OK\nConnection: close\nContent-Length: 3\n\nown");
    play(&[&end[..], &[own, ClientSeesEnd, Client("and more"), Pass(2_000), Over]].concat());
}

#[test]
fn the_upstream_connection_is_used_again_only_behind_a_clean_end() {
    for (response, got) in [
        ("HTTP/1.1 200 OK\nContent-Length: 2\nConnection: close\n\nok", OK),
        ("HTTP/1.1 200 OK\nContent-Length: 2\n\nok and more", OK),
        ("HTTP/1.0 200 OK\nContent-Length: 2\n\nok", OK),
    ] {
        let exchange = [Client(GET), UpstreamTakes, UpstreamGets(GET_UP), Upstream(response), ClientGets(got), UpstreamSeesEnd];
        play(&[&exchange[..], &[Client(GET), UpstreamTakes, UpstreamGets(GET_UP), Upstream(OK), ClientGets(OK)]].concat());
    }
}

#[test]
fn an_idle_upstream_connection_that_has_ended_is_not_used() {
    after_an_exchange(&[UpstreamLeaves, Client(GET), UpstreamTakes, UpstreamGets(GET_UP), Upstream(OK), ClientGets(OK)]);
    after_an_exchange(&[
        Upstream("what?"),
        Client(GET),
        UpstreamSeesEnd,
        UpstreamTakes,
        UpstreamGets(GET_UP),
        Upstream(OK),
        ClientGets(OK),
    ]);
}

#[test]
fn a_client_may_say_that_it_sends_no_more() {
    let asked = [Client(GET), ClientEnds, UpstreamTakes, UpstreamGets(GET_UP)];
    play(&[&asked[..], &[Pass(100), Upstream(OK), ClientGets(OK), ClientSeesEnd]].concat());
    // After a while it is taken for one that has left.
    play(&[&asked[..], &[Pass(200), UpstreamSeesEnd, ClientSeesEnd, Over]].concat());
}

#[test]
fn the_upstream_does_not_work_for_a_client_that_has_left() {
    play(&[Client(GET), UpstreamTakes, UpstreamGets(GET_UP), ClientLeaves, Pass(200), UpstreamSeesEnd, Over]);
}

#[test]
fn a_client_that_leaves_during_a_response_that_pauses_is_noticed() {
    let chunk = "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n2\nab\n";
    let begun = [Client(GET), UpstreamTakes, UpstreamGets(GET_UP), Upstream(chunk), ClientGets(chunk)];
    play(&[&begun[..], &[Pass(1_000), ClientLeaves, Pass(100), UpstreamSeesEnd, Over]].concat());
}

#[test]
fn a_core_that_drains_ends_connections_behind_their_request() {
    play(&[Drain(0), ClientSeesEnd, Over]);
    play(&[Drain(1_000), Pass(900), ClientGets(""), Pass(100), ClientSeesEnd, Over]);
    let closed = ClientGets("HTTP/1.1 200 OK\nContent-Length: 2\nConnection: close\n\nok");
    let own = ClientGets("HTTP/1.1 200 OK\nConnection: close\nContent-Length: 3\n\nown");
    play(&[Client(GET), UpstreamTakes, UpstreamGets(GET_UP), Drain(0), Pass(5_000), Upstream(OK), closed, ClientSeesEnd]);
    play(&[Drain(1_000), Client("GET /reply HTTP/1.1\nHost: t\n\n"), own, ClientSeesEnd]);
}
