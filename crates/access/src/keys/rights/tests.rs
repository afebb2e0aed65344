use super::*;
use serde_json::json;
use std::path::Path;
use tollgate_model::session::Session;

const EXACT: PatternRules = PatternRules { prefix: true, suffix: true, ignore_case: false };

fn urls(urls: &[(&str, &[&str])]) -> Vec<AllowedUrl> {
    let urls = urls.iter().map(|(url, methods)| json!({"url": url, "methods": methods})).collect::<Vec<_>>();
    let session = json!({"access_rights": {"a": {"allowed_urls": urls}}});
    Session::from_value(&session).unwrap().0.access_rights["a"].allowed_urls.clone()
}

#[test]
fn keys_with_the_same_urls_have_one_list() {
    let pool = Arc::new(PatternPool::default());
    let patterns = RightPatterns::new(EXACT, pool.clone());
    let written = urls(&[("/a/{id}", &["GET", "PUT"]), (r"/b/\w+", &["GET"])]);
    let first = patterns.urls(&written);
    assert!(Arc::ptr_eq(&first, &patterns.urls(&written)));
    for other in [
        urls(&[("/a/{id}", &["GET"]), (r"/b/\w+", &["GET"])]),
        urls(&[("/a/{id}", &["GETPUT"]), (r"/b/\w+", &["GET"])]),
        urls(&[(r"/b/\w+", &["GET"]), ("/a/{id}", &["GET", "PUT"])]),
    ] {
        assert!(!Arc::ptr_eq(&first, &patterns.urls(&other)));
    }
    assert!(!first.is_ready(), "an expression takes time");
    assert!(first.allows("PUT", &["/a/1"]) && !first.allows("PUT", &["/b/x"]) && first.allows("GET", &["/", "/b/x"]));
    drop(first);
    assert_eq!((pool.len(), pool.bytes()), (0, 0), "what nobody uses is given back");
}

#[test]
fn what_policies_have_is_there_before_a_key_comes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("policies.json");
    let right = json!({"api_id": "a", "allowed_urls": [{"url": r"/a/\w+", "methods": ["GET"]}, {"url": "/b(", "methods": ["GET"]}],
        "endpoints": [{"path": "/c/[0-9]", "methods": []}, {"path": "/d[", "methods": []}],
        "mcp_primitives": [{"type": "tool", "name": "t"}, {"type": "prompt", "name": "p("}],
        "mcp_access_rights": {"resources": {"blocked": ["r.*", "r("]}}});
    std::fs::write(&file, json!({"gold": {"id": "gold", "access_rights": {"a": right}}}).to_string()).unwrap();
    let (policies, problems) = Policies::load(Path::new(""), &file, &Policies::default());
    assert!(problems.is_empty(), "{problems:?}");

    let pool = Arc::new(PatternPool::default());
    let patterns = RightPatterns::new(EXACT, pool.clone());
    let problems: Vec<String> = patterns.keep(&policies).iter().map(|problem| problem.to_string()).collect();
    assert_eq!(problems.len(), 4, "{problems:?}");
    assert!(problems[0].contains(r#"$["gold"].access_rights["a"].allowed_urls[1].url"#), "{problems:?}");
    assert!(problems[0].contains("allows nothing") && problems[0].contains("policies.json"), "{problems:?}");
    assert!(problems[1].contains("endpoints[1].path") && problems[1].contains("limits nothing"), "{problems:?}");
    let names: Vec<&str> = problems.iter().skip(2).filter_map(|problem| problem.split(": warning: ").next()).collect();
    let places = ["mcp_access_rights.resources.blocked[1]", "mcp_primitives[1].name"];
    assert!(names.iter().zip(places).all(|(name, place)| name.ends_with(place)), "{problems:?}");
    assert!(problems.iter().skip(2).all(|problem| problem.contains("is compared as text: not a valid")), "{problems:?}");
    assert_eq!(pool.len(), 4);
    assert!(pool.known("^(?:r.*)$").is_some() && pool.known("^t$").is_some());
    assert!(pool.known("^/a/[0-9A-Za-z_]+$").is_some() && pool.known("^/c/[0-9]$").is_some());
    patterns.keep(&Policies::default());
    assert_eq!(pool.len(), 0, "they go with the policies");
}

#[test]
fn templates_are_ready_at_once_and_expressions_when_they_were_prepared() {
    let patterns = RightPatterns::new(EXACT, Arc::default());
    assert!(patterns.urls(&urls(&[("/a/{id}", &["GET"]), ("", &["GET"]), ("/b/*/c", &["GET"])])).is_ready());
    let list = patterns.urls(&urls(&[("/a/{id}", &["GET"]), (r"/b/\w+", &["GET"]), ("/c(", &["GET"])]));
    assert!(!list.is_ready());
    let done = patterns.prepare(vec![list.clone()]);
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(done.clone().wait());
    assert!(done.get().is_some() && list.is_ready());
    assert!(list.allows("GET", &["/b/x"]) && !list.allows("GET", &["/b/"]) && !list.allows("GET", &["/c("]));
    // Other lists with the same expressions find them in the pool.
    assert!(patterns.urls(&urls(&[(r"/b/\w+", &["PUT"])])).is_ready());
}

#[test]
fn a_list_that_is_used_before_it_was_prepared_says_the_same() {
    let patterns = RightPatterns::new(EXACT, Arc::default());
    let list = patterns.urls(&urls(&[(r"/b/\d+", &["GET"])]));
    assert!(list.allows("GET", &["/b/1"]) && !list.allows("GET", &["/b/x"]) && list.is_ready());
}
