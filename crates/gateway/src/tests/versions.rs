//! Versions of one API: where the version is read from, which one is served, and when it has expired.

use serde_json::{Value, json};

use super::harness::{Definition, Gateway, Upstream, api, error_json, get, request};

const FORBIDDEN_UNKNOWN: &str = "This API version does not seem to exist";
const FORBIDDEN_MISSING: &str = "Version information not found";
const EXPIRED: &str = "Api Version has expired, please check documentation or contact administrator";

fn version(upstream: &Upstream, name: &str) -> Value {
    json!({
        "name": name,
        "use_extended_paths": true,
        "extended_paths": {},
        "global_headers": {"X-Version": name},
        "override_target": format!("{}/{name}", upstream.url())
    })
}

/// Two versions, `v1` and `v2`, each with a path of its own at the upstream, and an old one that has expired.
fn versioned(upstream: &Upstream, definition: Value) -> Definition {
    let mut old = version(upstream, "old");
    old["expires"] = json!("2001-02-03 04:05");
    let mut late = version(upstream, "late");
    late["expires"] = json!("2999-12-31 23:59");
    api("a", "/a/", &upstream.url()).set("definition", definition).set(
        "version_data",
        json!({
            "not_versioned": false,
            "versions": {"v1": version(upstream, "v1"), "v2": version(upstream, "v2"), "old": old, "late": late}
        }),
    )
}

fn refused(gateway: &Gateway, request: &str, message: &str) {
    let response = gateway.send(request);
    assert_eq!((response.status, response.text()), (403, error_json(message)), "{request}");
}

#[test]
fn a_version_is_read_from_a_header() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [versioned(&upstream, json!({"location": "header", "key": "x-api-version"}))]);
    for name in ["v1", "v2"] {
        assert_eq!(gateway.send(request("GET", "/a/x", &[&format!("X-Api-Version: {name}")], "")).status, 200);
        let seen = upstream.last();
        assert_eq!((seen.target.as_str(), seen.header("x-version")), (format!("/{name}/x").as_str(), Some(name)));
        assert_eq!(seen.header("x-api-version"), Some(name));
    }
    refused(&gateway, &get("/a/x"), FORBIDDEN_MISSING);
    refused(&gateway, &request("GET", "/a/x", &["x-api-version: v3"], ""), FORBIDDEN_UNKNOWN);
    refused(&gateway, &request("GET", "/a/x", &["x-api-version: V1"], ""), FORBIDDEN_UNKNOWN);
}

#[test]
fn the_end_of_a_version_is_told_on_refusals_too() {
    let upstream = Upstream::ok();
    let with_end = |definition: Definition| definition.set("expiration", "2999-12-31 23:59");
    let definition = with_end(super::harness::keys::keyed("a", &upstream)).list("black_list", json!([{"path": "/black"}]));
    let down = with_end(api("down", "/down/", "http://127.0.0.1:9"));
    let gateway = Gateway::start(json!({}), [definition, down]);
    let key = super::harness::keys::create(&gateway, &super::harness::keys::session(json!({"rate": 1, "per": 3600})));
    let with = |key: &str, target: &str| gateway.send(request("GET", target, &[&format!("Authorization: {key}")], ""));
    let end = Some("Tue, 31 Dec 2999 23:59:00 UTC");
    for (what, response, status, end) in [
        ("passed", with(&key, "/a/"), 200, end),
        ("rate", with(&key, "/a/"), 429, end),
        ("no key", gateway.get("/a/"), 401, end),
        ("wrong key", with("wrong", "/a/"), 403, end),
        ("upstream", gateway.get("/down/"), 500, end),
        // Here the version itself refuses, and in Tyk says nothing of its end.
        ("endpoint", with(&key, "/a/black"), 403, None),
    ] {
        assert_eq!((response.status, response.header("x-tyk-api-expires")), (status, end), "{what}: {response}");
    }
}

