//! Replies from sources, responses that are read without their clients, and requests that are sent again.

use super::*;

const SOURCED: &str = "GET /sourced/8 HTTP/1.1\nHost: t\n\n";
const HEAD: &str = "HTTP/1.1 200 OK\nContent-Length: 8\n\n";
const WHOLE: &str = "HTTP/1.1 200 OK\nContent-Length: 8\n\n12345678";
const DETACH: &str = "GET /detach/8 HTTP/1.1\nHost: t\n\n";
const DETACH_UP: &str = "GET /detach/8 HTTP/1.1\nHost: up\nX-Forwarded-For: 192.0.2.1\n\n";

#[test]
fn a_reply_from_a_source_is_whole_and_the_connection_goes_on() {
    let once = [Source("1234"), Source("5678"), SourceEnds, Client(SOURCED), ClientGets(WHOLE)];
    play(&[once, once].concat());
}

#[test]
fn a_reply_goes_out_as_its_source_has_it() {
    let begin = [Client(SOURCED), ClientGets(HEAD), Source("1234"), ClientGets("1234"), Pass(50_000), Source("5678")];
    let end = [ClientGets("5678"), SourceEnds, ClientGets(""), Source("12345678"), SourceEnds, Client(SOURCED), ClientGets(WHOLE)];
    play(&[&begin[..], &end].concat());
}

#[test]
fn a_request_that_is_sent_ahead_waits_for_the_reply() {
    let begin = [Client(SOURCED), Client("GET /reply HTTP/1.1\nHost: t\n\n"), ClientGets(HEAD), Source("12345678")];
    let end = [ClientGets("12345678"), SourceEnds, ClientGets("HTTP/1.1 200 OK\nContent-Length: 3\n\nown")];
    play(&[begin, [end[0], end[1], end[2], Pass(100)]].concat());
}

#[test]
fn head_gets_the_length_and_no_body() {
    let head = Client("HEAD /sourced/8 HTTP/1.1\nHost: t\n\n");
    play(&[head, ClientGets(HEAD), Source("12345678"), SourceEnds, Client(SOURCED), ClientGets(WHOLE)]);
}

#[test]
fn a_source_that_is_cut_or_silent_ends_the_connection() {
    play(&[Client(SOURCED), ClientGets(HEAD), Source("1234"), SourceIsCut, ClientGets("1234"), ClientSeesEnd, Over]);
    play(&[Client(SOURCED), ClientGets(HEAD), Pass(59_900), ClientGets(""), Pass(200), ClientSeesEnd, Over]);
}

#[test]
fn a_client_that_leaves_an_event_stream_ends_it_while_its_source_is_silent() {
    const EVENTS: &str = "GET /events HTTP/1.1\nHost: t\n\n";
    const BEGIN: &str = "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n4\n1234\n";
    let begin = [Source("1234"), Client(EVENTS), ClientGets(BEGIN), Pass(1_000)];
    play(&[&begin[..], &[ClientLeaves, Pass(300), Over]].concat());
    // One that stays may send its next request, and waits as long as for a tunnel.
    let stays = [Client("GET /reply HTTP/1.1\nHost: t\n\n"), Pass(59_000), Pass(59_000), Source("5678"), SourceEnds];
    let end = [ClientGets("4\n5678\n0\n\nHTTP/1.1 200 OK\nContent-Length: 3\n\nown")];
    play(&[&begin[..], &stays, &end].concat());
}

#[test]
fn a_client_that_takes_nothing_of_a_reply_is_cut() {
    let mut play = Play::new(any_speed());
    let piece: &str = "x".repeat(4 << 20).leak();
    let request = "GET /sourced/4194304 HTTP/1.1\nHost: t\n\n";
    [Source(piece), SourceEnds, Client(request)].into_iter().for_each(|step| play.step(step).unwrap());
    play.pass(59_000);
    assert!(play.step(Over).is_err(), "the client has time left");
    play.pass(2_000);
    play.step(Over).unwrap();
    let taken = play.client.receive_bytes();
    assert!((1..piece.len()).contains(&taken), "{taken}");
    play.step(ClientSeesEnd).unwrap();
    play.finish();
}

#[test]
fn a_client_that_takes_a_large_reply_in_pieces_gets_all_of_it() {
    let mut play = Play::new(any_speed());
    let piece: &str = "x".repeat(4 << 20).leak();
    let request = "GET /sourced/4194304 HTTP/1.1\nHost: t\n\n";
    [Source(piece), SourceEnds, Client(request)].into_iter().for_each(|step| play.step(step).unwrap());
    let mut taken = 0;
    while taken < piece.len() {
        let more = play.client.receive_bytes();
        assert!(more > 0, "{taken}");
        taken += more;
        play.pass(1_000);
    }
    play.finish();
}

#[test]
fn a_detached_response_is_read_to_its_end_without_its_client() {
    let begin = [Client(DETACH), UpstreamTakes, UpstreamGets(DETACH_UP), Upstream(HEAD), ClientGets(HEAD)];
    let rest = [Upstream("1234"), ClientGets("1234"), Upstream("5678"), ClientGets("5678")];
    // The upstream's connection is used again, and a body that comes with its head needs no task.
    let next = [Client(DETACH), UpstreamGets(DETACH_UP), Upstream(WHOLE), ClientGets(WHOLE)];
    play(&[&begin[..], &rest, &next].concat());
    let leaves = [Upstream("1234"), ClientGets("1234"), ClientLeaves, Upstream("5678")];
    play(&[&begin[..], &leaves].concat());
}

