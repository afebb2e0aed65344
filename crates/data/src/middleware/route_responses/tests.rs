use super::RewriteStep;
use std::sync::Arc;
use tollgate_model::api::{ResponseRewrites, StartReplacement};

fn step() -> RewriteStep {
    let entry = |from: &str, to: &str| StartReplacement { from: from.to_owned(), to: to.to_owned() };
    RewriteStep(Arc::new(ResponseRewrites {
        locations: vec![entry("http://shop.internal/", "https://shop.example/")],
        cookie_paths: vec![entry("/app", "/"), entry("/", "/; Secure; SameSite=None")],
        cookie_domains: vec![entry("shop.internal", "shop.example")],
    }))
}

#[test]
fn cookies_get_the_paths_and_domains_of_clients() {
    for (cookie, expected) in [
        ("a=b", "a=b"),
        ("a=/app; HttpOnly", "a=/app; HttpOnly"),
        ("a=b; Path=/app/x; HttpOnly", "a=b; Path=//x; HttpOnly"),
        ("a=b; path=/other", "a=b; path=/; Secure; SameSite=Noneother"),
        ("a=b; Path=/", "a=b; Path=/; Secure; SameSite=None"),
        ("a=b; Domain=.Shop.Internal;Path=x", "a=b; Domain=shop.example;Path=x"),
        ("a=b; Domain=sub.shop.internal", "a=b; Domain=sub.shop.internal"),
    ] {
        assert_eq!(step().cookie(cookie), expected, "{cookie}");
    }
}

#[test]
fn a_refresh_leads_to_where_clients_are() {
    for (value, expected) in [
        ("5; url=http://shop.internal/a", Some("5; url=https://shop.example/a")),
        ("5; URL=http://shop.internal/a", Some("5; URL=https://shop.example/a")),
        ("5; url=/a", None),
        ("5", None),
    ] {
        assert_eq!(step().refresh(value).as_deref(), expected, "{value}");
    }
}
