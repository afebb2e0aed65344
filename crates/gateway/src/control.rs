//! The control plane: it reads definitions, compiles them to what the data plane serves, and answers the control API.

pub(crate) mod api;
pub(crate) mod certificate_watch;
pub(crate) mod compile;
pub(crate) mod definitions;
pub(crate) mod figures_question;
pub(crate) mod known_keys;
pub(crate) mod nodes;
pub(crate) mod ports;
pub(crate) mod replay;
pub(crate) mod statistics;
pub(crate) mod target_watcher;
