//! Bodies that are coded on their way to the client.

use super::*;

const CODED: &str = "GET /coded HTTP/1.1\nHost: t\n\n";
const CODED_UP: &str = "GET /coded HTTP/1.1\nHost: up\nX-Forwarded-For: 192.0.2.1\n\n";
const HEAD: &str = "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n";
const BEGIN: [Step; 3] = [Client(CODED), UpstreamTakes, UpstreamGets(CODED_UP)];
/// Another exchange on both connections.
const NEXT: [Step; 4] = [
    Client(CODED),
    UpstreamGets(CODED_UP),
    Upstream("HTTP/1.1 200 OK\nContent-Length: 2\n\nab"),
    ClientGets("HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n3\nAB|\n0\n\n"),
];

fn play_coded(steps: &[Step]) {
    play(&[&BEGIN[..], steps].concat());
}

fn play_coded_and_next(steps: &[Step]) {
    play(&[&BEGIN[..], steps, &NEXT].concat());
}

#[test]
fn a_coded_body_comes_in_chunks_whatever_frames_the_upstreams() {
    let whole = "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n5\nABCD|\n0\n\n";
    play_coded_and_next(&[Upstream("HTTP/1.1 200 OK\nContent-Length: 4\n\nabcd"), ClientGets(whole)]);
    play_coded_and_next(&[Upstream("HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n1\na\n3\nbcd\n0\n\n"), ClientGets(whole)]);
    let until_close = [Upstream("HTTP/1.1 200 OK\n\nabcd"), UpstreamLeaves, ClientGets(whole)];
    play_coded(&until_close);
}

#[test]
fn a_long_body_is_coded_in_slices_and_ends_once() {
    let body = "HTTP/1.1 200 OK\nContent-Length: 10\n\nabcdefghij";
    play_coded_and_next(&[Upstream(body), ClientGets("HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\nd\nABCD|EFGH|IJ|\n0\n\n")]);
}

#[test]
fn trailers_follow_a_coded_body() {
    let body = "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n2\nab\n0\nX-Sum: 7\nHost: evil\n\n";
    play_coded_and_next(&[Upstream(body), ClientGets("HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n3\nAB|\n0\nX-Sum: 7\n\n")]);
    let split = [Upstream("HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n"), ClientGets(HEAD), Upstream("2\nab\n0\nX-S")];
    play_coded_and_next(&[&split[..], &[Upstream("um: 7\n\n"), ClientGets("4\nA|B|\n0\nX-Sum: 7\n\n")]].concat());
}

#[test]
fn what_was_coded_reaches_the_client_when_the_upstream_pauses() {
    let begin = [Upstream("HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n2\nab\n"), ClientGets(HEAD)];
    // A short pause holds little back, a longer one nothing.
    let rest =
        [Pass(200), ClientGets("3\nAB|\n"), Pass(10_000), ClientGets(""), Upstream("1\nc\n0\n\n"), ClientGets("2\nC|\n0\n\n")];
    play_coded_and_next(&[&begin[..], &rest].concat());
}

#[test]
fn events_reach_the_client_at_once() {
    let head = "HTTP/1.1 200 OK\nContent-Type: text/event-stream\nTransfer-Encoding: chunked\n\n";
    let both = "HTTP/1.1 200 OK\nContent-Type: text/event-stream\nTransfer-Encoding: chunked\n\n2\nab\n";
    let shown = ClientGets("HTTP/1.1 200 OK\nContent-Type: text/event-stream\nTransfer-Encoding: chunked\n\n3\nAB|\n");
    play_coded_and_next(&[Upstream(both), shown, Upstream("0\n\n"), ClientGets("0\n\n")]);
    play_coded(&[Upstream(head), ClientGets(head), Upstream("1\na\n"), ClientGets("2\nA|\n"), ClientLeaves]);
}

