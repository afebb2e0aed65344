//! Loads the plugins of an API. If that fails, the API refuses every request.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use tollgate_data::bundle_store::hashed;
use tollgate_data::middleware::Context;
use tollgate_data::plugins::MetaDataWriter;
use tollgate_data::plugins::{ApiHooks, PluginsOfApi};
use tollgate_model::api::{ApiDefinition, CustomMiddleware, RecordPluginEntry, SUPPORTED_DRIVERS};
use tollgate_observe::RecordHook;
use tollgate_plugin::{ApiPlugins, LoadFault, PluginApi, RecordPlugin, UNSUPPORTED_DRIVERS};

/// What the bundles of a definition make of it.
#[derive(Default)]
pub(super) struct Bundled {
    /// The definition with the hooks of its bundles.
    pub definition: Option<ApiDefinition>,
    /// Directory and files of a single bundle.
    only: Option<(PathBuf, Vec<String>)>,
    /// The bundles can't be had.
    is_missing: bool,
}

impl Bundled {
    /// Reads the bundles of a definition, and reports why they can't be had.
    pub(super) fn of(definition: &ApiDefinition, context: &mut Context<'_>) -> Self {
        if !definition.has_bundle() {
            return Bundled::default();
        }
        match Bundled::read(definition, context) {
            Ok(bundled) => bundled,
            Err(why) => {
                context.warning("$.custom_middleware_bundle", format!("{why}: every request is refused"));
                Bundled { is_missing: true, ..Bundled::default() }
            }
        }
    }

    fn read(definition: &ApiDefinition, context: &Context<'_>) -> Result<Self, String> {
        let bundles = context.registry.bundles.get().ok_or("this process has no bundles")?;
        let names: Vec<&str> =
            definition.custom_middleware_bundle.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
        let mut kept = Vec::new();
        for name in names {
            kept.push(bundles.get(name, &context.registry.auth_client).map_err(|why| format!("the bundle {name:?}: {why}"))?);
        }
        let mut own = definition.clone();
        own.custom_middleware = CustomMiddleware::default();
        if let [only] = kept.as_slice() {
            own.custom_middleware = only.manifest.custom_middleware.clone();
            let only = Some((only.directory.clone(), only.manifest.file_list.clone()));
            return Ok(Bundled { definition: Some(own), only, is_missing: false });
        }
        for bundle in kept {
            own.custom_middleware.add(bundle.manifest.custom_middleware, &bundle.directory)?;
        }
        Ok(Bundled { definition: Some(own), only: None, is_missing: false })
    }

    /// Where the files of its plugins are.
    pub(super) fn directory<'p>(&'p self, context: &'p Context<'_>) -> &'p Path {
        self.only.as_ref().map_or(context.settings.documents.plugins.directory.as_path(), |(directory, _)| directory)
    }

    /// The plugins of a definition, and where their files are.
    fn plugins<'p>(&'p self, definition: &'p ApiDefinition, context: &'p Context<'_>) -> ApiPlugins<'p> {
        let (directory, bundle_files) = (self.directory(context), self.only.as_ref().map(|(_, files)| files.as_slice()));
        ApiPlugins { definition, section: &definition.custom_middleware, directory, bundle_files }
    }
}

/// Loads the plugins of a definition, and reports why they can't be loaded.
pub(super) fn load(definition: &ApiDefinition, bundled: &Bundled, context: &mut Context<'_>) -> PluginsOfApi {
    if bundled.is_missing {
        return PluginsOfApi::Refused;
    }
    let section = &definition.custom_middleware;
    // An unsupported driver of the definition itself is reported with the protection that is missing.
    if !section.is_used() || (!section.has_known_driver() && !definition.has_bundle()) {
        return PluginsOfApi::None;
    }
    match loaded(definition, bundled, context) {
        Ok(hooks) => PluginsOfApi::Loaded(Arc::new(hooks)),
        Err(LoadFault { path, message }) => {
            context.warning(path, format!("{message}: every request is refused"));
            PluginsOfApi::Refused
        }
    }
}

