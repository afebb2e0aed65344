//! Tyk Operator as a client of the control API: the calls that its open version (branch `legacy` of TykTechnologies/tyk-operator, mode `ce`) makes
//! while it reconciles an API with a certificate and a policy, in its order, with its headers and bodies of the same members. What it needs of each answer is checked.

use serde_json::{Value, json};

use crate::certs::made;
use crate::harness::gateway::SECRET;
use crate::harness::{Gateway, Response, Upstream, request};

/// The ids that it gives `default/httpbin`.
const ID: &str = "ZGVmYXVsdC9odHRwYmlu";

/// A call as it makes it.
fn call(gateway: &Gateway, method: &str, path: &str, media_type: &str, body: &str) -> Response {
    let headers = [
        "User-Agent: Go-http-client/1.1",
        &format!("Content-Type: {media_type}"),
        &format!("X-Tyk-Authorization: {SECRET}"),
        "Accept-Encoding: gzip",
    ];
    gateway.send(request(method, path, &headers, body))
}

fn json_call(gateway: &Gateway, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let answer = call(gateway, method, path, "application/json", &body);
    (answer.status, serde_json::from_str(answer.text().trim()).unwrap_or_else(|error| panic!("{method} {path}: {error}: {answer}")))
}

/// A definition with the members that Go writes without being asked.
fn definition(upstream: &str, certificate: &str, listen_path: &str) -> Value {
    json!({
        "api_id": ID, "name": "httpbin", "org_id": "", "active": true,
        "proxy": {
            "listen_path": listen_path, "target_url": upstream, "strip_listen_path": true, "transport": {},
            "service_discovery": {
                "use_discovery_service": false, "query_endpoint": "", "use_nested_query": false, "parent_data_path": "", "data_path": "",
                "port_data_path": "", "target_path": "", "use_target_list": false, "cache_timeout": 0, "endpoint_returns_list": false,
            },
        },
        "listen_port": 0, "protocol": "http", "use_standard_auth": true,
        "auth": {
            "auth_header_name": "",
            "signature": {"algorithm": "", "header": "", "secret": "", "allowed_clock_skew": 0, "error_code": 0, "error_message": ""},
        },
        "auth_configs": {"authToken": {
            "auth_header_name": "Authorization",
            "signature": {"algorithm": "", "header": "", "secret": "", "allowed_clock_skew": 0, "error_code": 0, "error_message": ""},
        }},
        "upstream_certificates": {"*": certificate},
        "definition": {"location": "", "key": "", "strip_path": false},
        "version_data": {"not_versioned": true, "default_version": "Default", "versions": {"Default": {"name": "Default", "use_extended_paths": false}}},
        "global_rate_limit": {"rate": 0, "per": 0},
        "custom_middleware": {
            "auth_check": {"name": "", "path": ""}, "driver": "",
            "id_extractor": {"extract_from": "", "extract_with": "", "extractor_config": {}},
        },
        "cache_options": {"cache_timeout": 0}, "CORS": {}, "config_data": null,
    })
}

fn policy(rate: u32) -> Value {
    let right = json!({"namespace": "default", "name": "httpbin", "api_name": "httpbin", "api_id": ID, "versions": ["Default"]});
    json!({
        "id": ID, "name": "gold", "org_id": "", "state": "active", "active": true, "rate": rate, "per": 1,
        "access_rights_array": [right], "access_rights": {ID: right},
    })
}

#[test]
fn tyk_operator_reconciles_apis_certificates_and_policies() {
    let (upstream, folder) = (Upstream::ok(), tempfile::tempdir().unwrap());
    let gateway = Gateway::start(json!({"policies": {"policy_source": "file", "policy_path": folder.path()}}), []);
    let none = Value::Null;
    let (apis, policies) = (format!("/tyk/apis/{ID}"), format!("/tyk/policies/{ID}"));
    let reload = || assert_eq!(json_call(&gateway, "GET", "/tyk/reload/group", &none).1["status"], "ok");

    // The certificate is looked for by its fingerprint, and uploaded as a form, with the key first.
    let (certificate, key) = made("a.test", 2090);
    let looked_for = call(&gateway, "GET", &format!("/tyk/certs/{}", "0".repeat(64)), "application/json", "");
    assert_eq!(looked_for.status, 404);
    let form = format!(
        "--x1\r\nContent-Disposition: form-data; name=\"cert\"; filename=\"cert.pem\"\r\nContent-Type: application/octet-stream\r\n\r\n{key}{certificate}\r\n--x1--\r\n"
    );
    let uploaded = call(&gateway, "POST", "/tyk/certs", "multipart/form-data; boundary=x1", &form);
    assert_eq!((uploaded.status, &uploaded.json()["status"]), (200, &json!("ok")), "{uploaded}");
    let certificate = uploaded.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(call(&gateway, "GET", &format!("/tyk/certs/{certificate}"), "application/json", "").status, 200);

    // Nothing is there: it is created. It is there: the same call changes it.
    assert_eq!(json_call(&gateway, "GET", &apis, &none).0, 404);
    for (path, action) in [("/first/", "added"), ("/second/", "added")] {
        let (status, answer) = json_call(&gateway, "POST", "/tyk/apis", &definition(&upstream.url(), &certificate, path));
        assert_eq!((status, &answer), (200, &json!({"key": ID, "status": "ok", "action": action})));
        reload();
        let (status, shown) = json_call(&gateway, "GET", &apis, &none);
        assert_eq!((status, &shown["proxy"]["listen_path"]), (200, &json!(path)));
        // It compares a digest of what it reads: the same each time.
        assert_eq!(json_call(&gateway, "GET", &apis, &none).1, shown);
    }

    assert_eq!(json_call(&gateway, "GET", &policies, &none).0, 404);
    assert_eq!(json_call(&gateway, "POST", "/tyk/policies", &policy(5)).1["status"], "ok");
    reload();
    assert_eq!(json_call(&gateway, "PUT", &policies, &policy(7)), (200, json!({"key": ID, "status": "ok", "action": "modified"})));
    assert_eq!(json_call(&gateway, "GET", &policies, &none).1["rate"], 7);

    // What it has made is served.
    assert_eq!(gateway.get("/second/").status, 401);
    let made = json_call(&gateway, "POST", "/tyk/keys", &json!({"apply_policies": [ID], "org_id": ""})).1;
    let with_key = request("GET", "/second/", &[&format!("Authorization: {}", made["key"].as_str().unwrap())], "");
    assert_eq!(gateway.send(with_key).status, 200);

    for path in [&policies, &apis] {
        let (status, answer) = json_call(&gateway, "DELETE", path, &none);
        assert_eq!((status, &answer["status"]), (200, &json!("ok")));
        reload();
        assert_eq!(json_call(&gateway, "GET", path, &none).0, 404);
    }
    assert_eq!(gateway.get("/second/").status, 404);
    assert_eq!(call(&gateway, "DELETE", &format!("/tyk/certs/{certificate}"), "application/json", "").status, 200);
}
