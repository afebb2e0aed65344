use crate::Value;

#[test]
fn a_document_is_what_serde_json_makes_of_it() {
    for text in [
        "",
        "null",
        "true",
        "-0",
        "1.5",
        "1e3",
        "1e400",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775808",
        r#""a\n\u0041""#,
        r#""\ud800""#,
        r#"[1,[2,{}],null]"#,
        "[1,]",
        r#"{"b":1,"a":{"c":[]},"b":"x"}"#,
        r#"{"\u0061":1,"a":2}"#,
        "{1:2}",
        "1 2",
        &"[".repeat(127),
        &format!("{}{}", "[".repeat(127), "]".repeat(127)),
        &format!("{}{}", "[".repeat(128), "]".repeat(128)),
    ] {
        let through = serde_json::from_str::<serde_json::Value>(text).map(|document| format!("{:?}", Value::from_json(&document)));
        let read = Value::read_json(text.as_bytes()).map(|value| format!("{value:?}"));
        assert_eq!(read.map_err(|error| error.to_string()), through.map_err(|error| error.to_string()), "{text}");
    }
}
