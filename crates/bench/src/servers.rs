//! Servers within this program: the upstream of scenarios, and the relay that is the lower bound for the cost of a gateway.

mod listeners;
pub(crate) mod relay;
pub(crate) mod upstream;
