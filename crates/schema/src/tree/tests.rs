use super::*;
use proptest::prelude::*;
use serde_json::Value;
use tollgate_text::byte_order_mark;

/// The same document in serde_json's own form.
fn owned(tree: &JsonTree<'_>) -> Value {
    match tree {
        JsonTree::Null => Value::Null,
        JsonTree::Bool(truth) => Value::Bool(*truth),
        JsonTree::Number(number) => Value::Number(number.clone()),
        JsonTree::Text(text) => Value::from(*text),
        JsonTree::Unescaped(text) => Value::from(text.as_ref()),
        JsonTree::Items(items) => items.iter().map(owned).collect(),
        JsonTree::Members(members) => {
            let before = members.len();
            let object: serde_json::Map<_, _> = members.iter().map(|(name, value)| (name.to_string(), owned(value))).collect();
            assert_eq!(object.len(), before, "no name occurs twice");
            Value::Object(object)
        }
    }
}

fn same(bytes: &[u8]) {
    match (JsonTree::read(bytes), serde_json::from_slice::<Value>(byte_order_mark::without(bytes))) {
        (Ok(tree), Ok(value)) => assert_eq!(owned(&tree), value, "{}", String::from_utf8_lossy(bytes)),
        (Err(ours), Err(theirs)) => assert_eq!(ours.to_string(), theirs.to_string(), "{}", String::from_utf8_lossy(bytes)),
        (ours, theirs) => panic!("{}: {ours:?}, {theirs:?}", String::from_utf8_lossy(bytes)),
    }
}

#[test]
fn a_document_is_the_one_that_serde_json_reads() {
    let wide: String = (0..40).map(|number| format!(r#""n{}":{number},"#, number % 25)).collect();
    for text in [
        "",
        " ",
        "null",
        "true",
        " false ",
        "0",
        "-0",
        "-1",
        "1.5",
        "1e3",
        "1e400",
        "-1e400",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775808",
        r#""""#,
        r#""a\n\u0041\ud83d\ude00""#,
        r#""\ud800""#,
        r#""\q""#,
        "\"\n\"",
        "[]",
        "[1,[2,{}]]",
        "[1,]",
        "[1",
        "{}",
        r#"{"a":1,"b":{"a":2}}"#,
        r#"{"a":1,"a":2,"b":3,"a":[4]}"#,
        r#"{"\u0061":1,"a":2}"#,
        r#"{"a"}"#,
        r#"{"a":1,}"#,
        "{1:2}",
        "nul",
        "1 2",
        "\u{feff}1",
        &format!("{{{wide}\"z\":1}}"),
        &"[".repeat(127),
        &format!("{}{}", "[".repeat(127), "]".repeat(127)),
        &format!("{}{}", "[".repeat(128), "]".repeat(128)),
    ] {
        same(text.as_bytes());
    }
    same(b"\"\xff\"");
    same(b"{\"\xff\":1}");
}

proptest! {
    #[test]
    fn any_bytes_read_alike(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        same(&bytes);
    }

    #[test]
    fn what_looks_like_json_reads_alike(text in r#"([\[\]{},:"ab0-9.eE\\ntruefalsl ]|"a":|"b",){0,40}"#) {
        same(text.as_bytes());
    }
}
