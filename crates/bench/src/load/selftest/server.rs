//! The server of the self-test: answers requests without a body, and counts its responses. `/delay` waits first, `/cycle` answers
//! every seventh request with 503, and all paths stall on command.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

const CYCLE: u64 = 7;
/// Maximum head size; a request's head is far smaller.
const HEAD_BYTES_MAX: usize = 8 * 1024;

/// A running server; stops when dropped.
pub(crate) struct Server {
    address: SocketAddr,
    state: Arc<SelftestState>,
    _stop: oneshot::Sender<()>,
}

struct SelftestState {
    delay: Duration,
    answered: AtomicU64,
    unavailable: AtomicU64,
    stall: Mutex<Option<(Instant, Instant)>>,
}

impl Server {
    pub(crate) fn start(delay: Duration) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let state =
            Arc::new(SelftestState { delay, answered: AtomicU64::new(0), unavailable: AtomicU64::new(0), stall: Mutex::new(None) });
        let (stop, mut stopped) = oneshot::channel::<()>();
        let shared = Arc::clone(&state);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        std::thread::spawn(move || {
            runtime.block_on(async {
                let Ok(listener) = TcpListener::from_std(listener) else { return };
                loop {
                    tokio::select! {
                        accepted = listener.accept() => {
                            if let Ok((stream, _)) = accepted {
                                tokio::spawn(serve(stream, Arc::clone(&shared)));
                            }
                        }
                        _ = &mut stopped => return,
                    }
                }
            });
        });
        Ok(Server { address, state, _stop: stop })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Stops answering for `length`, starting `after` from now.
    pub(crate) fn stall(&self, after: Duration, length: Duration) {
        let begin = Instant::now() + after;
        *self.state.stall.lock().unwrap_or_else(PoisonError::into_inner) = Some((begin, begin + length));
    }

    /// Number of responses sent.
    pub(crate) fn answered(&self) -> u64 {
        self.state.answered.load(SeqCst)
    }

    /// Number of them with status 503.
    pub(crate) fn unavailable(&self) -> u64 {
        self.state.unavailable.load(SeqCst)
    }
}

/// Serves one connection until it ends; any error ends it.
async fn serve(mut stream: TcpStream, state: Arc<SelftestState>) {
    let _ = stream.set_nodelay(true);
    let mut head = Vec::new();
    let mut buffer = [0; 1024];
    while let Ok(read @ 1..) = stream.read(&mut buffer).await {
        head.extend_from_slice(buffer.get(..read).unwrap_or_default());
        if head.len() > HEAD_BYTES_MAX {
            return;
        }
        if head.ends_with(b"\r\n\r\n") {
            let answer = answer(&head, &state).await;
            head.clear();
            if stream.write_all(answer).await.is_err() {
                return;
            }
        }
    }
}

async fn answer(head: &[u8], state: &SelftestState) -> &'static [u8] {
    if head.starts_with(b"GET /delay ") {
        tokio::time::sleep(state.delay).await;
    }
    let stall = *state.stall.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((begin, end)) = stall
        && (begin..end).contains(&Instant::now())
    {
        tokio::time::sleep_until(end.into()).await;
    }
    let number = state.answered.fetch_add(1, SeqCst);
    if head.starts_with(b"GET /cycle ") && number.is_multiple_of(CYCLE) {
        state.unavailable.fetch_add(1, SeqCst);
        return b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n";
    }
    b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"
}
