use serde_json::{Value, json};

use super::{RemoteSecrets, SecretFault, SecretFiles, SecretSources, resolve_references};

fn sources() -> SecretSources {
    SecretSources {
        environment: [("TYK_SECRET_HOST", "h"), ("TOLLGATE_SECRET_KEY", "k")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
        secrets: [("db".to_owned(), "s3cret".to_owned())].into(),
        ..SecretSources::default()
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
        ("file:///no/such/file", "file:///no/such/file is not read: the gateway configuration has no file.base_path"),
        ("consul://a/b", "consul://a/b can't be read: no store \"consul\" is configured"),
        ("vault://a.b", "vault://a.b can't be read: no store \"vault\" is configured"),
        ("kv://a", "kv://a must name a store and a path: kv://store/path"),
        ("kv://env/NOPE", "kv://env/NOPE has no value"),
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
    let with = |files| SecretSources { files, ..SecretSources::default() };
    let anywhere = with(SecretFiles::Anywhere);
    let below = with(SecretFiles::below(&base, &[&base.join("data")]));
    std::fs::create_dir(base.join("data")).unwrap();
    std::fs::write(base.join("data/key"), "x").unwrap();
    std::os::unix::fs::symlink(directory.path().join("outside"), base.join("link")).unwrap();
    let absolute = base.join("key").display().to_string();
    assert_eq!(anywhere.lookup("file", &absolute).as_deref(), Ok("pem\ntext"));
    assert_eq!(below.lookup("file", "key").as_deref(), Ok("pem\ntext"));
    assert_eq!(below.lookup("file", "/key").as_deref(), Ok("pem\ntext"));
    for outside in ["../outside", "link", "data/key", "sub/../../outside", "."] {
        assert_eq!(below.lookup("file", outside), Err("has no value".to_owned()), "{outside}");
    }
    for nowhere in [SecretSources::default(), with(SecretFiles::below("".as_ref(), &[&base]))] {
        let why = nowhere.lookup("file", &absolute).unwrap_err();
        assert!(why.contains("file.base_path"), "{why}");
    }
}

/// Two stores; `gone` does not answer.
#[derive(Debug)]
struct Stores;

impl RemoteSecrets for Stores {
    fn secret(&self, store: &str, path: &str, field: Option<&str>) -> Result<String, SecretFault> {
        match (store, path, field) {
            ("vault", "secret/tyk-apis", Some("token")) => Ok("of all definitions".to_owned()),
            ("vault", "secret/db/main", Some("pass.word")) => Ok("of one path".to_owned()),
            ("consul", "tyk-apis/host", None) => Ok("h".to_owned()),
            ("consul", "some/key", None) => Ok("k".to_owned()),
            ("mine", "a/b", Some("c")) => Ok("m".to_owned()),
            ("gone", ..) => Err(SecretFault::Unavailable("can't be read: no answer".to_owned())),
            _ => Err(SecretFault::Missing),
        }
    }

    fn generation(&self) -> u64 {
        0
    }

    fn refresh(&self) {}

    fn states(&self) -> Vec<super::SecretStoreState> {
        Vec::new()
    }
}

#[test]
fn stores_of_other_servers_are_asked_where_tyk_asks_them() {
    let sources = SecretSources { remote: Some(std::sync::Arc::new(Stores)), ..sources() };
    for (scheme, name, in_configuration, in_definition) in [
        ("vault", "secret/db/main.pass.word", Ok("of one path"), Ok("of one path")),
        ("vault", "token", Err("has no value"), Ok("of all definitions")),
        ("consul", "some/key", Ok("k"), Ok("k")),
        ("consul", "host", Err("has no value"), Ok("h")),
        ("kv", "vault/secret/db/main#pass.word", Ok("of one path"), Ok("of one path")),
        ("kv", "mine/a/b#c", Ok("m"), Ok("m")),
        ("kv", "mine/a/b", Err("has no value"), Err("has no value")),
        ("kv", "gone/a", Err("can't be read: no answer"), Err("can't be read: no answer")),
        ("kv", "env/HOST", Ok("h"), Ok("h")),
        ("kv", "secrets/db", Ok("s3cret"), Ok("s3cret")),
    ] {
        assert_eq!(sources.lookup(scheme, name).as_deref().map_err(String::as_str), in_configuration, "{scheme}://{name}");
        assert_eq!(
            sources.lookup_in_definition(scheme, name).as_deref().map_err(String::as_str),
            in_definition,
            "{scheme}://{name}"
        );
    }
}
