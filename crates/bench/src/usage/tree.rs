//! Resource usage of a process and its descendants, from /proc.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::ops::Sub;

/// USER_HZ is 100 on every architecture that this runs on.
const TICK_NS: u64 = 10_000_000;

/// Sums since the processes started. CPU time comes from the scheduler with nanosecond resolution; ticks only split it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ProcessUsage {
    pub cpu_ns: u64,
    pub user_ticks: u64,
    pub system_ticks: u64,
    pub voluntary_switches: u64,
    pub involuntary_switches: u64,
}

impl Sub for ProcessUsage {
    type Output = ProcessUsage;

    /// The difference. A thread that ended in between takes its part with it, so values are clamped at zero.
    fn sub(self, earlier: ProcessUsage) -> ProcessUsage {
        ProcessUsage {
            cpu_ns: self.cpu_ns.saturating_sub(earlier.cpu_ns),
            user_ticks: self.user_ticks.saturating_sub(earlier.user_ticks),
            system_ticks: self.system_ticks.saturating_sub(earlier.system_ticks),
            voluntary_switches: self.voluntary_switches.saturating_sub(earlier.voluntary_switches),
            involuntary_switches: self.involuntary_switches.saturating_sub(earlier.involuntary_switches),
        }
    }
}

impl std::iter::Sum for ProcessUsage {
    fn sum<I: Iterator<Item = ProcessUsage>>(all: I) -> ProcessUsage {
        all.fold(ProcessUsage::default(), |a, b| ProcessUsage {
            cpu_ns: a.cpu_ns + b.cpu_ns,
            user_ticks: a.user_ticks + b.user_ticks,
            system_ticks: a.system_ticks + b.system_ticks,
            voluntary_switches: a.voluntary_switches + b.voluntary_switches,
            involuntary_switches: a.involuntary_switches + b.involuntary_switches,
        })
    }
}

/// The ids of `root` and its descendants.
pub(crate) fn tree(root: u32) -> Vec<u32> {
    let mut found = vec![root];
    let mut at = 0;
    while let Some(pid) = found.get(at).copied() {
        at += 1;
        for thread in threads(pid) {
            let children = fs::read_to_string(format!("{thread}/children")).unwrap_or_default();
            found.extend(children.split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
        }
    }
    found
}

/// Resource usage so far of the tree below `root`.
pub(crate) fn usage(root: u32) -> ProcessUsage {
    let tree = tree(root);
    let ended = tree.iter().filter_map(|pid| ended_children(*pid));
    tree.iter().copied().flat_map(threads).filter_map(|thread| thread_usage(&thread)).chain(ended).sum()
}

/// Memory of the tree in KiB. Shared pages count once per process, as usual for sums of RSS.
pub(crate) fn memory_kib(root: u32) -> u64 {
    tree(root).into_iter().filter_map(|pid| status(&format!("/proc/{pid}"), "VmRSS")).sum()
}

fn threads(pid: u32) -> Vec<String> {
    let entries = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten();
    entries.filter_map(|entry| Some(entry.ok()?.path().to_string_lossy().into_owned())).collect()
}

/// CPU time of children that have ended, such as the workers before a reload: only in ticks.
fn ended_children(pid: u32) -> Option<ProcessUsage> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let ticks = |index: usize| stat_field(&stat, index).unwrap_or(0);
    let (user_ticks, system_ticks) = (ticks(13), ticks(14));
    Some(ProcessUsage { cpu_ns: (user_ticks + system_ticks) * TICK_NS, user_ticks, system_ticks, ..ProcessUsage::default() })
}

/// A field of `stat`, counted from the one after the command's name, which is in parentheses and may contain anything.
fn stat_field(stat: &str, index: usize) -> Option<u64> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(index)?.parse().ok()
}

/// `None` if the thread has ended meanwhile.
fn thread_usage(thread: &str) -> Option<ProcessUsage> {
    let scheduled = fs::read_to_string(format!("{thread}/schedstat")).ok()?;
    let stat = fs::read_to_string(format!("{thread}/stat")).ok()?;
    let ticks = |index: usize| stat_field(&stat, index).unwrap_or(0);
    let counts = status_numbers(thread);
    Some(ProcessUsage {
        cpu_ns: scheduled.split_whitespace().next()?.parse().ok()?,
        user_ticks: ticks(11),
        system_ticks: ticks(12),
        voluntary_switches: counts.get("voluntary_ctxt_switches").copied().unwrap_or(0),
        involuntary_switches: counts.get("nonvoluntary_ctxt_switches").copied().unwrap_or(0),
    })
}

fn status(process: &str, field: &str) -> Option<u64> {
    status_numbers(process).get(field).copied()
}

fn status_numbers(process: &str) -> BTreeMap<String, u64> {
    let text = fs::read_to_string(format!("{process}/status")).unwrap_or_default();
    text.lines()
        .filter_map(|line| {
            let (name, value) = line.split_once(':')?;
            Some((name.to_owned(), value.split_whitespace().next()?.parse().ok()?))
        })
        .collect()
}

#[cfg(test)]
mod tests;
