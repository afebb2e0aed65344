//! Which call runs next. Pure bookkeeping under one lock, without threads.

use super::Task;
use crate::ScriptHost;
use crate::fault::{ProgramFault, ScriptFault};
use crate::limits::ScriptLimits;
use crate::program::Program;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// Scripts that run at one time, without those that wait for other servers. More than CPUs, so that some endless loops leave room.
const RUNNING_MAX: usize = 16;
/// Scripts that run beside these: the only calls of their APIs. So endless loops of some APIs do not keep the first call of another waiting.
const ONLY_CALLS_MAX: usize = 16;
/// Scripts of one API that run at one time.
const RUNNING_PER_API_MAX: usize = 4;
/// Calls of one API that run or wait for other servers. Each has a thread and its process.
const STARTED_PER_API_MAX: usize = 64;
/// Threads.
const THREADS_MAX: usize = 256;
/// Calls of one API that wait for a thread. What comes later could not be served in time.
const WAITING_PER_API_MAX: usize = 4_096;
/// A call that has run this long may never end, so another one runs beside it. Until then only as many run as there are CPUs: more would take the
/// caches from one another, and half of a short call's time is spent on what is not in a cache.
const SHORT_CALL: Duration = Duration::from_millis(2);
/// How long an idle thread stays.
pub(super) const IDLE_MAX: Duration = Duration::from_secs(30);
pub(super) struct State {
    cpus: usize,
    /// APIs whose turn it is, in this order.
    ready: VecDeque<Arc<ScriptLane>>,
    running: usize,
    threads: usize,
    /// Threads that are about to look for a call: woken, started, or at the end of a call.
    looking: usize,
    /// Threads without a call. The one that has been idle for the shortest time is the last, and the first to be woken.
    idle: Vec<IdleThread>,
    started: Vec<StartedCall>,
    next_serial: u64,
}

struct IdleThread {
    thread: Thread,
    /// Whether it looks again soon, because a call waits for others that may never end.
    watches: bool,
}

/// The thread that is to look for a call.
pub(super) enum WantedThread {
    Idle(Thread),
    New,
}

/// Why a thread is no longer idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IdleEnd {
    Woken,
    /// It has waited as long as it wanted to, or was woken by mistake.
    ByItself,
}

/// One API's calls.
pub(super) struct ScriptLane {
    /// The program's number in the processes that run it.
    pub number: u64,
    pub program: Program,
    pub host: Arc<dyn ScriptHost>,
    pub limits: ScriptLimits,
    queue: Mutex<Queue>,
}

/// Changed only under the lock of the state; the lock of its own makes it `Sync`.
#[derive(Default)]
struct Queue {
    waiting: VecDeque<Task>,
    running: usize,
    started: usize,
    is_ready: bool,
    loaded: Loaded,
}

/// Whether a program can be called.
#[derive(Default)]
enum Loaded {
    #[default]
    NotYet,
    Yes,
    Never(ProgramFault),
}

/// A task that is not queued, and why.
pub(super) type RefusedScript = Box<(Task, ScriptFault)>;

/// A call that has a thread.
struct StartedCall {
    serial: u64,
    lane: Arc<ScriptLane>,
    began: Instant,
    /// Whether it waits for another server.
    waits: bool,
}

/// What a thread gets.
pub(super) struct Assignment {
    pub lane: Arc<ScriptLane>,
    pub task: Task,
    pub serial: u64,
}

impl ScriptLane {
    pub(super) fn new(number: u64, program: Program, host: Arc<dyn ScriptHost>, limits: ScriptLimits) -> Self {
        ScriptLane { number, program, host, limits, queue: Mutex::default() }
    }

    pub(super) fn is_loaded(&self) -> bool {
        self.with(|queue| matches!(queue.loaded, Loaded::Yes))
    }

