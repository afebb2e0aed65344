//! The drivers of plugins that a configuration asks for. None of them does anything before an API uses it.

#[cfg_attr(not(feature = "wasm"), path = "plugin_drivers/wasm_absent.rs")]
mod wasm;
#[cfg(test)]
mod wasm_absent;

use rustls::pki_types::ServerName;
use std::path::Path;
use std::sync::Arc;
use tollgate_data::registry::Registry;
use tollgate_data::script_settings::ScriptSettings;
use tollgate_data::scripts::ScriptDriver;
use tollgate_grpc_plugin::{GrpcAddress, GrpcDriver, GrpcSettings};
use tollgate_javascript::Scope;
use tollgate_model::config::{GatewayConfig, GrpcTls};
use tollgate_plugin::{PluginDriver, PluginDrivers};
use tollgate_tls::{self, Library, TlsRules, TlsSettings};

/// The drivers, for so many data threads.
pub(crate) fn plugin_drivers(config: &GatewayConfig, registry: &Arc<Registry>, threads: usize) -> PluginDrivers {
    let mut drivers = PluginDrivers::default();
    drivers.add("grpc", grpc(config, &registry.certificates, threads));
    drivers.add("wasm", wasm::driver(threads, registry.scripts.load_gate()));
    // Tyk calls its second driver `javascript`, after the engine `goja`.
    for (name, scope) in [("otto", Scope::Shared), ("javascript", Scope::Own), ("goja", Scope::Own)] {
        drivers.add(name, javascript(config, registry, scope));
    }
    drivers
}

fn javascript(config: &GatewayConfig, registry: &Arc<Registry>, scope: Scope) -> Result<Arc<dyn PluginDriver>, String> {
    let settings = ScriptSettings::new(config).ok_or("scripts are off: the configuration needs enable_jsvm")?;
    Ok(Arc::new(ScriptDriver {
        scope,
        settings,
        registry: Arc::downgrade(registry),
        tls: TlsSettings::of_gateway(config),
        body_bytes_max: config.tollgate.limits.body_bytes_max,
    }))
}

fn grpc(config: &GatewayConfig, library: &Library, threads: usize) -> Result<Arc<dyn PluginDriver>, String> {
    let options = &config.coprocess_options;
    if !options.enable_coprocess {
        return Err("gRPC plugins are off: the configuration needs coprocess_options.enable_coprocess".to_owned());
    }
    if options.coprocess_grpc_server.is_empty() {
        return Err(
            "the configuration does not name the server of gRPC plugins: coprocess_options.coprocess_grpc_server".to_owned()
        );
    }
    let named = |why: String| format!("coprocess_options.coprocess_grpc_server {why}");
    let address = GrpcAddress::parse(&options.coprocess_grpc_server).map_err(named)?;
    let tls = &config.tollgate.plugins.grpc_tls;
    let tls = if tls.enabled || address.wants_tls { Some(client_tls(tls, &address, library)?) } else { None };
    let settings = GrpcSettings {
        address,
        authority: options.grpc_authority.clone(),
        tls,
        recv_bytes_max: usize::try_from(options.grpc_recv_max_size).unwrap_or_default(),
        send_bytes_max: usize::try_from(options.grpc_send_max_size).unwrap_or_default(),
        round_robin: options.grpc_round_robin_load_balancing,
    };
    Ok(Arc::new(GrpcDriver::new(settings, threads)?))
}

type PluginClientTls = (Arc<rustls::ClientConfig>, ServerName<'static>);

fn client_tls(settings: &GrpcTls, address: &GrpcAddress, library: &Library) -> Result<PluginClientTls, String> {
    let named = |why: String| format!("tollgate.plugins.grpc_tls: {why}");
    let text = |path: &Path| path.to_str().filter(|path| !path.is_empty()).map(str::to_owned);
    let rules = TlsRules {
        insecure: settings.insecure_skip_verify,
        authorities: text(&settings.ca_file).into_iter().collect(),
        certificate: text(&settings.cert_file),
        key_file: text(&settings.key_file),
        http2: true,
        ..TlsRules::default()
    };
    let mut config = tollgate_tls::client_config(&rules, library).map_err(named)?;
    config.alpn_protocols = vec![b"h2".to_vec()];
    let name = if settings.server_name.is_empty() { address.host().unwrap_or("localhost") } else { &settings.server_name };
    let name = ServerName::try_from(name.to_owned()).map_err(|error| named(format!("{name:?} is no name of a server: {error}")))?;
    Ok((Arc::new(config), name))
}
