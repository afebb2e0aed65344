//! `error_overrides`: other responses in place of the gateway's refusals and of upstreams' errors, by status, flag, message and body. What is expected
//! is what Tyk's `error_overrides.go` and its callers do.

use serde_json::{Value, json};

use crate::harness::certificates::{Authority, server};
use crate::harness::failing::{failing, overriding};
use crate::harness::http2::{ask, connect, converse, get as get_http2};
use crate::harness::{Gateway, Seen, Setup, Upstream, api, get, request};

#[test]
fn limits_faults_and_bad_bodies_have_their_flags() {
    let rule = |flag: &str| json!({"match": {"flag": flag}, "response": {"body": flag, "status_code": 499}});
    let all: Vec<Value> = ["RLT", "BTL", "CLM", "BIV", "UCF", "DNS", "CBO", "URT", "UPE"].map(rule).to_vec();
    let upstream = failing();
    let silent = Upstream::raw(|mut wire, _| drop(Seen::read(&mut wire)));
    let overridden = |id: &str, target: &str| {
        api(id, &format!("/{id}/"), target).set("error_overrides", json!({"4xx": all.clone(), "5xx": all.clone()}))
    };
    let closed = format!("http://127.0.0.1:{}", crate::servers::free_port());
    let breaker = json!([{"path": "/500", "method": "GET", "threshold_percent": 0.5, "samples": 1, "return_to_service_after": 60, "disable_half_open_state": true}]);
    let schema = json!([{"path": "/v", "method": "POST", "schema": {"type": "object"}}]);
    let gateway = Gateway::start(
        json!({"tollgate": {"dns": {"servers": ["127.0.0.1:1"]}}}),
        [
            overridden("limited", &upstream.url()).set("global_rate_limit", json!({"rate": 1, "per": 3600})),
            overridden("size", &upstream.url()).version("global_size_limit", 1),
            overridden("valid", &upstream.url()).list("validate_json", schema),
            overridden("closed", &closed),
            overridden("named", "http://nowhere.invalid/"),
            overridden("broken", &upstream.url()).list("circuit_breakers", breaker),
            overridden("cut", &silent.url()),
        ],
    );
    assert_eq!(gateway.get("/limited/").status, 200);
    assert_eq!(gateway.get("/broken/500").text(), "the upstream's own words", "no flag is an upstream's but URS");
    for (text, flag) in [
        (get("/limited/"), "RLT"),
        (request("POST", "/size/", &[], "four"), "BTL"),
        (request("POST", "/size/", &["Transfer-Encoding: chunked"], "") + "0\r\n\r\n", "CLM"),
        (request("POST", "/valid/v", &[], "[]"), "BIV"),
        (request("POST", "/valid/v", &[], "{"), "BIV"),
        (get("/closed/"), "UCF"),
        (get("/named/"), "DNS"),
        (get("/broken/500"), "CBO"),
        (get("/cut/"), "UPE"),
    ] {
        let answer = gateway.send(&text);
        assert_eq!((answer.status, answer.text()), (499, flag.to_owned()), "{text}");
    }
}

#[test]
fn a_bad_certificate_has_a_flag_of_its_own() {
    let (trusted, other) = (Authority::new("trusted"), Authority::new("other"));
    let rule = |flag: &str| json!({"match": {"flag": flag}, "response": {"body": flag}});
    let all: Vec<Value> = ["TLE", "TLM", "TLN", "TLI", "TLP", "TLH"].map(rule).to_vec();
    let upstreams = [
        ("TLE", Upstream::tls(server(&trusted.issue_expired(&["localhost"])).into(), |_| crate::harness::ok())),
        ("TLM", Upstream::tls(server(&trusted.issue(&["elsewhere"])).into(), |_| crate::harness::ok())),
        ("TLN", Upstream::tls(server(&other.issue(&["localhost"])).into(), |_| crate::harness::ok())),
        ("TLP", Upstream::raw(|mut wire, _| drop(wire.try_send("HTTP/1.1 400 Bad Request\r\n\r\n")))),
    ];
    let definitions = upstreams.iter().map(|(flag, upstream)| {
        let target = format!("https://localhost:{}/", upstream.port());
        api(flag, &format!("/{flag}/"), &target).set("error_overrides", json!({"500": all.clone()}))
    });
    let directory = tempfile::tempdir().unwrap();
    let roots = directory.path().join("roots.pem");
    std::fs::write(&roots, trusted.pem()).unwrap();
    let setup = definitions.fold(Setup::new(json!({})), Setup::api);
    let gateway = setup.env("SSL_CERT_FILE", roots.to_str().unwrap()).start();
    for (flag, _) in &upstreams {
        assert_eq!(gateway.get(&format!("/{flag}/")).text(), *flag);
    }
}

