//! Organisations: their sessions in the control API, and the limits that all their APIs share.

use serde_json::{Value, json};

use crate::harness::{Definition, Gateway, Setup, Upstream, api};

/// Two open APIs of `acme` and one of somebody else.
fn apis(upstream: &Upstream) -> [Definition; 3] {
    let of = |id: &str, org: &str| api(id, &format!("/{id}/"), &upstream.url()).set("org_id", org);
    [of("one", "acme"), of("two", "acme"), of("else", "other")]
}

fn put(gateway: &Gateway, target: &str, session: Value) {
    let answer = gateway.control("PUT", target, &session.to_string());
    assert_eq!(answer.status, 200, "{answer}");
}

fn statuses(gateway: &Gateway, targets: &[&str]) -> Vec<u16> {
    targets.iter().map(|target| gateway.get(target).status).collect()
}

#[test]
fn sessions_of_organisations_and_their_quotas_outlive_the_process() {
    let upstream = Upstream::ok();
    let data = tempfile::tempdir().unwrap();
    let conf = json!({"enforce_org_quotas": true, "tollgate": {"data_dir": data.path()}});
    let start = || apis(&upstream).into_iter().fold(Setup::new(conf.clone()), Setup::api).start();
    let mut gateway = start();
    put(&gateway, "/tyk/org/keys/acme", json!({"quota_max": 3, "quota_renewal_rate": 3600}));
    assert_eq!(statuses(&gateway, &["/one/", "/one/"]), [200; 2]);
    gateway.signal("TERM");
    assert!(gateway.wait_for_exit().success());
    let gateway = start();
    assert_eq!(statuses(&gateway, &["/one/", "/one/"]), [200, 403]);
    put(&gateway, "/tyk/org/keys/acme?reset_quota=1", json!({"quota_max": 3, "quota_renewal_rate": 3600}));
    drop(gateway);
    assert_eq!(statuses(&start(), &["/one/", "/one/", "/one/", "/one/"]), [200, 200, 200, 403], "a reset is kept");
}
