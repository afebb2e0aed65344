use std::path::Path;

use crate::config::GatewayConfig;
use crate::key::KeyFunction;
use crate::problem::Problem;

type Loaded = Result<(GatewayConfig, Vec<Problem>), Vec<Problem>>;

fn load_file(name: &str, text: &str, variables: &[(&str, &str)]) -> Loaded {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    std::fs::write(&path, text).unwrap();
    load(Some(&path), variables)
}

fn load(file: Option<&Path>, variables: &[(&str, &str)]) -> Loaded {
    let owned = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    GatewayConfig::load(file, owned)
}

/// Problems without the name of the temporary file.
fn texts(loaded: &Loaded) -> Vec<String> {
    let (Ok((_, problems)) | Err(problems)) = loaded;
    let strip = |p: &Problem| Problem { file: None, ..p.clone() }.to_string();
    problems.iter().map(strip).collect()
}

/// Checks the problems of a configuration file with variables.
#[track_caller]
fn check(text: &str, variables: &[(&str, &str)], expect: &[&str]) {
    assert_eq!(texts(&load_file("tyk.conf", text, variables)), expect);
}

#[test]
fn without_a_file_the_defaults_of_the_example_hold() {
    let (config, problems) = load(None, &[]).unwrap();
    assert_eq!(config, GatewayConfig::default());
    assert!(problems.is_empty());
    assert!(config.http_server_options.enable_strict_routes);
    assert!(config.http_server_options.enable_websockets);
}

#[test]
fn with_a_file_the_defaults_of_the_code_hold() {
    for (name, text) in [("tyk.conf", "{}"), ("a.yaml", ""), ("b.json", "null")] {
        let (config, problems) = load_file(name, text, &[]).unwrap();
        assert_eq!(config, GatewayConfig::of_empty_file(), "{name}");
        assert!(problems.is_empty());
        assert!(!config.http_server_options.enable_strict_routes);
        assert_eq!(config.listen_port, 8080);
    }
}

#[test]
fn json_and_yaml_say_the_same() {
    let json = r#"{"listen_port": 9000, "http_server_options": {"xff_depth": 1}, "tollgate": {"threads": 2}}"#;
    let yaml = "listen_port: 9000\nhttp_server_options:\n  xff_depth: 1\ntollgate: {threads: 2}\n";
    let (from_json, _) = load_file("tyk.conf", json, &[]).unwrap();
    assert_eq!(from_json.listen_port, 9000);
    assert_eq!(from_json.tollgate.threads, 2);
    for name in ["tyk.yaml", "tyk.yml", "tyk.conf"] {
        assert_eq!(load_file(name, yaml, &[]).unwrap().0, from_json, "{name}");
    }
}

#[test]
fn files_that_cannot_be_used_say_why() {
    check("{\n \"a\": }", &[], &["error: not valid JSON: expected value at line 2 column 7"]);
    check("[]", &[], &["$: error: must be an object"]);
    let missing = load(Some(Path::new("/no/such/tyk.conf")), &[]).unwrap_err();
    assert!(missing[0].to_string().starts_with("/no/such/tyk.conf: error: cannot be read: "));
    let yaml = load_file("a.yaml", "a: [1", &[]).unwrap_err();
    assert!(yaml[0].message.contains("line 1"), "{}", yaml[0].message);
}

