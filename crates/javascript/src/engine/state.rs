//! Which call runs next. Pure bookkeeping under one lock, without threads.

use super::Task;
use crate::ScriptHost;
use crate::fault::ScriptFault;
use crate::limits::ScriptLimits;
use crate::program::Program;
use crate::sandbox::Sandbox;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// Scripts that run at one time, without those that wait for other servers. More than CPUs, so that some endless loops leave room.
const RUNNING_MAX: usize = 16;
/// Scripts of one API that run at one time.
const RUNNING_PER_API_MAX: usize = 4;
/// Calls of one API that run or wait for other servers. Each has a thread.
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
/// How long after its deadline a call still runs before it is given up: the interpreter looks at the clock every few thousand steps, but a
/// few built-in functions never do.
const GIVEN_UP_AFTER: Duration = Duration::from_secs(1);
/// Calls of one API that may have been given up before it gets no more threads.
const GIVEN_UP_MAX: usize = 2;

pub(super) struct State {
    cpus: usize,
    /// APIs whose turn it is, in this order.
    ready: VecDeque<Arc<Lane>>,
    running: usize,
    threads: usize,
    /// Threads that are about to look for a call: woken, started, or at the end of a call.
    looking: usize,
    /// Threads without a call. The one that has been idle for the shortest time is the last, and the first to be woken.
    idle: Vec<IdleThread>,
    started: Vec<Started>,
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
pub(super) struct Lane {
    pub program: Arc<Program>,
    pub host: Arc<dyn ScriptHost>,
    pub limits: ScriptLimits,
    queue: Mutex<Queue>,
    idle: Mutex<Vec<Sandbox>>,
}

/// Changed only under the lock of the state; the lock of its own makes it `Sync`.
#[derive(Default)]
struct Queue {
    waiting: VecDeque<Task>,
    running: usize,
    started: usize,
    given_up: usize,
    is_ready: bool,
}

/// A task that is not queued, and why.
pub(super) type Refused = Box<(Task, ScriptFault)>;

/// A call that has a thread.
struct Started {
    serial: u64,
    lane: Arc<Lane>,
    began: Instant,
    deadline: Instant,
    /// Whether it waits for another server.
    waits: bool,
}

/// What a thread gets.
pub(super) struct Assignment {
    pub lane: Arc<Lane>,
    pub task: Task,
    pub serial: u64,
}

impl Lane {
    pub(super) fn new(program: Arc<Program>, host: Arc<dyn ScriptHost>, limits: ScriptLimits) -> Self {
        Lane { program, host, limits, queue: Mutex::default(), idle: Mutex::default() }
    }

    fn with<T>(&self, work: impl FnOnce(&mut Queue) -> T) -> T {
        work(&mut self.queue.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// An engine that has loaded the program already.
    pub(super) fn take_sandbox(&self) -> Option<Sandbox> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    /// Keeps an engine for the next call.
    pub(super) fn keep_sandbox(&self, sandbox: Sandbox) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < RUNNING_PER_API_MAX {
            idle.push(sandbox);
        }
    }
}

impl State {
    pub(super) fn new(cpus: usize) -> Self {
        let (ready, idle, started) = (VecDeque::new(), Vec::new(), Vec::new());
        State { cpus: cpus.max(1), ready, running: 0, threads: 0, looking: 0, idle, started, next_serial: 0 }
    }

    /// Queues a task.
    pub(super) fn enqueue(&mut self, lane: &Arc<Lane>, task: Task, now: Instant) -> Result<(), Refused> {
        self.give_up(now);
        let refusal = lane.with(|queue| {
            let is_full = queue.waiting.len() >= WAITING_PER_API_MAX;
            (queue.given_up >= GIVEN_UP_MAX).then_some(ScriptFault::Barred).or(is_full.then_some(ScriptFault::Busy))
        });
        if let Some(fault) = refusal {
            return Err(Box::new((task, fault)));
        }
        lane.with(|queue| queue.waiting.push_back(task));
        self.list(lane);
        Ok(())
    }

    /// Whether a call waits for its turn.
    fn has_ready(&self) -> bool {
        !self.ready.is_empty() && self.running < RUNNING_MAX
    }

    /// The number of calls that may end soon.
    fn short_calls(&self, now: Instant) -> usize {
        let is_short = |started: &&Started| !started.waits && now.saturating_duration_since(started.began) < SHORT_CALL;
        self.started.iter().filter(is_short).count()
    }

    /// The next task for a thread that was about to look for one, if one may run.
    pub(super) fn next(&mut self, now: Instant) -> Option<Assignment> {
        self.looking = self.looking.saturating_sub(1);
        if !self.has_ready() || self.short_calls(now) >= self.cpus {
            return None;
        }
        let lane = self.ready.pop_front()?;
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
        self.started.push(Started { serial, lane: lane.clone(), began: now, deadline: task.deadline, waits: false });
        self.list(&lane);
        Some(Assignment { lane, task, serial })
    }

    /// A thread that has found nothing looks again before it is idle.
    pub(super) fn look_again(&mut self) {
        self.looking += 1;
    }

    /// A call has ended, and its thread is about to look for another one. False if it was given up meanwhile.
    pub(super) fn end(&mut self, serial: u64) -> bool {
        let Some(at) = self.started.iter().position(|started| started.serial == serial) else { return false };
        let started = self.started.swap_remove(at);
        self.running = self.running.saturating_sub(1);
        started.lane.with(|queue| {
            queue.running = queue.running.saturating_sub(1);
            queue.started = queue.started.saturating_sub(1);
        });
        self.list(&started.lane);
        self.looking += 1;
        true
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

    /// A thread that was wanted could not be started, or ends in place of looking for a call.
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
    fn list(&mut self, lane: &Arc<Lane>) {
        let is_due = lane.with(|queue| {
            let may_run = queue.running < RUNNING_PER_API_MAX && queue.started < STARTED_PER_API_MAX;
            let is_due = !queue.is_ready && may_run && !queue.waiting.is_empty();
            queue.is_ready |= is_due;
            is_due
        });
        if is_due {
            self.ready.push_back(lane.clone());
        }
    }

    /// Gives up calls that should have ended long ago. Their threads are lost until they end.
    fn give_up(&mut self, now: Instant) {
        let is_lost = |started: &Started| now > started.deadline + GIVEN_UP_AFTER;
        if !self.started.iter().any(is_lost) {
            return;
        }
        let (lost, kept) = std::mem::take(&mut self.started).into_iter().partition::<Vec<_>, _>(is_lost);
        self.started = kept;
        for started in lost {
            self.running = self.running.saturating_sub(1);
            self.threads = self.threads.saturating_sub(1);
            started.lane.with(|queue| {
                queue.running = queue.running.saturating_sub(1);
                queue.started = queue.started.saturating_sub(1);
                queue.given_up += 1;
            });
            self.list(&started.lane);
        }
    }
}

#[cfg(test)]
mod tests;
