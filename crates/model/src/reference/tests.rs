use serde_json::{Value, json};

use super::{SecretSources, resolve_references};

fn sources() -> SecretSources {
    SecretSources {
        environment: [("TYK_SECRET_HOST", "h"), ("TOLLGATE_SECRET_KEY", "k")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
        secrets: [("db".to_owned(), "s3cret".to_owned())].into(),
        file_base: None,
    }
}

/// Checks the result and the problems of a document.
fn check(mut document: Value, becomes: Value, problems: &[&str]) {
    let sources = sources();
    let found: Vec<String> =
        resolve_references(&mut document, &|scheme, name| sources.lookup(scheme, name)).iter().map(ToString::to_string).collect();
    assert_eq!(document, becomes);
    assert_eq!(found, problems);
}

#[test]
fn references_are_replaced_wherever_a_text_may_stand() {
    check(
        json!({"a": "env://HOST", "b": ["env://key", {"c": "secrets://db"}]}),
        json!({"a": "h", "b": ["k", {"c": "s3cret"}]}),
        &[],
    );
    check(json!({"a": "env://HOST:80/x"}), json!({"a": "h:80/x"}), &[]);
}

#[test]
fn other_texts_stay() {
    let document = json!({"a": "https://env://HOST", "b": "xenv://HOST", "tyk": "tyk://api", "n": 1, "e": "ENV://HOST"});
    check(document.clone(), document, &[]);
}

#[test]
fn a_reference_without_a_value_is_an_error() {
    for (text, message) in [
        ("env://NOPE", "env://NOPE has no value"),
        ("secrets://nope", "secrets://nope has no value"),
        ("file:///no/such/file", "file:///no/such/file has no value"),
        ("consul://a/b", "consul:// references are not supported"),
        ("vault://a.b", "vault:// references are not supported"),
    ] {
        check(json!({"a": text}), json!({"a": text}), &[&format!("$.a: error: {message}")]);
    }
}

#[test]
fn files_are_read_below_their_base_only() {
    let directory = tempfile::tempdir().unwrap();
    let base = directory.path().join("secrets");
    std::fs::create_dir(&base).unwrap();
    std::fs::write(base.join("key"), "pem\ntext\r\n").unwrap();
    std::fs::write(directory.path().join("outside"), "x").unwrap();
    let anywhere = SecretSources::default();
    let below = SecretSources { file_base: Some(base.clone()), ..SecretSources::default() };
    let absolute = base.join("key").display().to_string();
    assert_eq!(anywhere.lookup("file", &absolute).as_deref(), Some("pem\ntext"));
    assert_eq!(below.lookup("file", "key").as_deref(), Some("pem\ntext"));
    assert_eq!(below.lookup("file", "/key").as_deref(), Some("pem\ntext"));
    assert_eq!(below.lookup("file", "../outside"), None);
}
