//! Exchanges that switch protocols.

use super::*;

const UPGRADE: &str = "GET /upgrade HTTP/1.1\nHost: t\nConnection: Upgrade\nUpgrade: websocket\n\n";
const UPGRADE_UP: &str = "GET /upgrade HTTP/1.1\nHost: up\nX-Forwarded-For: 192.0.2.1\nConnection: Upgrade\nUpgrade: websocket\n\n";
const SWITCHED: &str = "HTTP/1.1 101 Switching Protocols\nConnection: Upgrade\nUpgrade: websocket\n\n";
const OPEN: [Step; 5] = [Client(UPGRADE), UpstreamTakes, UpstreamGets(UPGRADE_UP), Upstream(SWITCHED), ClientGets(SWITCHED)];

#[test]
fn bytes_pass_both_ways_until_both_sides_have_ended() {
    let talk = [Client("ping"), UpstreamGets("ping"), Upstream("pong"), ClientGets("pong")];
    let one_end = [ClientEnds, UpstreamSeesEnd, Upstream("still here"), ClientGets("still here")];
    play(&[&OPEN[..], &talk, &one_end, &[UpstreamEnds, ClientSeesEnd, Over]].concat());
    play(
        &[&OPEN[..], &talk, &[UpstreamEnds, ClientSeesEnd, Client("bye"), UpstreamGets("bye"), ClientEnds, UpstreamSeesEnd, Over]]
            .concat(),
    );
}

#[test]
fn what_either_side_sends_ahead_is_not_lost() {
    let early = "GET /upgrade HTTP/1.1\nHost: t\nConnection: Upgrade\nUpgrade: websocket\n\nfirst";
    let switched = "HTTP/1.1 101 Switching Protocols\nConnection: Upgrade\nUpgrade: websocket\n\nhello";
    let open = [Client(early), UpstreamTakes, UpstreamGets(UPGRADE_UP), Upstream(switched), ClientGets(switched)];
    play(&[&open[..], &[UpstreamGets("first"), UpstreamLeaves, ClientSeesEnd]].concat());
}

#[test]
fn bytes_pass_through_an_inspector() {
    let early = "GET /upgrade/inspected HTTP/1.1\nHost: t\nConnection: Upgrade\nUpgrade: websocket\n\nfirst";
    let upgrade =
        "GET /upgrade/inspected HTTP/1.1\nHost: up\nX-Forwarded-For: 192.0.2.1\nConnection: Upgrade\nUpgrade: websocket\n\n";
    let switched = "HTTP/1.1 101 Switching Protocols\nConnection: Upgrade\nUpgrade: websocket\n\nhello";
    let open = [Client(early), UpstreamTakes, UpstreamGets(upgrade), Upstream(switched), ClientGets(switched)];
    let talk = [UpstreamGets("first"), Client("ping"), UpstreamGets("ping"), Upstream("pong"), ClientGets("pong")];
    play(
        &[&open[..], &talk, &[ClientEnds, UpstreamSeesEnd, Upstream("bye"), ClientGets("bye"), UpstreamEnds, ClientSeesEnd]]
            .concat(),
    );
    play(&[&open[..], &talk, &[UpstreamLeaves, ClientSeesEnd]].concat());
}

#[test]
fn a_tunnel_without_a_byte_is_closed_after_its_time() {
    let limits = Limits { tunnels: true, tunnel_idle_ms: 10_000, ..Limits::default() };
    let steps =
        [Pass(9_900), Upstream("x"), ClientGets("x"), Pass(9_900), ClientGets(""), Pass(100), ClientSeesEnd, UpstreamSeesEnd];
    play_within(limits, &[&OPEN[..], &steps].concat());
}

#[test]
fn there_are_only_so_many_tunnels() {
    let limits = Limits { tunnels: true, tunnels_max: 0, ..Limits::default() };
    let full = "HTTP/1.1 503 Service Unavailable\nContent-Length: 14\n\nTooManyTunnels";
    play_within(limits, &[Client(UPGRADE), ClientGets(full)]);
}

#[test]
fn a_request_that_may_not_switch_is_sent_on_without_its_wish() {
    let wish = "GET /a HTTP/1.1\nHost: t\nConnection: Upgrade\nUpgrade: websocket\n\n";
    play(&[Client(wish), UpstreamTakes, UpstreamGets(GET_UP), Upstream(OK), ClientGets(OK)]);
    // Nobody would look at the requests of HTTP/2 in a tunnel.
    let http2 = "GET /upgrade HTTP/1.1\nHost: t\nConnection: Upgrade\nUpgrade: h2c\n\n";
    let plain = UpstreamGets("GET /upgrade HTTP/1.1\nHost: up\nX-Forwarded-For: 192.0.2.1\n\n");
    play(&[Client(http2), UpstreamTakes, plain, Upstream(OK), ClientGets(OK)]);
}

#[test]
fn an_upstream_may_answer_instead_of_switching() {
    let refused = "HTTP/1.1 403 Forbidden\nContent-Length: 2\n\nno";
    let exchange = [Client(UPGRADE), UpstreamTakes, UpstreamGets(UPGRADE_UP), Upstream(refused), ClientGets(refused)];
    play(&[&exchange[..], &AGAIN].concat());
}