#[test]
fn variables_win_over_the_file() {
    let variables = [
        ("TYK_GW_LISTENPORT", "1111"),
        ("TYK_GW_HTTPSERVEROPTIONS_ENABLESTRICTROUTES", "true"),
        ("TYK_GW_MAXIDLECONNSPERHOST", "7"),
        ("TYK_GW_HTTPSERVEROPTIONS_CIPHERS", "a,b"),
        ("TYK_GW_SECRETS", "k:v,k2:v:2"),
        ("TYK_GW_PROXYDEFAULTTIMEOUT", "2.5"),
        ("TYK_GW_CLOSECONNECTIONS", ""),
        ("TYK_LOGLEVEL", "debug"),
        ("TOLLGATE_LISTEN_PORT", "2222"),
        ("TOLLGATE_HTTP_SERVER_OPTIONS__XFF_DEPTH", "3"),
        ("TOLLGATE_THREADS", "4"),
        ("TOLLGATE_TIMEOUTS_HEAD_MS", "5"),
        ("TOLLGATE_TRUSTED_PROXIES", r#"["10.0.0.0/8"]"#),
        ("TYK_GW_HTTPSERVEROPTIONS_CERTIFICATES", r#"[{"cert_file": "c", "key_file": "k"}]"#),
        ("PATH", "/bin"),
        ("TOLLGATE_SERVICE_HOST", "10.0.0.1"),
        ("TYK_GW_PORT_8080_TCP", "tcp://10.0.0.1:8080"),
        ("TOLLGATE_SECRET_X", "y"),
    ];
    let loaded = load_file("tyk.conf", r#"{"Listen_Port": 9, "max_idle_connections_per_host": 1}"#, &variables);
    let (config, problems) = loaded.unwrap();
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!(config.listen_port, 2222);
    let options = &config.http_server_options;
    assert!(options.enable_strict_routes && !options.enable_path_prefix_matching);
    assert_eq!(config.max_idle_connections_per_host, 7);
    assert_eq!(options.ssl_ciphers, ["a", "b"]);
    assert_eq!(config.secrets["k2"], "v:2");
    assert_eq!(config.proxy_default_timeout, 2.5);
    assert_eq!(config.log_level, "debug");
    assert_eq!(options.xff_depth, 3);
    assert_eq!((config.tollgate.threads, config.tollgate.timeouts.head_ms), (4, 5));
    assert_eq!(config.tollgate.trusted_networks().len(), 1);
    assert_eq!(options.certificates[0].cert_file, Path::new("c"));
}

#[test]
fn keys_are_configured_as_in_tyk() {
    let text = r#"{"hash_keys": true, "hash_key_function": "", "hash_key_function_fallback": ["murmur64", "sha256"]}"#;
    let (config, problems) = load_file("tyk.conf", text, &[("TYK_GW_MINTOKENLENGTH", "0")]).unwrap();
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!(config.key_functions(), [KeyFunction::Plain, KeyFunction::Murmur64, KeyFunction::Sha256]);
    assert_eq!(config.token_bytes_min(), 3);
    let (config, _) = load(None, &[("TYK_GW_HASHKEYFUNCTIONFALLBACK", "sha256,murmur32")]).unwrap();
    assert_eq!(config.key_functions(), [KeyFunction::Murmur64, KeyFunction::Sha256, KeyFunction::Murmur32]);
    assert!(config.hash_keys && !GatewayConfig::of_empty_file().hash_keys);
}

#[test]
fn every_setting_has_variables() {
    let names = [
        "TYK_GW_LISTENADDRESS",
        "TYK_GW_HOSTNAME",
        "TYK_GW_CONTROLAPIPORT",
        "TYK_GW_SECRET",
        "TYK_GW_APPPATH",
        "TYK_GW_POLICIES_POLICYSOURCE",
        "TYK_GW_HTTPSERVEROPTIONS_SERVERNAME",
        "TYK_GW_DNSCACHE_MULTIPLEIPSHANDLESTRATEGY",
        "TYK_GW_FILE_BASEPATH",
        "TYK_GW_NODESECRET",
        "TYK_GW_VERSIONHEADER",
        "TYK_GW_HEALTHCHECKENDPOINTNAME",
        "TYK_GW_HEALTHCHECK_HEALTHCHECKVALUETIMEOUT",
        "TYK_GW_SUPRESSDEFAULTORGSTORE",
        "TYK_GW_HASHKEYFUNCTIONFALLBACK",
        "TYK_GW_DRLTHRESHOLD",
    ];
    for name in names {
        assert_eq!(texts(&load(None, &[(name, "")])), [""; 0], "{name}");
    }
}

#[test]
fn variables_that_do_not_fit_are_named() {
    for (name, value, expect) in [
        ("TYK_GW_NOSUCHTHING", "1", "TYK_GW_NOSUCHTHING: warning: names no setting"),
        ("TOLLGATE_NO_SUCH_THING", "1", "TOLLGATE_NO_SUCH_THING: warning: names no setting"),
        ("TYK_GW_LABS", "1", "TYK_GW_LABS: ignored: not supported yet"),
        ("TYK_GW_TRACER_ENABLED", "1", "TYK_GW_TRACER_ENABLED: ignored: not supported yet"),
        ("TYK_GW_LISTENPORT", "x", "TYK_GW_LISTENPORT: error: must be a number"),
        ("TYK_GW_CLOSECONNECTIONS", "yes", "TYK_GW_CLOSECONNECTIONS: error: must be true or false"),
        ("TYK_GW_SECRETS", "k", "TYK_GW_SECRETS: error: must be comma separated key:value pairs"),
        (
            "TYK_GW_LISTENPORT",
            "70000",
            "$.listen_port: error: must be a whole number from 0 to 65535, not 70000 (set by TYK_GW_LISTENPORT)",
        ),
    ] {
        check("{}", &[(name, value)], &[expect]);
    }
}

#[test]
fn a_file_can_be_left_out_by_variable() {
    let variables = [("TYK_GW_OMITCONFIGFILE", "true"), ("TYK_GW_LISTENPORT", "1")];
    let (config, _) = load(Some(Path::new("/no/such/file")), &variables).unwrap();
    assert_eq!(config.listen_port, 1);
    assert!(!config.http_server_options.enable_strict_routes);
}

#[test]
fn references_are_resolved_after_the_variables() {
    let text = r#"{"secret": "secrets://control", "secrets": {"control": "env://CONTROL"}}"#;
    let (config, _) = load_file("tyk.conf", text, &[("TYK_SECRET_CONTROL", "s")]).unwrap();
    assert_eq!(config.secret, "s");
    let (config, _) = load(None, &[("TYK_GW_SECRET", "env://A"), ("TOLLGATE_SECRET_A", "t")]).unwrap();
    assert_eq!(config.secret, "t");
    check(r#"{"secret": "vault://a.b"}"#, &[], &["$.secret: error: vault://a.b can't be read: no store \"vault\" is configured"]);
}

#[test]
fn settings_that_are_wrong_or_unsafe() {
    for (text, expect) in [
        (
            r#"{"secret": "352d20ee67be67f6340b4c0605b044b7"}"#,
            "$.secret: warning: is Tyk's well-known default: anyone who can reach the control API controls the gateway",
        ),
        (r#"{"listen_address": "nowhere"}"#, "$.listen_address: error: must be an IP address"),
        (
            r#"{"control_api_port": 1, "tollgate": {"control_listen_address": "x"}}"#,
            "$.tollgate.control_listen_address: error: must be an IP address",
        ),
        (
            r#"{"tollgate": {"control_listen_address": "::1"}}"#,
            "$.tollgate.control_listen_address: warning: has no effect without a control_api_port of its own",
        ),
        (r#"{"version_header": "a b"}"#, "$.version_header: error: is not a header name"),
        (r#"{"proxy_default_timeout": -1}"#, "$.proxy_default_timeout: error: must not be negative"),
        (
            r#"{"override_messages": {"auth.auth_field_missing": {"code": 1}}}"#,
            "$.override_messages[\"auth.auth_field_missing\"].code: error: must be a status code from 100 to 599",
        ),
        (r#"{"log_format": "xml"}"#, "$.log_format: warning: must be one of default, text, legacy, json; the default is used"),
        (
            r#"{"tollgate": {"trusted_proxies": ["x"]}}"#,
            "$.tollgate.trusted_proxies[0]: error: \"x\" is neither an IP address nor a CIDR range",
        ),
        (
            r#"{"tollgate": {"dns": {"servers": ["1.1.1.1"]}}}"#,
            "$.tollgate.dns.servers[0]: error: \"1.1.1.1\" is not an address and a port",
        ),
        (r#"{"tollgate": {"limits": {"head_bytes_max": 0}}}"#, "$.tollgate.limits.head_bytes_max: error: must be more than 0"),
        (
            r#"{"tollgate": {"limits": {"requests_per_ip": {"rate": 1, "per": 0}}}}"#,
            "$.tollgate.limits.requests_per_ip.per: error: must be a positive number",
        ),
        (
            r#"{"tollgate": {"limits": {"requests_per_ip": {"addresses_max": 0}}}}"#,
            "$.tollgate.limits.requests_per_ip.addresses_max: error: must be from 1 to 16777216",
        ),
        (r#"{"tollgate": {"client_ip_header": "X Real"}}"#, "$.tollgate.client_ip_header: error: is not a header name"),
        (
            r#"{"tollgate": {"client_ip_header": "X-Real-IP"}}"#,
            "$.tollgate.client_ip_header: warning: has no effect without tollgate.trusted_proxies",
        ),
        (r#"{"tollgate": {"quota_status": 200}}"#, "$.tollgate.quota_status: error: must be a status code from 400 to 599"),
        (
            r#"{"tollgate": {"rate_limit_headers": "all"}}"#,
            "$.tollgate.rate_limit_headers: error: must be one of \"tyk\", \"ietf\", \"both\", not \"all\"",
        ),
        (
            r#"{"hash_key_function": "md5"}"#,
            "$.hash_key_function: error: must be one of \"murmur32\", \"murmur64\", \"murmur128\", \"sha256\", not \"md5\"",
        ),
        (
            r#"{"enable_fixed_window_rate_limiter": true}"#,
            "$.enable_fixed_window_rate_limiter: note: fixed windows, each of which starts with its first request; counted in this process",
        ),
        (r#"{"storage": {"type": "mongo"}}"#, "$.storage.type: error: must be redis or embedded"),
        (r#"{"storage": {"addrs": ["a:1", "a"]}}"#, "$.storage.addrs[1]: error: \"a\" is not a host and a port"),
        (r#"{"storage": {"hosts": {"a": "x"}}}"#, "$.storage.hosts.a: error: \"x\" is not a port"),
        (
            r#"{"storage": {"enable_cluster": true, "master_name": "m"}}"#,
            "$.storage.master_name: error: sentinels and enable_cluster exclude each other",
        ),
        (r#"{"storage": {"enable_cluster": true, "database": 1}}"#, "$.storage.database: error: a cluster has only database 0"),
        (r#"{"storage": {"cert_file": "c"}}"#, "$.storage.cert_file: error: cert_file and key_file require each other"),
        (
            r#"{"tollgate": {"shared_store": {"on_failure": "open"}}}"#,
            "$.tollgate.shared_store.on_failure: error: must be one of \"allow\", \"local\", \"deny\", not \"open\"",
        ),
        (
            r#"{"enable_separate_analytics_store": true, "analytics_storage": {"type": "embedded"}}"#,
            "$.enable_separate_analytics_store: warning: has no effect: analytics_storage says where no Redis is",
        ),
        (
            r#"{"analytics_config": {"enable_geo_ip": true}}"#,
            "$.analytics_config.geo_ip_db_path: warning: names no database: records have no places",
        ),
        (r#"{"listen_port": "80"}"#, "$.listen_port: error: must be a whole number from 0 to 65535, not a string"),
    ] {
        check(text, &[], &[expect]);
    }
}

#[test]
fn of_several_limiters_the_one_that_counts_in_tyk_counts() {
    let rolling = "$.enable_redis_rolling_limiter: ";
    let exact = "an exact sliding window; ";
    check(
        r#"{"enable_redis_rolling_limiter": true}"#,
        &[],
        &[&format!("{rolling}note: {exact}counted in this process, and rejected requests do not count")],
    );
    let note = "no client is locked out for a whole `per`, and rejected requests do not count";
    check(
        r#"{"enable_redis_rolling_limiter": true, "enable_sentinel_rate_limiter": true}"#,
        &[],
        &[
            &format!("$.enable_sentinel_rate_limiter: note: {exact}{note}"),
            &format!("{rolling}warning: has no effect, as enable_sentinel_rate_limiter is set too"),
        ],
    );
}

#[test]
fn settings_without_effect_are_reported_when_they_are_set() {
    for (text, expect) in [
        (r#"{"storage": {"iam_auth": {"enabled": true}}}"#, "$.storage.iam_auth: ignored: not supported yet"),
        (
            r#"{"analytics_config": {"serializer_type": "xml"}}"#,
            "$.analytics_config.serializer_type: ignored: neither msgpack nor protobuf: msgpack is what is written, as by Tyk",
        ),
        (r#"{"enable_key_logging": true}"#, "$.enable_key_logging: ignored: not supported yet"),
        (r#"{"use_sentry": true, "sentry_code": "x"}"#, "$.use_sentry: ignored: not supported yet"),
        (r#"{"lisen_port": 1}"#, "$.lisen_port: ignored: unknown field"),
        (r#"{"tollgate": {"thread": 1}}"#, "$.tollgate.thread: ignored: unknown field"),
        (
            r#"{"policies": {"policy_source": "service"}}"#,
            "$.policies.policy_source: ignored: policies from \"service\" are not supported yet",
        ),
    ] {
        check(text, &[], &[expect]);
    }
    check(r#"{"enable_key_logging": false, "storage": {"port": 0}, "monitor": {"monitor_org_keys": true}}"#, &[], &[]);
}

#[test]
fn the_problems_of_a_file_name_it_and_those_of_variables_do_not() {
    let problems = load_file("tyk.conf", r#"{"x": 1}"#, &[("TYK_GW_X", "1")]).unwrap().1;
    assert!(problems[0].file.is_some());
    assert!(problems[1].file.is_none());
}
