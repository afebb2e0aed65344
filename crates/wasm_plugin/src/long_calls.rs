//! Calls that take too long for a data thread. They wait in one queue and run on threads of their own, which have a low priority: an endless
//! loop takes only what data threads do not need.

use crate::deadline::CallClock;
use crate::limits::{LONG_RUNNING_MAX, LONG_WAITING_MAX, THREAD_IDLE_MAX, THREAD_STACK_BYTES, THREADS_MAX};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;
use tollgate_plugin::{HookAnswer, HookFault};

/// How much less time than the data threads these get when both want to run: about a tenth.
const NICENESS: i32 = 10;

/// What a call of a hook brings.
pub(crate) type CallOutcome = Result<HookAnswer, HookFault>;

/// The calls, and the threads that run them.
#[derive(Default)]
pub(crate) struct LongCalls {
    state: Mutex<LongState>,
    work: Condvar,
}

#[derive(Default)]
struct LongState {
    waiting: VecDeque<LongCall>,
    threads: usize,
    idle: usize,
}

/// The calls of one hook; changed only under the lock of the queue.
#[derive(Default)]
pub(crate) struct LongCounts {
    waiting: AtomicUsize,
    running: AtomicUsize,
}

/// What a call does.
type LongWork = Box<dyn FnOnce(&Arc<CallClock>) -> CallOutcome + Send>;

struct LongCall {
    counts: Arc<LongCounts>,
    run: LongWork,
    clock: Arc<CallClock>,
    reply: oneshot::Sender<CallOutcome>,
}

/// Ends a call when its request no longer waits.
struct AwaitedCall(Arc<CallClock>);

impl Drop for AwaitedCall {
    fn drop(&mut self) {
        self.0.drop_call();
    }
}

impl LongCalls {
    /// Runs a call on one of the threads.
    pub(crate) async fn run(
        self: &Arc<Self>,
        counts: Arc<LongCounts>,
        clock: Arc<CallClock>,
        run: impl FnOnce(&Arc<CallClock>) -> CallOutcome + Send + 'static,
    ) -> CallOutcome {
        let (reply, answer) = oneshot::channel();
        let _awaited = AwaitedCall(clock.clone());
        self.put(LongCall { counts, run: Box::new(run), clock, reply })?;
        answer.await.unwrap_or(Err(HookFault::Timeout))
    }

    fn put(self: &Arc<Self>, call: LongCall) -> Result<(), HookFault> {
        let mut state = self.lock();
        if call.counts.waiting.load(Ordering::Relaxed) >= LONG_WAITING_MAX {
            return Err(HookFault::Failed("too many calls of the plugin wait for a thread".to_owned()));
        }
        call.counts.waiting.fetch_add(1, Ordering::Relaxed);
        state.waiting.push_back(call);
        let wants_thread = state.waiting.len() > state.idle && state.threads < THREADS_MAX;
        state.threads += usize::from(wants_thread);
        drop(state);
        self.work.notify_one();
        if wants_thread {
            self.start_thread();
        }
        Ok(())
    }

    fn start_thread(self: &Arc<Self>) {
        let calls = self.clone();
        let thread = std::thread::Builder::new().name("wasm-plugin".to_owned()).stack_size(THREAD_STACK_BYTES);
        if let Err(error) = thread.spawn(move || calls.serve()) {
            tracing::error!(%error, "no thread for calls of plugins");
            self.lock().threads -= 1;
        }
    }

    fn serve(&self) {
        // On Linux this is the priority of the thread. A system that forbids it has no other effect.
        let _ = rustix::process::setpriority_process(None, NICENESS);
        while let Some(LongCall { counts, run, clock, reply }) = self.next() {
            if !clock.is_over() {
                // Nobody may wait any more.
                let _ = reply.send(run(&clock));
            }
            let state = self.lock();
            counts.running.fetch_sub(1, Ordering::Relaxed);
            drop(state);
            // A call of this hook may have waited for it.
            self.work.notify_one();
        }
    }

    /// The next call; `None` when the thread is to end.
    fn next(&self) -> Option<LongCall> {
        let mut state = self.lock();
        loop {
            if let Some(call) = state.take() {
                return Some(call);
            }
            state.idle += 1;
            let (again, waited) = self.work.wait_timeout(state, THREAD_IDLE_MAX).unwrap_or_else(PoisonError::into_inner);
            state = again;
            state.idle -= 1;
            if waited.timed_out() {
                let call = state.take();
                state.threads -= usize::from(call.is_none());
                return call;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, LongState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LongState {
    /// The first call whose hook has not too many that run.
    fn take(&mut self) -> Option<LongCall> {
        let may_run = |call: &LongCall| call.counts.running.load(Ordering::Relaxed) < LONG_RUNNING_MAX;
        let at = self.waiting.iter().position(may_run)?;
        let call = self.waiting.remove(at)?;
        call.counts.waiting.fetch_sub(1, Ordering::Relaxed);
        call.counts.running.fetch_add(1, Ordering::Relaxed);
        Some(call)
    }
}
