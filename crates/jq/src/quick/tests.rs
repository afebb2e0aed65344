//! Quick filters are held against the interpreter.

use crate::{FilterFailure, JqFilter, JqValue};
use proptest::prelude::*;

const NOW: f64 = 1_425_599_621.0;

/// What both forms make of an input; the quick one's is `None` where it leaves the answer to the interpreter.
fn both(filter: &str, input: &str) -> (Option<Option<String>>, Result<String, FilterFailure>) {
    let filter = JqFilter::compile(filter).unwrap_or_else(|error| panic!("{filter}: {error}"));
    let input = JqValue::read(input.as_bytes()).unwrap().unwrap_or_default();
    let quick = filter.quick.as_ref().map(|quick| quick.output(&input).map(|value| value.to_json()));
    (quick, filter.interpret(input, NOW, false).map(|value| value.to_json()))
}

#[test]
fn common_filters_need_no_interpreter() {
    let input = r#"{"body": {"id": 7, "name": "Ann", "n": null, "items": [{"sku": "x", "n": 2, "p": 1.5}, {"sku": "y", "n": 1, "p": 4}]}, "_tyk_context": {"path": "/p"}}"#;
    for (filter, output) in [
        (".", input.replace(": ", ":").replace(", ", ",").as_str()),
        ("{body: .body.id}", r#"{"body":7}"#),
        (
            "{body: {id: .body.id, \"the name\": .body.name, path: ._tyk_context.path}, rewrite_headers: {\"X-Id\": \"\\(.body.id)-\\(.body.n)\"}}",
            r#"{"body":{"id":7,"the name":"Ann","path":"/p"},"rewrite_headers":{"X-Id":"7-null"}}"#,
        ),
        ("[.body.items[] | {sku, sum: (.n * .p)}]", r#"[{"sku":"x","sum":3},{"sku":"y","sum":4}]"#),
        (".body.items | map(select(.n > 1 and .sku != \"y\") | .sku)", r#"["x"]"#),
        ("{a: 1, b: [], a: -2.5, c: [true, null, \"\\u00e9\"]}", "{\"a\":-2.5,\"b\":[],\"c\":[true,null,\"é\"]}"),
        (".body.items[-1].sku + .body[\"name\"]", r#""yAnn""#),
        (".body.missing.more // (if .body.id == 7 then \"seven\" else . end)", r#""seven""#),
        ("[.body.items[].n, (.body | .id)] | map(. + 1) | not", "false"),
        ("[.body[]] | .[1]", r#""Ann""#),
        ("[if .body.n then 1 elif .body.id then 2, 3 else 4 end]", "[2,3]"),
    ] {
        let (quick, complete) = both(filter, input);
        assert_eq!(quick, Some(Some(output.to_owned())), "{filter}");
        assert_eq!(complete.as_deref(), Ok(output), "{filter}");
    }
}

#[test]
fn what_fails_is_left_to_the_interpreter() {
    for filter in [".a.b", ".[0]", "[.a[]]", ".a + {}", "-.a", "{a: .a.b}", "[.a[] | .b]", "\"\\(.a.b)\""] {
        let (quick, complete) = both(filter, r#"{"a": "text"}"#);
        assert_eq!(quick, Some(None), "{filter}");
        assert!(matches!(complete, Err(FilterFailure::Uncaught(_))), "{filter}: {complete:?}");
    }
    for filter in [
        ".a, .b",
        ".[]",
        "select(.a)",
        "{a: .[]}",
        ".a?",
        ". as $x | $x",
        "{a: (.a | length)}",
        "def f: 1; f",
        ".[1:]",
        "..",
        "@base64 \"\\(.)\"",
    ] {
        assert_eq!(both(filter, "{}").0, None, "{filter}");
    }
}

#[test]
fn limits_hold_without_the_interpreter() {
    let doubled = (0..40).fold("[.]".to_owned(), |inner, _| format!("{inner} | [.[], .[]]"));
    let filter = JqFilter::compile(&doubled).unwrap();
    assert!(filter.quick.is_some());
    assert!(matches!(filter.run(JqValue::Null, NOW), Err(FilterFailure::Limit(_))));
}

fn filters() -> impl Strategy<Value = String> {
    let leaf = proptest::sample::select(&[
        ".",
        ".",
        ".a",
        ".a",
        ".a",
        ".b",
        ".b",
        ".a.b",
        ".[0]",
        ".[-1]",
        ".[]",
        ".a[]",
        "null",
        "true",
        "false",
        "0",
        "-1.5",
        "\"t\"",
        "[]",
        "{}",
        "{a}",
        "not",
        "1e3",
        "\"a\\u0041\\n\"",
    ])
    .prop_map(str::to_owned);
    leaf.prop_recursive(4, 24, 3, |inner| {
        let pair = (inner.clone(), inner.clone());
        let operator = proptest::sample::select(&["|", ",", "//", "and", "or", "+", "-", "*", "/", "%", "==", "<", ">=", "!="]);
        prop_oneof![
            (pair.clone(), operator).prop_map(|((left, right), operator)| format!("({left}) {operator} ({right})")),
            inner.clone().prop_map(|filter| format!("[{filter}]")),
            pair.clone().prop_map(|(one, other)| format!("{{a: ({one}), b: ({other})}}")),
            inner.clone().prop_map(|filter| format!("map({filter})")),
            inner.clone().prop_map(|filter| format!("select({filter})")),
            inner.clone().prop_map(|filter| format!("({filter}).a")),
            inner.clone().prop_map(|filter| format!("({filter})[]")),
            inner.clone().prop_map(|filter| format!("({filter})[0]")),
            inner.clone().prop_map(|filter| format!("-({filter})")),
            inner.clone().prop_map(|filter| format!("\"x\\({filter})y\"")),
            (pair, inner).prop_map(|((test, then), otherwise)| format!("if {test} then {then} else {otherwise} end")),
        ]
    })
}

fn documents() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::{Map, Value};
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2_i64..3).prop_map(Value::from),
        Just(Value::from(1.5)),
        prop_oneof![Just("t"), Just("<é>")].prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        let name = prop_oneof![Just("a"), Just("b")].prop_map(str::to_owned);
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::vec((name, inner), 0..3).prop_map(|members| members.into_iter().collect::<Map<_, _>>().into()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn both_forms_make_the_same(filter in filters(), inputs in proptest::collection::vec(documents(), 4)) {
        for input in inputs {
            let (quick, complete) = both(&filter, &input.to_string());
            if let Some(Some(output)) = quick {
                prop_assert_eq!(Ok(output), complete, "{} of {}", filter, input);
            }
        }
    }
}