    fn with<T>(&self, work: impl FnOnce(&mut Queue) -> T) -> T {
        work(&mut self.queue.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl State {
    pub(super) fn new(cpus: usize) -> Self {
        let (ready, idle, started) = (VecDeque::new(), Vec::new(), Vec::new());
        State { cpus: cpus.max(1), ready, running: 0, threads: 0, looking: 0, idle, started, next_serial: 0 }
    }

    /// Queues a task.
    pub(super) fn enqueue(&mut self, lane: &Arc<ScriptLane>, task: Task) -> Result<(), RefusedScript> {
        let refusal = lane.with(|queue| match &queue.loaded {
            Loaded::Never(fault) => Some(ScriptFault::NotLoaded(fault.to_string())),
            _ => (queue.waiting.len() >= WAITING_PER_API_MAX).then_some(ScriptFault::Busy),
        });
        if let Some(fault) = refusal {
            return Err(Box::new((task, fault)));
        }
        lane.with(|queue| queue.waiting.push_back(task));
        self.list(lane);
        Ok(())
    }

    /// The place in `ready` of the API whose turn it is, if one of its calls may run.
    fn turn(&self) -> Option<usize> {
        match self.running {
            ..RUNNING_MAX => (!self.ready.is_empty()).then_some(0),
            running if running < RUNNING_MAX + ONLY_CALLS_MAX => {
                self.ready.iter().position(|lane| lane.with(|queue| queue.running == 0))
            }
            _ => None,
        }
    }

    /// Whether a call waits for its turn.
    fn has_ready(&self) -> bool {
        self.turn().is_some()
    }

    /// The number of calls that may end soon.
    fn short_calls(&self, now: Instant) -> usize {
        let is_short = |started: &&StartedCall| !started.waits && now.saturating_duration_since(started.began) < SHORT_CALL;
        self.started.iter().filter(is_short).count()
    }

    /// The next task for a thread that was about to look for one, if one may run.
    pub(super) fn next(&mut self, now: Instant) -> Option<Assignment> {
        self.looking = self.looking.saturating_sub(1);
        let turn = self.turn().filter(|_| self.short_calls(now) < self.cpus)?;
        let lane = self.ready.remove(turn)?;
        let task = lane.with(|queue| {
            queue.is_ready = false;
            let task = queue.waiting.pop_front()?;
            queue.running += 1;
            queue.started += 1;
            Some(task)
        })?;
        self.running += 1;
        self.next_serial += 1;
        let serial = self.next_serial;
        self.started.push(StartedCall { serial, lane: lane.clone(), began: now, waits: false });
        self.list(&lane);
        Some(Assignment { lane, task, serial })
    }

    /// A thread that has found nothing looks again before it is idle.
    pub(super) fn look_again(&mut self) {
        self.looking += 1;
    }

    /// A call has ended, and its thread is about to look for another one.
    pub(super) fn end(&mut self, serial: u64) {
        let Some(at) = self.started.iter().position(|started| started.serial == serial) else { return };
        let started = self.started.swap_remove(at);
        self.running = self.running.saturating_sub(1);
        started.lane.with(|queue| {
            queue.running = queue.running.saturating_sub(1);
            queue.started = queue.started.saturating_sub(1);
        });
        self.list(&started.lane);
        self.looking += 1;
    }

    /// A program is loaded, or will never be. Returns the calls that wait in vain.
    pub(super) fn end_load(&mut self, lane: &Arc<ScriptLane>, result: Result<(), ProgramFault>) -> Vec<(Task, ScriptFault)> {
        let failed = lane.with(|queue| match result {
            Ok(()) => {
                queue.loaded = Loaded::Yes;
                Vec::new()
            }
            Err(fault) => {
                let text = fault.to_string();
                queue.loaded = Loaded::Never(fault);
                queue.waiting.drain(..).map(|task| (task, ScriptFault::NotLoaded(text.clone()))).collect()
            }
        });
        self.list(lane);
        failed
    }

    /// A call waits for another server, or goes on. It may go on even if others have taken its place.
    pub(super) fn wait(&mut self, serial: u64, waits: bool) {
        let Some(started) = self.started.iter_mut().find(|started| started.serial == serial) else { return };
        started.waits = waits;
        let lane = started.lane.clone();
        let step = |count: &mut usize| *count = if waits { count.saturating_sub(1) } else { *count + 1 };
        step(&mut self.running);
        lane.with(|queue| step(&mut queue.running));
        if waits {
            self.list(&lane);
        }
    }

    /// The thread that is missing for what is ready: to run it, or to watch. The caller wakes or starts it.
    pub(super) fn wanted_thread(&mut self, now: Instant) -> Option<WantedThread> {
        let is_missing = self.ready.len() > self.looking && self.short_calls(now) + self.looking < self.cpus;
        let is_watched = self.looking > 0 || self.idle.iter().any(|idle| idle.watches);
        if !self.has_ready() || !is_missing && is_watched {
            return None;
        }
        let wanted = match self.idle.pop() {
            Some(idle) => WantedThread::Idle(idle.thread),
            None if self.threads < THREADS_MAX => {
                self.threads += 1;
                WantedThread::New
            }
            None => return None,
        };
        self.looking += 1;
        Some(wanted)
    }

    /// A thread that was wanted could not be started.
    pub(super) fn miss_thread(&mut self) {
        self.looking = self.looking.saturating_sub(1);
        self.end_thread();
    }

    /// A thread ends.
    pub(super) fn end_thread(&mut self) {
        self.threads = self.threads.saturating_sub(1);
    }

    /// A thread has nothing to run. Returns how long it is to wait.
    pub(super) fn begin_idle(&mut self, thread: Thread) -> Duration {
        let watches = self.has_ready() && !self.idle.iter().any(|idle| idle.watches);
        self.idle.push(IdleThread { thread, watches });
        if watches { SHORT_CALL } else { IDLE_MAX }
    }

    /// A thread has waited, and is about to look for a call.
    pub(super) fn end_idle(&mut self, thread: &Thread) -> IdleEnd {
        let Some(at) = self.idle.iter().position(|idle| idle.thread.id() == thread.id()) else {
            // Whoever has woken it has taken it from the list.
            return IdleEnd::Woken;
        };
        self.idle.remove(at);
        self.looking += 1;
        IdleEnd::ByItself
    }

    /// Gives an API its turn, if it has a call that may run.
    fn list(&mut self, lane: &Arc<ScriptLane>) {
        let is_due = lane.with(|queue| {
            let may_run = queue.running < RUNNING_PER_API_MAX && queue.started < STARTED_PER_API_MAX;
            let is_due = !queue.is_ready && may_run && !queue.waiting.is_empty() && matches!(queue.loaded, Loaded::Yes);
            queue.is_ready |= is_due;
            is_due
        });
        if is_due {
            self.ready.push_back(lane.clone());
        }
    }
}

#[cfg(test)]
mod tests;
