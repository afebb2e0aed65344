//! The threads that run scripts. They have a lower priority than the data threads (`priority.rs`). Each API has its own queue, and
//! the queues have their turns.

mod state;
mod thread;

use crate::ScriptHost;
use crate::bindings::Waits;
use crate::fault::{ProgramFault, ScriptFault};
use crate::limits::ScriptLimits;
use crate::program::{Handler, Program};
use crate::sandbox::{Argument, Entry, Sandbox};
use state::{Lane, Refused, State, WantedThread};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The threads that run scripts, for the whole process. They start when they are needed.
#[derive(Clone)]
pub struct ScriptEngine(Arc<Shared>);

struct Shared(Mutex<State>);

/// The program of one API, ready to be called.
pub struct Script {
    engine: Arc<Shared>,
    lane: Arc<Lane>,
}

/// One call.
pub struct ScriptCall {
    /// The function.
    pub handler: Handler,
    /// How it is called.
    pub entry: Entry,
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
        ScriptEngine(Arc::new(Shared(Mutex::new(State::new(cpus)))))
    }

    /// Loads a program: its top-level code runs, on a thread of its own, because it needs much stack.
    pub fn load(&self, program: Program, host: Arc<dyn ScriptHost>, limits: ScriptLimits) -> Result<Script, ProgramFault> {
        let lane = Arc::new(Lane::new(Arc::new(program), host, limits));
        let (own, engine) = (lane.clone(), self.0.clone());
        let load = move || own.new_sandbox(Arc::new(NoWaits), false).map(|sandbox| drop((sandbox, engine)));
        let failed =
            |why: &str| ProgramFault { source: String::new(), message: format!("the script engine can't be started: {why}") };
        let thread = thread::spawn("script-load", load).map_err(|error| failed(&error.to_string()))?;
        thread.join().unwrap_or_else(|_| Err(failed("it crashed")))?;
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

    /// The limits of its calls.
    pub fn limits(&self) -> ScriptLimits {
        self.lane.limits
    }

    /// The name of a handler, for messages.
    pub fn name_of(&self, handler: Handler) -> &str {
        self.lane.program.name_of(handler)
    }
}

impl Lane {
    fn new_sandbox(&self, waits: Arc<dyn Waits>, quiet: bool) -> Result<Sandbox, ProgramFault> {
        Sandbox::new(self.program.clone(), self.host.clone(), waits, self.limits, quiet)
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a task, and has a thread take it.
    fn submit(this: &Arc<Self>, lane: &Arc<Lane>, task: Task) -> Result<(), Refused> {
        let now = Instant::now();
        let mut state = this.lock();
        state.enqueue(lane, task, now)?;
        let wanted = state.wanted_thread(now);
        drop(state);
        Self::wake_or_start(this, wanted);
        Ok(())
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

/// While a program is loaded, nobody waits for its thread.
struct NoWaits;

impl Waits for NoWaits {
    fn begin(&self) {}
    fn end(&self) {}
}
