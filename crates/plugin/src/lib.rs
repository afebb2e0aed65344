//! The border between the gateway and plugins: what a hook sees and changes, and the trait that each driver implements. The objects are
//! Tyk's, without a wire format. Nothing here does I/O or knows a driver.
#![forbid(unsafe_code)]

mod answer;
mod call;
mod driver;

pub use answer::{HookAnswer, QueryBase, RequestChanges, ReturnOverrides, SessionChange};
pub use call::{HookCall, HookKind, PluginApi, PluginRequest, PluginResponse};
pub use driver::{
    ApiPlugins, DriverName, HookFault, HookFuture, LoadFault, LoadedPlugins, PluginDriver, PluginDrivers, UNSUPPORTED_DRIVERS,
};
