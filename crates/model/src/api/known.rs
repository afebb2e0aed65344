//! Fields of Tyk's API definition without effect, except the typed ones that validation reports.

use crate::known_field::KnownField;
use crate::known_field::ReportWhen::{Never, Refuse, Set};

pub(crate) const FIELDS: &[KnownField] = &[
    ("_id", Never),
    ("created_at", Never),
    ("updated_at", Never),
    ("is_oas", Never),
    ("is_site", Never),
    ("sort_by", Never),
    ("owners", Never),
    ("user_owners", Never),
    ("user_group_owners", Never),
    ("hook_references", Never),
    ("db_app_configs", Never),
    // Settings of authentication methods: the method itself is reported.
    ("idp_client_id_mapping_disabled", Never),
    ("external_oauth.providers.jwt", Never),
    ("security_requirements", Set),
    ("auth_provider", Never),
    ("session_provider", Never),
    // TLS.
    ("upstream_auth.basic_auth.header.enabled", Never),
    ("upstream_auth.oauth.client_credentials.header.enabled", Never),
    ("upstream_auth.oauth.client_credentials.extra_metadata", Set),
    ("upstream_auth.oauth.password.header.enabled", Never),
    ("upstream_auth.oauth.password.extra_metadata", Set),
    // The gateway's own answers have it, as Tyk's have.
    // Analytics and telemetry.
    // Results are in memory, and discovered targets are checked by `tollgate.upstream.checks`.
    ("uptime_tests.config.recheck_wait", Never),
    ("uptime_tests.config.service_discovery", Never),
    // Middleware.
    ("x-tyk-streaming", Set),
    // GraphQL: the client's own way to subscribe is the upstream's, and only Tyk's dashboard reads the other two.
    ("graphql.proxy.subscription_type", Set),
    ("graphql.proxy.sse_use_post", Set),
    ("graphql.proxy.auth_headers", Never),
    ("graphql.last_schema_update", Never),
    // For Tyk's dashboard: the URL says that the source is an API of the gateway.
    ("graphql.engine.data_sources.internal", Never),
    ("graphql.supergraph.updated_at", Never),
    // Tyk's dashboard has composed it; the gateway composes its own.
    ("graphql.supergraph.merged_sdl", Never),
    // What decides who may call, and is misspelt.
    ("tollgate.**", Refuse),
    ("auth.*", Refuse),
    ("auth.signature.*", Refuse),
    ("auth_configs.*.*", Refuse),
    ("auth_configs.*.signature.*", Refuse),
    ("basic_auth.*", Refuse),
    ("openid_options.*", Refuse),
    ("openid_options.providers.*", Refuse),
    ("external_oauth.*", Refuse),
    ("external_oauth.providers.*", Refuse),
    ("external_oauth.providers.introspection.*", Refuse),
    ("scopes.*", Refuse),
    ("scopes.*.*", Refuse),
    ("jwt_jwks_uris.*", Refuse),
];
