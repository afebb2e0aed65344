//! Which call runs next. Pure bookkeeping under one lock, without threads.

use super::Task;
use crate::ScriptHost;
use crate::fault::ScriptFault;
use crate::limits::ScriptLimits;
use crate::program::Program;
use crate::sandbox::Sandbox;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
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
/// How long after its deadline a call still runs before it is given up: the interpreter looks at the clock every few thousand steps, but a
/// few built-in functions never do.
const GIVEN_UP_AFTER: Duration = Duration::from_secs(1);
/// Calls of one API that may have been given up before it gets no more threads.
const GIVEN_UP_MAX: usize = 2;

#[derive(Default)]
pub(super) struct State {
    /// APIs whose turn it is, in this order.
    ready: VecDeque<Arc<Lane>>,
    running: usize,
    pub(super) threads: usize,
    pub(super) idle: usize,
    started: Vec<Started>,
    next_serial: u64,
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
    deadline: Instant,
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

    /// Whether a call may run now.
    pub(super) fn has_ready(&self) -> bool {
        !self.ready.is_empty() && self.running < RUNNING_MAX
    }

    /// The next task, if one may run.
    pub(super) fn next(&mut self) -> Option<Assignment> {
        if self.running >= RUNNING_MAX {
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
        self.started.push(Started { serial, lane: lane.clone(), deadline: task.deadline });
        self.list(&lane);
        Some(Assignment { lane, task, serial })
    }

    /// A call has ended. False if it was given up meanwhile.
    pub(super) fn end(&mut self, serial: u64) -> bool {
        let Some(at) = self.started.iter().position(|started| started.serial == serial) else { return false };
        let started = self.started.swap_remove(at);
        self.running = self.running.saturating_sub(1);
        started.lane.with(|queue| {
            queue.running = queue.running.saturating_sub(1);
            queue.started = queue.started.saturating_sub(1);
        });
        self.list(&started.lane);
        true
    }

    /// A call waits for another server, or goes on. It may go on even if others have taken its place.
    pub(super) fn wait(&mut self, serial: u64, waits: bool) {
        let Some(started) = self.started.iter().find(|started| started.serial == serial) else { return };
        let lane = started.lane.clone();
        let step = |count: &mut usize| *count = if waits { count.saturating_sub(1) } else { *count + 1 };
        step(&mut self.running);
        lane.with(|queue| step(&mut queue.running));
        if waits {
            self.list(&lane);
        }
    }

    /// Whether a thread is missing for what is ready; it then counts as started.
    pub(super) fn wants_thread(&mut self) -> bool {
        let wanted = self.idle == 0 && self.has_ready() && self.threads < THREADS_MAX;
        self.threads += usize::from(wanted);
        wanted
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
