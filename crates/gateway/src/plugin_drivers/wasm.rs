//! The driver of plugins in WebAssembly.

use std::sync::Arc;
use tollgate_plugin::{LoadGate, PluginDriver};
use tollgate_wasm_plugin::WasmDriver;

/// The driver, for so many data threads.
pub(super) fn driver(threads: usize, gate: &Arc<LoadGate>) -> Result<Arc<dyn PluginDriver>, String> {
    Ok(Arc::new(WasmDriver::new(threads, gate.clone())))
}
