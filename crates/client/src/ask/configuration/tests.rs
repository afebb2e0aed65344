use super::directory::{fingerprint, read};
use super::live::LiveConfiguration;
use super::object::{LocalContent, PartKind, has_tag, without_zeros};
use super::plan::Comparison;
use super::{ConfigurationScope, dump};
use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;

fn scope(tag: Option<&str>) -> ConfigurationScope {
    ConfigurationScope { tag: tag.map(str::to_owned), kinds: PartKind::ALL.to_vec() }
}

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn objects(folder: &TempDir, tag: Option<&str>) -> Result<Vec<String>, String> {
    let local = read(folder.path(), &scope(tag)).map_err(|failure| failure.to_string())?;
    Ok(local.objects.iter().map(|object| format!("{} {} {}", object.kind.name(), object.id, object.file)).collect())
}

/// What `/tyk/configuration` answers.
fn live(apis: &[Value], policies: &[Value]) -> LiveConfiguration {
    let of = |all: &[Value], member: &str| -> Value {
        all.iter().map(|one| json!({"id": one[member], "broken": false, "document": one})).collect()
    };
    LiveConfiguration::of_document(&json!({"digest": "d", "apis": of(apis, "api_id"), "policies": of(policies, "id"),
        "certificates": [{"id": "o12"}], "clients": [], "key_templates": []}))
}

