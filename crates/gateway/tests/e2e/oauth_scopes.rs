//! Tokens of another authorization server: rules for their claims, scopes of the document and of its operations, the metadata of the resource.
//! The cases of `oauth_scopes_tyk.json` are recorded from Tyk 5.14.0 with the same document.

use serde_json::{Value, json};
use std::process::Command;

fn recorded() -> Value {
    serde_json::from_str(include_str!("../../src/tests/oauth_scopes_tyk.json")).expect("JSON")
}

#[test]
fn check_names_unknown_members_with_their_places() {
    let file = tempfile::NamedTempFile::with_suffix("-oas.json").expect("a file");
    let mut document = recorded()["document"].clone();
    document["x-tyk-api-gateway"]["upstream"]["url"] = json!("http://127.0.0.1:1/");
    document["x-tyk-api-gateway"]["server"]["authentication"]["securitySchemes"]["corp"]["introspection"] = json!({"url": "x"});
    std::fs::write(file.path(), document.to_string()).expect("a file");
    let output = Command::new(env!("CARGO_BIN_EXE_tollgate")).arg("check").arg(file.path()).output().expect("it runs");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!output.status.success(), "{said}");
    assert!(
        said.contains("$.x-tyk-api-gateway.server.authentication.securitySchemes.corp.introspection: error: unknown field"),
        "{said}"
    );
}