#[test]
fn a_detached_response_that_is_cut_cuts_the_reply() {
    let begin = [Client(DETACH), UpstreamTakes, UpstreamGets(DETACH_UP), Upstream(HEAD), ClientGets(HEAD)];
    play(&[&begin[..], &[Upstream("1234"), UpstreamLeaves, ClientGets("1234"), ClientSeesEnd]].concat());
}

const UNKNOWN: &str = "GET /detach HTTP/1.1\nHost: t\n\n";
const UNKNOWN_UP: &str = "GET /detach HTTP/1.1\nHost: up\nX-Forwarded-For: 192.0.2.1\n\n";
const CHUNKED: &str = "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n";
const TWO_CHUNKS: &str = "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n4\n1234\n4\n5678\n0\n\n";

#[test]
fn a_source_of_unknown_length_is_sent_in_chunks() {
    let once = [Source("1234"), Source("5678"), SourceEnds, Client("GET /sourced HTTP/1.1\nHost: t\n\n"), ClientGets(TWO_CHUNKS)];
    play(&[once, once].concat());
    let head = [Client("HEAD /sourced HTTP/1.1\nHost: t\n\n"), ClientGets("HTTP/1.1 200 OK\n\n")];
    play(&[&head[..], &once].concat());
    // Without chunks, only the end of the connection ends the body.
    let old = Client("GET /sourced HTTP/1.0\nHost: t\nConnection: keep-alive\n\n");
    let whole = ClientGets("HTTP/1.1 200 OK\nConnection: close\n\n12345678");
    play(&[Source("12345678"), SourceEnds, old, whole, ClientSeesEnd]);
    let cut = [Client("GET /sourced HTTP/1.1\nHost: t\n\n"), ClientGets(CHUNKED), Source("1234"), SourceIsCut];
    play(&[&cut[..], &[ClientGets("4\n1234\n"), ClientSeesEnd, Over]].concat());
}

#[test]
fn a_detached_response_of_unknown_length_passes_as_it_comes() {
    let begin = [Client(UNKNOWN), UpstreamTakes, UpstreamGets(UNKNOWN_UP)];
    let chunks = [Upstream(CHUNKED), ClientGets(CHUNKED), Upstream("4\n1234\n"), ClientGets("4\n1234\n"), Upstream("0\n\n")];
    let next = [ClientGets("0\n\n"), Client(DETACH), UpstreamGets(DETACH_UP), Upstream(WHOLE), ClientGets(WHOLE)];
    play(&[&begin[..], &chunks, &next].concat());
    // One that ends with its connection, and one that is cut.
    let closing = [Upstream("HTTP/1.1 200 OK\n\n"), ClientGets(CHUNKED), Upstream("1234"), ClientGets("4\n1234\n")];
    play(&[&begin[..], &closing, &[UpstreamLeaves, ClientGets("0\n\n")]].concat());
    play(&[&begin[..], &chunks[..4], &[UpstreamLeaves, ClientSeesEnd, Over]].concat());
}

#[test]
fn a_detached_response_that_nobody_needs_is_read_no_further() {
    let begin = [Client(UNKNOWN), UpstreamTakes, UpstreamGets(UNKNOWN_UP), Upstream(CHUNKED), ClientGets(CHUNKED)];
    play(&[&begin[..], &[ClientLeaves, Upstream("4\n1234\n"), UpstreamSeesEnd]].concat());
}

#[test]
fn a_client_that_takes_nothing_holds_a_detached_response_back() {
    let mut play = Play::new(any_speed());
    let begin = [Client(UNKNOWN), UpstreamTakes, UpstreamGets(UNKNOWN_UP), Upstream(CHUNKED), ClientGets(CHUNKED)];
    begin.into_iter().for_each(|step| play.step(step).unwrap());
    let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000)).into_bytes();
    let mut sent = Vec::new();
    loop {
        let taken = play.upstream.send_some(chunk.get(sent.len() % chunk.len()..).unwrap());
        play.settle();
        if taken == 0 {
            break;
        }
        sent.extend_from_slice(&chunk[sent.len() % chunk.len()..][..taken]);
        assert!(sent.len() < 16 << 20, "the upstream is never held back");
    }
    assert!(play.client.receive_bytes() > 0);
    play.settle();
    assert!(play.upstream.send_some(b"x") > 0, "it goes on when the client reads");
    play.step(ClientLeaves).unwrap();
    play.step(UpstreamSeesEnd).unwrap();
    play.finish();
}

#[test]
fn a_request_that_is_sent_again_goes_without_its_conditions() {
    let first = "GET /again HTTP/1.1\nHost: up\nX-Forwarded-For: 192.0.2.1\nIf-None-Match: \"one\"\n\n";
    let again = "GET /again HTTP/1.1\nHost: up\nX-Forwarded-For: 192.0.2.1\n\n";
    let begin = [Client("GET /again HTTP/1.1\nHost: t\n\n"), UpstreamTakes, UpstreamGets(first)];
    let end = [Upstream("HTTP/1.1 304 Not Modified\n\n"), UpstreamTakes, UpstreamGets(again), Upstream(OK), ClientGets(OK)];
    play(&[&begin[..], &end].concat());
}

#[test]
fn an_exchange_without_a_client_goes_on_behind_its_reply() {
    let begin = [Source("12345678"), SourceEnds, Client("GET /behind/8 HTTP/1.1\nHost: t\n\n"), ClientGets(WHOLE)];
    play(&[&begin[..], &[UpstreamTakes, UpstreamGets(GET_UP), ClientLeaves, Upstream(OK), Pass(100)]].concat());
}
