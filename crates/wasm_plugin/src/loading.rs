//! A plugin while it is loaded: its module is compiled and its first instance starts. Calls wait until that has ended.

use crate::hook_plugin::HookPlugin;
use crate::long_calls::CallOutcome;
use std::sync::{Arc, OnceLock};
use tokio::sync::watch;
use tollgate_plugin::{HookCall, HookFault};

/// A plugin that is loaded, or will be.
pub(crate) struct LoadingPlugin {
    result: OnceLock<Result<Arc<HookPlugin>, String>>,
    /// Becomes true when the result is there.
    has_ended: watch::Sender<bool>,
}

impl LoadingPlugin {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(LoadingPlugin { result: OnceLock::new(), has_ended: watch::Sender::new(false) })
    }

    /// Loads the plugin, on this thread.
    pub(crate) fn run(&self, load: impl FnOnce() -> Result<HookPlugin, String>) -> Result<(), String> {
        let loaded = load().map(Arc::new);
        let result = loaded.as_ref().map(drop).map_err(String::clone);
        // Set once, here.
        let _ = self.result.set(loaded);
        self.has_ended.send_replace(true);
        result
    }

    pub(crate) fn is_loaded(&self) -> bool {
        matches!(self.result.get(), Some(Ok(_)))
    }

    /// Calls the plugin as soon as it is loaded.
    pub(crate) async fn call(&self, mut call: HookCall) -> CallOutcome {
        if self.result.get().is_none() {
            let began = std::time::Instant::now();
            let mut ended = self.has_ended.subscribe();
            // An error says that the sender is gone, but this has it. Whoever calls gives up when the time is over.
            let _ = ended.wait_for(|ended| *ended).await;
            call.time_max = call.time_max.saturating_sub(began.elapsed());
        }
        match self.result.get() {
            Some(Ok(plugin)) => plugin.clone().call(call).await,
            Some(Err(why)) => Err(HookFault::Failed(format!("the plugin can't be loaded: {why}"))),
            None => Err(HookFault::Failed("the plugin is not loaded".to_owned())),
        }
    }
}
