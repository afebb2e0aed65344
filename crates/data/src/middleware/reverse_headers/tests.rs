use super::*;

fn reversed(target_url: &str, strips: bool, value: &str, path: &str) -> String {
    let written = WrittenRule { headers: vec!["Location".to_owned()], target_host: "https://api.test/ignored".to_owned() };
    ReverseRule::new(&written, target_url, "/orders/", strips).unwrap().reversed(value, path)
}

#[test]
fn a_url_of_the_upstream_becomes_one_of_the_gateway() {
    for (target_url, strips, value, wanted) in [
        ("http://up:1", true, "http://up:1/items", "https://api.test/orders/items"),
        ("http://up:1/", true, "http://up:1/items", "https://api.test/orders/items"),
        ("http://up:1/v2", true, "http://up:1/v2/other", "https://api.test/orders/other"),
        ("http://up:1/v2/", false, "http://up:1/v2/orders/other", "https://api.test/orders/other"),
        ("http://up:1", false, "http://up:1/orders/items", "https://api.test/orders/items"),
        ("http://up:1", true, "http://elsewhere/other", "https://elsewhere/other"),
        ("http://up:1", true, "text", "text"),
    ] {
        assert_eq!(reversed(target_url, strips, value, "/items"), wanted, "{target_url} {value}");
    }
}

#[test]
fn a_rule_without_urls_does_nothing() {
    let rule = |target_host: &str, headers: &[&str]| {
        let headers = headers.iter().map(|name| (*name).to_owned()).collect();
        ReverseRule::new(&WrittenRule { headers, target_host: target_host.to_owned() }, "http://up/", "/a/", true)
    };
    assert!(rule("", &["Location"]).is_none() && rule("api.test", &["Location"]).is_none());
    assert!(rule("http://api.test", &[]).is_none() && rule("http://api.test", &["Content-Length"]).is_none());
    assert!(rule("http://api.test", &["Location"]).is_some());
}
