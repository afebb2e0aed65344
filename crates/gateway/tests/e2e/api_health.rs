//! Tyk's figures about one API: refusals and requests by the second.

use serde_json::{Value, json};

use crate::harness::{Gateway, Upstream, eventually};
use crate::keys::{call, create, keyed, refused, session, told};

const FIGURES: [&str; 5] = [
    "throttle_reqests_per_second",
    "quota_violations_per_second",
    "key_failures_per_second",
    "average_upstream_latency",
    "average_requests_per_second",
];

fn figures(gateway: &Gateway, api: &str) -> Value {
    let answer = gateway.control("GET", &format!("/tyk/health?api_id={api}"), "");
    assert_eq!(answer.status, 200, "{answer}");
    answer.json()
}

#[test]
fn requests_and_refusals_are_told_apart_and_by_api() {
    let upstream = Upstream::ok();
    let conf = json!({"health_check": {"enable_health_checks": true, "health_check_value_timeouts": 100}});
    let gateway = Gateway::start(conf, [keyed("a", &upstream), keyed("b", &upstream)]);
    let zeros: Value = FIGURES.iter().map(|name| ((*name).to_owned(), json!(0))).collect::<serde_json::Map<_, _>>().into();
    for name in FIGURES {
        assert_eq!(figures(&gateway, "a")[name].as_f64(), zeros[name].as_f64(), "{name}");
    }
    let limited = create(&gateway, &session(json!({"rate": 2, "per": 3600})));
    let counted = create(&gateway, &session(json!({"quota_max": 1, "quota_renewal_rate": 3600})));
    assert_eq!([0; 5].map(|_| call(&gateway, "/a/", &limited).status), [200, 200, 429, 429, 429]);
    assert_eq!([0; 3].map(|_| call(&gateway, "/a/", &counted).status), [200, 403, 403]);
    assert_eq!([0; 4].map(|_| call(&gateway, "/a/", "unknown").status), [403; 4]);
    // What a core has counted shows when its exchange is over, which is after the client has its answer.
    eventually("all is counted", || {
        let shown = figures(&gateway, "a");
        [0.03, 0.02, 0.04, 0.03]
            .iter()
            .zip([
                "throttle_reqests_per_second",
                "quota_violations_per_second",
                "key_failures_per_second",
                "average_requests_per_second",
            ])
            .all(|(expected, name)| shown[name] == json!(expected))
    });
    assert_eq!(figures(&gateway, "b")["average_requests_per_second"], json!(0.0));
}

#[test]
fn without_being_switched_on_and_without_an_api_there_are_no_figures() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [keyed("a", &upstream)]);
    let off = (400, refused("Health checks are not enabled for this node"));
    assert_eq!(told(&gateway.control("GET", "/tyk/health?api_id=a", "")), off);
    let gateway = Gateway::start(json!({"health_check": {"enable_health_checks": true}}), [keyed("a", &upstream)]);
    assert_eq!(told(&gateway.control("GET", "/tyk/health", "")), (400, refused("missing api_id parameter")));
    assert_eq!(told(&gateway.control("GET", "/tyk/health?api_id=none", "")), (404, refused("API ID not found")));
}
