//! Threads for work on bodies that may take more than a millisecond, in which a data thread serves hundreds of other requests. The request is
//! held meanwhile. Small bodies never come here: handing one to another thread and back takes about as long as its work.

use std::io;
use std::net::IpAddr;
use std::time::Duration;
use tollgate_engine::client_network;
use tollgate_offload::{FairThreads, ThreadGroup, ThreadPlan, half_of_the_cores};

/// Bodies of up to this size are worked on where they arrive, if a brief budget is enough.
pub const HERE_BYTES_MAX: usize = 16 << 10;
/// How long a request waits for the work on its body.
pub const OFFLOAD_TIME_MAX: Duration = Duration::from_secs(10);
/// Most pieces of work that wait for a thread. Their bodies are within the bound for all kept bodies.
const WAITING_MAX: usize = 256;
/// Stack of a thread: documents are nested as deep as their readers allow, and schemas 512 times.
const STACK_BYTES: usize = 8 << 20;

/// The threads, and the clients whose bodies wait for them.
pub struct BodyThreads(FairThreads<BodySender>);

/// Who has sent a body, or asked for it: clients of one network have their turn together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BodySender(u128);

impl BodySender {
    pub fn at(address: IpAddr) -> Self {
        BodySender(client_network(address))
    }
}

impl ThreadGroup for BodyThreads {
    const NAME: &'static str = "bodies";

    fn start() -> io::Result<Self> {
        let (name, threads) = (Self::NAME, half_of_the_cores());
        FairThreads::start(ThreadPlan { name, threads, waiting_max: WAITING_MAX, stack_bytes: STACK_BYTES }).map(BodyThreads)
    }
}

impl BodyThreads {
    /// Queues work, and waits for what it makes. Without room in the queue there is nothing, at once.
    pub fn run<T: Send + 'static>(
        &self,
        sender: BodySender,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> impl Future<Output = Option<T>> + 'static {
        self.0.run(sender, job)
    }
}
