//! The driver of plugins in JavaScript: loads the scripts that a definition or a bundle names, and calls their middlewares.

use super::host::GatewayHost;
use super::record_script::RecordScript;
use super::{config_of, hook_fault, no_session, session_text};
use crate::registry::Registry;
use crate::script_settings::{ScriptSettings, read_script};
use crate::scripts;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use tollgate_javascript::{
    Argument, Constant, Handler, ProgramBuilder, SandboxEntry, Scope, Script, ScriptCall, request_answer, request_argument,
    response_answer, response_argument,
};
use tollgate_model::api::{PluginEntry, RecordPluginEntry};
use tollgate_plugin::{
    ApiPlugins, HookCall, HookFault, HookFuture, HookKind, LoadFault, LoadedPlugins, PluginDriver, RecordPlugin,
};
use tollgate_tls::TlsSettings;

/// One of Tyk's drivers for JavaScript.
pub struct ScriptDriver {
    pub scope: Scope,
    pub settings: ScriptSettings,
    /// The registry has the drivers.
    pub registry: Weak<Registry>,
    pub tls: TlsSettings,
    pub body_bytes_max: usize,
}

/// The scripts of one API.
struct ScriptPlugins {
    script: Script,
    hooks: HashMap<(HookKind, usize), ScriptHook>,
    config: Constant,
    no_session: Constant,
}

#[derive(Clone, Copy)]
struct ScriptHook {
    handler: Handler,
    require_session: bool,
}

impl PluginDriver for ScriptDriver {
    fn load(&self, plugins: &ApiPlugins<'_>) -> Result<Arc<dyn LoadedPlugins>, LoadFault> {
        let whole = |message: String| LoadFault { path: "$.custom_middleware".to_owned(), message };
        let mut builder = self.settings.program().map_err(|why| whole(format!("tyk_js_path: {why}")))?;
        let mut hooks = HashMap::new();
        for (kind, index, entry) in entries(plugins) {
            let path = match kind {
                HookKind::AuthCheck => "$.custom_middleware.auth_check".to_owned(),
                kind => format!("$.custom_middleware.{}[{index}]", kind.field()),
            };
            let handler = self
                .add(&mut builder, plugins, &format!("{}[{index}].code", kind.field()), entry)
                .map_err(|(field, message)| LoadFault { path: format!("{path}.{field}"), message })?;
            hooks.insert((kind, index), ScriptHook { handler, require_session: entry.require_session });
        }
        let (config, no_session) = (builder.constant(&config_of(plugins.definition)), builder.constant(&no_session()));
        let script = self.start(builder, plugins).map_err(whole)?;
        Ok(Arc::new(ScriptPlugins { script, hooks, config, no_session }))
    }

    fn load_record_plugin(
        &self,
        plugins: &ApiPlugins<'_>,
        declared: &RecordPluginEntry,
    ) -> Option<Result<Arc<dyn RecordPlugin>, LoadFault>> {
        let loaded = self.load_record_script(plugins, &declared.entry);
        let fault = |message: String| LoadFault { path: declared.place.to_owned(), message };
        Some(loaded.map(|script| Arc::new(script) as Arc<dyn RecordPlugin>).map_err(fault))
    }
}

/// The hooks that are in effect.
fn entries<'p>(plugins: &'p ApiPlugins<'_>) -> impl Iterator<Item = (HookKind, usize, &'p PluginEntry)> {
    let section = plugins.section;
    let lists = [
        (HookKind::Pre, section.pre.as_slice()),
        (HookKind::AuthCheck, std::slice::from_ref(&section.auth_check)),
        (HookKind::PostKeyAuth, section.post_key_auth.as_slice()),
        (HookKind::Post, section.post.as_slice()),
        (HookKind::Response, section.response.as_slice()),
    ];
    let all = lists.into_iter().flat_map(|(kind, list)| list.iter().enumerate().map(move |(index, entry)| (kind, index, entry)));
    all.filter(|(_, _, entry)| !entry.disabled && !entry.name.is_empty())
}

impl ScriptDriver {
    fn load_record_script(&self, plugins: &ApiPlugins<'_>, entry: &PluginEntry) -> Result<RecordScript, String> {
        let mut builder = self.settings.program().map_err(|why| format!("tyk_js_path: {why}"))?;
        let handler =
            self.add(&mut builder, plugins, "traffic_logs.code", entry).map_err(|(field, why)| format!("{field}: {why}"))?;
        let config = builder.constant(&config_of(plugins.definition));
        // A queue of its own: records must not keep requests waiting.
        Ok(RecordScript { script: self.start(builder, plugins)?, handler, config })
    }

