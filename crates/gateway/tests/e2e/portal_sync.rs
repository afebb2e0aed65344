//! What the developer portal offers as files: `tollgate dump`, `diff` and `sync`.

use serde_json::{Value, json};
use std::fs;

use crate::commands::tollgate;
use crate::harness::Gateway;
use crate::portal::{Stage, stage};

fn published(stage: &Stage) -> (Value, Value) {
    (stage.control("GET", "/tyk/portal/products", &json!({})), stage.control("GET", "/tyk/portal/pages", &json!({})))
}

#[test]
fn products_and_pages_are_dumped_and_synced_into_another_gateway() {
    let (first, second) = (stage(None, json!({})), stage(None, json!({})));
    let page = json!({"title": "Terms", "text": "Be kind.", "is_draft": true, "order": 7});
    first.control("PUT", "/tyk/portal/pages/terms", &page);
    second.control("DELETE", "/tyk/portal/products/shop", &json!({}));
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("conf");
    let line = |verb: &str, more: &str| format!("{verb} {} --only portal {more}", dir.display());
    tollgate(&first.gateway, &line("dump", "")).ok();
    for file in ["portal/products/shop.json", "portal/pages/start.json", "portal/pages/terms.json"] {
        assert!(dir.join(file).is_file(), "{file}");
    }
    tollgate(&first.gateway, &line("diff", "")).ok();
    let said = tollgate(&second.gateway, &line("diff", ""));
    assert_eq!(said.code(), 5, "{}", said.errors());
    assert!(said.out().contains("+ portal_product shop") && said.out().contains("+ portal_page terms"), "{}", said.out());
    tollgate(&second.gateway, &line("sync", "")).ok();
    assert_eq!(published(&first), published(&second));
    // A change of one member is one line of the diff; what is gone from the files goes from the portal when asked for.
    let file = dir.join("portal/products/shop.json");
    fs::write(&file, fs::read_to_string(&file).unwrap().replace("Orders and articles", "All orders")).unwrap();
    fs::remove_file(dir.join("portal/pages/start.json")).unwrap();
    let said = tollgate(&second.gateway, &line("sync", "--prune")).ok();
    assert!(said.contains("$.summary") && said.contains("- portal_page start"), "{said}");
    let (products, pages) = published(&second);
    assert_eq!(products[0]["summary"], "All orders");
    assert_eq!(pages.as_array().map(Vec::len), Some(1), "{pages}");
    // A broken document changes nothing, and is named with its file.
    fs::write(&file, r#"{"id": "shop", "name": "Shop", "apis": []}"#).unwrap();
    fs::write(dir.join("portal/pages/new.json"), r#"{"id": "new", "title": "New", "colour": "red"}"#).unwrap();
    let said = tollgate(&second.gateway, &line("sync", ""));
    assert_eq!(said.code(), 1);
    assert!(said.errors().contains("portal/products/shop.json") && said.errors().contains("$.apis"), "{}", said.errors());
    assert!(said.errors().contains("portal/pages/new.json") && said.errors().contains("colour"), "{}", said.errors());
    assert_eq!(published(&second), (products, pages));
}

#[test]
fn a_gateway_without_a_portal_says_so_and_leaves_files_alone() {
    let first = stage(None, json!({}));
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("conf");
    tollgate(&first.gateway, &format!("dump {}", dir.display())).ok();
    let without = Gateway::start(json!({}), []);
    let line = |verb: &str, more: &str| format!("{verb} {} --only portal {more}", dir.display());
    tollgate(&without, &line("dump", "--prune")).ok();
    assert!(dir.join("portal/products/shop.json").is_file(), "a gateway without a portal says nothing about it");
    tollgate(&without, &line("sync", "")).fails(1, "no developer portal");
}
