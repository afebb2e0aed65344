//! Metrics of this process from the operating system. Unavailable ones are left out.

use rustix::process::{Resource, getrlimit};
use rustix::time::{ClockId, clock_gettime};

/// Metrics of the process under their conventional names: gauges, and the CPU time in seconds.
pub(super) struct ProcessFigures {
    pub cpu_s: f64,
    pub resident_bytes: Option<u64>,
    pub open_files: Option<usize>,
    pub open_files_max: Option<u64>,
}

impl ProcessFigures {
    pub(super) fn read() -> Self {
        let cpu = clock_gettime(ClockId::ProcessCPUTime);
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let resident_kib =
            status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().split(' ').next()?.parse::<u64>().ok());
        ProcessFigures {
            cpu_s: cpu.tv_sec as f64 + cpu.tv_nsec as f64 / 1e9,
            resident_bytes: resident_kib.map(|kib| kib * 1024),
            open_files: std::fs::read_dir("/proc/self/fd").ok().map(Iterator::count),
            open_files_max: getrlimit(Resource::Nofile).current,
        }
    }
}
