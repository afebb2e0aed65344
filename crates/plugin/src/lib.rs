//! The border between the gateway and plugins: what a hook sees and changes, and the trait that each driver implements. The objects are
//! Tyk's, without a wire format. And the bundles in which plugins come ([`bundle`]). Nothing here does I/O or knows a driver; [`LoadGate`] has threads on which drivers load what may take long.
#![forbid(unsafe_code)]

mod answer;
pub mod bundle;
mod call;
mod driver;
mod fault;
mod load_gate;
mod record;

pub use answer::{HookAnswer, QueryBase, RequestChanges, ReturnOverrides, SessionChange};
pub use call::{HookCall, HookKind, PluginApi, PluginRequest, PluginResponse};
pub use driver::{ApiPlugins, DriverName, HookFuture, LoadFault, LoadedPlugins, PluginDriver, PluginDrivers, UNSUPPORTED_DRIVERS};
pub use fault::HookFault;
pub use load_gate::LoadGate;
pub use record::{RecordAnswer, RecordPlugin, RecordReply};
