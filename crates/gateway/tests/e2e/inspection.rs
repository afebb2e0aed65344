//! `/config` and `/env`: what they show and what they hide. Statuses and answers are recorded from Tyk 5.14.0, except where secrets are hidden
//! that Tyk shows.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::harness::gateway::SECRET;
use crate::harness::{Gateway, Response, Setup, Upstream, api, request};

fn shown(conf: Value) -> Gateway {
    let mut all = json!({"enable_config_inspection": true});
    crate::harness::definition::merge(&mut all, &conf);
    Gateway::start(all, [])
}

fn ask(gateway: &Gateway, target: &str) -> (u16, Value) {
    let answer = gateway.control("GET", target, "");
    assert_eq!(answer.header("content-type"), Some("application/json"), "{answer}");
    (answer.status, answer.json())
}

fn bare(gateway: &Gateway, method: &str, target: &str) -> Response {
    gateway.send(request(method, target, &["Connection: close"], ""))
}

#[test]
fn settings_are_shown_as_by_tyk() {
    let gateway = shown(json!({
        "node_secret": "n0de",
        "hash_keys": true,
        "http_server_options": {"enable_strict_routes": true},
        "db_app_conf_options": {"tags": ["a", "b"]},
        "storage": {"password": ""}
    }));
    let setting = |field: &str, env: &str, value: &str, obfuscated: bool| json!({"config_field": field, "env": env, "value": value, "obfuscated": obfuscated});
    for (field, env, value, obfuscated) in [
        ("secret", "TYK_GW_SECRET", "*REDACTED*", true),
        ("node_secret", "TYK_GW_NODESECRET", "*REDACTED*", true),
        ("storage.password", "TYK_GW_STORAGE_PASSWORD", "", true),
        ("listen_address", "TYK_GW_LISTENADDRESS", "127.0.0.1", false),
        ("control_api_hostname", "TYK_GW_CONTROLAPIHOSTNAME", "", false),
        ("hash_keys", "TYK_GW_HASHKEYS", "true", false),
        ("http_server_options.enable_strict_routes", "TYK_GW_HTTPSERVEROPTIONS_ENABLESTRICTROUTES", "true", false),
        ("db_app_conf_options.tags", "TYK_GW_DBAPPCONFOPTIONS_TAGS", "[a b]", false),
        ("policies.policy_connection_string", "TYK_GW_POLICIES_POLICYCONNECTIONSTRING", "", true),
    ] {
        assert_eq!(ask(&gateway, &format!("/config?field={field}")), (200, setting(field, env, value, obfuscated)));
        assert_eq!(ask(&gateway, &format!("/env?env={env}")), (200, setting(field, env, value, obfuscated)));
    }
    for field in ["nothing", "storage", "Secret", "secrets", "storage.nothing", "storage."] {
        assert_eq!(ask(&gateway, &format!("/config?field={field}")), (404, json!({"error": "field not found"})), "{field}");
    }
    for env in ["NOTHING", "tyk_gw_secret", "LISTENPORT"] {
        let missing = json!({"error": "environment variable not found"});
        assert_eq!(ask(&gateway, &format!("/env?env={env}")), (404, missing), "{env}");
    }
    let (status, whole) = ask(&gateway, "/config");
    assert_eq!((status, &whole["secret"], &whole["secrets"]), (200, &json!("*REDACTED*"), &Value::Null));
    assert_eq!((&whole["storage"]["password"], &whole["hash_keys"]), (&json!(""), &json!(true)));
    assert_eq!(whole["monitor"]["configuration"]["header_map"], Value::Null);
    let (status, lines) = ask(&gateway, "/env");
    let lines: Vec<String> = serde_json::from_value(lines).expect("a list of texts");
    assert_eq!(status, 200);
    for line in
        ["TYK_GW_SECRET=*REDACTED*", "TYK_GW_HASHKEYS=true", "TYK_GW_CONTROLAPIHOSTNAME=''", "TYK_GW_DBAPPCONFOPTIONS_TAGS=[a b]"]
    {
        assert!(lines.iter().any(|own| own == line), "{line}: {lines:#?}");
    }
}

#[test]
fn a_variable_that_is_shown_sets_its_setting() {
    let probes = shown(json!({}));
    let lines: Vec<String> = serde_json::from_value(ask(&probes, "/env").1).expect("a list of texts");
    let variables: Vec<&str> = lines.iter().filter_map(|line| line.split_once('=')).map(|(name, _)| name).collect();
    assert!(variables.len() > 300, "{}", variables.len());
    // One of each spelling: plain, with a name of its own in Go, below a group, and one of Tollgate's.
    let values = [
        ("TYK_GW_VERSIONHEADER", "version_header", "x-version"),
        ("TYK_GW_PROXYSSLCIPHERSUITES", "proxy_ssl_ciphers", "[TLS_AES_128_GCM_SHA256]"),
        ("TYK_GW_STORAGE_MAXIDLE", "storage.optimisation_max_idle", "7"),
        ("TOLLGATE_CLIENT_IP_HEADER", "tollgate.client_ip_header", "x-client"),
    ];
    let values =
        values.map(|(variable, field, value)| (variables.iter().find(|own| own.ends_with(variable)), variable, field, value));
    let mut setup = Setup::new(json!({"enable_config_inspection": true}));
    for (found, variable, _, value) in &values {
        let name = found.unwrap_or_else(|| panic!("{variable} is not shown: {variables:#?}"));
        setup = setup.env(name, value.trim_matches(['[', ']']));
    }
    let gateway = setup.start();
    for (_, variable, field, value) in values {
        assert_eq!(ask(&gateway, &format!("/config?field={field}")).1["value"], *value, "{variable}");
    }
}

