//! The input for compiling a middleware: the definition and its surroundings.

use super::{ChainPhase, ListedMiddleware, Middleware};
use crate::endpoints::{EndpointList, PatternBuilder};
use crate::plugins::{HookList, PluginsOfApi};
use crate::registry::Registry;
use crate::settings::Settings;
use crate::template::VariableScope;
use std::path::Path;
use std::sync::Arc;
use tollgate_model::api::{ApiDefinition, AuthMethod, EndpointEntry, PluginEntry, RouteRule, VersionInfo};
use tollgate_model::{Level, Problem};
use tollgate_openapi::Document;
use tollgate_pattern::PooledPattern;
use tollgate_plugin::HookKind;
use tollgate_tls::TlsSettings;

/// The input for compiling a middleware.
pub struct MiddlewareSource<'a, 'c> {
    pub definition: &'a ApiDefinition,
    pub version_name: &'a str,
    pub info: &'a VersionInfo,
    /// The rule of a route that the chain is for, with its index.
    pub rule: Option<(usize, &'a RouteRule)>,
    pub patterns: PatternBuilder,
    pub context: &'a mut Context<'c>,
    /// The middlewares that identify the caller.
    pub auth: &'static [ListedMiddleware],
}

/// Compiles a middleware; `None` when the definition does not use it.
pub(super) type Maker = for<'a, 'c> fn(&mut MiddlewareSource<'a, 'c>) -> Option<Box<dyn Middleware>>;

/// Surroundings of the compilation.
pub struct Context<'a> {
    pub settings: &'a Settings,
    pub registry: &'a Arc<Registry>,
    pub file: Option<&'a Path>,
    /// The OpenAPI document that defines the API.
    pub openapi: Option<Arc<Document>>,
    /// The plugins of the API.
    pub plugins: PluginsOfApi,
    pub problems: Vec<Problem>,
}

impl Context<'_> {
    /// Reports an error, which makes the API unusable.
    pub fn error(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.problems.push(Problem::new(Level::Error, path, message).within(self.file));
    }

    /// Reports a warning: something that the API's author may not have meant.
    pub fn warning(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.problems.push(Problem::new(Level::Warning, path, message).within(self.file));
    }

    /// Number of errors so far.
    pub fn errors(&self) -> usize {
        self.problems.iter().filter(|problem| problem.is_error()).count()
    }

    /// TLS settings of an API's upstream connections.
    pub fn upstream_tls(&self, definition: &ApiDefinition) -> TlsSettings {
        self.settings.upstreams.tls.for_api(definition)
    }
}

impl MiddlewareSource<'_, '_> {
    /// Compiles the authentication steps as if only these methods were enabled.
    pub fn authentication(&mut self, methods: &[AuthMethod]) -> Vec<Box<dyn Middleware>> {
        let (auth, definition) = (self.auth, self.definition.with_methods(methods));
        let mut source = MiddlewareSource {
            definition: &definition,
            version_name: self.version_name,
            info: self.info,
            rule: self.rule,
            patterns: PatternBuilder::new(self.context.settings.routing.patterns, self.context.registry.patterns.clone()),
            context: self.context,
            auth,
        };
        auth.iter().filter_map(|listed| Some(listed.compile(ChainPhase::Auth, &mut source)?.middleware)).collect()
    }

    /// Compiles one list of `extended_paths`, without disabled entries and those for which `make` returns `None`.
    pub fn endpoints<E: EndpointEntry, T>(
        &mut self,
        list: &str,
        entries: &[E],
        mut make: impl FnMut(&Self, usize, &E) -> Option<T>,
    ) -> EndpointList<T> {
        let mut made = EndpointList::default();
        let entries = entries.iter().enumerate().filter(|(_, entry)| !entry.is_disabled());
        for (index, entry) in entries.filter(|_| self.info.use_extended_paths) {
            let Some(pattern) = self.pattern(list, index, entry.path(), entry.ignores_case()) else { continue };
            if let Some(value) = make(self, index, entry) {
                made.push(pattern, entry.method(), value);
            }
        }
        made
    }

