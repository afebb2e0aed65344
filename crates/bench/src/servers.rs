//! The servers that this program can be: the upstream of scenarios, and the relay that is the floor of what a gateway costs.

mod listeners;
pub(crate) mod relay;
pub(crate) mod upstream;
