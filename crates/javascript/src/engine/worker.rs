//! A process that runs scripts, as the gateway sees it. The interpreter ends a call at its deadline by itself; a built-in function looks at
//! no clock, so the process is killed if it has not answered shortly after.

use super::state::ScriptLane;
use crate::ScriptHost;
use crate::fault::{ProgramFault, ScriptFault};
use crate::limits::LOAD_TIME_MAX;
use crate::wire::{HostAnswer, Said, ScriptLink, WireOrder, is_patient};
use crate::worker_process::{ARGUMENT, VARIABLE};
use std::borrow::Cow;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use super::ScriptCall;

/// How long after its deadline a call may still answer. The interpreter looks at the clock every few thousand steps.
const GRACE: Duration = Duration::from_millis(50);
/// How often a call that has not answered is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Programs that one process keeps loaded, of half a megabyte each.
const ENGINES_MAX: usize = 64;

/// One process.
pub(super) struct EngineWorker {
    child: Child,
    link: ScriptLink,
    /// Its other end is the process's sign that the gateway lives.
    _life: UnixStream,
    /// What is loaded there. The last one was called last.
    loaded: Vec<(u64, Weak<ScriptLane>)>,
    is_usable: bool,
}

/// Told when a script waits for something else than itself, so that another can run meanwhile.
pub(super) trait Waits {
    fn begin(&self);
    fn end(&self);
}

/// Why no answer came.
enum Lost {
    Late,
    Ended,
}

impl EngineWorker {
    /// Starts a process.
    pub(super) fn start() -> io::Result<Self> {
        let (own, theirs) = UnixStream::pair()?;
        let (life, their_life) = UnixStream::pair()?;
        own.set_read_timeout(Some(LOOK_EVERY))?;
        own.set_write_timeout(Some(LOOK_EVERY))?;
        let mut command = Command::new(own_program()?);
        command.arg0("tollgate-scripts").arg(ARGUMENT).env_clear().env(VARIABLE, "1").current_dir("/");
        // For a program whose libraries are elsewhere. Nothing else of the environment, which may have secrets.
        command.envs(std::env::var_os("LD_LIBRARY_PATH").map(|path| ("LD_LIBRARY_PATH", path)));
        command.stdin(Stdio::from(OwnedFd::from(theirs))).stdout(Stdio::from(OwnedFd::from(their_life)));
        Ok(EngineWorker { child: command.spawn()?, link: ScriptLink::new(own), _life: life, loaded: Vec::new(), is_usable: true })
    }

    /// Whether it can run another call.
    pub(super) fn is_usable(&self) -> bool {
        self.is_usable
    }

    /// Loads a program. Its top-level code runs; `quiet` leaves out what that logs.
    pub(super) fn load(
        &mut self,
        lane: &Arc<ScriptLane>,
        quiet: bool,
        waits: &dyn Waits,
        time_max: Duration,
    ) -> Result<(), ProgramFault> {
        let end = Instant::now() + time_max + GRACE;
        self.make_room(end);
        let (number, limits) = (lane.number, lane.limits);
        let order = WireOrder::Load { number, program: Cow::Borrowed(&lane.program), limits, time_max, quiet };
        let said = self.give(&order, end).and_then(|()| self.until_done(&*lane.host, waits, end));
        match said {
            Ok(Said::Loaded { result, goes_on }) => {
                self.is_usable &= goes_on;
                result.map(|()| self.loaded.push((number, Arc::downgrade(lane))))
            }
            said => Err(ProgramFault { source: String::new(), message: self.give_up(said).load_fault() }),
        }
    }

