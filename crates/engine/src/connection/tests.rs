//! The state machine, played by scripts: each test says what the client and the upstream do and what each of them gets. The sockets are
//! pairs inside the process, and time passes only where a script says so.

mod bodies;
mod coded;
mod heads;
mod keep_alive;
mod play;
mod resend;
mod sourced;
mod time_limits;
mod tunnels;
mod upstream_failures;

use crate::limits::Limits;
use crate::pace::Speed;
use play::Step::{self, *};
use play::{Play, play, play_within};

const GET: &str = "GET /a HTTP/1.1\nHost: t\n\n";
/// What the upstream gets of [`GET`].
const GET_UP: &str = "GET /a HTTP/1.1\nHost: up\nX-Forwarded-For: 192.0.2.1\n\n";
const OK: &str = "HTTP/1.1 200 OK\nContent-Length: 2\n\nok";
const CUT: &str = "HTTP/1.1 502 Bad Gateway\nContent-Length: 14\n\nUpstreamClosed";
const UPSTREAM_LATE: &str = "HTTP/1.1 504 Gateway Timeout\nContent-Length: 15\n\nUpstreamTimeout";
const CLIENT_LATE: &str = "HTTP/1.1 408 Request Timeout\nConnection: close\nContent-Length: 13\n\nClientTimeout";
/// The line that a response without a date gets. Scripts leave it out.
const DATE_BYTES: usize = "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n".len();
/// A whole exchange on the upstream connection that is there.
const AGAIN: [Step; 4] = [Client(GET), UpstreamGets(GET_UP), Upstream(OK), ClientGets(OK)];

/// The first exchange, which opens the upstream connection, and what follows it.
fn after_an_exchange(steps: &[Step]) {
    let first = [Client(GET), UpstreamTakes, UpstreamGets(GET_UP), Upstream(OK), ClientGets(OK)];
    play(&[&first, steps].concat());
}

/// The default limits without a least speed, which is a limit of its own.
fn any_speed() -> Limits {
    let any = Speed { bytes_per_s_min: 0, grace_ms: 0 };
    Limits { upload_min: any, download_min: any, ..Limits::default() }
}
