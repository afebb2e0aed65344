//! A gateway that the tests of a module use one after the other, for tests that leave nothing behind which another one notices. It starts with
//! the first of them, and ends with this process.

use std::ops::Deref;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use super::{Gateway, Upstream};

/// The gateway of a module, for a `static`.
pub(crate) struct Shared {
    start: fn() -> (Upstream, Gateway),
    running: Mutex<Option<Running>>,
}

/// An upstream and a gateway.
pub(crate) struct Running {
    pub upstream: Upstream,
    pub gateway: Gateway,
    guard: Child,
}

/// One test's use of it.
pub(crate) struct Turn(MutexGuard<'static, Option<Running>>);

impl Shared {
    pub(crate) const fn new(start: fn() -> (Upstream, Gateway)) -> Shared {
        Shared { start, running: Mutex::new(None) }
    }

    /// Waits until no other test uses it. The upstream has seen nothing yet.
    pub(crate) fn turn(&'static self) -> Turn {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let there = running.get_or_insert_with(|| {
            let (upstream, gateway) = (self.start)();
            Running { guard: guard(&gateway), upstream, gateway }
        });
        there.upstream.take_targets();
        Turn(running)
    }
}

impl Deref for Turn {
    type Target = Running;

    fn deref(&self) -> &Running {
        self.0.as_ref().expect("a gateway that was started")
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if thread::panicking() {
            // Shows its log. The next test gets another one.
            self.0.take();
        } else {
            self.gateway.expect_no_panic();
        }
    }
}

/// A process that waits for the end of this one, however that comes, then ends the gateway and removes its folder: nothing drops a `static`.
fn guard(gateway: &Gateway) -> Child {
    let mut shell = Command::new("sh");
    shell.args(["-c", "cat > /dev/null; kill -KILL \"$0\"; rm -rf \"$1\""]).arg(gateway.pid().to_string()).arg(gateway.dir());
    shell.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().expect("sh")
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.guard.kill();
        let _ = self.guard.wait();
    }
}