    /// Like [`MiddlewareSource::endpoints`] for a list that protects nothing: an invalid pattern is a warning, and its entry has no effect.
    pub fn harmless_endpoints<E: EndpointEntry, T>(
        &mut self,
        list: &str,
        entries: &[E],
        make: impl Fn(&E) -> T,
    ) -> EndpointList<T> {
        let mut made = EndpointList::default();
        let entries = entries.iter().enumerate().filter(|(_, entry)| !entry.is_disabled());
        for (index, entry) in entries.filter(|_| self.info.use_extended_paths) {
            match self.patterns.add(entry.path(), entry.ignores_case()) {
                Ok(number) => made.push(number, entry.method(), make(entry)),
                Err(error) => {
                    let path = self.place(list, index, "path");
                    self.context.warning(path, format!("{error}: it has no effect"));
                }
            }
        }
        made
    }

    /// Like [`MiddlewareSource::endpoints`] for entries that may be invalid: `Err` is the field and the reason, and is reported as a
    /// problem.
    pub fn checked_endpoints<E: EndpointEntry, T>(
        &mut self,
        list: &str,
        entries: &[E],
        make: impl Fn(&Self, &E) -> Result<T, (&'static str, String)>,
    ) -> EndpointList<T> {
        let mut problems = Vec::new();
        let made = self.endpoints(list, entries, |source, index, entry| {
            let made = make(source, entry);
            made.map_err(|(field, message)| problems.push((index, field, message))).ok()
        });
        for (index, field, message) in problems {
            self.problem(list, index, field, message);
        }
        made
    }

    /// Adds an endpoint's pattern; reports an invalid one as a problem of its list.
    pub fn pattern(&mut self, list: &str, index: usize, pattern: &str, ignore_case: bool) -> Option<u32> {
        match self.patterns.add(pattern, ignore_case) {
            Ok(number) => Some(number),
            Err(error) => {
                self.problem(list, index, "path", error);
                None
            }
        }
    }

    /// An endpoint's pattern that is matched by itself; reports an invalid one as a problem of its list.
    pub fn pooled_pattern(&mut self, list: &str, index: usize, pattern: &str) -> Option<Arc<PooledPattern>> {
        let expression = self.context.settings.routing.patterns.expression(pattern, false);
        match expression.and_then(|expression| self.context.registry.patterns.get(&expression)) {
            Ok(pattern) => Some(pattern),
            Err(error) => {
                self.problem(list, index, "path", error);
                None
            }
        }
    }

    /// Reports a problem with a field of an entry.
    pub fn problem(&mut self, list: &str, index: usize, field: &str, message: String) {
        self.context.error(self.place(list, index, field), message);
    }

    fn place(&self, list: &str, index: usize, field: &str) -> String {
        let version = self.version_name;
        format!("$.version_data.versions.{version}.extended_paths.{list}[{index}].{field}")
    }

    /// Whether variables or filters of the definition may refer to fields of a form.
    pub fn uses_forms(&self) -> bool {
        self.definition.enable_context_vars && self.definition.raw.to_string().contains("tyk_context.request_data")
    }

    /// The hooks of one kind that are in effect; `None` without any.
    pub fn hooks(&self, kind: HookKind, entries: &[PluginEntry]) -> Option<HookList> {
        let (registry, api) = (self.context.registry, &self.definition.api_id);
        HookList::new(&self.context.plugins, kind, entries, |kind, name| registry.hook_meter(api, kind, name))
    }

    /// The name of what has upstreams of its own: the version, and the rule of a route.
    pub fn variant(&self) -> String {
        match self.rule {
            None => self.version_name.to_owned(),
            Some((index, rule)) => format!("{} rules[{index}] {}", self.version_name, rule.name),
        }
    }

    /// A name for state that survives reloads: of this version, or of one of its endpoints.
    pub fn state_name(&self, detail: &str) -> String {
        format!("{}/{}/{detail}", self.definition.api_id, self.version_name)
    }

    /// What variables in the definition's texts may refer to.
    pub fn variable_scope(&self) -> VariableScope<'_> {
        VariableScope { context: self.definition.enable_context_vars, secrets: &self.context.settings.documents.secrets }
    }

    /// TLS settings of connections that a rewrite makes.
    pub fn tls_settings(&self) -> TlsSettings {
        self.context.upstream_tls(self.definition)
    }
}
