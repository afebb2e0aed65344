//! Plugins of APIs on the data path: what hooks see of a request, how their calls hold it, and what they may change. Which plugins there
//! are, and what runs them, is the business of `tollgate_plugin` and its drivers.

mod changes;
mod hooks;
mod meta_data;
mod request;
mod response;

pub use hooks::{ApiHooks, HookList, HookOutcome, PluginsOfApi, StartedCall};
pub use meta_data::{MetaDataWriter, session_of};
pub use request::{plugin_headers, plugin_request};
pub use response::{HookedResponse, show_request};

use crate::refusal::Refusal;

/// Largest name and value of all headers together that one hook sets. A larger head is accepted by hardly any server.
pub const HEADER_BYTES_MAX: usize = 64 << 10;

/// Longest URL that a hook sets, as long as the head of a request may be.
pub const URL_BYTES_MAX: usize = 64 << 10;

/// A change that a hook must not make. Clients see `Middleware error`; the log has the reason.
#[derive(Debug)]
pub struct BadChange(pub String);

impl BadChange {
    /// Logs it, and refuses the request.
    pub fn refuse(&self, api: &str, hook: &str) -> Refusal {
        tracing::warn!(api, hook, reason = self.0, "a plugin's changes are not allowed: the request is refused");
        crate::refusal::PLUGIN_FAILED
    }
}
