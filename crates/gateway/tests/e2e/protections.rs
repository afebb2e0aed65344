//! Definitions that ask for a protection which does not exist here: such an API is not served, unless somebody has said that it may be.

use std::process::Command;

use serde_json::json;

use crate::harness::{Definition, Upstream, api};

#[test]
fn a_check_fails_for_it() {
    let upstream = Upstream::ok();
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("a.json");
    let definition = api("a", "/a/", &upstream.url()).list("go_plugin", json!([{"path": "/x", "method": "POST"}]));
    let check = |definition: &Definition| {
        std::fs::write(&file, definition.0.to_string()).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_tollgate")).arg("check").arg(&file).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, text) = check(&definition);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("a.json: $.version_data.versions.Default.extended_paths.go_plugin[0]: error:"), "{text}");
    let (code, text) = check(&definition.set("tollgate/serve_without", json!(["go_plugin"])));
    assert_eq!(code, Some(0), "{text}");
}
