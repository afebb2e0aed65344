use super::{DIFFERENCES_MAX, differences};
use serde_json::{Value, json};

#[test]
fn each_difference_is_named_by_its_path() {
    for (old, new, expected) in [
        (json!({"a": 1, "b": {"c": [1, 2]}}), json!({"a": 1, "b": {"c": [1, 2]}}), json!([])),
        (json!({"a": 1}), json!({"a": 2}), json!([{"path": "$.a", "old": 1, "new": 2}])),
        (json!({"a": 1}), json!({"b": null}), json!([{"path": "$.b", "new": null}, {"path": "$.a", "old": 1}])),
        (json!({"a": {"b/c": [1]}}), json!({"a": {"b/c": [1, 2]}}), json!([{"path": "$.a[\"b/c\"][1]", "new": 2}])),
        (json!({"a": {"b": 1}}), json!({"a": [1]}), json!([{"path": "$.a", "old": {"b": 1}, "new": [1]}])),
        (json!(1), json!("x"), json!([{"path": "$", "old": 1, "new": "x"}])),
    ] {
        let (found, others) = differences(&old, &new);
        assert_eq!((serde_json::to_value(found).unwrap(), others), (expected, 0), "{old} {new}");
    }
}

#[test]
fn values_and_their_number_are_bounded() {
    let long = "ä".repeat(1_000);
    let old: Value =
        (0..DIFFERENCES_MAX + 7).map(|number| (number.to_string(), json!(long))).collect::<serde_json::Map<_, _>>().into();
    let (found, others) = differences(&old, &json!({}));
    assert_eq!((found.len(), others), (DIFFERENCES_MAX, 7));
    assert!(found.iter().all(|difference| difference.old.as_ref().is_some_and(|old| old.as_str().unwrap().chars().count() == 201)));
}
