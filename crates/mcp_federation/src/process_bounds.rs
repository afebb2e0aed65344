//! What a child process and all that it starts may use. The system itself bounds what one of them allocates; what they use together is looked at twice
//! a second, where the system tells it in `/proc`. What leaves the group of its process is not seen.

use rustix::process::{Pid, Resource, Rlimit, prlimit};
use std::collections::VecDeque;
use std::fs;
use std::future::pending;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Time between two looks.
const LOOK: Duration = Duration::from_millis(500);
/// How far time on processors is counted back.
const WINDOW: Duration = Duration::from_secs(60);
/// How much more than all may use together one process may allocate: much of that is never used, and in no time between two looks does it get more.
const ALLOCATED: u64 = 4;
/// Units of time on processors in a second: those of Linux for programs.
const TICKS_PER_S: u64 = 100;

/// What a process and all that it starts may use together; 0 is no bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessBounds {
    /// Memory that is theirs alone, in MiB.
    pub memory_mib: u64,
    /// Processes.
    pub processes: u64,
    /// Seconds on processors within a minute.
    pub cpu_s: u64,
}

/// What a group of processes uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct GroupUse {
    memory_kib: u64,
    processes: u64,
    cpu_ticks: u64,
}

impl ProcessBounds {
    /// Has the system bound what a process allocates, and each that it starts.
    pub(crate) fn apply(self, process: Option<Pid>) {
        if let Some(bytes) = self.memory_mib.checked_mul(ALLOCATED << 20).filter(|bytes| *bytes > 0) {
            let bound = Rlimit { current: Some(bytes), maximum: Some(bytes) };
            // Where the system has no such bound, looking must do.
            let _ = process.map(|process| prlimit(Some(process), Resource::Data, bound));
        }
    }

    /// Waits until a group of processes uses too much, and says of what.
    pub(crate) async fn exceeded(self, group: Option<Pid>) -> String {
        let Some(group) = group.filter(|_| self != ProcessBounds::default()) else { return pending().await };
        let mut past: VecDeque<(Instant, u64)> = VecDeque::new();
        loop {
            // Many processes are many files.
            let used = tokio::task::spawn_blocking(move || used_by(group.as_raw_pid())).await.unwrap_or_default();
            let now = Instant::now();
            while past.front().is_some_and(|(when, _)| now.duration_since(*when) > WINDOW) {
                past.pop_front();
            }
            let cpu_before = past.front().map_or(0, |(_, ticks)| *ticks);
            past.push_back((now, used.cpu_ticks));
            // What has ended takes its time along.
            if let Some(why) = self.fault_of(used, used.cpu_ticks.saturating_sub(cpu_before) / TICKS_PER_S) {
                return why;
            }
            sleep(LOOK).await;
        }
    }

    fn fault_of(self, used: GroupUse, cpu_s: u64) -> Option<String> {
        let ProcessBounds { memory_mib, processes, cpu_s: cpu_s_max } = self;
        let used_mib = used.memory_kib >> 10;
        if memory_mib > 0 && used.memory_kib > memory_mib.saturating_mul(1 << 10) {
            return Some(format!("it used {used_mib} MiB of memory, more than its memory_mib of {memory_mib}"));
        }
        if processes > 0 && used.processes > processes {
            return Some(format!("it had {} processes, more than the {processes} that it may have", used.processes));
        }
        let is_busy = cpu_s_max > 0 && cpu_s > cpu_s_max;
        is_busy.then(|| format!("it used {cpu_s} s of processors within a minute, more than its cpu_s of {cpu_s_max}"))
    }
}

/// What a group uses now; nothing where that cannot be known.
fn used_by(group: i32) -> GroupUse {
    let mut used = GroupUse::default();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(pid) = name.to_str().filter(|name| name.bytes().all(|byte| byte.is_ascii_digit())) else { continue };
        let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { continue };
        let Some(cpu_ticks) = ticks_of_member(&stat, group) else { continue };
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        used.processes += 1;
        used.cpu_ticks += cpu_ticks;
        used.memory_kib += own_memory_kib(&status);
    }
    used
}

/// The time that a process and those that it has waited for were on processors; `None` if it is not in the group.
fn ticks_of_member(stat: &str, group: i32) -> Option<u64> {
    // Its name may have any characters.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    let field = |at: usize| fields.get(at)?.parse::<u64>().ok();
    if fields.get(2)?.parse::<i32>().ok()? != group {
        return None;
    }
    (11..=14).map(field).sum()
}

/// Memory of a process that is not a file's.
fn own_memory_kib(status: &str) -> u64 {
    let of = |line: &str| {
        let (name, value) = line.split_once(':')?;
        let is_own = matches!(name, "RssAnon" | "RssShmem" | "VmSwap");
        value.trim().strip_suffix(" kB").filter(|_| is_own)?.trim().parse::<u64>().ok()
    };
    status.lines().filter_map(of).sum()
}

#[cfg(test)]
mod tests;
