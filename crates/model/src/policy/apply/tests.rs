use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{apply, key_expires_in};
use crate::policy::Policy;
use crate::session::Session;

/// The policies of these tests, by identifier. All belong to the organisation "".
fn policies() -> BTreeMap<String, Policy> {
    let method = |name: &str, rate: i64| json!({"name": name, "limit": {"rate": rate, "per": 60}});
    let primitive = |kind: &str, rate: i64| json!({"type": kind, "name": "add", "limit": {"rate": rate, "per": 60}});
    let a = json!({"a": {}});
    let a_b = json!({"a": {}, "b": {}});
    let document = json!({
        "plain": {"access_rights": a, "rate": 5, "per": 1, "quota_max": 10, "quota_renewal_rate": 60, "throttle_interval": 2, "max_query_depth": 3},
        "plain-ab": {"access_rights": a_b, "rate": 8, "per": 1, "quota_max": 7, "quota_renewal_rate": 3600},
        "plain-b": {"access_rights": {"b": {}}, "rate": 50, "per": 1},
        "with-api-limit": {"access_rights": {"a": {"limit": {"rate": 9, "per": 1, "quota_max": 2}}}, "rate": 5, "per": 1, "quota_max": 10},
        "unlimited": {"access_rights": a, "rate": -1, "per": -1, "quota_max": -1},
        "nothing": {"rate": 5, "per": 1},
        "other-org": {"access_rights": a, "org_id": "other"},
        "inactive": {"access_rights": a, "is_inactive": true},
        "quota-only": {"access_rights": a, "partitions": {"quota": true}, "quota_max": 4, "rate": 100, "per": 1},
        "rate-only": {"access_rights": a, "partitions": {"rate_limit": true}, "rate": 4, "per": 1, "quota_max": 100},
        "rate-only-ab": {"access_rights": a_b, "partitions": {"rate_limit": true}, "rate": 6, "per": 1},
        "acl-only": {"access_rights": {"a": {"versions": ["v1"], "allowed_urls": [{"url": "/x", "methods": ["GET"]}]}}, "partitions": {"acl": true}, "rate": 99, "per": 1},
        "acl-more": {"access_rights": {"a": {"versions": ["v2"], "allowed_urls": [{"url": "/y", "methods": ["GET"]}, {"url": "/x", "methods": ["PUT", "GET"]}]}}, "partitions": {"acl": true}},
        "per-api": {"access_rights": {"a": {"limit": {"rate": 20, "per": 1, "quota_max": 100, "quota_renewal_rate": 60}}, "b": {}}, "partitions": {"per_api": true}, "rate": 3, "per": 1},
        "per-api-a": {"access_rights": {"a": {"limit": {"rate": 200, "per": 100, "quota_max": -1}}}, "partitions": {"per_api": true}},
        "per-api-and-quota": {"access_rights": a, "partitions": {"per_api": true, "quota": true}},
        "tagged": {"access_rights": a, "tags": ["x", "t"], "meta_data": {"m": 1, "n": 1}, "last_updated": "2", "hmac_enabled": true},
        "expiring": {"access_rights": a, "key_expires_in": 60, "post_expiry_action": "delete", "post_expiry_grace_period": 5},
        "endpoints": {"access_rights": {"a": {"endpoints": [{"path": "/p", "methods": [{"name": "GET", "limit": {"rate": 1, "per": 1}}]}]}}},
        "endpoints-more": {"access_rights": {"a": {"endpoints": [
            {"path": "/p", "methods": [{"name": "GET", "limit": {"rate": 2, "per": 1}}, {"name": "PUT", "limit": {"rate": 3, "per": 1}}]},
            {"path": "/q", "methods": []}
        ]}}},
        "calls": {"access_rights": {"a": {
            "json_rpc_methods": [method("tools/call", 3), method("ping", 5), method("open", -1)],
            "mcp_primitives": [primitive("tool", 2), primitive("prompt", 9)],
            "json_rpc_methods_access_rights": {"allowed": ["a", "b"]},
            "mcp_access_rights": {"tools": {"allowed": ["echo"], "blocked": ["x"]}, "resources": {"blocked": ["r"]}}
        }}},
        "calls-more": {"access_rights": {"a": {
            "json_rpc_methods": [method("tools/call", 5), method("ping", -1), method("open", 4), method("more", 1)],
            "mcp_primitives": [primitive("tool", 1), primitive("resource", 7)],
            "json_rpc_methods_access_rights": {"allowed": ["b", "c"], "blocked": ["d"]},
            "mcp_access_rights": {"tools": {"allowed": ["echo", "add"]}, "prompts": {"allowed": ["p"]}}
        }}},
        "calls-acl": {"access_rights": {"a": {"json_rpc_methods": [method("x", 5)], "mcp_access_rights": {"tools": {"allowed": ["acl"]}}}}, "partitions": {"acl": true}},
        "calls-rate": {"access_rights": {"a": {"json_rpc_methods": [method("x", 6)], "mcp_access_rights": {"tools": {"allowed": ["rate"]}}}}, "partitions": {"rate_limit": true}},
        "calls-api": {"access_rights": {"a": {"json_rpc_methods": [method("x", 7)], "mcp_primitives": [primitive("tool", 3)]}}, "partitions": {"per_api": true}},
        "calls-api-more": {"access_rights": {"a": {"json_rpc_methods": [method("x", 8)]}}, "partitions": {"per_api": true}},
        "daily": {"access_rights": a, "limits": [{"rate": 100, "per": 86400}, {"rate": 5, "per": 1, "name": "burst"}]},
        "daily-more": {"access_rights": a, "limits": [{"rate": 200, "per": 86400}, {"rate": 1, "per": 1, "name": "burst"}, {"rate": 9, "per": 60}]},
        "dry": {"access_rights": a, "dry_run": true},
        "closing": {"access_rights": a, "rate": 4, "per": 1, "on_store_failure": "deny"},
        "open": {"access_rights": a, "rate": 5, "per": 1, "on_store_failure": "allow"},
        "quota-open": {"access_rights": a, "partitions": {"quota": true}, "quota_max": 4, "on_store_failure": "allow"},
        "dry-quota": {"access_rights": a, "partitions": {"quota": true}, "dry_run": ["quota"]}
    });
    Policy::parse_map(document.to_string().as_bytes(), None).unwrap().0
}

