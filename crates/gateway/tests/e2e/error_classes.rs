//! How errors are told to operators: classes of errors in the access log, and records of what the gateway answers itself. The expected fields
//! were recorded from Tyk 5.14.0 with the same definitions and requests.

use std::fs;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::analytics::{recording, records, tracked};
use crate::harness::certificates::{Authority, server};
use crate::harness::{Definition, Gateway, Setup, Upstream, eventually, ok, reply, request};
use crate::servers::free_port;

/// Starts a gateway that writes records and an access log as JSON; `root` is its only authority.
fn observed(apis: Vec<Definition>, root: &Authority) -> (tempfile::TempDir, Gateway) {
    let (directory, mut conf) = recording(json!({"access_logs": {"enabled": true}, "log_format": "json", "hash_keys": false}));
    conf["tollgate"]["access_log"] = json!({"file": directory.path().join("access.log")});
    conf["tollgate"]["threads"] = json!(1);
    let roots = directory.path().join("roots.pem");
    fs::write(&roots, root.pem()).unwrap();
    let setup = apis.into_iter().fold(Setup::new(conf), Setup::api);
    let gateway = setup.env("SSL_CERT_FILE", roots.to_str().unwrap()).start();
    (directory, gateway)
}

/// The lines of the access log, once there are that many.
#[track_caller]
fn lines(directory: &tempfile::TempDir, count: usize) -> Vec<Value> {
    let text = || fs::read_to_string(directory.path().join("access.log")).unwrap_or_default();
    eventually("all lines are written", || text().lines().count() >= count);
    text().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn decoded(value: &Value) -> String {
    String::from_utf8(STANDARD.decode(value.as_str().unwrap()).unwrap()).unwrap()
}

#[test]
fn a_line_of_the_access_log_classifies_its_error() {
    let (known, others) = (Authority::new("known"), Authority::new("others"));
    let secure = |made| Upstream::tls(Arc::new(server(&made)), |_| ok());
    let untrusted = secure(others.issue(&["localhost"]));
    let misnamed = secure(known.issue(&["other.test"]));
    // As Go does, the name is looked at before the issuer.
    let both = secure(others.issue(&["other.test"]));
    let expired = secure(known.issue_expired(&["localhost"]));
    let plain = Upstream::start(|request| match request.target.as_str() {
        "/base/s503" => reply("503 Service Unavailable", &[], "later"),
        _ => ok(),
    });
    let down = free_port();
    let at = |id: &str, target: String| tracked(id, &format!("/{id}/"), &plain).set("proxy/target_url", target);
    let https = |id: &str, upstream: &Upstream| at(id, format!("https://localhost:{}", upstream.port()));
    let (directory, gateway) = observed(
        vec![
            at("based", format!("{}/base/", plain.url())),
            at("keyed", plain.url()).with_keys(),
            at("limited", plain.url()).set("global_rate_limit", json!({"rate": 1, "per": 600})),
            at("down", format!("http://127.0.0.1:{down}")),
            https("untrusted", &untrusted),
            https("misnamed", &misnamed),
            https("both", &both),
            https("expired", &expired),
        ],
        &known,
    );
    let proxied = |id: &str, port: u16, flag: &str, details: &str| {
        let target = format!("localhost:{port}/x");
        (
            format!("/{id}/x"),
            json!({"status": 500, "response_flag": flag, "response_code_details": details, "error_source": "ReverseProxy",
                "error_target": target, "path": "/x", "original_path": format!("/{id}/x"), "upstream_addr": format!("https://{target}")}),
        )
    };
    let cases = [
        (
            "/based/a?b=c".to_owned(),
            json!({"status": 200, "path": "/base/a", "original_path": "/based/a", "upstream_addr": format!("http://{}/base/a", plain.address),
                "response_flag": null, "response_code_details": null, "error_source": null, "error_target": null, "upstream_status": null,
                "api_type": "classic", "prefix": "access-log", "message": "", "level": "info"}),
        ),
        (
            "/based/s503".to_owned(),
            json!({"status": 503, "response_flag": "URS", "response_code_details": "upstream_response_5xx", "error_source": "Upstream",
                "error_target": plain.address.to_string(), "upstream_status": 503, "path": "/base/s503"}),
        ),
        (
            "/keyed/x".to_owned(),
            json!({"status": 401, "response_flag": "AMF", "response_code_details": "auth_field_missing", "error_source": "AuthKey",
                "error_target": null, "path": "/x", "original_path": "/keyed/x", "upstream_addr": "/x"}),
        ),
        ("/limited/x".to_owned(), json!({"status": 200, "response_flag": null})),
        (
            "/limited/x".to_owned(),
            json!({"status": 429, "response_flag": "RLT", "response_code_details": "api_rate_limited", "error_source": "RateLimitForAPI"}),
        ),
        (
            "/down/x".to_owned(),
            json!({"status": 500, "response_flag": "UCF", "response_code_details": "connection_refused", "error_source": "ReverseProxy",
                "error_target": format!("127.0.0.1:{down}/x"), "upstream_addr": format!("http://127.0.0.1:{down}/x"), "upstream_status": null}),
        ),
        proxied("untrusted", untrusted.port(), "TLN", "tls_unknown_authority"),
        proxied("misnamed", misnamed.port(), "TLM", "tls_hostname_mismatch"),
        proxied("both", both.port(), "TLM", "tls_hostname_mismatch"),
        proxied("expired", expired.port(), "TLE", "tls_certificate_expired"),
    ];
    for (target, _) in &cases {
        gateway.get(target);
    }
    for ((target, expected), line) in cases.iter().zip(lines(&directory, cases.len())) {
        for (name, value) in expected.as_object().unwrap() {
            assert_eq!(line.get(name).unwrap_or(&Value::Null), value, "{name} of {target}: {line}");
        }
    }
}

#[test]
fn what_the_gateway_answers_itself_is_recorded_with_its_response() {
    let upstream = Upstream::start(|_| reply("200 OK", &["Cache-Control: max-age=60"], "stored"));
    let down = free_port();
    let detailed = |id: &str| {
        let api = tracked(id, &format!("/{id}/"), &upstream).set("enable_detailed_recording", true);
        api.set("tags", json!(["t1", "t2"])).set("tag_headers", json!(["x-tag"]))
    };
    let versions = json!({"not_versioned": false, "versions": {
        "v1": {"name": "v1"}, "old": {"name": "old", "expires": "2020-01-02 15:04"}
    }});
    let versioned = |id: &str| {
        detailed(id).set("version_data", versions.clone()).set("definition", json!({"location": "header", "key": "X-Version"}))
    };
    let rewrite = json!([{"path": "/x", "method": "GET", "match_pattern": "x", "rewrite_to": "tyk://self/x"}]);
    let unknown = json!([{"path": "/x", "method": "GET", "match_pattern": "x", "rewrite_to": "tyk://nobody/x"}]);
    let cache = json!({"enable_cache": true, "cache_timeout": 60, "cache_all_safe_requests": true});
    let (directory, gateway) = observed(
        vec![
            detailed("keyed").with_keys(),
            detailed("down").set("proxy/target_url", format!("http://127.0.0.1:{down}")),
            versioned("versions"),
            detailed("loop").list("url_rewrites", rewrite),
            detailed("lost").list("url_rewrites", unknown),
            detailed("cached").set("cache_options", cache),
        ],
        &Authority::new("nobody"),
    );
    let target = upstream.address.to_string();
    let cases = [
        ("keyed", "", 401, "Non Versioned", target.clone(), "Authorization field missing"),
        ("down", "", 500, "Non Versioned", format!("127.0.0.1:{down}"), "There was a problem proxying the request"),
        ("versions", "", 403, "Non Versioned", target.clone(), "Version information not found"),
        ("versions", "zz", 403, "zz", target.clone(), "This API version does not seem to exist"),
        ("versions", "old", 403, "old", target.clone(), "Api Version has expired"),
        ("loop", "", 500, "Non Versioned", target.clone(), "Loop level too deep"),
        ("lost", "", 500, "Non Versioned", target.clone(), "Can't detect loop target"),
        ("cached", "", 200, "Non Versioned", target.clone(), "stored"),
        ("cached", "", 200, "Non Versioned", target.clone(), "stored"),
    ];
    for (id, version, status, ..) in &cases {
        let version = format!("X-Version: {version}");
        let lines: &[&str] = if version.ends_with(' ') { &["X-Tag: v"] } else { &["X-Tag: v", &version] };
        assert_eq!(gateway.send(request("GET", &format!("/{id}/x"), lines, "")).status, *status, "{id}");
    }
    let records = records(&directory, cases.len());
    for ((id, _, status, version, host, body), record) in cases.iter().zip(&records) {
        let told = json!([record["api_id"], record["response_code"], record["api_version"], record["host"], record["path"]]);
        assert_eq!(told, json!([id, status, version, host, "/x"]), "{record}");
        let response = decoded(&record["raw_response"]);
        assert!(response.starts_with(&format!("HTTP/1.1 {status} ")) && response.contains("\r\n\r\n"), "{id}: {response}");
        assert!(response.replace("\\u0027", "'").replace("\\'", "'").contains(body), "{id}: {response}");
        assert!(decoded(&record["raw_request"]).starts_with(&format!("GET /{id}/x HTTP/1.1\r\n")));
        let tags = record["tags"].as_array().unwrap();
        assert_eq!(tags[..3], [json!("x-tag-v"), json!("t1"), json!("t2")], "{record}");
    }
    assert_eq!(records[8]["tags"], json!(["x-tag-v", "t1", "t2", "cached-response", "org-default", "api-cached"]));
    assert_eq!(lines(&directory, cases.len()).len(), cases.len());
}
