use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

use super::{DryRun, LimitStoreFailure, Session};
use crate::config::OnStoreFailure;
use crate::problem::Problem;

fn parsed(document: &Value) -> Session {
    Session::parse(document.to_string().as_bytes()).unwrap().0
}

/// Checks the problems of a session.
#[track_caller]
fn check(document: Value, expect: &[&str]) {
    let (Ok((_, problems)) | Err(problems)) = Session::parse(document.to_string().as_bytes());
    let texts: Vec<String> = problems.iter().map(Problem::to_string).collect();
    assert_eq!(texts, expect);
}

/// The document that Tyk's guides show, with separate limits for one API.
fn usual() -> Value {
    json!({
        "allowance": 1000, "rate": 1000, "per": 60.5, "throttle_interval": -1, "throttle_retry_limit": -1, "expires": 1_900_000_000,
        "quota_max": 5, "quota_renews": 1_700_000_000, "quota_remaining": 5, "quota_renewal_rate": 60, "org_id": "default",
        "access_rights": {
            "2": {"api_id": "2", "api_name": "Two", "versions": ["Default"]},
            "3": {
                "api_id": "3", "api_name": "Three", "versions": [],
                "allowed_urls": [{"url": "/get/(.*)", "methods": ["GET"], "x": 1}],
                "limit": {"rate": 1, "per": 2, "limits": [{"rate": 9, "per": 3600, "burst": 2.5, "name": "hour", "y": 2}], "quota_max": -1, "z": 3},
                "endpoints": [{"path": "/p", "methods": [{"name": "GET", "limit": {"rate": 1, "per": 1, "u": 4}, "v": 5}], "w": 6}]
            },
            "4": {
                "api_id": "4", "api_name": "Four", "versions": [],
                "json_rpc_methods": [{"name": "tools/call", "limit": {"rate": 3, "per": 60, "a": 8}, "b": 9}, {"name": "ping"}],
                "json_rpc_methods_access_rights": {"allowed": ["initialize", "tools/.*"], "c": 10},
                "mcp_primitives": [{"type": "tool", "name": "add", "limit": {"rate": 2, "per": 60, "d": 11}, "e": 12}, {"type": "later", "name": "x"}],
                "mcp_access_rights": {"tools": {"allowed": ["echo"], "blocked": ["x"], "f": 13}, "resources": {"blocked": ["file:///.*"]}, "prompts": {"g": 14}, "h": 15}
            }
        },
        "basic_auth_data": {"password": "p", "hash_type": "bcrypt", "t": 7},
        "apply_policies": ["a"], "meta_data": {"a": {"B": 0}, "c": null}, "tags": ["x"], "alias": "me",
        "dry_run": ["quota"], "from_the_future": [0]
    })
}

#[test]
fn writing_back_loses_nothing() {
    let session = parsed(&usual());
    assert_eq!(session.to_json(), usual());
    assert_eq!(parsed(&session.to_json()), session);
}

#[test]
fn zero_fields_are_not_written() {
    let document =
        json!({"rate": 0, "quota_max": 0, "is_inactive": false, "tags": [], "alias": "", "access_rights": null, "monitor": null});
    assert_eq!(parsed(&document).to_json(), json!({}));
    assert_eq!(Session::default().to_json(), json!({}));
}

#[test]
fn fields_are_known_in_any_letter_case() {
    let session = parsed(&json!({"RATE": 3, "Access_Rights": {"A": {"Limit": {"Per": 4, "More": 1}}}}));
    assert_eq!(session.rate, 3.0);
    let limit = session.access_rights["A"].limit.as_ref().unwrap();
    assert_eq!((limit.per, &limit.extra["More"]), (4.0, &json!(1)));
}

#[test]
fn numbers_are_taken_in_every_notation_that_fits() {
    let session = parsed(
        &json!({"rate": -1, "per": 1e300, "quota_max": 1e6, "quota_renews": 1.5e3, "expires": -1, "quota_remaining": i64::MAX}),
    );
    assert_eq!((session.rate, session.per), (-1.0, 1e300));
    assert_eq!((session.quota_max, session.quota_renews, session.expires), (1_000_000, 1500, -1));
    assert_eq!(session.quota_remaining, i64::MAX);
    assert_eq!(session.limit().rate_limits().count(), 0);
}

#[test]
fn a_whole_number_beyond_64_bits_is_an_error() {
    for number in [json!(1e30), json!(-1e30), json!(18446744073709551615_u64), json!(9.3e18)] {
        let problems = Session::from_value(&json!({"quota_max": number})).unwrap_err();
        assert_eq!(problems.first().map(|problem| problem.path.as_str()), Some("$.quota_max"), "{number}");
    }
}

#[test]
fn what_is_not_a_number_is_named_with_its_place() {
    check(
        json!({"rate": "10", "quota_max": "5", "access_rights": {"2": {"limit": {"per": [], "quota_max": true}}}}),
        &[
            "$.rate: error: must be a number, not a string",
            "$.quota_max: error: must be a number, not a string",
            "$.access_rights[\"2\"].limit.per: error: must be a number, not a list",
            "$.access_rights[\"2\"].limit.quota_max: error: must be a number, not true",
        ],
    );
    check(json!([]), &["$: error: must be an object"]);
    check(json!({"access_rights": []}), &["$.access_rights: error: must be an object, not a list"]);
}