fn applied(session: Value, ids: &[&str]) -> Result<Session, String> {
    let policies = policies();
    let mut session = Session::from_value(&session).unwrap().0;
    session.apply_policies = ids.iter().map(|id| (*id).to_owned()).collect();
    apply(&session, &|id| policies.get(id)).map_err(|error| error.to_string())
}

/// Checks a session with these policies at JSON pointers.
#[track_caller]
fn check_of(session: Value, ids: &[&str], expect: &[(&str, Value)]) {
    let result = applied(session, ids).unwrap().to_json();
    for (pointer, value) in expect {
        assert_eq!(result.pointer(pointer).unwrap_or(&Value::Null), value, "{ids:?} {pointer}: {result:#}");
    }
}

#[track_caller]
fn check(ids: &[&str], expect: &[(&str, Value)]) {
    check_of(json!({}), ids, expect);
}

const A: &str = "/access_rights/a/limit";

fn of_a(field: &str) -> String {
    format!("{A}/{field}")
}

#[test]
fn one_policy_overwrites_limits_and_access() {
    let session = json!({"rate": 1000, "per": 1, "quota_max": 1000, "quota_renewal_rate": 999_999, "throttle_interval": 9, "access_rights": {"c": {}}});
    let everywhere = [
        ("rate", json!(5)),
        ("per", json!(1)),
        ("quota_max", json!(10)),
        ("quota_renewal_rate", json!(60)),
        ("throttle_interval", json!(2)),
        ("max_query_depth", json!(3)),
    ];
    for (field, value) in everywhere {
        check_of(session.clone(), &["plain"], &[(&format!("/{field}"), value.clone()), (&of_a(field), value)]);
    }
    check_of(session, &["plain"], &[("/access_rights/c", json!(null)), ("/access_rights/a/allowance_scope", json!(null))]);
}

