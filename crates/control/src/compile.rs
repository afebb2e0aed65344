//! Compiles documents into their running form: the only place that turns an API definition into a `CompiledApi`. Everything that
//! can be decided before a request arrives is decided here.

mod assembly;
mod backends;
mod balancing;
mod chain;
mod federated_apis;
mod federation;
mod llm;
mod llm_guards;
mod named_files;
mod plugin_events;
mod plugins;
mod route;
mod secrets;
mod version;
mod watch;

pub use assembly::assemble;
pub(crate) use assembly::sockets;
pub(crate) use backends::{backend_targets, checked_pool};

use http::Uri;
use std::path::Path;
use std::sync::Arc;
use tollgate_access::keys::KeyTerms;
use tollgate_access::oauth::Rules;
use tollgate_data::api::Api;
use tollgate_data::client_tls::AllowList;
use tollgate_data::discovery::{AuthorizationRules, DiscoveryPaths, MirroredDiscovery, RedirectPattern};
use tollgate_data::error_overrides::{CompiledOverrides, OverrideRules};
use tollgate_data::events::ApiEvents;
use tollgate_data::ip_networks::IpNetworks;
use tollgate_data::middleware::Context;
use tollgate_data::plugins::PluginsOfApi;
use tollgate_data::port::ApiPort;
use tollgate_data::registry::Registry;
use tollgate_data::route::{check_host, check_listen_path, normal_domain};
use tollgate_data::scripts::ApiEventScripts;
use tollgate_data::settings::Settings;
use tollgate_data::snapshot::{
    ApiVersion, CompiledApi, CompiledVersionSelector, Expiry, LocatedVersion, MirrorEndpoints, ProviderEndpoints, Versions,
};
use tollgate_data::stream_rules::StreamRules;
use tollgate_data::template::{ValueTemplate, VariableScope};
use tollgate_data::version_terms::VersionTerms;
use tollgate_mcp_federation::SessionSeal;
use tollgate_model::Problem;
use tollgate_model::api::{ApiDefinition, AuthMethod, AuthorizationProxy, VersionLocation as WrittenLocation};
use tollgate_model::expiry;
use tollgate_model::session::ApiLifetime;
use tollgate_observe::events::{EventScripts, HandlerSources};
use tollgate_observe::{ApiMetadata, RecordHook};
use tollgate_openapi::Document;

/// Compiles one definition, with warnings; `document` is the OpenAPI document that it comes from; `Err` holds all problems that make it unusable.
pub fn compile(
    definition: &ApiDefinition,
    document: Option<&Arc<Document>>,
    settings: &Settings,
    registry: &Arc<Registry>,
    file: Option<&Path>,
) -> Result<(CompiledApi, Vec<Problem>), Vec<Problem>> {
    let openapi = document.cloned();
    let mut context = Context { settings, registry, file, openapi, plugins: PluginsOfApi::None, problems: Vec::new() };
    let bundled = plugins::Bundled::of(definition, &mut context);
    let definition = bundled.definition.as_ref().unwrap_or(definition);
    check_protections(definition, &mut context);
    // Before anything opens them.
    let directory = bundled.directory(&context).to_owned();
    if !named_files::check(definition, &directory, &mut context) {
        return Err(context.problems);
    }
    context.plugins = plugins::load(definition, &bundled, &mut context);
    let record_hook = plugins::record_hook(definition, &bundled, &mut context);
    secrets::check(&definition.raw, &mut context);
    let api = compile_api(definition, record_hook, &mut context);
    match api {
        Some(api) if context.errors() == 0 => Ok((api, context.problems)),
        _ => Err(context.problems),
    }
}

/// Rejects an API that asks for a protection that does not exist here, unless the configuration explicitly allows it.
fn check_protections(definition: &ApiDefinition, context: &mut Context<'_>) {
    for missing in definition.missing_protections() {
        let field = missing.field;
        let allowed = definition.tollgate.serve_without.iter().chain(&context.settings.documents.serve_without);
        if allowed.into_iter().any(|name| name == field) {
            context
                .warning(missing.path, format!("is not supported: the API is served without it, as serve_without names {field}"));
        } else {
            let advice = if field == "custom_middleware" { plugins::advice(definition) } else { String::new() };
            let message = format!(
                "is not supported{advice}, and the API is not served without it; \"tollgate\": {{\"serve_without\": [\"{field}\"]}} serves it"
            );
            context.error(missing.path, message);
        }
    }
}