#[test]
fn fields_without_effect_are_reported_when_they_are_set() {
    check(
        json!({"hmac_enabled": true, "smoothing": {"enabled": true}, "monitor": {"trigger_limits": []}, "ratee": 1, "access_rights": {"2": {"mcp_primitives": [{}], "restricted_types": [{}], "allowed_types": null, "disable_introspection": false}}}),
        &[
            "$.ratee: ignored: unknown field",
            "$.smoothing: warning: does not apply: threshold must be more than 0",
            "$.access_rights[\"2\"].mcp_primitives[0].type: warning: limits nothing: must be one of \"tool\", \"resource\", \"prompt\"",
        ],
    );
}

#[test]
fn own_limits_must_make_sense() {
    check(
        json!({"limits": [{"rate": 1}, {"rate": 1, "per": 1, "burst": 0}], "access_rights": {"a": {"limit": {"limits": [{"per": 1}]}}}}),
        &[
            "$.limits[0]: warning: limits nothing: rate and per must be more than 0",
            "$.limits[1].burst: error: must be at least 1",
            "$.access_rights.a.limit.limits[0]: warning: limits nothing: rate and per must be more than 0",
        ],
    );
}

#[test]
fn the_checks_of_a_dry_run_are_listed_or_all() {
    for (written, expect, back) in [
        (json!(true), DryRun::ALL, json!(true)),
        (json!(["access", "quota", "rate_limit"]), DryRun::ALL, json!(true)),
        (json!(["rate_limit"]), DryRun { rate_limit: true, ..DryRun::default() }, json!(["rate_limit"])),
        (json!([]), DryRun::default(), Value::Null),
        (json!(false), DryRun::default(), Value::Null),
        (json!(null), DryRun::default(), Value::Null),
    ] {
        let session = parsed(&json!({ "dry_run": written }));
        assert_eq!(session.dry_run, expect, "{written}");
        assert_eq!(session.to_json().get("dry_run").unwrap_or(&Value::Null), &back);
    }
    let message = "$.dry_run: error: must be true, false or a list of \"rate_limit\", \"quota\", \"access\"";
    check(json!({"dry_run": "quota"}), &[message]);
    check(json!({"dry_run": ["quotas"]}), &[message]);
}

#[test]
fn what_holds_without_the_store_is_one_word_or_one_for_each_limit() {
    use OnStoreFailure::{Allow, Deny};
    let each = |rate_limit, quota| LimitStoreFailure { rate_limit, quota };
    for (written, expect, back) in [
        (json!("deny"), each(Some(Deny), Some(Deny)), json!("deny")),
        (json!({"quota": "deny", "rate_limit": "deny"}), each(Some(Deny), Some(Deny)), json!("deny")),
        (json!({"quota": "allow"}), each(None, Some(Allow)), json!({"quota": "allow"})),
        (json!({}), each(None, None), Value::Null),
        (json!(""), each(None, None), Value::Null),
        (json!(null), each(None, None), Value::Null),
    ] {
        let session = parsed(&json!({ "on_store_failure": written }));
        assert_eq!(session.on_store_failure, expect, "{written}");
        assert_eq!(session.to_json().get("on_store_failure").unwrap_or(&Value::Null), &back);
    }
    for wrong in [json!("open"), json!(true), json!({"quota": "open"}), json!({"rate": "deny"})] {
        let message = "must be \"allow\", \"local\" or \"deny\", or an object with one of them for \"rate_limit\" and \"quota\"";
        check(json!({"on_store_failure": wrong}), &[&format!("$.on_store_failure: error: {message}, not {wrong}")]);
        let limit = json!({"access_rights": {"a": {"limit": {"on_store_failure": wrong}}}});
        check(limit, &[&format!("$.access_rights.a.limit.on_store_failure: error: {message}, not {wrong}")]);
    }
    check(
        json!({"limits": [{"rate": 1, "per": 1, "on_store_failure": "open"}]}),
        &["$.limits[0].on_store_failure: error: must be one of \"allow\", \"local\", \"deny\", not \"open\""],
    );
}

#[test]
fn the_old_policy_field_counts_when_the_new_one_is_empty() {
    for (document, expect) in [
        (json!({}), vec![]),
        (json!({"apply_policy_id": "old"}), vec!["old"]),
        (json!({"apply_policy_id": "old", "apply_policies": ["a", "b"]}), vec!["a", "b"]),
    ] {
        assert_eq!(parsed(&document).policy_ids(), expect);
    }
}

#[test]
fn an_empty_limit_is_the_key_s() {
    let session =
        parsed(&json!({"access_rights": {"a": {"limit": null}, "b": {"limit": {"rate": 0}}, "c": {"limit": {"rate": -1}}}}));
    let has_own = |api: &str| session.access_rights[api].own_limit().is_some();
    assert_eq!([has_own("a"), has_own("b"), has_own("c")], [false, false, true]);
}

/// CPU time of this thread to read a session with this many unknown fields: the shortest of several attempts.
fn cpu_time_with_unknown(fields: usize) -> Duration {
    let members: serde_json::Map<String, Value> = (0..fields).map(|number| (format!("field{number}"), json!(number))).collect();
    let text = Value::Object(members).to_string();
    let cpu_time = || Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap();
    let attempt = |_| {
        let begun = cpu_time();
        let (session, problems) = Session::parse(text.as_bytes()).unwrap();
        assert_eq!((session.extra.len(), problems.len()), (fields, fields));
        cpu_time() - begun
    };
    (0..3).map(attempt).min().unwrap()
}

#[test]
fn the_work_of_reading_grows_with_the_number_of_fields_and_not_with_its_square() {
    // Thirty-two times the fields: a thousand times the work, if each is compared with all others.
    let (few, many) = (cpu_time_with_unknown(2_000), cpu_time_with_unknown(64_000));
    assert!(many < few * 32 * 6, "{few:?} for 2,000 fields, {many:?} for 64,000");
}
