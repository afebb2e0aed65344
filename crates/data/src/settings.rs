//! The gateway's configuration in the form that the data path uses.

use crate::client_address::ClientAddress;
use crate::client_tls::TlsOptions;
use crate::error_overrides::OverrideRules;
use crate::error_templates::ErrorTemplates;
use crate::header_names::is_same_name;
use crate::port::PortRules;
use crate::quota_monitor::QuotaMonitor;
use crate::refusal::{QUOTA_EXCEEDED, RefusalText};
use crate::script_settings::ScriptSettings;
use crate::tried_apis::TriedApis;
use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tollgate_access::oauth::OAuthSettings;
use tollgate_http::Request;
use tollgate_limit::LimitAlgorithm;
use tollgate_model::config::{
    GatewayConfig, McpCommand, MessageOverride, OasConfig, OnPluginFailure, RateLimitHeaders, TokenizerSettings, WafSettings,
};
use tollgate_model::reference::SecretSources;
use tollgate_model::{Level, Problem};
use tollgate_observe::events::{EventDesk, EventSinks, HandlerSources};
use tollgate_observe::trace::Tracer;
use tollgate_pattern::PatternRules;
use tollgate_tls::TlsSettings;

/// Where issuers of certificates look whose a host is (RFC 8555, section 8.3).
const CHALLENGE_PATH: &str = "/.well-known/acme-challenge/";

/// Default age at which a key set is fetched again, as in Tyk.
const JWKS_AGE_MAX: Duration = Duration::from_secs(240);

/// Limits of the response cache.
#[derive(Clone, Copy, Debug)]
pub struct CacheMemory {
    pub memory_bytes_max: u64,
    /// Largest body of one cached response.
    pub body_bytes_max: u64,
}

/// Limits of batch requests.
#[derive(Clone, Copy, Debug)]
pub struct BatchLimits {
    pub requests_max: usize,
    /// Bytes of the batch, and of the bodies of all its responses together.
    pub body_bytes_max: usize,
}

/// Settings that all APIs share.
#[derive(Clone, Debug)]
pub struct Settings {
    pub routing: RoutingTerms,
    pub sizes: BodySizes,
    pub callers: CallerTerms,
    pub upstreams: UpstreamTerms,
    pub documents: DocumentTerms,
    pub answers: AnswerTerms,
    pub watch: WatchTerms,
}

/// Which API a request belongs to, and what path it has.
#[derive(Clone, Debug)]
pub struct RoutingTerms {
    pub strict_routes: bool,
    /// Default rules for endpoint patterns.
    pub patterns: PatternRules,
    pub custom_domains: bool,
    pub hostname: String,
    pub skip_url_cleaning: bool,
    /// Paths of the control plane's endpoints on the main port; empty when it has its own port.
    pub control_paths: Vec<String>,
    /// Host of the developer portal on the main port; empty for none.
    pub portal_host: String,
    /// Whether the gateway gets certificates by itself, for which issuers ask it.
    pub answers_challenges: bool,
    /// Ports that definitions may name.
    pub ports: PortRules,
    /// The file with listeners and backends; empty for none.
    pub tables_file: PathBuf,
    /// TLS of listeners.
    pub tls: TlsOptions,
}

/// Largest bodies, and the memory for those that are kept.
#[derive(Clone, Debug)]
pub struct BodySizes {
    pub request_body_bytes_max: Option<u64>,
    /// Largest body that a middleware reads, in bytes after decompression.
    pub body_bytes_max: usize,
    /// Largest response body that a transform reads, in bytes.
    pub response_bytes_max: usize,
    pub batch: BatchLimits,
    /// Limits of the response cache of all APIs together.
    pub cache: CacheMemory,
}

