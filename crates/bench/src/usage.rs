//! Resource usage of processes: CPU time, memory and context switches, as counted by the kernel.

pub(crate) mod own;
pub(crate) mod tree;
