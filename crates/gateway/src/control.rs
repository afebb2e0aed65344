//! The control plane: it reads definitions, compiles them to what the data plane serves, and answers the control API.

pub(crate) mod api;
pub(crate) mod certificate_watch;
pub(crate) mod compile;
pub(crate) mod definition;
pub(crate) mod definition_set;
pub(crate) mod figures_question;
pub(crate) mod file_changes;
pub(crate) mod known_keys;
pub(crate) mod loader;
pub(crate) mod nodes;
pub(crate) mod ports;
pub(crate) mod replay;
pub(crate) mod shared_definitions;
pub(crate) mod statistics;
pub(crate) mod target_watcher;