/// Who calls, and how much.
#[derive(Clone, Debug)]
pub struct CallerTerms {
    /// Algorithm that counts rates.
    pub limiter: LimitAlgorithm,
    /// Whether the limits of organisations' sessions are enforced.
    pub enforce_org_quotas: bool,
    /// Whether only organisations with an API have sessions.
    pub suppress_default_org_store: bool,
    pub client_address: ClientAddress,
    /// Client certificates that may call every API with client certificates.
    pub client_certificates: Vec<String>,
    /// Whether a key that is bound to a certificate may be used without it.
    pub keys_without_certificate: bool,
    /// Whether any certificate is accepted from servers of key sets.
    pub insecure_jwks_tls: bool,
    /// Age at which a key set is fetched again.
    pub jwks_age_max: Duration,
    /// Settings of the OAuth 2.0 provider.
    pub oauth: OAuthSettings,
    /// Tells when quotas are used to a share, if it is switched on.
    pub quota_monitor: Option<Arc<QuotaMonitor>>,
}

/// Where requests go.
#[derive(Clone, Debug)]
pub struct UpstreamTerms {
    /// Default TLS settings towards upstreams.
    pub tls: TlsSettings,
    /// Key of the identifiers in cookies that name targets: gateways with one secret have the same ones.
    pub sticky_key: StickyKey,
    /// How `uptime_tests` are run; `None` if they are off.
    pub uptime_tests: Option<UptimeRounds>,
    /// Time between two questions to a discovery service, if an API does not set it.
    pub discovery_interval: Duration,
    /// Name servers to use instead of the system's.
    pub name_servers: Vec<SocketAddr>,
    /// Where the gateway runs; empty if that does not matter.
    pub zone: String,
    pub websockets: bool,
}

/// What definitions may have.
#[derive(Clone, Debug)]
pub struct DocumentTerms {
    /// How strictly OpenAPI documents are checked.
    pub oas: OasConfig,
    /// Whether examples of OpenAPI documents that do not fit are warnings, where they are no errors.
    pub warns_of_examples: bool,
    /// Tags of this gateway's segment: an API must have one of them to be served. `None` serves every API.
    segment: Option<Vec<String>>,
    /// Values of references to secrets in definitions.
    pub secrets: SecretSources,
    /// Protective fields of definitions that are not supported; an API that uses one of these is served without it.
    pub serve_without: Vec<String>,
    /// Uploaded or in files: all that the configuration names.
    pub certificates_named: Vec<String>,
    /// Settings of scripts; `None` if none may run.
    pub scripts: Option<ScriptSettings>,
    /// Commands that definitions may run as MCP servers.
    pub mcp_commands: BTreeMap<String, McpCommand>,
    /// Settings of plugins.
    pub plugins: PluginTerms,
    /// Where rules of web application firewalls are.
    pub waf: WafSettings,
    /// Vocabularies of language models.
    pub tokenizers: Vec<TokenizerSettings>,
}

/// What responses have of the gateway.
#[derive(Clone, Debug)]
pub struct AnswerTerms {
    pub close_connections: bool,
    pub hide_generator: bool,
    pub version_header: String,
    /// Whether `X-Ratelimit-*` reports quotas (Tyk's default) rather than rate limits.
    pub reports_quotas: bool,
    /// Whether `X-Ratelimit-*` is written.
    pub tyk_limit_headers: bool,
    /// Whether `RateLimit`, `RateLimit-Policy` and `Retry-After` are written.
    pub ietf_limit_headers: bool,
    /// Whether refusals have a body as in RFC 9457.
    pub problem_details: bool,
    /// Status of a request over its quota.
    quota_status: u16,
    /// Whether requests get an `X-Request-Id`.
    pub request_id: bool,
    /// Whether responses get a `Server-Timing`.
    pub server_timing: bool,
    /// What pages of the developer portal may try, if they may try APIs.
    pub tried_apis: Option<TriedApis>,
    overrides: BTreeMap<String, MessageOverride>,
    /// The operator's own error bodies.
    pub error_templates: ErrorTemplates,
    /// Rules that replace error responses, for all APIs.
    pub error_overrides: Arc<OverrideRules>,
}

