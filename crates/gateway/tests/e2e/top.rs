//! `tollgate top` against a running gateway.

use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::harness::gateway::SECRET;
use crate::harness::{Gateway, Upstream, api};

fn top(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tollgate")).arg("top").args(arguments).env_remove("TYK_GW_SECRET").output().expect("it runs")
}

#[test]
fn one_look_tells_what_happens() {
    let upstream = Upstream::ok();
    let conf = json!({"enable_analytics": true});
    let gateway = Gateway::start(
        conf,
        [api("shop", "/shop/", &upstream.url()), api("keys", "/keys/", &upstream.url()).with_keys().set("do_not_track", false)],
    );
    let url = format!("http://127.0.0.1:{}", gateway.port);
    let arguments = ["--url", &url, "--secret", SECRET, "--interval-ms", "1500"];
    let answered = std::thread::scope(|scope| {
        let looking = scope.spawn(|| top(&[&arguments[..], &["--json"]].concat()));
        while !looking.is_finished() {
            gateway.get("/shop/");
            gateway.get("/keys/");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        looking.join().unwrap()
    });
    assert!(answered.status.success(), "{answered:?}");
    let view: Value = serde_json::from_slice(&answered.stdout).unwrap();
    assert!(view["requests_per_s"].as_f64().unwrap() > 0.0, "{view}");
    assert!(view["causes_per_s"]["auth_missing"].as_f64().unwrap() > 0.0, "{view}");
    let shop = view["apis"].as_array().unwrap().iter().find(|api| api["api_id"] == "shop").unwrap();
    assert!(shop["p99_ms"].as_f64().unwrap() > 0.0, "{view}");

    let more = &view["more"];
    assert_eq!((&more["refused"][0]["cause"], &more["refused"][0]["api_id"]), (&json!("auth_missing"), &json!("keys")), "{view}");
    assert_eq!((&more["top"]["by"], &more["top"]["window_s"]), (&json!("path"), &json!(60)), "{view}");
    assert!(more["top"]["rows"].as_array().unwrap().iter().any(|row| row["value"] == "/keys/"), "{view}");

    let text = top(&["--url", &url, "--secret", SECRET, "--interval-ms", "100", "--once"]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.starts_with("tollgate ") && text.contains("\nshop ") && text.contains("req/s"), "{text}");
    assert!(text.contains("401 keys auth_missing") && text.contains("\npath /keys/: "), "{text}");
    for (field, expected) in [("api", "keys"), ("status", "401"), ("address", "127.0.0.1"), ("method", "GET")] {
        let wanted = ["--url", &url, "--secret", SECRET, "--interval-ms", "100", "--once", "--by", field, "--window", "300"];
        let text = String::from_utf8(top(&wanted).stdout).unwrap();
        let line = format!("\n{field} {expected}: ");
        assert!(text.contains(&line) && text.contains(" in 300 s"), "{line}: {text}");
    }
}

#[test]
fn what_is_wrong_is_said_in_words() {
    let gateway = Gateway::start(json!({}), []);
    let url = format!("http://127.0.0.1:{}", gateway.port);
    for (arguments, expected) in [
        (vec!["--once", "--url", &url, "--secret", "wrong"], "refuses the secret"),
        (vec!["--once", "--url", "http://127.0.0.1:1"], "http://127.0.0.1:1: "),
        (vec!["--once", "--url", "127.0.0.1:1"], "Connection refused"),
        (vec!["--once", "--url", "ftp://127.0.0.1"], "ftp://127.0.0.1: ftp is neither http nor https"),
        (vec!["--url", &url, "--secret", SECRET], "standard output is no terminal"),
    ] {
        let output = top(&arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(expected), "{arguments:?}: {said}");
    }
}

#[test]
fn middlewares_are_timed_now_and_then() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({"tollgate": {"threads": 1}}), [api("keys", "/keys/", &upstream.url()).with_keys()]);
    gateway.get("/keys/");
    let text = gateway.control("GET", "/tyk/metrics", "").text();
    assert!(text.contains("tollgate_middleware_samples_total{middleware=\"TokenAuth\"} 1\n"), "{text}");
    assert!(text.contains("tollgate_api_middleware_samples_total{api=\"keys\",middleware=\"TokenAuth\"} 1\n"), "{text}");
}
