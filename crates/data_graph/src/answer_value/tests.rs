use super::*;
use serde_json::json;

fn read(text: &str) -> AnswerValue {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn a_value_takes_24_bytes() {
    assert_eq!(size_of::<AnswerValue>(), 24);
    assert_eq!(size_of::<(Arc<str>, AnswerValue)>(), 40);
}

#[test]
fn documents_are_those_that_serde_json_reads() {
    let long = serde_json::to_string(&(0..3 * BLOCK_ITEMS + 1).collect::<Vec<_>>()).unwrap();
    let wide: String = (0..200).map(|number| format!(r#""n{}":{number},"#, number % 150)).collect();
    for text in [
        "null",
        "true",
        "-7",
        "18446744073709551615",
        "1.5",
        r#""a\u00e9\n""#,
        "[]",
        "[1,[2,{}],null]",
        "{}",
        r#"{"b":1,"a":{"b":[2]}}"#,
        r#"{"a":1,"b":2,"a":3}"#,
        &long,
        &format!("{{{wide}\"n3\":[]}}"),
    ] {
        let (ours, theirs) = (read(text), serde_json::from_str::<Value>(text).unwrap());
        assert_eq!(ours.to_json(), theirs, "{text}");
        // In the same order, too.
        assert_eq!(serde_json::to_string(&ours).unwrap(), theirs.to_string());
        assert_eq!(ours.items().count(), theirs.as_array().map_or(0, Vec::len));
    }
    let mut list = read(&long);
    for index in [0, 1, BLOCK_ITEMS - 1, BLOCK_ITEMS, 3 * BLOCK_ITEMS] {
        let expected = AnswerValue::Number(index.into());
        assert_eq!((list.item(index).cloned(), list.item_mut(index).cloned()), (Some(expected.clone()), Some(expected)));
    }
    assert_eq!(list.item(3 * BLOCK_ITEMS + 1), None);
    assert_eq!(
        serde_json::from_str::<AnswerValue>("[1,]").unwrap_err().to_string(),
        serde_json::from_str::<Value>("[1,]").unwrap_err().to_string()
    );
}

#[test]
fn objects_of_two_sources_become_one() {
    let cases = [
        (r#"{"a":1}"#, r#"{"b":2}"#, json!({"a": 1, "b": 2})),
        (r#"{"a":1}"#, r#"{"a":2}"#, json!({"a": 2})),
        (r#"{"a":1}"#, r#"{"a":null}"#, json!({"a": 1})),
        (r#"{"a":null}"#, r#"{"a":1}"#, json!({"a": 1})),
        (r#"{"a":{"b":1}}"#, r#"{"a":{"c":2,"b":3}}"#, json!({"a": {"b": 3, "c": 2}})),
        (r#"{"a":[{"b":1},{"b":2}]}"#, r#"{"a":[{"c":3},{"c":4}]}"#, json!({"a": [{"b": 1, "c": 3}, {"b": 2, "c": 4}]})),
        (r#"{"a":[{"b":1},null,7]}"#, r#"{"a":[null,{"c":4},8]}"#, json!({"a": [{"b": 1}, null, 7]})),
        (r#"{"a":[{"b":1}]}"#, r#"{"a":[{"c":3},{"c":4}]}"#, json!({"a": [{"c": 3}, {"c": 4}]})),
        (r#"{"a":[1]}"#, r#"{"a":{"b":1}}"#, json!({"a": {"b": 1}})),
        ("{}", r#"{"a":1}"#, json!({"a": 1})),
    ];
    for (own, further, merged) in cases {
        let mut value = read(own);
        value.merge(read(further));
        assert_eq!(value.to_json(), merged, "{own} {further}");
    }
}

#[test]
fn large_objects_do_not_take_the_square_of_their_size() {
    let object = |offset: usize| {
        let members: Vec<String> = (0..300_000).map(|number| format!("\"n{}\":{number}", number + offset)).collect();
        read(&format!("{{{}}}", members.join(",")))
    };
    let mut value = object(0);
    value.merge(object(150_000));
    assert_eq!(value.members().map(|members| members.0.len()), Some(450_000));
}

#[test]
fn a_members_place_is_found_by_name_and_position() {
    let value = read(r#"{"a":[{"b":{"c":7}}],"[0]":8}"#);
    let at = |members: &[&str]| value.at(&members.iter().map(ToString::to_string).collect::<Vec<_>>()).map(AnswerValue::to_json);
    assert_eq!(at(&["a", "[0]", "b", "c"]), Some(json!(7)));
    assert_eq!(at(&["[0]"]), Some(json!(8)));
    assert_eq!(
        (at(&["a", "b"]), at(&["a", "[1]"]), at(&["a", "[0]", "x"]), at(&["a", "[0]", "b", "c", "d"])),
        (None, None, None, None)
    );
}