    /// Makes a call, and loads its program before if need be.
    pub(super) fn call(
        &mut self,
        lane: &Arc<ScriptLane>,
        call: &ScriptCall,
        waits: &dyn Waits,
        deadline: Instant,
    ) -> Result<String, ScriptFault> {
        let late = || ScriptFault::Timeout(lane.limits.time_max);
        let time_left = || Some(deadline.saturating_duration_since(Instant::now())).filter(|time| !time.is_zero());
        match self.loaded.iter().position(|(number, _)| *number == lane.number) {
            Some(at) => self.loaded.get_mut(at..).unwrap_or_default().rotate_left(1),
            None => {
                let time_max = time_left().ok_or_else(late)?.min(LOAD_TIME_MAX);
                let loaded = self.load(lane, true, waits, time_max);
                loaded.map_err(|fault| if time_left().is_none() { late() } else { ScriptFault::NotLoaded(fault.to_string()) })?;
            }
        }
        let (end, arguments) = (deadline + GRACE, Cow::Borrowed(&call.arguments));
        let time_max = time_left().ok_or_else(late)?;
        let order = WireOrder::Call { number: lane.number, entry: call.entry, handler: call.handler, arguments, time_max };
        match self.give(&order, end).and_then(|()| self.until_done(&*lane.host, waits, end)) {
            Ok(Said::Done { result, is_kept, goes_on }) => {
                self.is_usable &= goes_on;
                if !is_kept {
                    self.loaded.pop();
                }
                result
            }
            said => Err(match self.give_up(said) {
                Lost::Late => late(),
                Lost::Ended => ScriptFault::Ended,
            }),
        }
    }

    /// Frees programs that are no longer in service, and the one that was called least recently if there are too many.
    fn make_room(&mut self, end: Instant) {
        let excess = (self.loaded.len() + 1).saturating_sub(ENGINES_MAX);
        let is_due = |(index, (_, lane)): (usize, &(u64, Weak<ScriptLane>))| index < excess || lane.strong_count() == 0;
        let due: Vec<u64> = self.loaded.iter().enumerate().filter(|entry| is_due(*entry)).map(|(_, (number, _))| *number).collect();
        self.loaded.retain(|(number, _)| !due.contains(number));
        // A process that does not hear this does not hear the next order either.
        due.into_iter().for_each(|number| drop(self.give(&WireOrder::Forget(number), end)));
    }

    fn give(&mut self, order: &WireOrder<'_>, end: Instant) -> Result<(), Lost> {
        self.link.send(order, Some(end)).map_err(|error| if is_patient(&error) { Lost::Late } else { Lost::Ended })
    }

    /// Does what the script asks of its host, until it is done.
    fn until_done(&mut self, host: &dyn ScriptHost, waits: &dyn Waits, end: Instant) -> Result<Said, Lost> {
        let time_left = || (end - GRACE).saturating_duration_since(Instant::now());
        loop {
            let said = self.hear(end)?;
            let answer = match said {
                Said::Log(text) => {
                    host.log(&text);
                    continue;
                }
                Said::RawLog(text) => {
                    host.raw_log(&text);
                    continue;
                }
                Said::Send(call) => waiting(waits, || HostAnswer::Reply(host.send(call, time_left()))),
                Said::SendAll { calls, in_turn } => {
                    waiting(waits, || HostAnswer::Replies(host.send_all(calls, in_turn, time_left())))
                }
                Said::Key { key, api_id } => waiting(waits, || HostAnswer::Key(host.key(&key, &api_id, time_left()))),
                Said::SetKey { key, session, keep_counters } => {
                    waiting(waits, || HostAnswer::KeySet(host.set_key(&key, &session, keep_counters, time_left())))
                }
                done => return Ok(done),
            };
            self.give(&WireOrder::Answer(answer), end)?;
        }
    }

    fn hear(&mut self, end: Instant) -> Result<Said, Lost> {
        loop {
            match self.link.receive() {
                Ok(said) => return Ok(said),
                Err(error) if !is_patient(&error) => return Err(Lost::Ended),
                Err(_) if Instant::now() >= end => return Err(Lost::Late),
                Err(_) => {}
            }
        }
    }

    /// The process has not answered, or not with what was to come.
    fn give_up(&mut self, said: Result<Said, Lost>) -> Lost {
        self.is_usable = false;
        said.err().unwrap_or(Lost::Ended)
    }
}

impl Drop for EngineWorker {
    fn drop(&mut self) {
        // Fails only if the process has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Lost {
    fn load_fault(&self) -> String {
        let text = match self {
            Lost::Late => "its top-level code takes too long, or logs too much",
            Lost::Ended => "the process that runs its top-level code has ended",
        };
        text.to_owned()
    }
}

fn waiting<T>(waits: &dyn Waits, work: impl FnOnce() -> T) -> T {
    waits.begin();
    let result = work();
    waits.end();
    result
}

/// This program, even if its file has been replaced meanwhile.
fn own_program() -> io::Result<PathBuf> {
    let linux = Path::new("/proc/self/exe");
    if linux.exists() { Ok(linux.to_owned()) } else { std::env::current_exe() }
}
