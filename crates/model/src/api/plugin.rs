//! `custom_middleware`: the hooks of an API, and the driver that runs them. A bundle's manifest has the same section.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ApiDefinition;
use crate::number::whole;

/// Drivers that run here.
pub const SUPPORTED_DRIVERS: [&str; 5] = ["grpc", "wasm", "otto", "javascript", "goja"];

/// The driver of plugins that name none, as in Tyk.
const DEFAULT_DRIVER: &str = "otto";

/// `custom_middleware`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CustomMiddleware {
    /// Hooks before the caller is identified.
    pub pre: Vec<PluginEntry>,
    /// Hooks before the request goes to the upstream.
    pub post: Vec<PluginEntry>,
    /// Hooks after the caller is identified.
    pub post_key_auth: Vec<PluginEntry>,
    /// The hook that identifies the caller, if `enable_coprocess_auth` or `custom_plugin_auth_enabled` is set.
    pub auth_check: PluginEntry,
    /// The plugin that changes analytics records.
    pub traffic_logs: PluginEntry,
    /// Hooks for responses.
    pub response: Vec<PluginEntry>,
    /// What runs the plugins; empty for `otto`.
    pub driver: String,
    /// What identifies callers whose session is cached, so that `auth_check` is not called for each request.
    pub id_extractor: IdExtractor,
}

/// One hook.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PluginEntry {
    /// Disables the hook.
    pub disabled: bool,
    /// Name of the plugin's function.
    pub name: String,
    /// File of the plugin, for drivers that have files.
    pub path: String,
    /// The plugin itself, for drivers that take it from the definition.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub code: String,
    /// Whether a JavaScript plugin sees the session.
    pub require_session: bool,
    /// Whether the plugin sees bodies as bytes only.
    pub raw_body_only: bool,
}

/// `analytics_plugin`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AnalyticsPlugin {
    /// Enables it.
    pub enable: bool,
    /// The file; one with JavaScript ends with `.js`.
    pub plugin_path: String,
    /// Name of the function.
    pub func_name: String,
}

/// The plugin that changes analytics records, wherever it is declared.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordPluginEntry {
    /// JSON path of the declaration.
    pub place: &'static str,
    /// Name of the driver.
    pub driver: String,
    /// Function and file.
    pub entry: PluginEntry,
}

/// `id_extractor`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct IdExtractor {
    /// Disables it.
    pub disabled: bool,
    /// `header`, `form` or `body`.
    pub extract_from: String,
    /// `value`, `regex` or `xpath`.
    pub extract_with: String,
    /// Where exactly.
    pub extractor_config: ExtractorConfig,
}

/// `extractor_config`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ExtractorConfig {
    /// The header, for `header`.
    pub header_name: String,
    /// The field, for `form`.
    #[serde(alias = "form_param_name")]
    pub param_name: String,
    /// The expression, for `regex`.
    pub regex_expression: String,
    /// Which match of the expression counts, from 0.
    #[serde(deserialize_with = "whole")]
    pub regex_match_index: i64,
    /// The path, for `xpath`.
    pub xpath_expression: String,
}

impl RecordPluginEntry {
    /// Its file, if it has one.
    pub fn file(&self) -> Option<&str> {
        Some(self.entry.path.as_str()).filter(|path| has_files(&self.driver) && !path.is_empty())
    }
}

/// Whether plugins of a driver are files that the gateway reads.
fn has_files(driver: &str) -> bool {
    driver != "grpc" && SUPPORTED_DRIVERS.contains(&driver)
}

impl CustomMiddleware {
    /// The driver's name.
    pub fn driver(&self) -> &str {
        if self.driver.is_empty() { DEFAULT_DRIVER } else { &self.driver }
    }

    /// Whether this gateway has the driver.
    pub fn has_known_driver(&self) -> bool {
        SUPPORTED_DRIVERS.contains(&self.driver())
    }

