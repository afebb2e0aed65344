//! The process that runs scripts, one call at a time, with the engines of the programs that it has loaded. It has no descriptors but the
//! socket to the gateway, and ends with it.

use crate::ScriptHost;
use crate::http_call::{HttpCall, HttpReply};
use crate::limits::THREAD_STACK_BYTES;
use crate::sandbox::Sandbox;
use crate::wire::{HostAnswer, Said, ScriptLink, WireOrder};
use rustix::process::{Resource, Rlimit, getrlimit, setpriority_process, setrlimit};
use std::collections::HashMap;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The first argument of such a process.
pub(crate) const ARGUMENT: &str = "script_worker";
/// The variable that such a process has beside it, so that nobody starts one by mistake.
pub(crate) const VARIABLE: &str = "TOLLGATE_SCRIPT_WORKER";

/// A third of the data threads' share of a CPU: scripts do not take it from those who do not wait for them. With a tenth, a data thread interrupted the
/// scripts for each of their results, and a header change cost a quarter more.
const NICENESS: i32 = 5;
/// A shorter call cannot have taken much memory, so it is not asked about.
const SHORT_CALL: Duration = Duration::from_millis(1);
/// How much larger than after the last load a process may be after a call: it ends, and its memory is free.
const GROWTH_KIB_MAX: u64 = 24 << 10;
/// Descriptors: more than a process of scripts has.
const DESCRIPTORS_MAX: u64 = 16;
/// The kernel ends a process of scripts before it ends the gateway.
const OOM_SCORE: &str = "500";

/// Runs scripts if this process was started for that, until the gateway ends. False if it is any other process. Call this first in `main`.
pub fn serve_scripts_if_asked() -> bool {
    let is_asked = std::env::args().nth(1).as_deref() == Some(ARGUMENT) && std::env::var_os(VARIABLE).is_some();
    if is_asked {
        // The gateway finds that the process has ended.
        let _ = serve();
    }
    is_asked
}

fn serve() -> io::Result<()> {
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    // Threads that start later have it too. A system that forbids it has no other effect.
    let _ = setpriority_process(None, NICENESS);
    end_with_gateway()?;
    confine();
    let gateway = Arc::new(GatewayPipe(Mutex::new(ScriptLink::new(socket))));
    let mut worker = ScriptProcess { gateway, engines: HashMap::new(), usual_kib: resident_kib() };
    let thread = std::thread::Builder::new().name("script".to_owned()).stack_size(THREAD_STACK_BYTES);
    thread.spawn(move || worker.run())?.join().map_err(|_| io::Error::other("the script's thread has crashed"))?
}

/// The other end of what is the standard output here is never written to. Its end is the gateway's, even if a script hangs.
fn end_with_gateway() -> io::Result<()> {
    let mut life = UnixStream::from(io::stdout().as_fd().try_clone_to_owned()?);
    let watch = move || {
        while life.read(&mut [0]).is_ok_and(|count| count > 0) {}
        std::process::exit(0);
    };
    std::thread::Builder::new().name("gateway-watch".to_owned()).stack_size(64 << 10).spawn(watch).map(drop)
}

/// Takes away what scripts do not need. What a system forbids has no other effect.
fn confine() {
    let limit = |resource, maximum: u64| {
        let maximum = getrlimit(resource).maximum.map_or(maximum, |known| known.min(maximum));
        let _ = setrlimit(resource, Rlimit { current: Some(maximum), maximum: Some(maximum) });
    };
    limit(Resource::Nofile, DESCRIPTORS_MAX);
    limit(Resource::Core, 0);
    let _ = std::fs::write("/proc/self/oom_score_adj", OOM_SCORE);
}

struct ScriptProcess {
    gateway: Arc<GatewayPipe>,
    engines: HashMap<u64, Sandbox>,
    /// Memory after the last load.
    usual_kib: u64,
}

impl ScriptProcess {
    /// Does what the gateway orders.
    fn run(&mut self) -> io::Result<()> {
        loop {
            let order = self.gateway.lock().receive::<WireOrder<'static>>()?;
            let began = Instant::now();
            if let Some(said) = self.obey(order, began) {
                self.gateway.lock().send(&said, None)?;
            }
        }
    }

    fn obey(&mut self, order: WireOrder<'_>, began: Instant) -> Option<Said> {
        match order {
            WireOrder::Load { number, program, limits, time_max, quiet } => {
                let program = Arc::new(program.into_owned());
                let made = Sandbox::new(program, self.gateway.clone(), limits, quiet, began + time_max);
                let result = made.map(|sandbox| drop(self.engines.insert(number, sandbox)));
                if result.is_ok() {
                    self.usual_kib = resident_kib();
                }
                Some(Said::Loaded { goes_on: result.is_ok() || self.goes_on(), result })
            }
            WireOrder::Forget(number) => {
                self.engines.remove(&number);
                None
            }
            WireOrder::Call { number, entry, handler, arguments, time_max } => {
                let sandbox = self.engines.get(&number)?;
                let (result, is_kept) = sandbox.run(entry, handler, &arguments, began + time_max);
                if !is_kept {
                    self.engines.remove(&number);
                }
                let goes_on = began.elapsed() < SHORT_CALL || self.goes_on();
                Some(Said::Done { result, is_kept, goes_on })
            }
            // Nothing was asked.
            WireOrder::Answer(_) => None,
        }
    }

    fn goes_on(&self) -> bool {
        resident_kib() <= self.usual_kib.saturating_add(GROWTH_KIB_MAX)
    }
}

/// Memory of this process; 0 on systems that do not say.
fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or_default()
}

/// The host of all scripts here: the gateway at the other end of the socket, which also knows how much time is left.
struct GatewayPipe(Mutex<ScriptLink>);

impl GatewayPipe {
    fn lock(&self) -> MutexGuard<'_, ScriptLink> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn say(&self, said: &Said) {
        if self.lock().send(said, None).is_err() {
            // Nobody waits for the script any more.
            std::process::exit(0);
        }
    }

    fn ask(&self, question: &Said) -> HostAnswer {
        self.say(question);
        match self.lock().receive::<WireOrder<'static>>() {
            Ok(WireOrder::Answer(answer)) => answer,
            _ => std::process::exit(0),
        }
    }
}

impl ScriptHost for GatewayPipe {
    fn log(&self, text: &str) {
        self.say(&Said::Log(text.to_owned()));
    }

    fn raw_log(&self, text: &str) {
        self.say(&Said::RawLog(text.to_owned()));
    }

    fn send(&self, call: HttpCall, _: Duration) -> Option<HttpReply> {
        match self.ask(&Said::Send(call)) {
            HostAnswer::Reply(reply) => reply,
            _ => None,
        }
    }

    fn send_all(&self, calls: Vec<HttpCall>, in_turn: bool, _: Duration) -> Vec<Option<HttpReply>> {
        match self.ask(&Said::SendAll { calls, in_turn }) {
            HostAnswer::Replies(replies) => replies,
            _ => Vec::new(),
        }
    }

    fn key(&self, key: &str, api_id: &str, _: Duration) -> String {
        match self.ask(&Said::Key { key: key.to_owned(), api_id: api_id.to_owned() }) {
            HostAnswer::Key(session) => session,
            _ => String::new(),
        }
    }

    fn set_key(&self, key: &str, session: &str, keep_counters: bool, _: Duration) -> Result<(), String> {
        match self.ask(&Said::SetKey { key: key.to_owned(), session: session.to_owned(), keep_counters }) {
            HostAnswer::KeySet(result) => result,
            _ => Err("the gateway did not answer".to_owned()),
        }
    }
}
