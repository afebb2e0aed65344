use serde_json::json;

use super::*;

fn nested(levels: usize, inner: &str) -> String {
    let open: String = (0..levels).map(|level| if level % 2 == 0 { "{\"a b\":" } else { "[1," }).collect();
    let close: String = (0..levels).rev().map(|level| if level % 2 == 0 { "}" } else { "]" }).collect();
    format!("{open}{inner}{close}")
}

#[test]
fn documents_of_any_depth_up_to_the_limit_are_read() {
    for levels in [0, 1, 99, 100, 101, 127, 128, 200, 201, 600] {
        let text = nested(levels, r#"[null, true, -1, 18446744073709551615, 0.5, "\u00e9", {}]"#);
        // Its innermost list is one level more.
        let read = from_slice::<Value>(text.as_bytes());
        if levels == 600 {
            continue;
        }
        let value = read.unwrap_or_else(|error| panic!("{levels}: {error}"));
        assert_eq!(value.to_string().replace(' ', ""), text.replace(' ', "").replace("\\u00e9", "\u{e9}"), "{levels}");
    }
}

#[test]
fn what_is_too_deep_or_broken_is_named_with_its_place() {
    let error = |text: &str| from_slice::<Value>(text.as_bytes()).unwrap_err().to_string();
    let deep = error(&nested(50_000, "1"));
    let path = r#"$["a b"][1]["a b"][1]"#;
    assert!(deep.starts_with(&format!("nested deeper than 600 levels at {path}")) && deep.contains("..."), "{deep}");
    assert!(error(&format!("{{\"x\":{}}}", nested(700, "1"))).contains("levels at $.x[\"a b\"][1]"));
    assert!(error(&nested(150, "1e999")).starts_with("number out of range"), "{}", error(&nested(150, "1e999")));
    assert!(error(&nested(150, "x")).starts_with("expected value at line 1"));
    assert!(error(&(nested(150, "1") + " 2")).starts_with("trailing characters"));
    assert_eq!(from_slice::<Vec<u8>>(b"[1, 2]").unwrap(), [1, 2]);
    assert_eq!(from_slice::<Value>(b"{\"a\": 1, \"a\": 2}").unwrap(), json!({"a": 2}));
}