#[test]
fn without_the_setting_or_the_secret_nothing_is_shown() {
    let upstream = Upstream::ok();
    let off = Gateway::start(json!({}), [api("all", "/", &upstream.url())]);
    let on = Gateway::start(json!({"enable_config_inspection": true}), [api("all", "/", &upstream.url())]);
    for path in ["/config", "/env"] {
        // Switched off, the paths belong to APIs.
        assert_eq!(off.control("GET", path, "").status, 200, "{path}");
        let refused = bare(&on, "GET", path);
        let message = "Attempted administrative access with invalid or missing key!";
        assert_eq!((refused.status, refused.json()), (403, json!({"status": "error", "message": message})));
        let wrong = on.send(request("GET", path, &["x-tyk-authorization: wrong", "Connection: close"], ""));
        assert_eq!(wrong.status, 403, "{wrong}");
        assert_eq!(on.control("GET", path, "").status, 200, "{path}");
    }
    assert_eq!(upstream.take_targets(), ["/config", "/env"]);
}

#[test]
fn no_secret_of_a_configuration_is_shown() {
    let secret = |name: &str| format!("5ecret-{name}-7f3a");
    let folder = tempfile::tempdir().expect("a folder");
    let file: PathBuf = folder.path().join("prefix");
    std::fs::write(&file, secret("in-a-file")).expect("a file");
    let conf = json!({
        "enable_config_inspection": true,
        "secret": SECRET,
        "node_secret": secret("node"),
        "secrets": {"one": secret("entry"), "two": secret("other-entry")},
        // Harmless settings whose texts are secrets because references stand for them.
        "statsd_prefix": "secrets://one",
        "version_header": "env://HEADER",
        "syslog_network_addr": format!("file://{}", file.display()),
        "storage": {"username": "user", "password": secret("redis"), "sentinel_password": secret("sentinel")},
        "policies": {"policy_connection_string": format!("https://{}.example.com", secret("policies"))},
        "security": {
            "private_certificate_encoding_secret": secret("certificates"),
            "certificates": {"upstream": {"a.example.com": format!("-----BEGIN PRIVATE KEY-----{}", secret("pem"))}}
        },
        "external_services": {"webhooks": {"proxy": {"http_proxy": format!("http://{}@127.0.0.1:9", secret("proxy-user"))}}},
        "opentelemetry": {
            "headers": {"x-any": secret("otel")},
            "traces": {"headers": {"x-any": secret("traces")}},
            "metrics": {"headers": {"x-any": secret("metrics")}}
        },
        "monitor": {"configuration": {"method": "POST", "target_path": format!("http://127.0.0.1:9/{}", secret("hook")), "header_map": {"x-any": secret("monitor")}}},
        "event_handlers": {"events": {"TokenCreated": [{"handler_name": "eh_web_hook_handler", "handler_meta": {
            "method": "POST", "target_path": format!("http://127.0.0.1:9/{}", secret("event")), "header_map": {"x-any": secret("event-header")}
        }}]}},
        "kv": {"vault": {"token": secret("vault")}, "consul": {"token": secret("consul"), "http_auth": {"password": secret("consul-password")}}}
    });
    let gateway = Setup::new(conf).env("TYK_SECRET_HEADER", secret("in-a-variable")).start();
    let mut texts = vec![gateway.control("GET", "/config", "").text()];
    let env = gateway.control("GET", "/env", "");
    let variables: Vec<String> = serde_json::from_value(env.json()).expect("a list of texts");
    texts.push(env.text());
    for (name, _) in variables.iter().filter_map(|line| line.split_once('=')) {
        let one = gateway.control("GET", &format!("/env?env={name}"), "");
        let field = one.json()["config_field"].as_str().expect("a field").to_owned();
        texts.push(one.text());
        texts.push(gateway.control("GET", &format!("/config?field={field}"), "").text());
    }
    for text in texts {
        assert!(!text.contains("5ecret-") && !text.contains(SECRET), "{text}");
    }
    // What is hidden is not taken for empty.
    let field = |name: &str| ask(&gateway, &format!("/config?field={name}")).1;
    for name in ["statsd_prefix", "version_header", "storage.password", "kv.vault.token", "opentelemetry.headers.x-any"] {
        assert_eq!((&field(name)["value"], &field(name)["obfuscated"]), (&json!("*REDACTED*"), &json!(true)), "{name}");
    }
    assert_eq!(field("storage.username")["value"], "user");
}