#[test]
fn a_body_that_is_cut_does_not_look_finished() {
    let begin = [Upstream("HTTP/1.1 200 OK\nContent-Length: 9\n\nabcd"), ClientGets(HEAD)];
    play_coded(&[&begin[..], &[UpstreamLeaves, ClientSeesEnd, Over]].concat());
    let chunks = [Upstream("HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n2\nab\n"), ClientGets(HEAD)];
    play_coded(&[&chunks[..], &[UpstreamLeaves, ClientSeesEnd, Over]].concat());
    play_coded(&[&chunks[..], &[Upstream("x\n"), ClientSeesEnd, UpstreamSeesEnd, Over]].concat());
    // The coder cannot go on.
    play_coded(&[Upstream("HTTP/1.1 200 OK\nContent-Length: 1\n\n!"), ClientSeesEnd, UpstreamSeesEnd, Over]);
}

#[test]
fn a_client_that_leaves_ends_the_exchange() {
    let begin = [Upstream("HTTP/1.1 200 OK\nContent-Length: 9\n\nabcd"), ClientGets(HEAD), ClientLeaves, Pass(500)];
    play_coded(&[&begin[..], &[UpstreamSeesEnd, Over]].concat());
}

#[test]
fn bodies_that_were_kept_are_coded_as_they_pass_and_as_they_are_rewritten() {
    const KEEP: &str = "GET /coded-keep/99 HTTP/1.1\nHost: t\n\n";
    const KEEP_UP: &str = "GET /coded-keep/99 HTTP/1.1\nHost: up\nX-Forwarded-For: 192.0.2.1\n\n";
    let begin = [Client(KEEP), UpstreamTakes, UpstreamGets(KEEP_UP)];
    let passes = [Upstream("HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n5\nabcde\n0\n\n")];
    let coded = [ClientGets("HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n7\nABCD|E|\n0\n\n")];
    let again = [Client(KEEP), UpstreamGets(KEEP_UP), Upstream("HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n5\n#bcde\n0\n\n")];
    let rewritten = [ClientGets("HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n7\n#BCD|E|\n0\n\n")];
    play(&[&begin[..], &passes, &coded, &again, &rewritten].concat());
}

#[test]
fn replies_are_coded() {
    let own = Client("GET /coded-reply HTTP/1.1\nHost: t\n\n");
    let coded = ClientGets("HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\nc\nOWN |REPL|Y|\n0\n\n");
    play(&[own, coded, own, coded]);
    let source = Client("GET /coded-source HTTP/1.1\nHost: t\n\n");
    let pauses = [source, ClientGets(HEAD), Source("abcde"), ClientGets("7\nABCD|E|\n"), Source("f"), SourceEnds];
    play(&[&pauses[..], &[ClientGets("2\nF|\n0\n\n"), own, coded]].concat());
    play(&[source, ClientGets(HEAD), Source("ab"), ClientGets("3\nAB|\n"), SourceIsCut, ClientSeesEnd, Over]);
}

#[test]
fn a_client_that_takes_nothing_of_a_coded_body_stops_the_upstream() {
    let mut play = Play::new(any_speed());
    let path = "GET /coded/16384 HTTP/1.1\nHost: ";
    let asked = [format!("{path}t\n\n"), format!("{path}up\nX-Forwarded-For: 192.0.2.1\n\n")].map(|text| &*text.leak());
    let begin = [Client(asked[0]), UpstreamTakes, UpstreamGets(asked[1]), Upstream("HTTP/1.1 200 OK\n\n"), ClientGets(HEAD)];
    begin.into_iter().for_each(|step| play.step(step).unwrap());
    let piece = [b'x'; 64 * 1024];
    // Far more than all buffers hold.
    let sent: usize = (0..400)
        .map(|_| {
            let sent = play.upstream.send_some(&piece);
            play.settle();
            sent
        })
        .sum();
    assert!((64 * 1024..8 << 20).contains(&sent), "{sent}");
    assert_eq!(play.upstream.send_some(&piece), 0, "nobody reads any more");
    assert!(play.client.receive_bytes() > 0);
    play.settle();
    assert!(play.upstream.send_some(&piece) > 0, "it goes on when the client reads");
}
