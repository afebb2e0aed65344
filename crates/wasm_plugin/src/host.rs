//! What belongs to one instance of a module on the gateway's side: its memory, its call, its log.

use crate::deadline::Deadline;
use crate::limits::{MEMORY_BYTES_MAX, TABLE_ELEMENTS_MAX, TABLES_MAX};
use crate::plugin_log::PluginLog;
use crate::property::PluginFacts;
use crate::wasm_call::WasmCall;
use std::sync::Arc;
use wasmtime::{Memory, StoreLimits, StoreLimitsBuilder, TypedFunc};

/// The data of an instance.
pub(crate) struct Host {
    pub facts: Arc<PluginFacts>,
    /// Set when the instance has been made.
    pub memory: Option<Memory>,
    /// The module's function that reserves memory for what the gateway returns.
    pub allocate: Option<TypedFunc<i32, i32>>,
    pub limits: StoreLimits,
    pub deadline: Deadline,
    pub call: Option<WasmCall>,
    pub log: PluginLog,
}

impl Host {
    pub(crate) fn new(facts: Arc<PluginFacts>) -> Self {
        let limits = StoreLimitsBuilder::new()
            .memory_size(MEMORY_BYTES_MAX)
            .table_elements(TABLE_ELEMENTS_MAX)
            .tables(TABLES_MAX)
            .memories(1)
            .instances(1)
            .build();
        Host { facts, memory: None, allocate: None, limits, deadline: Deadline::Here(None), call: None, log: PluginLog::default() }
    }
}