/// Loads the plugin of a definition that changes analytics records. If that fails, none of its records are written.
pub(super) fn record_hook(definition: &ApiDefinition, bundled: &Bundled, context: &mut Context<'_>) -> Option<Arc<RecordHook>> {
    let declared = definition.record_plugin()?;
    let meter = context.registry.record_hook_meter(&definition.api_id, &declared.entry.name);
    match loaded_record_plugin(definition, bundled, &declared, context) {
        Some(Ok(plugin)) => Some(Arc::new(RecordHook { plugin: Some(plugin), meter })),
        Some(Err(LoadFault { path, message })) => {
            context.warning(path, format!("{message}: no records of the API are written"));
            Some(Arc::new(RecordHook { plugin: None, meter }))
        }
        None => {
            let message = format!(
                "is not supported with the driver {:?}: only functions in JavaScript change analytics records. Records stay as they are",
                declared.driver
            );
            context.warning(declared.place, message);
            None
        }
    }
}

/// `None` if the driver has no such plugins.
fn loaded_record_plugin(
    definition: &ApiDefinition,
    bundled: &Bundled,
    declared: &RecordPluginEntry,
    context: &Context<'_>,
) -> Option<Result<Arc<dyn RecordPlugin>, LoadFault>> {
    if !SUPPORTED_DRIVERS.contains(&declared.driver.as_str()) {
        return None;
    }
    let fault = |why: &str| LoadFault { path: declared.place.to_owned(), message: why.to_owned() };
    if bundled.is_missing {
        return Some(Err(fault("its bundle is missing")));
    }
    let Some(drivers) = context.registry.plugins.get() else { return Some(Err(fault("this process has no drivers"))) };
    match drivers.get(&declared.driver) {
        Ok(driver) => driver.load_record_plugin(&bundled.plugins(definition, context), declared),
        Err(why) => Some(Err(fault(why))),
    }
}

fn loaded(definition: &ApiDefinition, bundled: &Bundled, context: &Context<'_>) -> Result<ApiHooks, LoadFault> {
    let (section, terms) = (&definition.custom_middleware, &context.settings.documents.plugins);
    let fault = |why: &str| LoadFault { path: "$.custom_middleware.driver".to_owned(), message: why.to_owned() };
    if !section.has_known_driver() {
        return Err(fault(&format!("is not supported{}", advice(definition))));
    }
    let drivers = context.registry.plugins.get().ok_or_else(|| fault("this process has no drivers"))?;
    let driver = drivers.get(section.driver()).map_err(fault)?;
    let plugins = driver.load(&bundled.plugins(definition, context))?;
    let config_data = Some(&definition.config_data).filter(|data| !definition.config_data_disabled && is_filled(data)).cloned();
    let api = PluginApi {
        id: definition.api_id.clone(),
        org_id: definition.org_id.clone(),
        bundle_hash: hashed(&definition.custom_middleware_bundle),
        config_text: config_data.as_ref().map(ToString::to_string),
        config_data,
    };
    let meta_data = MetaDataWriter::new(context.registry);
    Ok(ApiHooks { api: Arc::new(api), plugins, time_max: terms.time_max, is_open: terms.is_open, meta_data })
}

fn is_filled(data: &serde_json::Value) -> bool {
    data.as_object().is_some_and(|members| !members.is_empty())
}

/// Why the driver of a definition is not supported, and the way out.
pub(super) fn advice(definition: &ApiDefinition) -> String {
    let driver = definition.custom_middleware.driver();
    match UNSUPPORTED_DRIVERS.iter().find(|(name, _)| *name == driver) {
        Some((name, why)) => format!(" with the driver {name:?} ({why})"),
        None => format!(" with the driver {driver:?}"),
    }
}
