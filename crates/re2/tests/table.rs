//! Holds the crate against Go: `go.jsonl` has what `judge.go` found, with Go's own library.

#![allow(clippy::unwrap_used)]

use tollgate_re2::{compile, compile_for_bytes, translate};

/// Rows of an expression and a text.
const ROWS: &str = include_str!("go.jsonl");

/// Expressions that Go takes and the crates do not.
const DIFFERENT: &[&str] = &["(?P<1a>x)", "(?P<a>b)(?P<a>c)"];

#[test]
fn expressions_mean_what_they_mean_in_go() {
    let mut wrong = Vec::new();
    for row in ROWS.lines() {
        let [expect, expression, text]: [String; 3] = serde_json::from_str(row).unwrap();
        let found = match (compile(&expression), compile_for_bytes(&expression)) {
            (Ok(characters), Ok(bytes)) if characters.is_match(&text) != bytes.is_match(text.as_bytes()) => "both",
            (Ok(characters), Ok(_)) if characters.is_match(&text) => "match",
            (Ok(_), Ok(_)) => "other",
            (Err(_), Err(_)) => "error",
            _ => "one error",
        };
        if (found != expect) != DIFFERENT.contains(&expression.as_str()) {
            wrong.push(format!("{row}: {found}, {:?}", translate(&expression)));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_means_the_same_stays_as_it_is_written() {
    for expression in ["^/a/[0-9]+$", "/a-b/([^/]+)", "^/a/[^/]{2}$", r"(?i)^/a\.b#~&/.*"] {
        assert_eq!(translate(expression).as_deref(), Ok(expression));
    }
}

#[test]
fn errors_speak_of_the_expression_as_it_is_written() {
    assert_eq!(translate(r"a(b"), Err("error parsing regexp: missing closing )".to_owned()));
    let error = compile(r"(?P<a>\d)(?P<a>\d)").unwrap_err();
    assert_eq!(error, r#"the regular expression "(?P<a>\\d)(?P<a>\\d)" cannot be compiled: duplicate capture group name"#);
}

#[test]
fn a_compiled_expression_has_a_largest_size() {
    let error = compile(r"(\pL{10}){99}").unwrap_err();
    assert!(error.ends_with("exceeds size limit of 1048576 bytes."), "{error}");
}
