//! Dry run of everything that refuses beside limits: it passes, is counted once, and is told.

use serde_json::json;

use crate::harness::{Gateway, Upstream, api, request};
use crate::metrics::expect;

#[test]
fn what_a_dry_run_would_refuse_passes_and_is_told() {
    let upstream = Upstream::ok();
    let schema = json!({"type": "object", "required": ["name"]});
    let guarded = |id: &str, kinds: serde_json::Value| {
        api(id, &format!("/{id}/"), &upstream.url())
            .with_keys()
            .set("enable_ip_whitelisting", true)
            .set("allowed_ips", json!(["10.0.0.1"]))
            .list("size_limits", json!([{"path": "/", "method": "POST", "size_limit": 20}]))
            .list("validate_json", json!([{"path": "/", "method": "POST", "schema": schema}]))
            .set("tollgate", json!({"dry_run": kinds}))
    };
    let all = json!(["ip_lists", "certificates", "request_size", "authentication", "validation", "circuit_breakers"]);
    let gateway =
        Gateway::start(json!({}), [guarded("open", all), guarded("half", json!(["ip_lists"])), guarded("closed", json!([]))]);
    let post = |id: &str| {
        gateway.send(request("POST", &format!("/{id}/x"), &["Content-Type: application/json"], "{\"number\": 12345678901}"))
    };
    let open = post("open");
    assert_eq!(open.status, 200, "{open}");
    assert_eq!(open.head.all("Tollgate-Dry-Run"), ["ip_disallowed", "request_too_large", "auth_missing", "body_invalid"], "{open}");
    assert_eq!(upstream.last().text(), "{\"number\": 12345678901}");
    let half = post("half");
    assert_eq!((half.status, half.head.all("Tollgate-Dry-Run")), (400, vec!["ip_disallowed"]), "{half}");
    let closed = post("closed");
    assert_eq!((closed.status, closed.head.has("Tollgate-Dry-Run")), (403, false), "{closed}");
    for cause in ["ip_disallowed", "request_too_large", "auth_missing", "body_invalid"] {
        expect(&gateway, &format!("tollgate_dry_runs_total{{api=\"open\",cause=\"{cause}\"}}"), 1.0);
    }
    expect(&gateway, "tollgate_dry_runs_total{api=\"half\",cause=\"ip_disallowed\"}", 1.0);
}