#[test]
fn a_version_is_read_from_a_query_parameter() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [versioned(&upstream, json!({"location": "url-param", "key": "ver"}))]);
    assert_eq!(gateway.get("/a/x?b=1&ver=v2&c=3").status, 200);
    assert_eq!(upstream.last().target, "/v2/x?b=1&ver=v2&c=3");
    refused(&gateway, &get("/a/x?ver=nope"), FORBIDDEN_UNKNOWN);
    refused(&gateway, &get("/a/x?other=v1"), FORBIDDEN_MISSING);
}

#[test]
fn a_version_is_read_from_the_path() {
    let upstream = Upstream::ok();
    let mut definition = versioned(&upstream, json!({"location": "url", "strip_path": true}));
    for name in ["v1", "v2"] {
        definition = definition.set(&format!("version_data/versions/{name}/override_target"), "");
    }
    let gateway = Gateway::start(json!({}), [definition]);
    for (target, expect) in [("/a/v1/x", "/x"), ("/a/v2/x/y?z=1", "/x/y?z=1"), ("/a/v1/", "/"), ("/a/v1", "/v1")] {
        assert_eq!(gateway.get(target).status, 200, "{target}");
        assert_eq!(upstream.last().target, expect, "{target}");
    }
    refused(&gateway, &get("/a/v9/x"), FORBIDDEN_UNKNOWN);
}

#[test]
fn a_version_in_the_path_stays_there_unless_it_is_to_be_stripped() {
    let upstream = Upstream::ok();
    let definition = versioned(&upstream, json!({"location": "url"})).set("version_data/versions/v1/override_target", "");
    let gateway = Gateway::start(json!({}), [definition]);
    gateway.get("/a/v1/x");
    assert_eq!(upstream.last().target, "/v1/x");
}

#[test]
fn the_mark_of_the_version_can_be_taken_away() {
    let upstream = Upstream::ok();
    for (location, lines, target) in [("header", &["X-Ver: v1"][..], "/a/x?b=1"), ("url-param", &[][..], "/a/x?x-ver=v1&b=1")] {
        let definition = json!({"location": location, "key": "x-ver", "strip_versioning_data": true});
        let gateway = Gateway::start(json!({}), [versioned(&upstream, definition)]);
        assert_eq!(gateway.send(request("GET", target, lines, "")).status, 200);
        let seen = upstream.last();
        assert_eq!(seen.target, "/v1/x?b=1", "{location}");
        assert!(!seen.head.has("x-ver"), "{location}");
    }
}

#[test]
fn a_missing_version_may_have_a_default() {
    let upstream = Upstream::ok();
    let definition = versioned(&upstream, json!({"location": "header", "key": "x-v"})).set("version_data/default_version", "v2");
    let gateway = Gateway::start(json!({}), [definition]);
    assert_eq!(gateway.get("/a/x").status, 200);
    assert_eq!(upstream.last().target, "/v2/x");
    refused(&gateway, &request("GET", "/a/x", &["X-V: v3"], ""), FORBIDDEN_UNKNOWN);
}

#[test]
fn an_unknown_version_may_fall_back_to_the_default() {
    let upstream = Upstream::ok();
    let definition = versioned(&upstream, json!({"location": "header", "key": "x-v", "fallback_to_default": true}))
        .set("version_data/default_version", "v1");
    let gateway = Gateway::start(json!({}), [definition]);
    assert_eq!(gateway.send(request("GET", "/a/x", &["X-V: v9"], "")).status, 200);
    assert_eq!(upstream.last().target, "/v1/x");
}

#[test]
fn an_expired_version_is_refused_and_a_dated_one_says_until_when() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [versioned(&upstream, json!({"location": "header", "key": "x-v"}))]);
    refused(&gateway, &request("GET", "/a/x", &["X-V: old"], ""), EXPIRED);
    let late = gateway.send(request("GET", "/a/x", &["X-V: late"], ""));
    assert_eq!((late.status, late.header("x-tyk-api-expires")), (200, Some("Tue, 31 Dec 2999 23:59:00 UTC")));
    assert!(late.head.names().contains(&"X-Tyk-Api-Expires"), "{late}");
    assert!(!gateway.send(request("GET", "/a/x", &["X-V: v1"], "")).head.has("x-tyk-api-expires"));
}

