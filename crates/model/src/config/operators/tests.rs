use crate::config::GatewayConfig;
use serde_json::{Value, json};

fn problems(operators: Value) -> Vec<String> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), json!({"secret": "s", "tollgate": {"operators": operators}}).to_string()).unwrap();
    let problems = match GatewayConfig::load(Some(file.path()), std::iter::empty()) {
        Ok((_, problems)) | Err(problems) => problems,
    };
    let paths = problems.iter().map(|problem| problem.path.clone());
    paths.filter(|path| path.contains("operators")).collect()
}

fn provider(change: Value) -> Value {
    let mut provider = json!({
        "name": "okta", "issuer": "https://id.example.com", "client_id": "console",
        "rules": [{"claim": "groups", "value": "ops", "role": "admin"}]
    });
    for (name, value) in change.as_object().unwrap() {
        provider[name] = value.clone();
    }
    json!({"public_url": "https://gateway.example.com", "providers": [provider]})
}

#[test]
fn what_cannot_work_is_a_problem_at_its_place() {
    assert_eq!(problems(json!({})), [""; 0]);
    assert_eq!(problems(provider(json!({}))), [""; 0]);
    let at = |member: &str| format!("$.tollgate.operators.providers[0].{member}");
    for (change, place) in [
        (json!({"name": "a/b"}), "name"),
        (json!({"name": "token"}), "name"),
        (json!({"issuer": "id.example.com"}), "issuer"),
        (json!({"issuer": "https://id.example.com?x"}), "issuer"),
        (json!({"client_id": ""}), "client_id"),
        (json!({"algorithms": ["HS256"]}), "algorithms[0]"),
        (json!({"algorithms": ["RS256", "none"]}), "algorithms[1]"),
        (json!({"session_s_max": 10_000_000}), "session_s_max"),
        (json!({"rules": []}), "rules"),
        (json!({"rules": [{"claim": "", "value": "x"}]}), "rules[0].claim"),
        (json!({"rules": [{"claim": "groups", "value": ""}]}), "rules[0].value"),
        (json!({"rules": [{"claim": "groups", "value": "x", "role": "admin", "tags": ["a"]}]}), "rules[0].role"),
        (json!({"rules": [{"claim": "groups", "value": "x", "tags": [""]}]}), "rules[0]"),
    ] {
        assert_eq!(problems(provider(change.clone())), [at(place)], "{change}");
    }
    let mut twice = provider(json!({}));
    let again = twice["providers"][0].clone();
    twice["providers"].as_array_mut().unwrap().push(again);
    assert_eq!(problems(twice).len(), 2);
    let mut nowhere = provider(json!({}));
    nowhere["public_url"] = "".into();
    assert_eq!(problems(nowhere), ["$.tollgate.operators.public_url"]);
    let long = "0123456789abcdef";
    for (settings, member) in [
        (json!({"audit_syslog": {"url": "udp://logs:514"}}), "audit_syslog"),
        (json!({"audit_key": long}), "audit_key"),
        (json!({"audit_file": "/a", "audit_key": "short"}), "audit_key"),
        (json!({"audit_file": "/a", "audit_syslog": {"url": "logs:514"}}), "audit_syslog.url"),
        (json!({"audit_file": "/a", "audit_syslog": {"url": "http://logs:514"}}), "audit_syslog.url"),
        (json!({"audit_file": "/a", "audit_syslog": {"url": "tls://logs"}}), "audit_syslog.url"),
        (json!({"audit_file": "/a", "audit_syslog": {"url": "tcp://:514"}}), "audit_syslog.url"),
        (json!({"audit_file": "/a", "audit_syslog": {"url": "tcp://logs:514", "ca_file": "/ca"}}), "audit_syslog.ca_file"),
        (json!({"audit_file": "/a", "audit_syslog": {"url": "tls://logs:6514", "cert_file": "/c"}}), "audit_syslog.key_file"),
    ] {
        assert_eq!(problems(settings.clone()), [format!("$.tollgate.operators.{member}")], "{settings}");
    }
    for url in ["udp://logs:514", "tcp://10.0.0.1:601", "tls://[::1]:6514"] {
        let settings = json!({"audit_file": "/a", "audit_key": long, "audit_syslog": {"url": url}});
        assert_eq!(problems(settings), [""; 0], "{url}");
    }
    assert_eq!(problems(json!({"control_secret": "off"})), ["$.tollgate.operators.control_secret"]);
}