fn compile_api(definition: &ApiDefinition, record_hook: Option<Arc<RecordHook>>, context: &mut Context<'_>) -> Option<CompiledApi> {
    let listen_path = sanitized_listen_path(&definition.proxy.listen_path);
    let host = definition.host().filter(|_| context.settings.routing.custom_domains).map(|host| normal_domain(host).into_owned());
    if let Err(error) = check_listen_path(&listen_path) {
        context.error("$.proxy.listen_path", error);
    }
    if let Some(Err(error)) = host.as_deref().map(check_host) {
        context.error("$.domain", error);
    }
    let facts = ApiMetadata::new(context.registry.new_serial(), definition, &listen_path);
    let port = port(definition, context);
    let versions = compile_versions(definition, context);
    let route = route::compile(definition, context);
    let provided = definition.is_on(AuthMethod::OAuth).then(|| version::compile_provider(definition, context)).flatten();
    let rules = || Arc::new(Rules::new(definition, &context.settings.callers.oauth));
    let provider = provided.map(|version| ProviderEndpoints { version, rules: rules() });
    let mirrored = mirrored(definition, context);
    let api = Api {
        id: definition.api_id.clone(),
        name: definition.name.clone(),
        host,
        listen_path: listen_path.clone(),
        port: port?,
        stream: definition.is_stream().then(|| stream_rules(definition, context)),
        internal: definition.internal,
        tags: if definition.tags_disabled { Vec::new() } else { definition.tags.clone() },
        asks_for_certificate: definition.use_mutual_tls_auth
            || (!definition.use_keyless && definition.places(AuthMethod::Token).use_certificate),
        certificates: definition.certificates.iter().map(|name| context.registry.certificates.named(name)).collect(),
        strip_listen_path: definition.proxy.strip_listen_path && route.is_none(),
        // A route names backends, not hosts.
        preserve_host: definition.proxy.preserve_host_header || route.is_some(),
        disable_strip_slash: definition.proxy.disable_strip_slash,
        options_passthrough: definition.cors().is_some_and(|cors| cors.options_passthrough),
        discovery: DiscoveryPaths::of(definition, &listen_path),
        has_root_documents: definition.is_mcp(),
        credential_headers: federated_apis::credential_headers(definition),
        batches: definition.enable_batch_request_support && !definition.is_mcp(),
        error_overrides: error_overrides(definition, context),
        events: events(definition, context),
        meter: context.registry.meters.get(&definition.api_id),
        facts: ApiMetadata { record_hook, kind: kind(definition, context), ..facts },
        key_terms: KeyTerms {
            lifetime: ApiLifetime {
                seconds: definition.session_lifetime,
                respects_expiry: definition.session_lifetime_respects_key_expiration,
            },
            keeps_quotas: definition.dont_set_quota_on_create,
        },
        raw: definition.raw.clone(),
        openapi: context.openapi.clone(),
    };
    Some(CompiledApi { api, versions: versions?, provider, mirrored, route })
}

/// What the gateway asks the upstream for in place of its client.
fn mirrored(definition: &ApiDefinition, context: &mut Context<'_>) -> Option<MirrorEndpoints> {
    definition.mirrored_metadata()?;
    let proxy = definition.tollgate.authorization_proxy.as_ref();
    let url = proxy.map_or(&definition.proxy.target_url, |proxy| &proxy.issuer);
    // Another one is reported already, or is no server of this kind.
    let upstream: Uri =
        url.parse().ok().filter(|uri: &Uri| matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some())?;
    let tls = context.upstream_tls(definition);
    let proxy = proxy.map(|proxy| authorization_rules(definition, proxy, context));
    let rules = MirroredDiscovery { upstream, upstream_url: url.clone(), tls, proxy };
    Some(MirrorEndpoints { version: version::compile_provider(definition, context)?, rules })
}

fn authorization_rules(definition: &ApiDefinition, proxy: &AuthorizationProxy, context: &Context<'_>) -> AuthorizationRules {
    let scope = VariableScope { context: false, secrets: &context.settings.documents.secrets };
    let filled = |text: &str| ValueTemplate::new(text, scope).literal().unwrap_or(text).to_owned();
    let secret = context.registry.session_secret.get().copied().unwrap_or_default();
    AuthorizationRules {
        client_id: filled(&proxy.client_id),
        client_secret: filled(&proxy.client_secret),
        scopes: proxy.scopes.clone(),
        parameters: proxy.parameters.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
        redirect_uris: proxy.redirect_uris.iter().map(|pattern| RedirectPattern::new(pattern)).collect(),
        seal: SessionSeal::new(&secret, &format!("authorization of {}", definition.api_id)),
    }
}