#[test]
fn the_more_generous_limit_wins() {
    for ids in [["plain", "plain-ab"], ["plain-ab", "plain"]] {
        check(
            &ids,
            &[
                ("/rate", json!(8)),
                ("/quota_max", json!(10)),
                ("/quota_renewal_rate", json!(3600)),
                (&of_a("rate"), json!(8)),
                (&of_a("quota_max"), json!(10)),
                ("/access_rights/b/limit/quota_max", json!(7)),
            ],
        );
        // -1 is unlimited and overrides everything; 0 has no meaning.
        check(&[ids[0], "unlimited"], &[("/rate", json!(-1)), ("/quota_max", json!(-1)), (&of_a("rate"), json!(-1))]);
    }
    check(&["with-api-limit"], &[(&of_a("rate"), json!(9)), (&of_a("quota_max"), json!(10)), ("/rate", json!(9))]);
}

#[test]
fn partitions_decide_their_part_alone() {
    let session = json!({"rate": 1, "per": 1, "quota_max": 2, "access_rights": {"c": {}}});
    for ids in [&["acl-only", "quota-only"][..], &["quota-only", "acl-only"]] {
        check_of(
            session.clone(),
            ids,
            &[("/quota_max", json!(4)), ("/rate", json!(1)), (&of_a("quota_max"), json!(4)), (&of_a("rate"), json!(1))],
        );
        check_of(session.clone(), ids, &[("/access_rights/a/versions", json!(["v1"])), ("/access_rights/c", json!(null))]);
    }
    check_of(
        session.clone(),
        &["acl-only", "rate-only"],
        &[("/rate", json!(4)), ("/quota_max", json!(2)), (&of_a("quota_max"), json!(2))],
    );
    // Limits alone give no access.
    check_of(session.clone(), &["acl-only", "rate-only-ab"], &[(&of_a("rate"), json!(6)), ("/access_rights/b", json!(null))]);
    check_of(
        session,
        &["quota-only"],
        &[
            ("/quota_max", json!(4)),
            ("/access_rights/c", json!({"api_name": "", "api_id": "", "versions": []})),
            ("/access_rights/a", json!(null)),
        ],
    );
}

#[test]
fn the_stricter_policy_says_what_holds_without_the_store() {
    for (ids, expect) in [
        (&["closing", "open"][..], json!("deny")),
        (&["open", "closing"], json!("deny")),
        (&["open"], json!("allow")),
        // The rate is the key's own.
        (&["quota-open", "acl-only"], json!({"rate_limit": "local", "quota": "allow"})),
    ] {
        let session = json!({"rate": 1, "per": 1, "on_store_failure": "local"});
        check_of(session, ids, &[("/on_store_failure", expect.clone()), (&of_a("on_store_failure"), expect)]);
    }
}

#[test]
fn access_adds_up() {
    check(
        &["acl-only", "acl-more"],
        &[
            ("/access_rights/a/versions", json!(["v1", "v2"])),
            ("/access_rights/a/allowed_urls", json!([{"url": "/x", "methods": ["GET", "PUT"]}, {"url": "/y", "methods": ["GET"]}])),
            ("/access_rights/a/allowance_scope", json!(null)),
        ],
    );
    check(
        &["endpoints", "endpoints-more"],
        &[
            ("/access_rights/a/endpoints/0/methods/0/limit/rate", json!(2)),
            ("/access_rights/a/endpoints/0/methods/1/name", json!("PUT")),
            ("/access_rights/a/endpoints/1/path", json!("/q")),
        ],
    );
}

/// The names of limits with their rates.
fn rates(right: &Value, list: &str, name: &str) -> Vec<(String, i64)> {
    let limits = right[list].as_array().into_iter().flatten();
    limits.map(|limit| (limit[name].as_str().unwrap().to_owned(), limit["limit"]["rate"].as_i64().unwrap())).collect()
}

