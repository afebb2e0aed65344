use super::super::{ENDPOINTS, FIGURES};
use super::DOCUMENT;
use serde_json::Value;
use std::collections::BTreeSet;

#[test]
fn every_path_is_described_and_every_described_path_is_there() {
    let document: Value = serde_json::from_str(DOCUMENT).unwrap();
    let described: BTreeSet<&str> = document["paths"].as_object().unwrap().keys().map(String::as_str).collect();
    let open = ["/hello", "/ready", "/live"];
    let served: BTreeSet<&str> = ENDPOINTS.iter().chain(FIGURES).map(|(path, _)| *path).chain(open).collect();
    assert_eq!(described, served);
}

#[test]
fn the_document_is_of_this_version() {
    let document: Value = serde_json::from_str(DOCUMENT).unwrap();
    assert_eq!(document["info"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(document["openapi"], "3.1.0");
}