    fn start(&self, builder: ProgramBuilder, plugins: &ApiPlugins<'_>) -> Result<Script, String> {
        let registry = self.registry.upgrade().ok_or("the gateway ends")?;
        let definition = plugins.definition;
        let host = GatewayHost::new(&definition.api_id, &registry, self.tls.for_api(definition), self.body_bytes_max);
        let script = registry.scripts.load(builder.build(), Arc::new(host), self.settings.limits);
        script.map_err(|fault| fault.to_string())
    }

    /// Adds the script of a hook; `Err` is the field and the reason.
    fn add(
        &self,
        builder: &mut ProgramBuilder,
        plugins: &ApiPlugins<'_>,
        code_name: &str,
        entry: &PluginEntry,
    ) -> Result<Handler, (&'static str, String)> {
        let source = if entry.code.is_empty() {
            let path = located(plugins, &entry.path);
            if path.extension().is_none_or(|extension| extension != "js") {
                return Err(("path", format!("{}: must be a file with the extension .js", entry.path)));
            }
            let text = read_script(&path).map_err(|why| ("path", why))?;
            builder.source(&entry.path, text, self.scope)
        } else {
            let bytes = STANDARD.decode(&entry.code).map_err(|error| ("code", format!("is not base64: {error}")))?;
            let text = String::from_utf8(bytes).map_err(|_| ("code", "is not text in UTF-8".to_owned()))?;
            builder.source(code_name, text, Scope::Own)
        };
        builder.handler(source, &entry.name).map_err(|fault| ("name", fault.message))
    }
}

/// The file of a hook: in its bundle; else as Tyk finds it, from the working directory; else in the folder of plugins.
fn located(plugins: &ApiPlugins<'_>, path: &str) -> PathBuf {
    let written = Path::new(path);
    if plugins.bundle_files.is_none() && written.is_file() { written.to_owned() } else { plugins.directory.join(written) }
}

impl LoadedPlugins for ScriptPlugins {
    fn call(&self, call: HookCall) -> HookFuture {
        let Some(hook) = self.hooks.get(&(call.kind, call.index)).copied() else {
            return Box::pin(std::future::ready(Err(HookFault::Failed("there is no such hook".to_owned()))));
        };
        if call.kind == HookKind::Response { self.call_for_response(call, hook) } else { self.call_for_request(call, hook) }
    }

    fn is_loaded(&self) -> bool {
        self.script.is_loaded()
    }
}

impl ScriptPlugins {
    fn call_for_request(&self, call: HookCall, hook: ScriptHook) -> HookFuture {
        let sees_session = hook.require_session && matches!(call.kind, HookKind::PostKeyAuth | HookKind::Post);
        let session = match (sees_session, &call.session) {
            (false, _) => Argument::Constant(self.no_session),
            (true, Some(session)) => Argument::Json(session_text(session)),
            // As in Tyk, which has none without authentication.
            (true, None) => Argument::Json("null".to_owned()),
        };
        // Anything says that the script may change the session's `meta_data`.
        let takes_meta = if sees_session { Argument::Constant(self.no_session) } else { Argument::None };
        let arguments = [request_argument(call.request, true), session, Argument::Constant(self.config), takes_meta];
        let called = scripts::call(&self.script, ScriptCall { handler: hook.handler, entry: SandboxEntry::Request, arguments });
        let (kind, session) = (call.kind, call.session.filter(|_| sees_session));
        Box::pin(async move {
            let text = called.await.map_err(hook_fault)?;
            let meta_data = session.as_ref().map(|session| &session.meta_data);
            request_answer(&text, kind, meta_data).map_err(hook_fault)
        })
    }

    fn call_for_response(&self, call: HookCall, hook: ScriptHook) -> HookFuture {
        let response = call.response.unwrap_or_default();
        let session = call.session.map(|session| session_text(&session));
        let arguments = [
            response_argument(&response),
            request_argument(call.request, false),
            session.map_or(Argument::Constant(self.no_session), Argument::Json),
            Argument::Constant(self.config),
        ];
        let called = scripts::call(&self.script, ScriptCall { handler: hook.handler, entry: SandboxEntry::Response, arguments });
        Box::pin(async move {
            let text = called.await.map_err(hook_fault)?;
            response_answer(&text, response).map_err(hook_fault)
        })
    }
}
