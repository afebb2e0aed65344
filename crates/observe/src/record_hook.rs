//! The plugin of an API that changes its records.

use super::hook_meter::HookMeter;
use std::fmt;
use std::sync::Arc;
use tollgate_plugin::RecordPlugin;

/// The plugin of an API that changes its records.
pub struct RecordHook {
    /// `None` if it can't be loaded: then no record is written.
    pub plugin: Option<Arc<dyn RecordPlugin>>,
    pub meter: Arc<HookMeter>,
}

impl fmt::Debug for RecordHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordHook").field("is_loaded", &self.plugin.is_some()).finish_non_exhaustive()
    }
}
