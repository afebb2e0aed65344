//! In place of the driver of plugins in WebAssembly, in a gateway that is built without it.

use std::sync::Arc;
use tollgate_plugin::{LoadGate, PluginDriver};

/// Why there is no driver.
pub(super) fn driver(_: usize, _: &Arc<LoadGate>) -> Result<Arc<dyn PluginDriver>, String> {
    Err("this gateway was built without `wasm`: plugins in WebAssembly cannot be loaded".to_owned())
}

#[cfg(test)]
mod tests {
    use super::driver;
    use tollgate_plugin::PluginDrivers;

    #[test]
    fn a_gateway_without_webassembly_names_the_feature() {
        let mut drivers = PluginDrivers::default();
        drivers.add("wasm", driver(1, &Default::default()));
        let refused = drivers.get("wasm").err().unwrap_or_default();
        assert!(refused.contains("built without `wasm`"), "{refused}");
    }
}