#[test]
fn a_rule_that_cannot_be_used_is_told_when_it_is_loaded() {
    let upstream = failing();
    let broken = overriding(&upstream, json!({"500": [{"match": {"message_pattern": "("}, "response": {"body": "{{.Nope}}"}}]}));
    let mut gateway = Gateway::start(json!({}), [broken, api("b", "/b/", &upstream.url())]);
    assert_eq!((gateway.get("/a/").status, gateway.get("/b/").status), (404, 200));
    let log = gateway.log();
    assert!(log.contains("error_overrides") && log.contains("not a valid pattern"), "{log}");
    gateway.signal("TERM");
    gateway.wait_for_exit();

    let program = env!("CARGO_BIN_EXE_tollgate");
    let directory = tempfile::tempdir().unwrap();
    let conf = directory.path().join("tyk.conf");
    for (rule, problem) in [
        (json!({"response": {"template": "error_nope"}}), "there is no usable error_nope.json or error_nope.xml in template_path"),
        (json!({"response": {"body": "{{.Nope}}"}}), "\"Nope\" is not a field"),
        (json!({"match": {"flag": "NOPE"}}), "is not a flag"),
    ] {
        std::fs::write(&conf, json!({"error_overrides": {"500": [rule]}}).to_string()).unwrap();
        for arguments in [["check", conf.to_str().unwrap()].as_slice(), &["run", "--conf", conf.to_str().unwrap()]] {
            let output = std::process::Command::new(program).args(arguments).current_dir(directory.path()).output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
            assert!(
                !output.status.success() && said.contains("$.error_overrides") && said.contains(problem),
                "{arguments:?} {said}"
            );
        }
    }
}

#[test]
fn http2_clients_see_the_same() {
    let upstream = failing();
    let overrides =
        json!({"404": [{"response": {"status_code": 200, "body": "replaced"}}], "410": [{"response": {"status_code": 404}}]});
    let gateway = Gateway::start(json!({}), [overriding(&upstream, overrides)]);
    converse(async {
        let sender = connect(gateway.port).await;
        let replaced = ask(&sender, get_http2("/a/404")).await.unwrap();
        assert_eq!((replaced.status, replaced.text()), (200, "replaced".to_owned()));
        let kept = ask(&sender, get_http2("/a/410")).await.unwrap();
        assert_eq!((kept.status, kept.text()), (404, "the upstream's own words".to_owned()));
    });
}

#[test]
fn the_gateways_own_errors_have_no_headers_of_the_upstreams_responses() {
    let upstream = failing();
    let headers = json!([{"path": "/", "method": "GET", "add_headers": {"X-Added": "$tyk_context.path"}}]);
    let breaker = json!([{"path": "/500", "method": "GET", "threshold_percent": 0.5, "samples": 1, "return_to_service_after": 60, "disable_half_open_state": true}]);
    let closed = format!("http://127.0.0.1:{}", crate::servers::free_port());
    let with = |id: &str, target: &str| {
        api(id, &format!("/{id}/"), target)
            .set("enable_context_vars", true)
            .list("transform_response_headers", headers.clone())
            .list("circuit_breakers", breaker.clone())
    };
    let gateway = Gateway::start(json!({}), [with("a", &upstream.url()), with("closed", &closed)]);
    assert_eq!(gateway.get("/a/500").header("x-added"), Some("/a/500"));
    let open = gateway.get("/a/500");
    assert_eq!(
        (open.status, open.header("x-added")),
        (503, None),
        "as in Tyk, whose breaker answers without the response's middlewares"
    );
    let refused = gateway.get("/closed/");
    assert_eq!((refused.status, refused.header("x-added")), (500, None));
}
