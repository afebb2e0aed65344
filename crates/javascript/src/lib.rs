//! JavaScript as Tyk's plugins and virtual endpoints are written in it, on QuickJS. A [`Program`] is what one API loads; a [`Script`] has
//! calls of it run by processes beside the gateway, each within [`ScriptLimits`]. A process that does not answer in time is killed. Nothing of one call is left for the next. Scripts reach the
//! world only through [`ScriptHost`]: this crate opens no socket and reads no file.
#![forbid(unsafe_code)]

mod bindings;
mod call_state;
mod engine;
mod fault;
mod hook;
mod http_call;
mod limits;
mod objects;
mod program;
mod sandbox;
mod wire;
mod worker_process;

pub use engine::{Script, ScriptCall, ScriptEngine, ScriptReply};
pub use fault::{ProgramFault, ScriptFault};
pub use hook::{request_answer, response_answer};
pub use http_call::{HttpCall, HttpReply};
pub use limits::ScriptLimits;
pub use objects::{VirtualAnswer, VirtualRequest, request_argument, response_argument, spec};
pub use program::{Constant, Handler, Program, ProgramBuilder, Scope};
pub use sandbox::{Argument, SandboxEntry};
pub use worker_process::serve_scripts_if_asked;

use std::time::Duration;

/// What scripts can do beside calculating. All calls block the script's thread, and must end within their time.
pub trait ScriptHost: Send + Sync {
    /// A program that took long has not been loaded in the end. Whoever loaded it no longer waits.
    fn load_failed(&self, _: &ProgramFault) {}
    /// A line of `log`.
    fn log(&self, text: &str);
    /// A line of `rawlog`.
    fn raw_log(&self, text: &str);
    /// Sends a request; `None` when no response came.
    fn send(&self, call: HttpCall, time_max: Duration) -> Option<HttpReply>;
    /// Sends several requests, at once or one after the other. Replies are in the order of the requests.
    fn send_all(&self, calls: Vec<HttpCall>, in_turn: bool, time_max: Duration) -> Vec<Option<HttpReply>>;
    /// A key's session as JSON, or Tyk's answer for an unknown key.
    fn key(&self, key: &str, api_id: &str, time_max: Duration) -> String;
    /// Stores a key's session, given as JSON; with `keep_counters`, its rates and quotas go on.
    fn set_key(&self, key: &str, session: &str, keep_counters: bool, time_max: Duration) -> Result<(), String>;
}

#[cfg(test)]
mod tests;
