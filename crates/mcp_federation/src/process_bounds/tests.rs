use super::{GroupUse, ProcessBounds, own_memory_kib, ticks_of_member};
use crate::process::ProcessGroup;
use std::time::Duration;
use tokio::process::Command;
use tokio::time::timeout;

/// What is said when a script uses too much. A hang is the only thing that the time is for.
async fn said_of(script: &str, bounds: ProcessBounds) -> String {
    let mut command = Command::new("sh");
    command.args(["-c", script]).stdout(std::process::Stdio::null());
    let process = ProcessGroup::start(command, bounds).unwrap();
    timeout(Duration::from_secs(60), process.exceeded()).await.unwrap_or_else(|_| panic!("{script}"))
}

#[tokio::test]
async fn a_process_that_uses_too_much_is_told_with_all_that_it_has_started() {
    // Each of them alone uses less.
    let eats = "eat() { head -c 50000000 /dev/zero | tail -c 50000000 | sleep 1000; }; eat & eat & wait";
    let said = said_of(eats, ProcessBounds { memory_mib: 64, ..ProcessBounds::default() }).await;
    assert!(said.contains("MiB of memory, more than its memory_mib of 64"), "{said}");
    let starts = "for n in 1 2 3 4 5 6 7 8; do sleep 1000 & done; wait";
    let said = said_of(starts, ProcessBounds { processes: 8, ..ProcessBounds::default() }).await;
    assert_eq!(said, "it had 9 processes, more than the 8 that it may have");
    let said = said_of("while :; do :; done", ProcessBounds { cpu_s: 1, ..ProcessBounds::default() }).await;
    assert!(said.contains("more than its cpu_s of 1"), "{said}");
}

/// A script that starts too many processes as soon as its own allocations are bounded.
#[tokio::test]
async fn the_system_bounds_what_a_process_allocates() {
    let script = "while [ \"$(ulimit -d)\" != 4096000 ]; do :; done; sleep 1000 & sleep 1000 & sleep 1000 & wait";
    let said = said_of(script, ProcessBounds { memory_mib: 1_000, processes: 3, cpu_s: 0 }).await;
    assert_eq!(said, "it had 4 processes, more than the 3 that it may have");
}

#[test]
fn what_a_group_uses_is_read_of_its_members_alone() {
    let stat = "7 (a) b) S 1 42 42 0 -1 4194560 1 1 0 0 10 20 3 4 20 0 1 0 1 1 1";
    assert_eq!((ticks_of_member(stat, 42), ticks_of_member(stat, 1), ticks_of_member("", 42)), (Some(37), None, None));
    let status = "Name:\tRssAnon: 9 kB\nVmRSS:\t 99 kB\nRssAnon:\t 10 kB\nRssFile:\t 50 kB\nRssShmem:\t 4 kB\nVmSwap:\t 2 kB\n";
    assert_eq!((own_memory_kib(status), own_memory_kib("")), (16, 0));
}

#[test]
fn what_is_0_has_no_bound() {
    let much = GroupUse { memory_kib: u64::MAX, processes: u64::MAX, cpu_ticks: 0 };
    assert_eq!(ProcessBounds::default().fault_of(much, u64::MAX), None);
    let bounds = ProcessBounds { memory_mib: 1, processes: 1, cpu_s: 1 };
    assert_eq!(bounds.fault_of(GroupUse { memory_kib: 1 << 10, processes: 1, cpu_ticks: 0 }, 1), None);
}
