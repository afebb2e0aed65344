//! The trait of a driver, and the drivers of a gateway.

use crate::{HookAnswer, HookCall, HookFault, RecordPlugin};
use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use tollgate_model::api::{ApiDefinition, CustomMiddleware, RecordPluginEntry};

/// The plugins of one API, as they are loaded.
pub struct ApiPlugins<'a> {
    /// The API.
    pub definition: &'a ApiDefinition,
    /// Its hooks: `custom_middleware` of the definition, or of the bundle.
    pub section: &'a CustomMiddleware,
    /// The directory that the hooks' paths are relative to: that of the bundle, or the configuration's `middleware_path`.
    pub directory: &'a Path,
    /// The files of the bundle, relative to `directory`, if there is a bundle.
    pub bundle_files: Option<&'a [String]>,
}

/// Loads the plugins of APIs. One for each name of `custom_middleware.driver`, for the lifetime of the process.
pub trait PluginDriver: Send + Sync {
    /// Loads the plugins of one API. Called when a definition is compiled, never on a data thread.
    fn load(&self, plugins: &ApiPlugins<'_>) -> Result<Arc<dyn LoadedPlugins>, LoadFault>;

    /// Loads the plugin of an API that changes analytics records. `None` if the driver has no such plugins.
    fn load_record_plugin(
        &self,
        _plugins: &ApiPlugins<'_>,
        _declared: &RecordPluginEntry,
    ) -> Option<Result<Arc<dyn RecordPlugin>, LoadFault>> {
        None
    }

    /// Delivers an event to the handler with this name (Tyk's `DispatchEvent`). Must not block.
    fn event(&self, _event: String) {}
}

/// The plugins of one API, ready to be called. A reload makes new ones; those of requests in flight live until they end.
pub trait LoadedPlugins: Send + Sync {
    /// Calls a hook. Called on a data thread, in its runtime: it must return at once, and the future must not block. The future is dropped
    /// when [`HookCall::time_max`] is over or the client is gone; the driver then ends the call.
    fn call(&self, call: HookCall) -> HookFuture;

    /// Whether they are loaded. Until then, calls wait; no request goes on without its plugin because that takes long.
    fn is_loaded(&self) -> bool {
        true
    }
}

/// A call in flight. It stays on its data thread, so it need not be `Send`.
pub type HookFuture = Pin<Box<dyn Future<Output = Result<HookAnswer, HookFault>>>>;

/// Why the plugins of an API can't be loaded. Every request to the API is refused then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadFault {
    /// JSON path of the field, such as `$.custom_middleware.pre[0].path`.
    pub path: String,
    /// What is wrong, with the file, and the way out.
    pub message: String,
}

/// A name of `custom_middleware.driver`.
pub type DriverName = &'static str;

/// Drivers that only Tyk can have, and the way out.
pub const UNSUPPORTED_DRIVERS: [(DriverName, &str); 3] = [
    ("goplugin", "Go plugins are compiled into one build of Tyk; serve the same functions over gRPC, with \"driver\": \"grpc\""),
    ("python", "Python runs inside Tyk's process; serve the same functions over gRPC, with \"driver\": \"grpc\""),
    ("lua", "Lua runs inside Tyk's process; use \"driver\": \"grpc\" or \"otto\""),
];

/// The drivers of a gateway, by name.
#[derive(Default)]
pub struct PluginDrivers {
    drivers: Vec<NamedDriver>,
}

struct NamedDriver {
    name: DriverName,
    /// The driver, or why there is none.
    driver: Result<Arc<dyn PluginDriver>, String>,
}

impl PluginDrivers {
    /// Adds a driver, or the reason why this gateway has none of that name.
    pub fn add(&mut self, name: DriverName, driver: Result<Arc<dyn PluginDriver>, String>) {
        self.drivers.push(NamedDriver { name, driver });
    }

    /// The driver with this name, or the reason why there is none.
    pub fn get(&self, name: &str) -> Result<&Arc<dyn PluginDriver>, &str> {
        let found = self.drivers.iter().find(|known| known.name == name).map(|known| known.driver.as_ref());
        found.map_or(Err("there is no such driver"), |driver| driver.map_err(String::as_str))
    }
}