    /// The lists of hooks that see every request or response, by name.
    pub fn lists(&self) -> [(&'static str, &[PluginEntry]); 4] {
        [("pre", &self.pre), ("post_key_auth", &self.post_key_auth), ("post", &self.post), ("response", &self.response)]
    }

    /// The files of all hooks, with the JSON paths of their names in a definition.
    pub fn files(&self) -> Vec<(String, &str)> {
        if !has_files(self.driver()) {
            return Vec::new();
        }
        let each = |(name, hooks): (&'static str, &[PluginEntry])| {
            (0..hooks.len()).map(move |index| format!("$.custom_middleware.{name}[{index}].path")).collect::<Vec<_>>()
        };
        let places = self.lists().into_iter().flat_map(each);
        let files = self.lists().into_iter().flat_map(|(_, hooks)| hooks).map(|hook| hook.path.as_str());
        let single = [("auth_check", &self.auth_check), ("traffic_logs", &self.traffic_logs)];
        let single = single.map(|(name, hook)| (format!("$.custom_middleware.{name}.path"), hook.path.as_str()));
        places.zip(files).chain(single).filter(|(_, file)| !file.is_empty()).collect()
    }

    /// Adds the hooks of another bundle, whose files are in this directory.
    ///
    /// # Errors
    /// The bundles have different drivers.
    pub fn add(&mut self, mut other: CustomMiddleware, directory: &Path) -> Result<(), String> {
        if self.is_used() && self.driver() != other.driver() {
            return Err(format!("its bundles have the drivers {:?} and {:?}", self.driver(), other.driver()));
        }
        let lists = [&mut other.pre, &mut other.post, &mut other.post_key_auth, &mut other.response].into_iter().flatten();
        for hook in lists.chain([&mut other.auth_check, &mut other.traffic_logs]).filter(|hook| !hook.path.is_empty()) {
            hook.path = directory.join(&hook.path).to_string_lossy().into_owned();
        }
        self.driver = other.driver;
        self.pre.append(&mut other.pre);
        self.post.append(&mut other.post);
        self.post_key_auth.append(&mut other.post_key_auth);
        self.response.append(&mut other.response);
        if !other.auth_check.name.is_empty() {
            self.auth_check = other.auth_check;
            self.id_extractor = other.id_extractor;
        }
        if !other.traffic_logs.name.is_empty() {
            self.traffic_logs = other.traffic_logs;
        }
        Ok(())
    }

    /// Whether a hook is in effect.
    pub fn is_used(&self) -> bool {
        let is_listed = self.lists().iter().any(|(_, hooks)| hooks.iter().any(|hook| !hook.disabled));
        is_listed || (!self.auth_check.name.is_empty() && !self.auth_check.disabled)
    }

    /// Whether the hook that identifies the caller is in effect, as far as this section tells.
    pub fn has_auth_check(&self) -> bool {
        !self.auth_check.disabled
    }
}

impl ApiDefinition {
    /// The plugin that changes analytics records: `custom_middleware.traffic_logs`, or `analytics_plugin`.
    pub fn record_plugin(&self) -> Option<RecordPluginEntry> {
        let (section, own) = (&self.custom_middleware.traffic_logs, &self.analytics_plugin);
        if !section.disabled && (!section.name.is_empty() || !section.path.is_empty()) {
            let driver = self.custom_middleware.driver().to_owned();
            return Some(RecordPluginEntry { place: "$.custom_middleware.traffic_logs", driver, entry: section.clone() });
        }
        let entry = PluginEntry { name: own.func_name.clone(), path: own.plugin_path.clone(), ..PluginEntry::default() };
        let driver = if entry.path.ends_with(".js") { DEFAULT_DRIVER } else { "goplugin" }.to_owned();
        own.enable.then_some(RecordPluginEntry { place: "$.analytics_plugin", driver, entry })
    }

    /// Whether plugins come from a bundle.
    pub fn has_bundle(&self) -> bool {
        !self.custom_middleware_bundle.is_empty() && !self.custom_middleware_bundle_disabled
    }

    /// Whether a plugin identifies callers. As in Tyk, a disabled hook is no method.
    pub(super) fn is_identified_by_plugin(&self) -> bool {
        let is_asked = self.enable_coprocess_auth || self.custom_plugin_auth_enabled;
        let plugins = &self.custom_middleware;
        is_asked && plugins.has_auth_check() && (self.has_bundle() || plugins.has_known_driver())
    }

    /// The hook that the first unsupported plugin belongs to, with its place in the list; `None` if the driver is known or no hook runs.
    pub fn unsupported_hook(&self) -> Option<(&'static str, usize)> {
        if self.has_bundle() || self.custom_middleware.has_known_driver() {
            return None;
        }
        // A hook after authentication does not run without authentication. `auth_check` is a method, and rejects everybody.
        let lists = self.custom_middleware.lists().into_iter().filter(|(hook, _)| *hook != "post_key_auth" || !self.use_keyless);
        lists.into_iter().find_map(|(hook, entries)| Some((hook, entries.iter().position(|entry| !entry.disabled)?)))
    }

    /// Whether hooks may hold a request after its limits have counted it.
    pub fn has_late_hooks(&self) -> bool {
        self.has_bundle() || self.custom_middleware.post.iter().any(|hook| !hook.disabled)
    }
}