/// What kind of API it is, as Tyk's access log names it.
fn kind(definition: &ApiDefinition, context: &Context<'_>) -> &'static str {
    match () {
        () if definition.is_mcp() => "mcp",
        () if definition.graphql.enabled => "graphql",
        () if context.openapi.is_some() => "oas",
        () => "classic",
    }
}

/// The handlers of the API's events.
fn events(definition: &ApiDefinition, context: &mut Context<'_>) -> Option<ApiEvents> {
    let scripts = ApiEventScripts::new(definition, context.settings, context.registry);
    let scripts = scripts.as_ref().map(|scripts| scripts as &dyn EventScripts);
    let plugins = plugin_events::PluginEvents::new(definition, context.registry);
    let sources = HandlerSources { scripts, plugins: Some(&plugins), files: Some(&context.settings.documents.secrets.named_files) };
    let (sinks, problems) = context.settings.watch.events.sinks(Some(&definition.api_id), &definition.event_handlers, sources);
    context.problems.extend(problems.into_iter().map(|problem| problem.within(context.file)));
    Some(ApiEvents::new(sinks?, definition, context.settings))
}

/// Where the API listens.
fn port(definition: &ApiDefinition, context: &mut Context<'_>) -> Option<ApiPort> {
    let port = context.settings.routing.ports.port(definition.listen_port, &definition.protocol, definition.enable_proxy_protocol);
    port.map_err(|(field, message)| context.error(field, message)).ok()
}

fn stream_rules(definition: &ApiDefinition, context: &Context<'_>) -> StreamRules {
    let certificates = definition.client_certificates.iter().chain(&context.settings.callers.client_certificates);
    StreamRules {
        allowed: IpNetworks::new(definition.ip_allow_list()),
        blocked: IpNetworks::new(definition.ip_block_list()),
        certificates: definition.use_mutual_tls_auth.then(|| AllowList::new(certificates, &context.registry.certificates)),
        meter: context.registry.stream_meter(&definition.api_id),
    }
}

/// The rules for errors of the API and of the gateway.
fn error_overrides(definition: &ApiDefinition, context: &mut Context<'_>) -> Option<Arc<CompiledOverrides>> {
    let (own, problems) = match definition.error_overrides_disabled {
        true => Default::default(),
        false => OverrideRules::compile(&definition.error_overrides, &context.settings.answers.error_templates),
    };
    for problem in problems {
        let path = format!("$.error_overrides{}", problem.path);
        if problem.is_error { context.error(path, problem.message) } else { context.warning(path, problem.message) }
    }
    CompiledOverrides::new(own, &context.settings.answers.error_overrides)
}

fn compile_versions(definition: &ApiDefinition, context: &mut Context<'_>) -> Option<Versions> {
    let data = &definition.version_data;
    let written = &definition.definition;
    if written.enabled {
        let info = data.unversioned().cloned().unwrap_or_default();
        let own = version::compile(definition, "", &info, None, context)?;
        let mut apis = written.versions.clone();
        apis.retain(|_, id| *id != definition.api_id);
        let selector = selector(definition, context)?;
        return Some(Versions::Apis { selector, own, apis, own_name: written.name.clone() });
    }
    if data.not_versioned {
        let Some(info) = data.unversioned() else { return Some(Versions::Unclear { any_default: !data.versions.is_empty() }) };
        if let Some(written) = &definition.tollgate.route {
            let numbered = written.rules.iter().enumerate().map(|(index, rule)| route::NumberedRule { index, rule });
            let rules: Vec<_> = numbered.map(|rule| version::compile(definition, &info.name, info, Some(rule), context)).collect();
            let rules = rules.into_iter().collect::<Option<Vec<_>>>()?;
            return Some(Versions::Rules { rules, expires: expiry_of(&definition.expiration) });
        }
        let version = version::compile(definition, &info.name, info, None, context)?;
        return Some(Versions::One { version, expires: expiry_of(&definition.expiration) });
    }
    let compiled: Vec<_> =
        data.versions.iter().filter_map(|(name, info)| version::compile(definition, name, info, None, context)).collect();
    let versions = compiled
        .into_iter()
        .map(|version| ApiVersion { terms: VersionTerms { is_chosen: true, ..version.terms }, ..version })
        .collect();
    Some(Versions::Many { selector: selector(definition, context)?, versions })
}

fn selector(definition: &ApiDefinition, context: &mut Context<'_>) -> Option<CompiledVersionSelector> {
    let written = &definition.definition;
    let location = match written.location {
        WrittenLocation::Header | WrittenLocation::Unset => LocatedVersion::Header(written.key.clone()),
        WrittenLocation::UrlParam => LocatedVersion::Parameter(written.key.clone()),
        WrittenLocation::Url if written.url_versioning_pattern.is_empty() => LocatedVersion::Path(None),
        WrittenLocation::Url => match tollgate_re2::compile(&written.url_versioning_pattern) {
            Ok(pattern) => LocatedVersion::Path(Some(pattern)),
            Err(error) => {
                context.error("$.definition.url_versioning_pattern", format!("not a valid pattern: {error}"));
                return None;
            }
        },
    };
    let default = if written.enabled { &written.default } else { &definition.version_data.default_version };
    Some(CompiledVersionSelector {
        location,
        default: default.clone(),
        fallback_to_default: written.fallback_to_default,
        strip: written.strips_version(),
    })
}

/// Expiry of a version or an API.
pub fn expiry_of(text: &str) -> Expiry {
    match expiry::expiry(text) {
        expiry::WrittenExpiry::Never => Expiry::Never,
        expiry::WrittenExpiry::At(end) => Expiry::At(end),
        expiry::WrittenExpiry::Unparsable => Expiry::Ended,
    }
}

/// Normalises a listen path: it starts with a slash and contains no `//`, `/./` or `/../`.
fn sanitized_listen_path(written: &str) -> String {
    let rooted = if written.starts_with('/') { written.to_owned() } else { format!("/{written}") };
    tollgate_http::path::clean(&rooted).unwrap_or(rooted)
}
