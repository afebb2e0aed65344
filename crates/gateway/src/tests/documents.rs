//! Documents as people have them: settings that act, definitions that Tyk loads, and what a check says of them.

use serde_json::{Value, json};

use super::harness::keys::{call, create, session_for};
use super::harness::{Gateway, Upstream, api, error_json};

#[test]
fn a_segmented_gateway_serves_the_apis_with_its_tags() {
    let upstream = Upstream::ok();
    let tagged = |id: &str, tags: Value| api(id, &format!("/{id}/"), &upstream.url()).set("tags", tags);
    let definitions = || {
        [
            tagged("inside", json!(["x", "internal"])),
            tagged("outside", json!(["external"])),
            tagged("off", json!(["internal"])).set("tags_disabled", true),
            api("untagged", "/untagged/", &upstream.url()),
        ]
    };
    let segment =
        |is_segmented: bool, tags: Value| json!({"db_app_conf_options": {"node_is_segmented": is_segmented, "tags": tags}});
    for (conf, expect) in [
        (segment(true, json!(["internal"])), [200, 404, 404, 404]),
        (segment(true, json!([])), [404, 404, 404, 404]),
        (segment(false, json!(["internal"])), [200, 200, 200, 200]),
    ] {
        let gateway = Gateway::start(conf.clone(), definitions());
        let statuses = ["inside", "outside", "off", "untagged"].map(|id| gateway.get(&format!("/{id}/")).status);
        assert_eq!(statuses, expect, "{conf}");
    }
    let gateway = Gateway::start(segment(true, json!(["internal"])), definitions());
    gateway.write_api(&tagged("inside", json!(["external"])));
    gateway.reload();
    assert_eq!(gateway.get("/inside/").status, 404, "its last version does not stay");
}

#[test]
fn an_api_without_versions_is_loaded_and_refuses_everybody() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url()).set("version_data", json!({}))]);
    let response = gateway.get("/a/");
    assert_eq!((response.status, response.text()), (403, error_json("Version information not found")));
    assert!(gateway.log().contains("must have a version"), "{}", gateway.log());
}

#[test]
fn an_api_whose_tokens_can_not_be_checked_refuses_them() {
    let upstream = Upstream::ok();
    for (method, source) in [("hmac", "no Base64!"), ("rsa", "bm8gUEVN"), ("rsa", "http://[::1"), ("ecdsa", "https://")] {
        let definition =
            super::harness::tokens::with_tokens("a", &upstream).set("jwt_signing_method", method).set("jwt_source", source);
        let gateway = super::harness::start_with([definition], &[super::harness::tokens::policy("basic", json!({}))]);
        let key = create(&gateway, &session_for(&["a"], json!({})));
        let token = super::harness::jws::hs256(super::harness::tokens::SECRET, &json!({"sub": "joe"}));
        for credential in [key, token] {
            assert_eq!(call(&gateway, "/a/", &credential).status, 403, "{source}");
        }
        assert!(gateway.log().contains("$.jwt_source: warning:"), "{source}: {}", gateway.log());
        assert_eq!(gateway.control("GET", "/tyk/apis/a", "").status, 200);
    }
    assert_eq!(upstream.requests(), 0);
}

#[test]
fn a_list_of_targets_needs_no_target() {
    let upstream = Upstream::ok();
    let target = upstream.url().replace("http://", "");
    for unused in ["", "/relative", "not a URL"] {
        let definition = api("a", "/a/", unused).set("proxy/enable_load_balancing", true).set("proxy/target_list", json!([target]));
        assert_eq!(Gateway::start(json!({}), [definition]).get("/a/").status, 200, "{unused:?}");
    }
}