/// Who is told what happens.
#[derive(Clone, Debug)]
pub struct WatchTerms {
    /// Whether requests that match no API are logged.
    pub logs_not_found: bool,
    /// The tracer, if requests are traced.
    pub tracer: Option<Tracer>,
    /// Handlers of events.
    pub events: EventDesk,
    /// Those of the gateway's own events.
    pub gateway_events: Option<Arc<EventSinks>>,
}

/// Settings of plugins.
#[derive(Clone, Debug)]
pub struct PluginTerms {
    /// How long a hook may take.
    pub time_max: Duration,
    /// Whether requests go on without a plugin that can't be reached.
    pub is_open: bool,
    /// Directory of plugins.
    pub directory: PathBuf,
}

impl PluginTerms {
    fn new(config: &GatewayConfig) -> Self {
        let settings = &config.tollgate.plugins;
        PluginTerms {
            time_max: Duration::from_millis(settings.timeout_ms()),
            is_open: settings.on_failure == OnPluginFailure::Open,
            directory: config.middleware_path.clone(),
        }
    }
}

/// How `uptime_tests` are run.
#[derive(Clone, Copy, Debug)]
pub struct UptimeRounds {
    /// Results in a row after which a target is down, or up again.
    pub trigger: u32,
    /// Time between two checks.
    pub interval: Duration,
}

/// Key of the identifiers in cookies that name targets.
#[derive(Clone, Copy)]
pub struct StickyKey([u8; 32]);

impl fmt::Debug for StickyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // It must not reach a log.
        f.write_str("StickyKey")
    }
}

impl StickyKey {
    /// What a cookie that names a target has as its value.
    pub fn id(self, api: &str, url: &str) -> Box<str> {
        let hash = blake3::keyed_hash(&self.0, format!("{api}\0{url}").as_bytes());
        hash.to_hex().get(..16).unwrap_or_default().into()
    }
}

/// A number, or this one if it is 0.
fn or(number: u64, default: u64) -> u64 {
    if number == 0 { default } else { number }
}

/// Certificates that the configuration names, wherever it does.
fn certificates_named(config: &GatewayConfig) -> Vec<String> {
    let named = &config.security.certificates;
    let lists = [&config.http_server_options.ssl_certificates, &named.apis, &named.control_api];
    lists.into_iter().flatten().chain(named.upstream.values()).cloned().collect()
}

