//! The upstream's connection ends too early.

use super::*;

const POST: &str = "POST /a HTTP/1.1\nHost: t\nContent-Length: 2\n\nhi";
const POST_UP: &str = "POST /a HTTP/1.1\nHost: up\nX-Forwarded-For: 192.0.2.1\nContent-Length: 2\n\nhi";
const DELETE: &str = "DELETE /a HTTP/1.1\nHost: t\n\n";
const DELETE_UP: &str = "DELETE /a HTTP/1.1\nHost: up\nX-Forwarded-For: 192.0.2.1\n\n";
const PUT: &str = "PUT /a HTTP/1.1\nHost: t\nContent-Length: 2\n\nhi";
const PUT_UP: &str = "PUT /a HTTP/1.1\nHost: up\nX-Forwarded-For: 192.0.2.1\nContent-Length: 2\n\nhi";

#[test]
fn a_new_connection_that_ends_without_an_answer_is_not_tried_again() {
    play(&[Client(GET), UpstreamTakes, UpstreamGets(GET_UP), UpstreamLeaves, ClientGets(CUT)]);
}

#[test]
fn what_may_be_done_twice_is_sent_again_when_a_used_connection_ends_without_an_answer() {
    for (request, sent) in [(GET, GET_UP), (DELETE, DELETE_UP), (PUT, PUT_UP)] {
        let dies = [Client(request), UpstreamGets(sent), UpstreamLeaves];
        after_an_exchange(&[&dies[..], &[UpstreamTakes, UpstreamGets(sent), Upstream(OK), ClientGets(OK)]].concat());
        // But once only.
        after_an_exchange(&[&dies[..], &[UpstreamTakes, UpstreamGets(sent), UpstreamLeaves, ClientGets(CUT)]].concat());
    }
}

#[test]
fn what_may_be_done_once_only_is_not_sent_again() {
    after_an_exchange(&[Client(POST), UpstreamGets(POST_UP), UpstreamLeaves, ClientGets(CUT)]);
}

#[test]
fn a_body_that_is_not_there_whole_is_not_sent_again() {
    let half = UpstreamGets("PUT /a HTTP/1.1\nHost: up\nX-Forwarded-For: 192.0.2.1\nContent-Length: 2\n\nh");
    let closed = "HTTP/1.1 502 Bad Gateway\nContent-Length: 14\n\nUpstreamClosed";
    let begin = [Client("PUT /a HTTP/1.1\nHost: t\nContent-Length: 2\n\nh"), half, UpstreamLeaves, ClientGets(closed)];
    // The rest of the body is read, and the next request is behind it.
    let next = [Client("i"), Client(GET), UpstreamTakes, UpstreamGets(GET_UP), Upstream(OK), ClientGets(OK)];
    after_an_exchange(&[&begin[..], &next].concat());
}

#[test]
fn a_connection_that_has_begun_to_answer_is_not_tried_again() {
    after_an_exchange(&[Client(GET), UpstreamGets(GET_UP), Upstream("HTTP/1.1 2"), UpstreamLeaves, ClientGets(CUT)]);
    let hint = "HTTP/1.1 103 Early Hints\n\n";
    after_an_exchange(&[Client(GET), UpstreamGets(GET_UP), Upstream(hint), ClientGets(hint), UpstreamLeaves, ClientGets(CUT)]);
}

#[test]
fn a_response_that_is_cut_is_cut_for_the_client() {
    for part in [
        "HTTP/1.1 200 OK\nContent-Length: 10\n\n12345",
        "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n5\n12345\n",
        "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n5\n12345\n0\n",
    ] {
        let exchange = [Client(GET), UpstreamTakes, UpstreamGets(GET_UP), Upstream(part), ClientGets(part), UpstreamLeaves];
        play(&[&exchange[..], &[ClientSeesEnd, Over]].concat());
    }
}

#[test]
fn a_response_that_ends_with_its_connection_is_complete() {
    let part = "HTTP/1.1 200 OK\n\n12345";
    let chunked = "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n5\n12345\n";
    let exchange = [Client(GET), UpstreamTakes, UpstreamGets(GET_UP), Upstream(part), ClientGets(chunked), UpstreamLeaves];
    let next = [ClientGets("0\n\n"), Client(GET), UpstreamTakes, UpstreamGets(GET_UP), Upstream(OK), ClientGets(OK)];
    play(&[&exchange[..], &next].concat());
}

#[test]
fn an_answer_counts_although_the_upstream_takes_no_more_of_the_request() {
    let half = "POST /a HTTP/1.1\nHost: t\nContent-Length: 10\n\n12345";
    let up = UpstreamGets("POST /a HTTP/1.1\nHost: up\nX-Forwarded-For: 192.0.2.1\nContent-Length: 10\n\n12345");
    let told = "HTTP/1.1 403 Forbidden\nContent-Length: 2\n\nno";
    let begin = [Client(half), UpstreamTakes, up, Upstream(told), UpstreamLeaves];
    play(&[&begin[..], &[ClientGets(told), Client("6"), ClientSeesEnd]].concat());
}
