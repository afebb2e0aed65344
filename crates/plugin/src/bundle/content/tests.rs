use super::*;
use serde_json::json;

/// A key pair of 2048 bits, made by openssl for these tests.
const PRIVATE: &str = include_str!("tests/private.pem");
const PUBLIC: &str = include_str!("tests/public.pem");
const OTHER: &str = include_str!("tests/other.pem");

fn files() -> Vec<ArchivedFile> {
    let file = |name: &str, content: &str| ArchivedFile { name: name.to_owned(), content: content.as_bytes().to_vec() };
    vec![file("a.js", "var a;"), file("lib/b.js", "var b;")]
}

fn manifest(custom_middleware: serde_json::Value) -> Manifest {
    let written = json!({"file_list": ["lib/b.js", "a.js"], "custom_middleware": custom_middleware});
    Manifest::parse(written.to_string().as_bytes()).unwrap()
}

fn usual() -> Manifest {
    manifest(json!({"driver": "otto", "pre": [{"name": "a", "path": "a.js"}]}))
}

#[test]
fn a_bundle_is_read_as_it_was_built() {
    let bundle = Bundle::read(&Bundle::build(usual(), files(), None).unwrap(), None).unwrap();
    assert_eq!(bundle.files, files());
    // MD5 of `var b;var a;`.
    assert_eq!(bundle.manifest.checksum, HEXLOWER.encode(&Md5::digest(b"var b;var a;")));
    assert_eq!((bundle.manifest.signature.as_str(), &bundle.manifest.custom_middleware), ("", &usual().custom_middleware));
}

#[test]
fn a_manifest_must_name_hooks_a_driver_and_files_that_exist() {
    for (custom_middleware, files, reason) in [
        (json!({"driver": "otto"}), files(), "no hook"),
        (json!({"pre": [{"name": "a"}]}), files(), "no driver"),
        (json!({"driver": "otto", "pre": [{"name": "a"}]}), Vec::new(), "missing"),
    ] {
        let why = Bundle::build(manifest(custom_middleware), files, None).unwrap_err();
        assert!(why.contains(reason), "{why}");
    }
    assert!(Manifest::parse(b"{\"file_list\": [\"../a\"]}").is_err());
    assert!(Manifest::parse(b"[]").is_err());
}

#[test]
fn changed_files_and_wrong_signatures_are_refused() {
    let (signer, own) = (SigningKey::from_pem(PRIVATE.as_bytes()).unwrap(), VerifyingKey::from_pem(PUBLIC.as_bytes()).unwrap());
    let other = VerifyingKey::from_pem(OTHER.as_bytes()).unwrap();
    let unsigned = Bundle::build(usual(), files(), None).unwrap();
    let signed = Bundle::build(usual(), files(), Some(&signer)).unwrap();
    for (archive, key, reason) in [
        (&unsigned, None, ""),
        (&signed, None, ""),
        (&signed, Some(&own), ""),
        (&unsigned, Some(&own), "not signed"),
        (&signed, Some(&other), "signature is wrong"),
    ] {
        match Bundle::read(archive, key) {
            Ok(_) => assert_eq!(reason, ""),
            Err(why) => assert!(!reason.is_empty() && why.contains(reason), "{why}"),
        }
    }
    let mut bundle = Bundle::read(&signed, Some(&own)).unwrap();
    bundle.files[0].content.push(b' ');
    assert!(bundle.check(None).unwrap_err().contains("checksum"));
}