#[test]
fn a_directory_is_read_with_the_ids_of_its_objects() {
    let folder = folder(&[
        ("apis/team/a.json", r#"{"api_id": "a"}"#),
        ("apis/b.yaml", "openapi: 3.0.3\nx-tyk-api-gateway:\n  info:\n    id: b\n"),
        ("apis/README.md", "not an API"),
        ("apis/.hidden.json", "{"),
        ("policies/p.json", r#"{"_id": {"$oid": "p1"}}"#),
        ("certificates/x.json", r#"{"id": "abc"}"#),
        ("clients/a/shop.json", r#"{"client_id": "shop"}"#),
        ("keys/partner.yml", "rate: 1\n"),
        ("portal/products/shop.json", r#"{"id": "shop", "name": "Shop"}"#),
        ("portal/pages/start.yaml", "id: start\ntitle: Start\n"),
        ("other/z.json", "{"),
    ]);
    let expected = [
        "certificate abc certificates/x.json",
        "api b apis/b.yaml",
        "api a apis/team/a.json",
        "policy p1 policies/p.json",
        "client a/shop clients/a/shop.json",
        "key_template partner keys/partner.yml",
        "portal_product shop portal/products/shop.json",
        "portal_page start portal/pages/start.yaml",
    ];
    assert_eq!(objects(&folder, None).unwrap(), expected);
}

#[test]
fn every_problem_of_a_directory_is_named_with_its_file() {
    let folder = folder(&[
        ("apis/a.json", r#"{"api_id": "a"}"#),
        ("apis/again.json", r#"{"api_id": "a"}"#),
        ("apis/broken.json", "{"),
        ("apis/list.yaml", "- a\n"),
        ("apis/noid.json", r#"{"name": "x"}"#),
        ("certificates/x.pem", "nothing"),
        ("clients/shop.json", r#"{"client_id": "shop"}"#),
        ("clients/a/env.json", r#"{"client_id": "e", "secret": "env://TOLLGATE_TEST_NEVER_SET"}"#),
    ]);
    let problems = objects(&folder, None).unwrap_err();
    for expected in [
        "apis/again.json: api a is also in apis/a.json",
        "apis/broken.json: not valid JSON",
        "apis/list.yaml: neither a JSON object nor a YAML mapping",
        "apis/noid.json: $.api_id: must be set",
        "certificates/x.pem: has no certificate and no public key",
        "clients/shop.json: $.client_id: must be set",
        "clients/a/env.json: $.secret: the environment has no TOLLGATE_TEST_NEVER_SET",
    ] {
        assert!(problems.contains(expected), "{expected} is not in\n{problems}");
    }
    assert_eq!(problems.lines().count(), 7, "{problems}");
    assert!(objects(&TempDir::new().unwrap(), None).unwrap().is_empty());
}

/// As tyk-sync 1.5 and 2 write it, and as people write it by hand.
#[test]
fn the_layout_of_tyk_sync_is_read() {
    let folder = folder(&[
        (
            ".tyk.json",
            r#"{"type": "apidef", "files": [
                {"file": "api-a.json"}, {"file": "oas-b.json", "org_id": "o2"}, {"file": "sub/plain.json", "api_id": "c2"}, {"file": ""}
            ], "policies": [{"file": "policy-p.json", "id": "gold"}], "assets": [{"file": "asset.json"}]}"#,
        ),
        ("api-a.json", r#"{"api_definition": {"api_id": "a", "name": "A"}, "hook_references": [], "is_site": false}"#),
        ("oas-b.json", r#"{"oas": {"openapi": "3.0.3", "x-tyk-api-gateway": {"info": {"id": "b"}}}, "user_owners": []}"#),
        ("sub/plain.json", r#"{"api_id": "c"}"#),
        ("policy-p.json", r#"{"_id": "5f", "name": "p", "org_id": "o"}"#),
        ("apis/not-named.json", "{"),
    ]);
    let expected = ["api a api-a.json", "api b oas-b.json", "api c2 sub/plain.json", "policy gold policy-p.json"];
    assert_eq!(objects(&folder, None).unwrap(), expected);
    let local = read(folder.path(), &scope(None)).unwrap();
    let documents: Vec<&Value> = local
        .objects
        .iter()
        .map(|object| match &object.content {
            LocalContent::Document(document) => document,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(*documents[0], json!({"api_id": "a", "name": "A"}));
    assert_eq!(documents[1]["x-tyk-api-gateway"]["info"], json!({"id": "b", "orgId": "o2"}));
    assert_eq!((&documents[2]["api_id"], &documents[3]["id"]), (&json!("c2"), &json!("gold")));
    assert!(local.notes[0].contains("1 assets"), "{:?}", local.notes);
    for (spec, expected) in [
        (r#"{"type": "apidef", "files": [{"file": "../x.json"}]}"#, "../x.json: is outside the directory"),
        (r#"{"type": "apidef", "files": [{"file": "missing.json"}]}"#, "missing.json: No such file"),
        (r#"{"type": "oas", "files": []}"#, "tollgate apis import"),
        (r#"{"files": []}"#, "$.type: must be"),
        ("{", ".tyk.json: not valid JSON"),
    ] {
        fs::write(folder.path().join(".tyk.json"), spec).unwrap();
        let problems = objects(&folder, None).unwrap_err();
        assert!(problems.contains(expected), "{spec}: {problems}");
    }
}

#[test]
fn tags_split_ownership() {
    for (document, expected) in [
        (json!({"tags": ["x", "team"]}), true),
        (json!({"tags": []}), false),
        (json!({"openapi": "3.0.3", "tags": ["team"]}), false),
        (json!({"openapi": "3.0.3", "x-tyk-api-gateway": {"server": {"gatewayTags": {"tags": ["team"]}}}}), true),
    ] {
        assert_eq!(has_tag(&document, "team"), expected, "{document}");
    }
    let own = folder(&[("apis/a.json", r#"{"api_id": "a", "tags": ["team"]}"#)]);
    assert_eq!(objects(&own, Some("team")).unwrap().len(), 1);
    assert!(objects(&own, Some("other")).unwrap_err().contains("apis/a.json: $.tags: api a does not have the tag other"));
    let local = read(own.path(), &scope(Some("team"))).unwrap();
    let gateway = live(
        &[json!({"api_id": "gone", "tags": ["team"]}), json!({"api_id": "theirs", "tags": ["other"]})],
        &[json!({"id": "p", "tags": ["team"]})],
    );
    let comparison = Comparison::new(&local, &gateway, &scope(Some("team")), true).unwrap();
    assert_eq!(comparison.deletes, [(PartKind::Api, "gone".to_owned())]);
    assert_eq!(comparison.kept, [(PartKind::Policy, "p".to_owned())], "the directory says nothing about policies");
    let theirs = live(&[json!({"api_id": "a", "tags": ["other"]})], &[]);
    let Err(refused) = Comparison::new(&local, &theirs, &scope(Some("team")), false) else { panic!("taken from others") };
    assert!(refused.to_string().contains("it belongs to others"), "{refused}");
}

#[test]
fn nothing_is_deleted_unasked_and_an_empty_directory_deletes_nothing() {
    let gateway = live(&[json!({"api_id": "a"}), json!({"api_id": "b"})], &[json!({"id": "p"})]);
    let one = folder(&[("apis/a.json", r#"{"api_id": "a"}"#), ("certificates/c.json", r#"{"id": "o12"}"#)]);
    let empty = folder(&[]);
    for (folder, prune, deletes, kept) in [(&one, false, 0, 2), (&one, true, 1, 1), (&empty, true, 0, 4), (&empty, false, 0, 4)] {
        let local = read(folder.path(), &scope(None)).unwrap();
        let comparison = Comparison::new(&local, &gateway, &scope(None), prune).unwrap();
        assert_eq!((comparison.deletes.len(), comparison.kept.len(), comparison.puts.len()), (deletes, kept, 0));
    }
    let missing = folder(&[("certificates/c.json", r#"{"id": "never"}"#)]);
    let local = read(missing.path(), &scope(None)).unwrap();
    let Err(refused) = Comparison::new(&local, &gateway, &scope(None), false) else { panic!("a certificate is missing") };
    assert!(refused.to_string().contains("certificates/c.json"), "{refused}");
}

#[test]
fn a_dump_keeps_names_and_texts_and_deletes_nothing_unasked() {
    let gateway = live(&[json!({"api_id": "a", "name": "A"}), json!({"api_id": "x/../y"})], &[json!({"id": "p"})]);
    let folder = folder(&[
        ("apis/mine.json", "{  \"name\": \"A\",\n\"api_id\": \"a\" }"),
        ("apis/gone.json", r#"{"api_id": "gone"}"#),
        ("policies/p.yaml", "id: p\nname: old\n"),
        ("notes.txt", "mine"),
    ]);
    let written = dump::write(folder.path(), &gateway, &scope(None), false).unwrap();
    let files = dump::names(folder.path());
    assert_eq!(files["apis/mine.json"], "{  \"name\": \"A\",\n\"api_id\": \"a\" }", "it says so already");
    assert!(files.contains_key("apis/gone.json") && files.contains_key("apis/x_.._y.json"), "{files:?}");
    assert_eq!(files["policies/p.json"], "{\n  \"id\": \"p\"\n}\n");
    assert!(!files.contains_key("policies/p.yaml"));
    assert_eq!(files["certificates/o12.json"], "{\n  \"id\": \"o12\"\n}\n");
    assert!(written.to_text().contains("not on the gateway, kept: apis/gone.json"), "{}", written.to_text());
    let again = dump::write(folder.path(), &gateway, &scope(None), true).unwrap();
    assert_eq!(again.to_json()["written"], json!([]));
    assert_eq!(again.to_json()["deleted"], json!(["apis/gone.json"]));
    fs::write(folder.path().join(".tyk.json"), "{}").unwrap();
    assert!(dump::write(folder.path(), &gateway, &scope(None), false).is_err());
}

#[test]
fn members_that_say_nothing_do_not_count() {
    let tyk = json!({"a": 1.0, "b": false, "c": {"d": [], "e": "", "i": "0s"}, "f": [0, {"g": null}], "h": 1.5});
    assert_eq!(without_zeros(&tyk), json!({"a": 1, "f": [0, {}], "h": 1.5}));
}

/// The fingerprint of this certificate by `openssl x509 -fingerprint -sha256`.
#[test]
fn a_certificate_is_known_by_its_fingerprint() {
    let pem = "text before\n-----BEGIN CERTIFICATE-----\n\
        MIIBizCCAT2gAwIBAgIUNPImP9KKp96gda2KFsNslaeTrdswBQYDK2VwMCwxGDAW\n\
        BgNVBAMMD2dhdGV3YXkuZXhhbXBsZTEQMA4GA1UECgwHRXhhbXBsZTAgFw0yNjEx\n\
        MjIwMTU0MDJaGA8yMTI2MTAyOTAxNTQwMlowLDEYMBYGA1UEAwwPZ2F0ZXdheS5l\n\
        eGFtcGxlMRAwDgYDVQQKDAdFeGFtcGxlMCowBQYDK2VwAyEAQBUpWqZbyyjJ+poZ\n\
        4b0PDqG/Jc3tgXgmEvaBNaC26p2jbzBtMB0GA1UdDgQWBBScpubjmFR2XRT4LmuM\n\
        09ndWSPleDAfBgNVHSMEGDAWgBScpubjmFR2XRT4LmuM09ndWSPleDAPBgNVHRMB\n\
        Af8EBTADAQH/MBoGA1UdEQQTMBGCD2dhdGV3YXkuZXhhbXBsZTAFBgMrZXADQQCw\n\
        WpQWgJR2FNdx3ysjLBtrdH7UdkiKFkupYCxZWFtF09K8AMKFrPTvPNhQ1xYTOsd1\n\
        1umgA+fhqPDgYAgeEoUI\n-----END CERTIFICATE-----\n";
    assert_eq!(fingerprint(pem).as_deref(), Some("6f120e00ad7198b6ea39849d58a15058320def88116fd76a67713f44816ef027"));
    assert_eq!(fingerprint("-----BEGIN CERTIFICATE-----\n%%\n-----END CERTIFICATE-----"), None);
}
