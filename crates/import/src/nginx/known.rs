//! Directives that need nothing here, and those that have no counterpart: why.

/// What a directive that is not looked at closer means here.
pub(super) enum Known {
    /// The gateway does it by itself, and nobody sees a difference: how.
    BuiltIn(&'static str),
    /// The gateway has a way of its own: which.
    Own(&'static str),
    /// It is about files or protocols that are no work of a gateway: what.
    OtherWork(&'static str),
    /// It has no counterpart and protects nothing: why.
    Without(&'static str),
    /// It has no counterpart and protects: why.
    Protects(&'static str),
}

const LOGS: &str = "the gateway has logs of its own: log_format, access logs and analytics in its configuration";
const THREADS: &str = "the gateway has a thread for each core and sizes its own tables";
const SOCKETS: &str = "the gateway sets its sockets up itself";
const TLS: &str = "the gateway speaks TLS 1.2 and 1.3 with authenticated encryption";
const BUFFERS: &str = "the gateway streams bodies and sizes its own buffers";
const POOL: &str = "connections to upstreams are kept and reused by themselves";
const FILES: &str = "files that nginx itself serves";
const PROGRAMS: &str = "programs are not carried over";
const OTHERS: &str = "application servers that do not speak HTTP";
const RULES: &str =
    "`tollgate.waf` of the configuration names a directory of such rules, and definitions with `tollgate.waf` use them";
const NAMES: &str = "names are resolved by the system's settings, and again by themselves";

#[rustfmt::skip]
const KNOWN: &[(&str, Known)] = &[
    ("access_log", Known::Own(LOGS)), ("error_log", Known::Own(LOGS)), ("log_format", Known::Own(LOGS)),
    ("log_not_found", Known::OtherWork(FILES)), ("log_subrequest", Known::Own(LOGS)), ("open_log_file_cache", Known::Own(LOGS)),
    ("rewrite_log", Known::Own(LOGS)), ("server_tokens", Known::Own("the gateway does not tell its version")),
    ("worker_processes", Known::BuiltIn(THREADS)), ("worker_connections", Known::BuiltIn(THREADS)), ("worker_rlimit_nofile", Known::BuiltIn(THREADS)),
    ("worker_cpu_affinity", Known::BuiltIn(THREADS)), ("worker_priority", Known::BuiltIn(THREADS)), ("worker_shutdown_timeout", Known::BuiltIn(THREADS)),
    ("multi_accept", Known::BuiltIn(THREADS)), ("use", Known::BuiltIn(THREADS)), ("accept_mutex", Known::BuiltIn(THREADS)), ("thread_pool", Known::BuiltIn(THREADS)),
    ("pcre_jit", Known::BuiltIn(THREADS)), ("types_hash_max_size", Known::BuiltIn(THREADS)), ("types_hash_bucket_size", Known::BuiltIn(THREADS)),
    ("server_names_hash_bucket_size", Known::BuiltIn(THREADS)), ("server_names_hash_max_size", Known::BuiltIn(THREADS)),
    ("variables_hash_max_size", Known::BuiltIn(THREADS)), ("variables_hash_bucket_size", Known::BuiltIn(THREADS)),
    ("map_hash_bucket_size", Known::BuiltIn(THREADS)), ("map_hash_max_size", Known::BuiltIn(THREADS)),
    ("proxy_headers_hash_max_size", Known::BuiltIn(THREADS)), ("proxy_headers_hash_bucket_size", Known::BuiltIn(THREADS)),
    ("user", Known::Own("the service manager says who runs the gateway")), ("pid", Known::Own("`pid_file_location` of the configuration")),
    ("daemon", Known::Own("the service manager starts the gateway")), ("master_process", Known::BuiltIn(THREADS)), ("env", Known::Own("environment")),
    ("load_module", Known::Own("everything is in the gateway")), ("debug_connection", Known::Own(LOGS)),
    ("sendfile", Known::BuiltIn(SOCKETS)), ("sendfile_max_chunk", Known::BuiltIn(SOCKETS)), ("tcp_nopush", Known::BuiltIn(SOCKETS)),
    ("tcp_nodelay", Known::BuiltIn(SOCKETS)), ("aio", Known::BuiltIn(SOCKETS)), ("directio", Known::BuiltIn(SOCKETS)), ("output_buffers", Known::BuiltIn(BUFFERS)),
    ("postpone_output", Known::BuiltIn(BUFFERS)), ("reset_timedout_connection", Known::BuiltIn(SOCKETS)), ("lingering_close", Known::BuiltIn(SOCKETS)),
    ("lingering_time", Known::BuiltIn(SOCKETS)), ("lingering_timeout", Known::BuiltIn(SOCKETS)), ("http2", Known::Own("HTTP/2 is spoken at TLS listeners")),
    ("http2_max_concurrent_streams", Known::Own(SOCKETS)), ("keepalive_timeout", Known::Own("`tollgate.timeouts` of the configuration")),
    ("keepalive_requests", Known::Own(SOCKETS)), ("keepalive_disable", Known::Own(SOCKETS)), ("send_timeout", Known::Own("slow clients have a minimum rate")),
    ("client_body_timeout", Known::Own("slow clients have a minimum rate")), ("client_header_timeout", Known::Own("`tollgate.timeouts.head_ms`")),
    ("client_body_buffer_size", Known::BuiltIn(BUFFERS)), ("client_header_buffer_size", Known::BuiltIn(BUFFERS)),
    ("large_client_header_buffers", Known::Own("`tollgate.limits` of the configuration")), ("client_body_temp_path", Known::BuiltIn(BUFFERS)),
    ("client_body_in_file_only", Known::Own(BUFFERS)), ("connection_pool_size", Known::BuiltIn(BUFFERS)), ("request_pool_size", Known::BuiltIn(BUFFERS)),
    ("ignore_invalid_headers", Known::Own("invalid headers get 400")), ("underscores_in_headers", Known::Own("names with underscores pass, but those that frame")),
    ("merge_slashes", Known::Own("paths are normalised")), ("absolute_redirect", Known::Own("locations are absolute")),
    ("port_in_redirect", Known::Own("locations have the listener's port")), ("server_name_in_redirect", Known::Own("locations have the request's host")),
    ("chunked_transfer_encoding", Known::Own(BUFFERS)), ("max_ranges", Known::OtherWork(FILES)), ("etag", Known::OtherWork(FILES)),
    ("if_modified_since", Known::OtherWork(FILES)), ("resolver", Known::Own(NAMES)), ("resolver_timeout", Known::Own(NAMES)),
    ("ssl_protocols", Known::Own(TLS)), ("ssl_ciphers", Known::Own(TLS)), ("ssl_prefer_server_ciphers", Known::Own(TLS)),
    ("ssl_session_cache", Known::Own(TLS)), ("ssl_session_timeout", Known::Own(TLS)), ("ssl_session_tickets", Known::Own(TLS)),
    ("ssl_session_ticket_key", Known::Own(TLS)), ("ssl_dhparam", Known::Own(TLS)), ("ssl_ecdh_curve", Known::Own(TLS)), ("ssl_buffer_size", Known::Own(TLS)),
    ("ssl_stapling", Known::Without("the gateway does not staple OCSP responses")), ("ssl_stapling_verify", Known::Without("the gateway does not staple OCSP responses")),
    ("ssl_trusted_certificate", Known::Own("needed for stapling and clients only")), ("ssl_early_data", Known::Own("early data is not accepted")),
    ("ssl_conf_command", Known::Own(TLS)), ("ssl", Known::Own("the listener says it")), ("ssl_reject_handshake", Known::Own("names without a certificate get the first one")),
    ("proxy_http_version", Known::Own("upstreams are spoken to in HTTP/1.1")), ("proxy_buffering", Known::BuiltIn(BUFFERS)), ("proxy_buffers", Known::BuiltIn(BUFFERS)),
    ("proxy_buffer_size", Known::BuiltIn(BUFFERS)), ("proxy_busy_buffers_size", Known::BuiltIn(BUFFERS)), ("proxy_temp_file_write_size", Known::BuiltIn(BUFFERS)),
    ("proxy_max_temp_file_size", Known::BuiltIn(BUFFERS)), ("proxy_temp_path", Known::BuiltIn(BUFFERS)), ("proxy_request_buffering", Known::BuiltIn(BUFFERS)),
    ("proxy_ignore_client_abort", Known::Own("an upstream's connection ends with its client")), ("proxy_socket_keepalive", Known::BuiltIn(POOL)),
    ("proxy_connect_timeout", Known::Own("connections have the gateway's own time limit")), ("proxy_send_timeout", Known::Own("the gateway's own time limit")),
    ("proxy_pass_request_headers", Known::Own("headers pass")), ("proxy_pass_request_body", Known::Own("bodies pass")), ("proxy_pass_header", Known::BuiltIn("headers of upstreams pass")),
    ("proxy_headers", Known::Own("headers pass")), ("proxy_ssl_server_name", Known::Own("the server's name is always sent")),
    ("proxy_ssl_protocols", Known::Own(TLS)), ("proxy_ssl_session_reuse", Known::BuiltIn("sessions with upstreams are resumed")), ("proxy_ssl_ciphers", Known::Own(TLS)), ("proxy_ssl_name", Known::Own("the server's name is the target's")),
    ("proxy_ssl_verify_depth", Known::Own(TLS)), ("proxy_ssl_trusted_certificate", Known::Own("upstreams are checked against the system's authorities")),
    ("proxy_cache_path", Known::Own("stored responses are in memory: `tollgate.cache` of the configuration")), ("proxy_cache_lock", Known::Own("requests for one response wait for each other")),
    ("proxy_cache_lock_timeout", Known::Own("requests for one response wait for each other")), ("proxy_cache_min_uses", Known::Own("responses are stored at once")),
    ("proxy_cache_revalidate", Known::Own("stored responses are revalidated")), ("proxy_cache_background_update", Known::Own("as the response's directives say")),
    ("proxy_cache_use_stale", Known::Own("as the response's directives say")), ("proxy_cache_methods", Known::Own("GET and HEAD")),
    ("proxy_cache_key", Known::Own("the key is method, host, path and query")), ("proxy_cache_bypass", Known::Without("requests bypass the cache by their own directives only")),
    ("proxy_no_cache", Known::Without("responses say themselves whether they are stored")), ("proxy_ignore_headers", Known::Without("headers of responses are heeded")),
    ("proxy_redirect", Known::Own("locations of upstreams pass unchanged")), ("proxy_cookie_path", Known::Without("only the start of a path, without an expression, can be replaced")),
    ("proxy_cookie_domain", Known::Without("only a whole domain, without an expression, can be replaced")), ("proxy_intercept_errors", Known::Without("`error_overrides` replaces errors")),
    ("proxy_store", Known::OtherWork(FILES)), ("proxy_bind", Known::Own("the system chooses the address")), ("proxy_limit_rate", Known::Without("responses have no maximum rate")),
    ("proxy_next_upstream_timeout", Known::Own("retries have a budget")), ("keepalive", Known::BuiltIn(POOL)), ("zone", Known::BuiltIn("all threads share the state of targets")), ("keepalive_time", Known::BuiltIn(POOL)),
    ("root", Known::OtherWork(FILES)), ("alias", Known::OtherWork(FILES)), ("index", Known::OtherWork(FILES)), ("autoindex", Known::OtherWork(FILES)),
    ("autoindex_exact_size", Known::OtherWork(FILES)), ("autoindex_localtime", Known::OtherWork(FILES)), ("autoindex_format", Known::OtherWork(FILES)), ("types", Known::OtherWork(FILES)),
    ("charset", Known::Without("bodies pass unchanged")), ("charset_types", Known::Without("bodies pass unchanged")),
    ("open_file_cache", Known::OtherWork(FILES)), ("open_file_cache_valid", Known::OtherWork(FILES)), ("open_file_cache_min_uses", Known::OtherWork(FILES)),
    ("open_file_cache_errors", Known::OtherWork(FILES)), ("disable_symlinks", Known::OtherWork(FILES)), ("gzip_static", Known::OtherWork(FILES)), ("random_index", Known::OtherWork(FILES)),
    ("error_page", Known::Own("errors keep their status, with a text of the gateway; `error_overrides` and templates replace it")), ("recursive_error_pages", Known::Without("no page is served for an error")),
    ("gunzip", Known::Without("what upstreams compress passes as it is")), ("brotli_static", Known::OtherWork(FILES)),
    ("fastcgi_pass", Known::OtherWork(OTHERS)), ("uwsgi_pass", Known::OtherWork(OTHERS)), ("scgi_pass", Known::OtherWork(OTHERS)), ("memcached_pass", Known::OtherWork(OTHERS)), ("grpc_set_header", Known::Without("headers of calls pass unchanged")),
    ("sub_filter", Known::Without("bodies change by templates and filters of JSON")), ("sub_filter_once", Known::Without("bodies change by templates and filters of JSON")), ("sub_filter_types", Known::Without("bodies change by templates and filters of JSON")),
    ("limit_rate", Known::Without("responses have no maximum rate")), ("limit_rate_after", Known::Without("responses have no maximum rate")),
    ("limit_req_status", Known::Own("429")), ("limit_req_log_level", Known::Own(LOGS)), ("limit_conn_status", Known::Own("the connection is reset")), ("limit_conn_log_level", Known::Own(LOGS)),
    ("stub_status", Known::Without("the control API has figures: `tollgate status`")), ("ssi", Known::Without("bodies pass unchanged")), ("add_before_body", Known::Without("bodies pass unchanged")), ("add_after_body", Known::Without("bodies pass unchanged")),
    ("auth_request_set", Known::Own("headers of the answer that are used are passed on")), ("internal", Known::Own("it is reached from within only")), ("set_real_ip_from", Known::Own("`tollgate.trusted_proxies`")),
    ("status_zone", Known::BuiltIn("all APIs and targets have figures")), ("status", Known::Own("`tollgate status` and the metrics")), ("api", Known::Own("the control API")),
    ("upstream_conf", Known::Own("the control API")), ("state", Known::Own("definitions are the state")), ("match", Known::Without("`tollgate.upstream.checks` judges by status")), ("lua_shared_dict", Known::Without(PROGRAMS)), ("lua_package_path", Known::Without(PROGRAMS)),
    ("content_by_lua_block", Known::Without(PROGRAMS)), ("content_by_lua_file", Known::Without(PROGRAMS)), ("body_filter_by_lua_block", Known::Without(PROGRAMS)),
    ("header_filter_by_lua_block", Known::Without(PROGRAMS)), ("log_by_lua_block", Known::Without(PROGRAMS)), ("init_by_lua_block", Known::Without(PROGRAMS)),
    ("ssl_verify_depth", Known::Own(TLS)), ("ssl_crl", Known::Protects("revoked certificates are not known")),
    ("valid_referers", Known::Protects("requests are not told apart by their referrer")), ("secure_link", Known::Protects("links are not signed")), ("secure_link_md5", Known::Protects("links are not signed")),
    ("auth_jwt", Known::Protects("name the key set with `jwt_source` by hand")), ("auth_jwt_key_file", Known::Protects("name the key set with `jwt_source` by hand")),
    ("modsecurity", Known::Protects(RULES)), ("modsecurity_rules_file", Known::Protects(RULES)), ("modsecurity_rules", Known::Protects(RULES)),
    ("access_by_lua_block", Known::Protects(PROGRAMS)), ("access_by_lua_file", Known::Protects(PROGRAMS)), ("access_by_lua", Known::Protects(PROGRAMS)),
    ("auth_ldap", Known::Protects("there is no LDAP")), ("auth_pam", Known::Protects("there is no PAM")), ("limit_except", Known::Protects("methods are told apart by routes")),
];

pub(super) fn known(name: &str) -> Option<&'static Known> {
    let found = KNOWN.iter().find(|(known, _)| *known == name).map(|(_, known)| known);
    found.or_else(|| {
        ["fastcgi_", "uwsgi_", "scgi_", "memcached_"]
            .iter()
            .any(|start| name.starts_with(start))
            .then_some(&Known::OtherWork(OTHERS))
    })
}