#[test]
fn without_versioning_an_expired_version_is_served() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url()).version("expires", "2001-02-03 04:05")]);
    let response = gateway.get("/a/");
    assert_eq!((response.status, response.header("x-tyk-api-expires")), (200, Some("Sat, 03 Feb 2001 04:05:00 UTC")));
}

#[test]
fn no_date_means_no_expiry() {
    let upstream = Upstream::ok();
    for expires in ["", "-1"] {
        let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url()).version("expires", expires)]);
        let response = gateway.get("/a/");
        assert_eq!((response.status, response.header("x-tyk-api-expires")), (200, None), "{expires:?}");
    }
}

#[test]
fn a_whole_api_may_have_expired() {
    let upstream = Upstream::ok();
    for (expiration, status) in [("2001-02-03 04:05", 403), ("2999-02-03 04:05", 200), ("soon", 403)] {
        let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url()).set("expiration", expiration)]);
        let response = gateway.get("/a/");
        assert_eq!(response.status, status, "{expiration}: {response}");
        if status == 403 {
            let message = "API has expired, please check documentation or contact administrator";
            assert_eq!(response.text(), error_json(message));
        }
    }
}

#[test]
fn an_api_without_versioning_uses_its_only_or_its_default_version() {
    let upstream = Upstream::ok();
    let with = |versions: Value| api("a", "/a/", &upstream.url()).set("version_data/versions", versions);
    let plain = json!({"use_extended_paths": true, "extended_paths": {}});
    let cases = [
        (json!({"Anything": plain}), 200, ""),
        (json!({"x": plain, "Default": plain}), 200, ""),
        (json!({"x": plain, "default": plain}), 200, ""),
        (json!({"x": plain, "y": plain}), 403, "No default API version for this non-versioned API found"),
    ];
    for (versions, status, message) in cases {
        let gateway = Gateway::start(json!({}), [with(versions.clone())]);
        let response = gateway.get("/a/");
        assert_eq!(response.status, status, "{versions}: {response}");
        if status == 403 {
            let texts = [message, "Ambiguous default API version for this non-versioned API"].map(error_json);
            assert!(texts.contains(&response.text()), "{response}");
        }
    }
}

#[test]
fn each_version_has_its_own_paths() {
    let upstream = Upstream::ok();
    let definition = versioned(&upstream, json!({"location": "header", "key": "x-v"}))
        .set("version_data/versions/v1/extended_paths/black_list", json!([{"path": "/gone"}]));
    let gateway = Gateway::start(json!({}), [definition]);
    refused(&gateway, &request("GET", "/a/gone", &["X-V: v1"], ""), "Requested endpoint is forbidden");
    assert_eq!(gateway.send(request("GET", "/a/gone", &["X-V: v2"], "")).status, 200);
}

#[test]
fn the_old_lists_of_paths_work_without_extended_paths() {
    let upstream = Upstream::ok();
    let definition = api("a", "/a/", &upstream.url())
        .version("use_extended_paths", false)
        .version("paths", json!({"ignored": [], "white_list": [], "black_list": ["/gone"]}));
    let gateway = Gateway::start(json!({}), [definition]);
    refused(&gateway, &get("/a/gone"), "Requested endpoint is forbidden");
    assert_eq!(gateway.get("/a/here").status, 200);
}

#[test]
fn the_default_version_can_be_named_in_a_response_header() {
    let upstream = Upstream::ok();
    let definition = versioned(&upstream, json!({"location": "header", "key": "x-v"})).set("version_data/default_version", "v2");
    let gateway = Gateway::start(json!({"version_header": "X-Served"}), [definition]);
    assert_eq!(gateway.get("/a/").header("x-served"), Some("v2"));
}
