//! The threads that have scripts run, each by a process of its own (`worker.rs`), which can be killed. The processes have a lower priority than the
//! data threads. Each API has its own queue, and the queues have their turns.

mod loading;
mod state;
mod thread;
mod worker;

use crate::ScriptHost;
use crate::fault::{ProgramFault, ScriptFault};
use crate::limits::ScriptLimits;
use crate::program::{Handler, Program};
use crate::sandbox::{Argument, SandboxEntry};
use loading::Spares;
use state::{RefusedScript, ScriptLane, State, WantedThread};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tollgate_plugin::LoadGate;
use worker::EngineWorker;

/// The threads that have scripts run, for the whole gateway, and their processes. They start when they are needed.
#[derive(Clone)]
pub struct ScriptEngine(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    gate: Arc<LoadGate>,
    spares: Spares,
    /// The number of the next program.
    next_number: AtomicU64,
}

/// The program of one API, ready to be called.
pub struct Script {
    engine: Arc<Shared>,
    lane: Arc<ScriptLane>,
}

/// One call.
pub struct ScriptCall {
    /// The function.
    pub handler: Handler,
    /// How it is called.
    pub entry: SandboxEntry,
    /// What the entry wants.
    pub arguments: [Argument; 4],
}

/// Where the result of a call goes.
pub trait ScriptReply: Send {
    /// Whether anybody still waits for it.
    fn is_awaited(&self) -> bool;
    /// Delivers it.
    fn send(self: Box<Self>, result: Result<String, ScriptFault>);
}

struct Task {
    call: ScriptCall,
    reply: Box<dyn ScriptReply>,
    deadline: Instant,
}

impl Default for ScriptEngine {
    fn default() -> Self {
        Self::new()
    }
}

impl ScriptEngine {
    /// Makes an engine without threads.
    pub fn new() -> Self {
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        let (state, gate, spares) = (Mutex::new(State::new(cpus)), Arc::default(), Spares::default());
        ScriptEngine(Arc::new(Shared { state, gate, spares, next_number: AtomicU64::new(0) }))
    }

    /// What all loads of plugins in this process pass.
    pub fn load_gate(&self) -> &Arc<LoadGate> {
        &self.0.gate
    }

    /// Loads a program: its top-level code runs. If that takes long, this returns before, and the calls of the script wait.
    pub fn load(&self, program: Program, host: Arc<dyn ScriptHost>, limits: ScriptLimits) -> Result<Script, ProgramFault> {
        let number = self.0.next_number.fetch_add(1, Ordering::Relaxed);
        let lane = Arc::new(ScriptLane::new(number, program, host, limits));
        loading::load(&self.0, &lane)?;
        Ok(Script { engine: self.0.clone(), lane })
    }
}

impl Script {
    /// Makes a call. Returns at once; the reply gets the result.
    pub fn call(&self, call: ScriptCall, reply: Box<dyn ScriptReply>) {
        let task = Task { call, reply, deadline: Instant::now() + self.lane.limits.time_max };
        if let Err(refused) = Shared::submit(&self.engine, &self.lane, task) {
            let (task, fault) = *refused;
            task.reply.send(Err(fault));
        }
    }

    /// Whether its program is loaded. Until then, calls wait; if it never is, they fail.
    pub fn is_loaded(&self) -> bool {
        self.lane.is_loaded()
    }

    /// The limits of its calls.
    pub fn limits(&self) -> ScriptLimits {
        self.lane.limits
    }

    /// The name of a handler, for messages.
    pub fn name_of(&self, handler: Handler) -> &str {
        self.lane.program.name_of(handler)
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_spare(&self) -> Option<EngineWorker> {
        self.spares.take()
    }

    /// Queues a task, and has a thread take it.
    fn submit(this: &Arc<Self>, lane: &Arc<ScriptLane>, task: Task) -> Result<(), RefusedScript> {
        let mut state = this.lock();
        state.enqueue(lane, task)?;
        let wanted = state.wanted_thread(Instant::now());
        drop(state);
        Self::wake_or_start(this, wanted);
        Ok(())
    }

    /// A program is loaded, or it never will be: the calls that wait for it begin or fail.
    fn end_load(this: &Arc<Self>, lane: &Arc<ScriptLane>, result: Result<(), ProgramFault>) {
        let mut state = this.lock();
        let failed = state.end_load(lane, result);
        let wanted = state.wanted_thread(Instant::now());
        drop(state);
        Self::wake_or_start(this, wanted);
        for (task, fault) in failed {
            task.reply.send(Err(fault));
        }
    }

    /// Wakes or starts the thread that is missing for a call. Not under the lock: what is woken wants it.
    fn wake_or_start(this: &Arc<Self>, wanted: Option<WantedThread>) {
        match wanted {
            Some(WantedThread::Idle(thread)) => thread.unpark(),
            Some(WantedThread::New) => Self::start_thread(this),
            None => {}
        }
    }

    fn start_thread(this: &Arc<Self>) {
        let engine = this.clone();
        let started = thread::spawn("script", move || thread::run(&engine));
        if started.is_err() {
            // The tasks wait for other threads, or until their time is over.
            this.lock().miss_thread();
        }
    }
}
