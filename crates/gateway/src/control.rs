//! The control plane: it reads definitions, compiles them to what the data plane serves, and answers the control API.

pub mod api;
pub mod compile;
pub mod loader;