impl Settings {
    /// Reads the settings from a configuration.
    pub fn new(config: &GatewayConfig) -> Self {
        let http = &config.http_server_options;
        let shares_port = config.control_api_port == 0 || config.control_api_port == config.listen_port;
        let names = [&config.health_check_endpoint_name, &config.readiness_check_endpoint_name];
        let inspection = ["/config", "/env"].into_iter().filter(|_| config.enable_config_inspection);
        let own = inspection.chain(["/live"]).map(str::to_owned);
        let control_paths = names.into_iter().map(|name| format!("/{name}")).chain(own);
        Settings {
            routing: RoutingTerms {
                strict_routes: http.enable_strict_routes,
                patterns: PatternRules::new(config),
                custom_domains: config.enable_custom_domains,
                hostname: config.hostname.clone(),
                skip_url_cleaning: http.skip_url_cleaning,
                control_paths: if shares_port { control_paths.collect() } else { Vec::new() },
                portal_host: config.tollgate.portal.host.clone(),
                answers_challenges: config.tollgate.acme.is_on(),
                ports: PortRules::new(config),
                tables_file: config.tollgate.routing_file.clone(),
                tls: TlsOptions::new(config),
            },
            sizes: BodySizes {
                request_body_bytes_max: Some(http.max_request_body_size).filter(|bytes| *bytes > 0),
                body_bytes_max: config.tollgate.limits.body_bytes_max,
                response_bytes_max: match usize::try_from(http.max_response_body_size) {
                    Ok(bytes) if bytes > 0 => bytes.min(config.tollgate.limits.body_bytes_max),
                    _ => config.tollgate.limits.body_bytes_max,
                },
                batch: BatchLimits {
                    requests_max: config.tollgate.limits.batch_requests_max,
                    body_bytes_max: config.tollgate.limits.body_bytes_max,
                },
                cache: CacheMemory {
                    memory_bytes_max: config.tollgate.cache.memory_mib_max.saturating_mul(1 << 20),
                    body_bytes_max: config.tollgate.cache.body_bytes_max,
                },
            },
            callers: CallerTerms {
                limiter: LimitAlgorithm::of(config),
                enforce_org_quotas: config.enforce_org_quotas,
                suppress_default_org_store: config.suppress_default_org_store,
                client_address: ClientAddress {
                    trusted_proxies: config.tollgate.trusted_networks(),
                    xff_depth: http.xff_depth,
                    header: config.tollgate.client_ip_header.to_ascii_lowercase(),
                },
                client_certificates: config.security.certificates.apis.clone(),
                keys_without_certificate: config.security.allow_unsafe_dynamic_mtls_token,
                insecure_jwks_tls: config.jwt_ssl_insecure_skip_verify,
                jwks_age_max: match config.jwks.cache.timeout {
                    0 => JWKS_AGE_MAX,
                    seconds => Duration::from_secs(seconds),
                },
                oauth: OAuthSettings::new(config),
                quota_monitor: None,
            },
            upstreams: UpstreamTerms {
                tls: TlsSettings::of_gateway(config),
                sticky_key: StickyKey(blake3::derive_key("tollgate 2026 cookies that name targets", config.secret.as_bytes())),
                uptime_tests: (!config.uptime_tests.disable).then(|| UptimeRounds {
                    trigger: or(u64::from(config.uptime_tests.config.failure_trigger_sample_size), 3) as u32,
                    interval: Duration::from_secs(or(config.uptime_tests.config.time_wait, 10)),
                }),
                discovery_interval: Duration::from_secs(or(config.service_discovery.default_cache_timeout, 120)),
                name_servers: config.tollgate.dns.addresses(),
                zone: config.tollgate.zone.clone(),
                websockets: http.enable_websockets,
            },
            documents: DocumentTerms {
                oas: config.oas_config,
                warns_of_examples: false,
                segment: Some(&config.db_app_conf_options)
                    .filter(|options| options.node_is_segmented)
                    .map(|options| options.tags.clone()),
                secrets: config.secret_sources(std::env::vars()),
                serve_without: config.tollgate.serve_without.clone(),
                certificates_named: certificates_named(config),
                scripts: ScriptSettings::new(config),
                mcp_commands: config.tollgate.mcp_commands.clone(),
                plugins: PluginTerms::new(config),
                waf: config.tollgate.waf.clone(),
                tokenizers: config.tollgate.tokenizers.clone(),
            },
            answers: AnswerTerms {
                close_connections: config.close_connections,
                hide_generator: config.hide_generator_header,
                version_header: config.version_header.clone(),
                reports_quotas: config.rate_limit_response_headers != "rate_limits",
                tyk_limit_headers: config.tollgate.rate_limit_headers != RateLimitHeaders::Ietf,
                ietf_limit_headers: config.tollgate.rate_limit_headers != RateLimitHeaders::Tyk,
                problem_details: config.tollgate.problem_details,
                quota_status: config.tollgate.quota_status,
                request_id: config.tollgate.request_id,
                server_timing: config.tollgate.server_timing,
                tried_apis: config.tollgate.portal.tried_from().map(TriedApis::of),
                overrides: config.override_messages.clone(),
                error_templates: ErrorTemplates::default(),
                error_overrides: Arc::default(),
            },
            watch: WatchTerms {
                logs_not_found: config.track_404_logs,
                tracer: config.opentelemetry.traces().map(|traces| Tracer::new(&traces)),
                events: EventDesk::default(),
                gateway_events: None,
            },
        }
    }

