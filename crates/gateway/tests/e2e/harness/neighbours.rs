//! Whether an API is served while another one gets bad requests. How much longer its requests take is the business of `make attack`, on a
//! machine that does nothing else.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use super::{Definition, Gateway, Upstream, api, eventually, request};

/// Requests to the API beside.
const REQUESTS: usize = 200;
/// Clients that send bad requests all the time.
const BAD_CLIENTS: usize = 6;
/// Pause of each after a response: what fails at once must not be a load of its own.
const PAUSE: Duration = Duration::from_millis(10);

/// The API that is to be served well, with an upstream of its own.
pub(crate) fn beside(upstream: &Upstream) -> Definition {
    api("beside", "/beside/", &upstream.url())
}

/// Sends bad requests, each made from its number, and expects that they get this status and that the API beside is served.
#[track_caller]
pub(crate) fn assert_beside(gateway: &Gateway, what: &str, bad: &(dyn Fn(usize) -> String + Sync), status: u16) {
    let (ends, sent) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..BAD_CLIENTS {
            scope.spawn(|| {
                while !ends.load(Ordering::Relaxed) {
                    let answer = gateway.send(bad(sent.fetch_add(1, Ordering::Relaxed)));
                    assert_eq!(answer.status, status, "{what}: {:.300}", answer.text());
                    std::thread::sleep(PAUSE);
                }
            });
        }
        // Whatever fails, the clients end.
        let served = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            eventually("all of them are there", || sent.load(Ordering::Relaxed) >= BAD_CLIENTS);
            let mut client = gateway.connect();
            for _ in 0..REQUESTS {
                assert_eq!(client.ask(request("GET", "/beside/x", &[], "")).status, 200, "{what}");
            }
        }));
        ends.store(true, Ordering::Relaxed);
        served.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
}
