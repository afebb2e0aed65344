//! Handlers of events in JavaScript (`eh_dynamic_handler`).

use super::config_of_events;
use crate::registry::Registry;
use crate::script_settings::ScriptSettings;
use crate::settings::Settings;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use tollgate_javascript::{Argument, Constant, Handler, SandboxEntry, Scope, Script, ScriptCall};
use tollgate_model::api::ApiDefinition;
use tollgate_observe::events::{EventScript, EventScripts};

/// Loads the handlers of one API.
pub struct ApiEventScripts<'a> {
    definition: &'a ApiDefinition,
    scripts: &'a ScriptSettings,
    settings: &'a Settings,
    registry: &'a Arc<Registry>,
}

impl<'a> ApiEventScripts<'a> {
    /// `None` if no scripts may run.
    pub fn new(definition: &'a ApiDefinition, settings: &'a Settings, registry: &'a Arc<Registry>) -> Option<Self> {
        Some(ApiEventScripts { definition, scripts: settings.documents.scripts.as_ref()?, settings, registry })
    }
}

impl EventScripts for ApiEventScripts<'_> {
    fn load(&self, name: &str, file: &Path, text: String) -> Result<Box<dyn EventScript>, (&'static str, String)> {
        let mut builder = self.scripts.program().map_err(|why| ("path", format!("tyk_js_path: {why}")))?;
        let source = builder.source(&file.to_string_lossy(), text, Scope::Shared);
        let handler = builder.handler(source, name).map_err(|fault| ("name", fault.message))?;
        let context = builder.constant(&config_of_events(self.definition));
        let script = super::load(builder, self.definition, self.scripts, self.settings, self.registry);
        let script = script.map_err(|fault| ("path", fault.to_string()))?;
        Ok(Box::new(LoadedEventScript { script, handler, context }))
    }
}

struct LoadedEventScript {
    script: Script,
    handler: Handler,
    context: Constant,
}

impl EventScript for LoadedEventScript {
    fn call(&self, event: String) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send>> {
        let arguments = [Argument::Json(event), Argument::Constant(self.context), Argument::None, Argument::None];
        let called = super::call(&self.script, ScriptCall { handler: self.handler, entry: SandboxEntry::Event, arguments });
        Box::pin(async move { called.await.map(drop).map_err(|fault| fault.to_string()) })
    }
}
