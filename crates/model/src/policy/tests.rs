use serde_json::{Value, json};

use super::Policy;
use crate::problem::Problem;

fn texts(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(Problem::to_string).collect()
}

#[test]
fn a_policy_writes_back_what_it_read() {
    let document = json!({
        "_id": {"$oid": "5e9d"}, "name": "Gold", "org_id": "default", "rate": 10, "per": 1, "quota_max": -1, "quota_renewal_rate": 60,
        "throttle_interval": 0, "throttle_retry_limit": 0, "max_query_depth": 0, "key_expires_in": 5,
        "access_rights": {"a": {"api_id": "a", "api_name": "", "versions": [], "later": 1}},
        "hmac_enabled": false, "enable_http_signature_validation": false, "active": true, "is_inactive": false, "tags": ["t"],
        "partitions": {"quota": true, "rate_limit": false, "complexity": false, "acl": true, "per_api": false, "more": 2},
        "meta_data": {"a": 1}, "from_the_future": 3
    });
    let (policy, _) = Policy::parse(document.to_string().as_bytes(), None).unwrap();
    assert_eq!(policy.to_json(), document);
    assert_eq!(policy.id(), "5e9d");
    let decides = policy.decides();
    assert!(decides.quota && decides.acl && !decides.rate_limit && !decides.complexity);
}

#[test]
fn a_file_of_many_policies_names_those_without_a_name() {
    let text = br#"{"gold": {"rate": 1}, "silver": {"id": "s"}, "bronze": {"_id": "b"}}"#;
    let (policies, problems) = Policy::parse_map(text, None).unwrap();
    assert!(problems.is_empty(), "{problems:?}");
    let ids: Vec<(&str, &str)> = policies.iter().map(|(key, policy)| (key.as_str(), policy.id())).collect();
    assert_eq!(ids, [("bronze", "b"), ("gold", "gold"), ("silver", "s")]);
}

#[test]
fn problems_of_a_file_name_the_policy() {
    for (text, expect) in [
        ("[]", &["p.json: $: error: must be an object"][..]),
        ("{", &["p.json: error: not valid JSON: EOF while parsing an object at line 1 column 1"]),
        (
            r#"{"a": {"rate": "1"}, "b.c": {"partitions": {"per_api": true, "acl": true}, "what": 1, "smoothing": {"enabled": true}}, "d": 1}"#,
            &[
                "p.json: $.a.rate: error: must be a number, not a string",
                "p.json: $[\"b.c\"].what: ignored: unknown field",
                "p.json: $[\"b.c\"].partitions.per_api: warning: excludes the other partitions: keys with this policy are refused",
                "p.json: $[\"b.c\"].smoothing: warning: does not apply: threshold must be more than 0",
                "p.json: $.d: error: must be an object",
            ],
        ),
    ] {
        let problems = Policy::parse_map(text.as_bytes(), Some("p.json".as_ref())).unwrap_err();
        assert_eq!(texts(&problems), expect);
    }
}

#[test]
fn a_policy_has_no_name_when_nobody_gave_it_one() {
    for (document, expect) in
        [(json!({}), ""), (json!({"_id": 1}), ""), (json!({"id": "a", "_id": "b"}), "a"), (json!({"_id": "b"}), "b")]
    {
        assert_eq!(Policy::from_value(&document, None).unwrap().0.id(), expect);
    }
    assert_eq!(Policy::default().to_json().get("_id"), None::<&Value>);
}
