use super::*;

const DOCUMENT: &str = r#" {"a": {"skipped": [1, {"b": "}]\""}], "b" : "x\u0041\n"}, "list":[ {"c": 1.50}, -7, 1e3, true, null, {"d": [1]} ],
    "dotted.name": "yes", "": 1, "twice": 1, "twice": 2, "end": "last"} "#;

fn value(path: &str, json: &str) -> Option<String> {
    JsonField::parse(path).unwrap().value(json.as_bytes())
}

#[test]
fn a_value_is_found_by_names_and_positions() {
    for (path, wanted) in [
        ("a.b", Some("xA\n")),
        ("list.0.c", Some("1.5")),
        ("list.1", Some("-7")),
        ("list.2", Some("1000")),
        ("list.3", Some("true")),
        ("list.4", Some("")),
        ("list.5", Some(r#"{"d": [1]}"#)),
        ("list.5.d.0", Some("1")),
        ("list.6", None),
        ("list.x", None),
        ("list.0.c.d", None),
        ("a.c", None),
        ("b", None),
        (r"dotted\.name", Some("yes")),
        ("dotted.name", None),
        ("twice", Some("1")),
        ("end", Some("last")),
    ] {
        assert_eq!(value(path, DOCUMENT).as_deref(), wanted, "{path}");
    }
}

#[test]
fn what_comes_before_the_cut_is_found_and_nothing_else() {
    let end_of_b = DOCUMENT.find("\\n\"").unwrap() + 3;
    for length in 0..DOCUMENT.len() {
        let cut = &DOCUMENT[..length];
        assert_eq!(value("a.b", cut).is_some(), length >= end_of_b, "{cut}");
        assert_eq!(value("missing", cut), None, "{cut}");
    }
}

#[test]
fn what_is_not_json_has_no_fields() {
    for text in [
        "",
        "<html>",
        "{",
        "[",
        "]",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":}",
        "{:1}",
        "{\"a\" 1}",
        "\"a",
        "{\"b\":,\"a\":1}",
        "\\",
        "{\"a\":\"\\",
    ] {
        assert_eq!(value("a", text), None, "{text}");
        assert_eq!(value("0", text), None, "{text}");
    }
    // Depth costs no stack.
    assert_eq!(value("a", &format!("{{\"b\":{}", "[".repeat(4096))), None);
}

#[test]
fn a_path_that_is_not_understood_is_an_error() {
    for path in ["", ".", "a.", "a..b", "a.#", "a.*", "a|b", "@this", "a.#(b==1)"] {
        assert!(JsonField::parse(path).is_err(), "{path}");
    }
}