/// Tyk 5.14 answers so to `POST /tyk/keys/preview` with these policies, except that its lists have no order.
#[test]
fn limits_and_rights_of_calls_are_merged_as_in_tyk() {
    type Rates<'t> = &'t [(&'t str, i64)];
    let methods: [(&[&str], Rates<'_>, Rates<'_>); 6] = [
        (
            &["calls", "calls-more"],
            &[("tools/call", 5), ("ping", -1), ("open", 4), ("more", 1)],
            &[("tool", 2), ("prompt", 9), ("resource", 7)],
        ),
        (
            &["calls-more", "calls"],
            &[("tools/call", 5), ("ping", 5), ("open", -1), ("more", 1)],
            &[("tool", 2), ("resource", 7), ("prompt", 9)],
        ),
        (&["calls-acl"], &[], &[]),
        (&["calls-acl", "calls-rate"], &[("x", 6)], &[]),
        (&["calls-rate", "calls-acl"], &[("x", 6)], &[]),
        (&["calls-api", "calls-api-more"], &[("x", 8)], &[("tool", 3)]),
    ];
    for (ids, methods, primitives) in methods {
        let right = applied(json!({}), ids).unwrap().to_json()["access_rights"]["a"].clone();
        let owned = |rates: Rates<'_>| rates.iter().map(|(name, rate)| ((*name).to_owned(), *rate)).collect::<Vec<_>>();
        assert_eq!(rates(&right, "json_rpc_methods", "name"), owned(methods), "{ids:?}");
        assert_eq!(rates(&right, "mcp_primitives", "type"), owned(primitives), "{ids:?}");
    }
    check(
        &["calls", "calls-more"],
        &[
            ("/access_rights/a/json_rpc_methods_access_rights", json!({"allowed": ["a", "b", "c"], "blocked": ["d"]})),
            (
                "/access_rights/a/mcp_access_rights",
                json!({"tools": {"allowed": ["echo", "add"], "blocked": ["x"]}, "resources": {"blocked": ["r"]}, "prompts": {"allowed": ["p"]}}),
            ),
        ],
    );
    for ids in [["calls-acl", "calls-rate"], ["calls-rate", "calls-acl"]] {
        check(&ids, &[("/access_rights/a/mcp_access_rights", json!({"tools": {"allowed": ["acl"]}}))]);
    }
}

#[test]
fn counters_are_shared_unless_policies_differ() {
    let scope = |api: &str| format!("/access_rights/{api}/allowance_scope");
    for (ids, a, b) in [
        (&["plain-ab"][..], json!(null), json!(null)),
        (&["plain", "plain-b"], json!("plain"), json!("plain-b")),
        (&["per-api"], json!("a"), json!("per-api")),
        (&["per-api", "per-api-a"], json!("a"), json!("per-api")),
    ] {
        check(ids, &[(&scope("a"), a), (&scope("b"), b)]);
    }
}

#[test]
fn per_api_limits_belong_to_the_api() {
    check(&["per-api"], &[(&of_a("rate"), json!(20)), ("/access_rights/b/limit/rate", json!(3)), ("/rate", json!(null))]);
    for ids in [["per-api", "per-api-a"], ["per-api-a", "per-api"]] {
        check(
            &ids,
            &[
                (&of_a("rate"), json!(20)),
                (&of_a("per"), json!(1)),
                (&of_a("quota_max"), json!(-1)),
                (&of_a("quota_renewal_rate"), json!(null)),
            ],
        );
    }
    check(
        &["plain", "per-api"],
        &[(&of_a("rate"), json!(20)), (&of_a("quota_max"), json!(100)), ("/access_rights/a/allowance_scope", json!("a"))],
    );
}

#[test]
fn a_renewal_under_way_goes_on() {
    let session = json!({"access_rights": {"a": {"limit": {"rate": 1, "quota_renews": 77}}}});
    check_of(session, &["plain"], &[(&of_a("quota_renews"), json!(77)), (&of_a("rate"), json!(5))]);
}

#[test]
fn keys_without_policies_keep_what_they_have() {
    let session =
        json!({"rate": 1, "per": 2, "tags": ["t", "t"], "access_rights": {"a": {"limit": {"rate": 1}}, "b": {"limit": {}}}});
    let expect = json!({"rate": 1, "per": 2, "tags": ["t", "t"], "access_rights": {
        "a": {"api_name": "", "api_id": "", "versions": [], "limit": {"rate": 1}, "allowance_scope": "a"},
        "b": {"api_name": "", "api_id": "", "versions": [], "limit": {}}
    }});
    assert_eq!(applied(session, &[]).unwrap().to_json(), expect);
}

#[test]
fn policies_that_do_not_fit_refuse_the_key() {
    for (ids, expect) in [
        (&["missing"][..], "policy not found: \"missing\""),
        (&["other-org"], "attempting to apply policy from different organisation to key, skipping"),
        (&["missing", "other-org"], "key has no valid policies to be applied"),
        (&["nothing"], "key has no valid policies to be applied"),
        (&["quota-only"], "key has no valid policies to be applied"),
        (&["per-api-and-quota"], "cannot apply policy per-api-and-quota which has per_api and any of partitions set"),
        (&["per-api", "quota-only"], "cannot apply multiple policies when some have per_api set and some are partitioned"),
        (&["quota-only", "per-api"], "cannot apply multiple policies when some have per_api set and some are partitioned"),
    ] {
        assert_eq!(applied(json!({}), ids).unwrap_err(), expect, "{ids:?}");
    }
    assert_eq!(
        applied(json!({"org_id": "default"}), &["plain"]).unwrap_err(),
        "attempting to apply policy from different organisation to key, skipping"
    );
}

#[test]
fn of_several_policies_those_that_do_not_fit_are_skipped() {
    check(&["missing", "plain", "other-org"], &[("/rate", json!(5)), ("/access_rights/a/allowance_scope", json!(null))]);
}

#[test]
fn an_inactive_policy_makes_the_key_inactive() {
    for (session, ids, expect) in [
        (json!({}), &["plain", "inactive"][..], json!(true)),
        (json!({}), &["plain"], json!(null)),
        (json!({"is_inactive": true}), &["plain"], json!(true)),
    ] {
        check_of(session, ids, &[("/is_inactive", expect)]);
    }
}

#[test]
fn tags_and_values_add_up() {
    let session = json!({"tags": ["t", "u", "t"], "meta_data": {"m": 0, "o": 0}, "last_updated": "1"});
    check_of(
        session,
        &["tagged"],
        &[
            ("/tags", json!(["t", "u", "x"])),
            ("/meta_data", json!({"m": 1, "o": 0, "n": 1})),
            ("/last_updated", json!("2")),
            ("/hmac_enabled", json!(true)),
        ],
    );
}

#[test]
fn expiry_of_new_keys_is_the_policy_s() {
    let policies = policies();
    for (ids, expect) in [(&["plain"][..], None), (&["expiring", "plain", "missing"], Some(60))] {
        let session = Session { apply_policies: ids.iter().map(|id| (*id).to_owned()).collect(), ..Session::default() };
        assert_eq!(key_expires_in(&session.policy_ids(), &|id| policies.get(id)), expect);
    }
    check(&["expiring"], &[("/post_expiry_action", json!("delete")), ("/post_expiry_grace_period", json!(5))]);
}

#[test]
fn further_limits_add_up_and_the_more_generous_of_a_kind_wins() {
    let expect = json!([{"rate": 200, "per": 86400}, {"rate": 5, "per": 1, "name": "burst"}, {"rate": 9, "per": 60}]);
    check_of(
        json!({"limits": [{"rate": 1, "per": 1}]}),
        &["daily", "daily-more"],
        &[("/limits", expect.clone()), (&of_a("limits"), expect)],
    );
}

#[test]
fn a_check_refuses_nobody_when_no_policy_wants_it_enforced() {
    for (session, ids, expect) in [
        (json!({}), &["dry"][..], json!(true)),
        (json!({}), &["dry", "plain"], json!(null)),
        (json!({}), &["acl-only", "dry-quota"], json!(["quota"])),
        (json!({"dry_run": ["access"]}), &["plain"], json!(["access"])),
    ] {
        check_of(session, ids, &[("/dry_run", expect)]);
    }
}

#[test]
fn a_policy_that_is_named_often_counts_once() {
    let often: Vec<&str> = std::iter::repeat_n("endpoints-more", 100_000).chain(["tagged"]).collect();
    let session = || json!({"tags": ["x", "own", "own"]});
    assert_eq!(
        applied(session(), &often).map(|mut session| {
            session.apply_policies.clear();
            session
        }),
        applied(session(), &["endpoints-more", "tagged"]).map(|mut session| {
            session.apply_policies.clear();
            session
        })
    );
    assert_eq!(applied(session(), &often).unwrap().tags, ["x", "own", "t"]);
}
