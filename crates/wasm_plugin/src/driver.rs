//! The driver `wasm`: every hook names the file of its module.

use crate::compiled::{self, WasmEngine};
use crate::hook_plugin::HookPlugin;
use crate::loading::LoadingPlugin;
use crate::long_calls::LongCalls;
use crate::property::PluginFacts;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use tollgate_model::api::PluginEntry;
use tollgate_plugin::{ApiPlugins, HookCall, HookFault, HookFuture, HookKind, LoadFault, LoadGate, LoadedPlugins, PluginDriver};

/// How much less time than the data threads the start of a module gets when both want to run: about a tenth.
const NICENESS: i32 = 10;

/// The driver. It starts nothing before an API uses it.
pub struct WasmDriver {
    /// Number of data threads.
    threads: usize,
    engine: OnceLock<Result<Arc<WasmEngine>, String>>,
    long_calls: Arc<LongCalls>,
    gate: Arc<LoadGate>,
}

/// The plugins of an API, by hook and place.
struct WasmPlugins(Vec<LoadedHook>);

struct LoadedHook {
    kind: HookKind,
    index: usize,
    plugin: Arc<LoadingPlugin>,
}

impl WasmDriver {
    /// A driver for so many data threads. Modules are loaded behind the gate.
    pub fn new(threads: usize, gate: Arc<LoadGate>) -> Self {
        WasmDriver { threads, engine: OnceLock::new(), long_calls: Arc::default(), gate }
    }

    fn engine(&self) -> Result<&Arc<WasmEngine>, &str> {
        let engine = self.engine.get_or_init(|| WasmEngine::new().map(Arc::new));
        engine.as_ref().map_err(String::as_str)
    }

    fn plugin(&self, plugins: &ApiPlugins<'_>, kind: HookKind, entry: &PluginEntry) -> Result<Arc<LoadingPlugin>, String> {
        let engine = self.engine()?.clone();
        let file = file(plugins, entry)?;
        let bytes = compiled::read(&file).map_err(|why| format!("{}: {why}", file.display()))?;
        let definition = plugins.definition;
        let has_config =
            !definition.config_data_disabled && definition.config_data.as_object().is_some_and(|data| !data.is_empty());
        let facts = PluginFacts {
            hook: kind.field(),
            name: entry.name.clone(),
            api: definition.api_id.clone(),
            configuration: if has_config { definition.config_data.to_string().into_bytes() } else { Vec::new() },
        };
        let plugin = LoadingPlugin::new();
        let (own, long_calls, threads) = (plugin.clone(), self.long_calls.clone(), self.threads);
        let api = facts.api.clone();
        let load = move || {
            let compiled = engine.module(&bytes);
            // Only now: threads that compile would keep it.
            let _ = rustix::process::setpriority_process(None, NICENESS);
            let started = compiled.and_then(|module| HookPlugin::start(&engine, module, facts, &long_calls, threads));
            started.map_err(|why| format!("{}: {why}", file.display()))
        };
        let late = move |why: &String| tracing::error!(api, why, "a plugin can't be loaded; its calls fail");
        let loaded = self.gate.load(move || own.run(load), late).map_err(|error| error.to_string())?;
        loaded.unwrap_or(Ok(())).map(|()| plugin)
    }
}

/// The file of a hook's module.
fn file(plugins: &ApiPlugins<'_>, entry: &PluginEntry) -> Result<PathBuf, String> {
    if entry.path.is_empty() {
        return Err("must name the file of a WebAssembly module".to_owned());
    }
    let path = Path::new(&entry.path);
    let is_listed = |files: &[String]| files.iter().any(|file| Path::new(file) == path);
    if plugins.bundle_files.is_some_and(|files| !is_listed(files)) {
        return Err(format!("the bundle has no file {:?}", entry.path));
    }
    Ok(plugins.directory.join(path))
}

impl PluginDriver for WasmDriver {
    fn load(&self, plugins: &ApiPlugins<'_>) -> Result<Arc<dyn LoadedPlugins>, LoadFault> {
        let mut loaded = Vec::new();
        for (kind, index, entry, path) in entries(plugins) {
            let plugin = self.plugin(plugins, kind, entry).map_err(|message| LoadFault { path, message })?;
            loaded.push(LoadedHook { kind, index, plugin });
        }
        Ok(Arc::new(WasmPlugins(loaded)))
    }
}

/// The hooks that are in effect, with the JSON paths of their files.
fn entries<'a>(plugins: &ApiPlugins<'a>) -> Vec<(HookKind, usize, &'a PluginEntry, String)> {
    let section = plugins.section;
    let lists = [
        (HookKind::Pre, &section.pre),
        (HookKind::PostKeyAuth, &section.post_key_auth),
        (HookKind::Post, &section.post),
        (HookKind::Response, &section.response),
    ];
    let each = |(kind, entries): (HookKind, &'a Vec<PluginEntry>)| {
        entries
            .iter()
            .enumerate()
            .map(move |(index, entry)| (kind, index, entry, format!("$.custom_middleware.{}[{index}].path", kind.field())))
    };
    let mut all: Vec<_> = lists.into_iter().flat_map(each).collect();
    let identifies = &section.auth_check;
    if !identifies.name.is_empty() || !identifies.path.is_empty() {
        all.push((HookKind::AuthCheck, 0, identifies, "$.custom_middleware.auth_check.path".to_owned()));
    }
    all.retain(|(_, _, entry, _)| !entry.disabled);
    all
}

impl LoadedPlugins for WasmPlugins {
    fn call(&self, call: HookCall) -> HookFuture {
        let found = self.0.iter().find(|hook| hook.kind == call.kind && hook.index == call.index);
        match found {
            Some(hook) => {
                let plugin = hook.plugin.clone();
                Box::pin(async move { plugin.call(call).await })
            }
            None => Box::pin(std::future::ready(Err(HookFault::Failed("there is no such hook".to_owned())))),
        }
    }

    fn is_loaded(&self) -> bool {
        self.0.iter().all(|hook| hook.plugin.is_loaded())
    }
}
