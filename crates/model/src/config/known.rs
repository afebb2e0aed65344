//! Tyk's settings without effect, and the names of Tyk's environment variables that do not follow from the names in the file.

use crate::known_field::KnownField;
use crate::known_field::ReportWhen::{Member, Never, Set};

pub(crate) const FIELDS: &[KnownField] = &[
    // Listening.
    ("http_server_options.override_defaults", Never),
    // Authorities are never announced.
    ("http_server_options.skip_client_ca_announcement", Never),
    ("enable_http_profiler", Set),
    // Files.
    ("use_db_app_configs", Set),
    ("db_app_conf_options.connection_string", Set),
    ("db_app_conf_options.connection_timeout", Never),
    ("disable_dashboard_zeroconf", Never),
    // Of `kv`.
    // No question waits for a change.
    ("kv.consul.wait_time", Never),
    ("kv.consul.tls_config.address", Never),
    ("kv.consul.tls_config.ca_path", Set),
    // Storage.
    ("storage.compress_api_definitions", Never),
    ("storage.compress_policies", Never),
    ("storage.max_decompressed_size", Never),
    ("storage.iam_auth", Set),
    ("analytics_storage.compress_api_definitions", Never),
    ("analytics_storage.compress_policies", Never),
    ("analytics_storage.max_decompressed_size", Never),
    ("analytics_storage.iam_auth", Set),
    ("cache_storage.compress_api_definitions", Never),
    ("cache_storage.compress_policies", Never),
    ("cache_storage.max_decompressed_size", Never),
    ("cache_storage.iam_auth", Set),
    ("resource_sync", Never),
    // Keys.
    ("basic_auth_hash_key_function", Set),
    ("enable_key_logging", Set),
    ("local_session_cache", Never),
    ("optimisations_use_async_session_write", Never),
    ("session_update_pool_size", Never),
    ("session_update_buffer_size", Never),
    ("legacy_enable_allowance_countdown", Set),
    ("allow_unsafe_policy_ids", Set),
    // Rate limits.
    ("drl_enable_sentinel_rate_limiter", Set),
    ("enable_non_transactional_rate_limiter", Never),
    ("drl_notification_frequency", Never),
    // Organisations.
    ("enforce_org_data_detail_logging", Set),
    ("experimental_process_org_off_thread", Never),
    ("enforce_org_quotas_for_org_keys", Set),
    // Analytics.
    ("analytics_config.type", Never),
    ("analytics_config.pool_size", Never),
    ("analytics_config.purge_interval", Never),
    // Upstream.
    ("proxy_ssl_disable_renegotiation", Never),
    // Connections to Redis have the settings of `storage`.
    ("external_services.storage", Set),
    // Health.
    ("liveness_check", Never),
    ("uptime_tests.poller_group", Never),
    ("uptime_tests.config.checker_pool_size", Never),
    // Plugins.
    // Of the driver for Python, which is reported where an API asks for it.
    ("coprocess_options.python_path_prefix", Never),
    ("coprocess_options.python_version", Never),
    // Security.
    ("security.certificates.dashboard_api", Set),
    ("security.certificates.mdcb_api", Set),
    // Logging and telemetry.
    ("use_redis_log", Set),
    ("use_sentry", Set),
    ("sentry_code", Never),
    ("sentry_log_level", Never),
    ("use_graylog", Set),
    ("graylog_network_addr", Never),
    ("use_logstash", Set),
    ("logstash_transport", Never),
    ("logstash_network_addr", Never),
    ("tracing", Member("enabled")),
    ("opentelemetry.resource_detectors", Set),
    ("opentelemetry.span_attributes", Set),
    ("opentelemetry.traces.resource_detectors", Set),
    ("opentelemetry.traces.span_attributes", Set),
    // Of MCP, which is not served.
    ("opentelemetry.traces.mcp", Never),
    ("opentelemetry.metrics.retry", Never),
    ("opentelemetry.metrics.runtime_metrics", Never),
    ("opentelemetry.metrics.shutdown_timeout", Never),
    ("newrelic", Set),
    // The rest.
    ("ignore_canonical_mime_header_key", Set),
    ("disable_auto_max_procs", Never),
    ("disable_regexp_cache", Never),
    ("disable_regexp_cache_bound", Never),
    ("regexp_cache_expire", Never),
    ("regexp_cache_max_entries", Never),
    ("event_trigers_defunct", Never),
    ("event_triggers_defunct", Never),
    ("auth_override", Set),
    ("streaming", Member("enabled")),
    ("labs", Set),
    ("slave_options", Member("use_rpc")),
    ("bind_to_slugs", Set),
    // Of Tyk's cloud.
    ("cloud", Never),
    ("management_node", Never),
    ("allow_remote_config", Set),
    ("enable_api_segregation", Never),
    ("dev_mode", Never),
];

/// Path in the file, and the name of its last step in Tyk's environment variables.
pub(super) const GO_NAMES: &[(&str, &str)] = &[
    ("storage.optimisation_max_idle", "MAXIDLE"),
    ("storage.optimisation_max_active", "MAXACTIVE"),
    ("analytics_storage.optimisation_max_idle", "MAXIDLE"),
    ("analytics_storage.optimisation_max_active", "MAXACTIVE"),
    ("cache_storage.optimisation_max_idle", "MAXIDLE"),
    ("cache_storage.optimisation_max_active", "MAXACTIVE"),
    ("max_idle_connections", "MAXIDLECONNS"),
    ("max_idle_connections_per_host", "MAXIDLECONNSPERHOST"),
    ("ports_whitelist", "PORTWHITELIST"),
    ("disable_ports_whitelist", "DISABLEPORTWHITELIST"),
    ("enable_separate_analytics_store", "ENABLESEPERATEANALYTICSSTORE"),
    ("enable_separate_cache_store", "ENABLESEPERATECACHESTORE"),
    ("health_check.health_check_value_timeouts", "HEALTHCHECKVALUETIMEOUT"),
    ("analytics_config.geo_ip_db_path", "GEOIPDBLOCATION"),
    ("analytics_config.normalise_urls.custom_patterns", "CUSTOM"),
    ("suppress_default_org_store", "SUPRESSDEFAULTORGSTORE"),
    ("oauth_refresh_token_expire", "OAUTHREFRESHEXPIRE"),
    ("tracing", "TRACER"),
    ("enable_http_profiler", "HTTPPROFILE"),
    ("oas_config", "OAS"),
    ("http_server_options.ssl_ciphers", "CIPHERS"),
    ("proxy_ssl_ciphers", "PROXYSSLCIPHERSUITES"),
    ("security.certificates.apis", "API"),
    ("security.certificates.dashboard_api", "DASHBOARD"),
    ("security.certificates.mdcb_api", "MDCB"),
    ("opentelemetry.traces.mcp", "MCPTRACECONTEXT"),
    ("event_trigers_defunct", "EVENTTRIGGERS"),
    ("monitor.configuration", "CONFIG"),
    ("monitor.configuration.header_map", "HEADERLIST"),
];
