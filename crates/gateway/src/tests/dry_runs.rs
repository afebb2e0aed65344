//! Dry run of everything that refuses beside limits: it passes, is counted once, and is told.

use serde_json::json;

use super::harness::{Gateway, Upstream, api};

#[test]
fn an_unknown_kind_of_dry_run_is_a_problem() {
    let upstream = Upstream::ok();
    let wrong = api("wrong", "/wrong/", &upstream.url()).set("tollgate", json!({"dry_run": ["everything"]}));
    let gateway = Gateway::start(json!({}), [wrong]);
    assert_eq!(gateway.get("/wrong/").status, 404);
    assert!(gateway.log().contains("$.tollgate.dry_run[0]"), "{}", gateway.log());
}
