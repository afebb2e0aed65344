//! Handlers of events in plugins (`cp_dynamic_handler`): the server of gRPC plugins gets the events, as in Tyk.

use serde_json::{Value, json};
use std::pin::Pin;
use std::sync::Arc;
use tollgate_data::registry::Registry;
use tollgate_model::api::ApiDefinition;
use tollgate_observe::events::{EventPlugins, EventScript};
use tollgate_plugin::PluginDriver;

/// The only driver whose plugins handle events.
const DRIVER: &str = "grpc";

/// Finds the handlers of one API.
pub(super) struct PluginEvents<'a> {
    registry: &'a Registry,
    /// What a handler sees of its API.
    api: Value,
}

impl<'a> PluginEvents<'a> {
    pub(super) fn new(definition: &ApiDefinition, registry: &'a Registry) -> Self {
        PluginEvents { registry, api: json!({"APIID": definition.api_id, "OrgID": definition.org_id}) }
    }
}

impl EventPlugins for PluginEvents<'_> {
    fn handler(&self, name: &str) -> Result<Box<dyn EventScript>, String> {
        let drivers = self.registry.plugins.get().ok_or("this process has no plugins")?;
        let driver = drivers.get(DRIVER)?.clone();
        let ends = format!(",\"handler_name\":{},\"spec\":{}}}", json!(name), self.api);
        Ok(Box::new(PluginEventHandler { driver, ends }))
    }
}

struct PluginEventHandler {
    driver: Arc<dyn PluginDriver>,
    /// What follows the event in a message.
    ends: String,
}

impl EventScript for PluginEventHandler {
    fn call(&self, event: String) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send>> {
        // The driver has a queue of its own, and tells what it can't deliver.
        self.driver.event(format!("{{\"message\":{event}{}", self.ends));
        Box::pin(std::future::ready(Ok(())))
    }
}
