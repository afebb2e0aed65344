//! What processes use: CPU time, memory, context switches, as the kernel counts them.

pub(crate) mod own;
pub(crate) mod tree;