    /// Adds the operator's own error bodies and the rules that use them; also returns their problems.
    pub fn with_errors(self, config: &GatewayConfig) -> (Self, Vec<Problem>) {
        let (error_templates, mut problems) = ErrorTemplates::load(&config.template_path);
        let (rules, more) = OverrideRules::compile(&config.error_overrides, &error_templates);
        problems.extend(more.into_iter().map(|problem| {
            let level = if problem.is_error { Level::Error } else { Level::Warning };
            Problem::new(level, format!("$.error_overrides{}", problem.path), problem.message)
        }));
        let (events, more) = EventDesk::new(config);
        problems.extend(more);
        let (gateway_events, more) = events.sinks(None, &config.event_handlers, HandlerSources::default());
        problems.extend(more);
        let (quota_monitor, more) = QuotaMonitor::new(config, &events);
        problems.extend(more);
        let error_overrides = Arc::new(rules);
        let answers = AnswerTerms { error_templates, error_overrides, ..self.answers };
        let watch = WatchTerms { events, gateway_events, ..self.watch };
        let callers = CallerTerms { quota_monitor, ..self.callers };
        (Settings { answers, watch, callers, ..self }, problems)
    }

    /// The same for a configuration that is only rehearsed: without events and traces, and without headers that differ from request to request.
    pub fn rehearsal(&self) -> Self {
        let known = self.clone();
        Settings {
            watch: WatchTerms { events: EventDesk::default(), gateway_events: None, tracer: None, logs_not_found: false },
            callers: CallerTerms { quota_monitor: None, ..known.callers },
            answers: AnswerTerms { request_id: false, server_timing: false, ..known.answers },
            ..known
        }
    }

    /// Whether the gateway sets or reads this request header for all APIs.
    pub fn uses_header(&self, name: &str) -> bool {
        let own = [self.answers.request_id.then_some("X-Request-Id"), Some(self.callers.client_address.header.as_str())];
        let of_traces = self.watch.tracer.as_ref().and_then(Tracer::header);
        own.into_iter().flatten().chain(of_traces).any(|own| is_same_name(own, name))
    }

    /// The header in which trusted proxies report the client; empty for the usual headers.
    pub fn client_address_header(&self) -> &str {
        &self.callers.client_address.header
    }

    /// Whether an issuer of certificates asks with this path whose a host is. The control plane answers it at all ports.
    #[inline]
    pub fn is_challenge_path(&self, path: &str) -> bool {
        self.routing.answers_challenges && path.starts_with(CHALLENGE_PATH)
    }

    /// Whether a path on this port belongs to the control plane.
    #[inline]
    pub fn is_control_path(&self, path: &str) -> bool {
        !self.routing.control_paths.is_empty()
            && (path.starts_with("/tyk/") || path == "/tyk" || self.routing.control_paths.iter().any(|own| own == path))
    }

    /// Status and message of a refusal after the operator's overrides, and the complete JSON body if it is prepared.
    #[inline]
    pub fn worded<'r>(&'r self, refusal: &'r RefusalText) -> (u16, &'r str, &'static str) {
        let replacement = refusal.id.filter(|_| !self.answers.overrides.is_empty()).and_then(|id| self.answers.overrides.get(id));
        let own_status = if refusal.cause == QUOTA_EXCEEDED.cause { self.answers.quota_status } else { refusal.status };
        let status = replacement.map(|own| own.code).filter(|code| *code != 0).unwrap_or(own_status);
        let message = replacement.map(|own| own.message.as_str()).filter(|text| !text.is_empty());
        match message {
            Some(message) => (status, message, ""),
            None => (status, refusal.message.text(), refusal.message.json()),
        }
    }

    /// Whether this gateway serves APIs with these tags.
    pub fn has_tag_of(&self, tags: &[String]) -> bool {
        self.documents.segment.as_ref().is_none_or(|segment| tags.iter().any(|tag| segment.contains(tag)))
    }

    /// The client's address: the connection's, or the one that a trusted proxy reports.
    #[inline]
    pub fn client_ip(&self, peer: IpAddr, request: &Request<'_>) -> IpAddr {
        self.callers.client_address.of(peer, request)
    }

    /// Whether the request comes from a trusted proxy itself, not from a client behind it.
    pub fn is_proxy(&self, client: IpAddr, peer: IpAddr) -> bool {
        client == peer && self.callers.client_address.trusts(peer)
    }
}
