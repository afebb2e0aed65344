use super::*;

/// Calls `f` with a request that says nothing to rules.
fn asked<T>(f: impl FnOnce(&RoutedRequest<'_>) -> T) -> T {
    f(&RoutedRequest::bare("GET"))
}

fn find(router: &Router, host: &str, path: &str) -> Option<Found> {
    asked(|request| router.find(host, path, request))
}

/// Routes `path` over listen paths in order of registration; the result is the listen path's index and its length.
fn check(strict: bool, listen_paths: &[&str], path: &str, expect: Option<(usize, usize)>) {
    let mut builder = RouterBuilder::new(strict, None).unwrap();
    let mut order: Vec<(usize, &&str)> = listen_paths.iter().enumerate().collect();
    order.sort_by_key(|(_, listen_path)| std::cmp::Reverse(listen_path_weight(listen_path)));
    for (api, listen_path) in order {
        builder.add_listen_path(None, listen_path, api).unwrap();
    }
    let found = find(&builder.build(), "h", path).map(|found| (found.api, found.listen_bytes));
    assert_eq!(found, expect, "{listen_paths:?} {path}");
}

#[test]
fn the_longest_listen_path_wins() {
    let paths = ["/", "/a/", "/a/b/", "/ab"];
    check(false, &paths, "/", Some((0, 1)));
    check(false, &paths, "/x", Some((0, 1)));
    check(false, &paths, "/a/x", Some((1, 3)));
    check(false, &paths, "/a/b/x", Some((2, 5)));
    check(false, &paths, "/a/b", Some((1, 3)));
    check(false, &paths, "/abc", Some((3, 3)));
    check(false, &["/app/"], "/app", None);
    check(false, &["/app"], "/App/x", None);
}

#[test]
fn prefixes_are_bytes_unless_strict() {
    check(false, &["/app"], "/apple", Some((0, 4)));
    check(true, &["/app"], "/apple", None);
    check(true, &["/app"], "/app/le", Some((0, 4)));
    check(true, &["/app"], "/app", Some((0, 4)));
    check(true, &["/", "/app"], "/apple", Some((0, 1)));
    check(true, &["/app/"], "/app/x", Some((0, 5)));
}

#[test]
fn templates_match_segments() {
    check(false, &["/t/{id}/x/"], "/t/12/x/y", Some((0, 8)));
    check(false, &["/t/{id}/x/"], "/t/1/2/x/y", None);
    check(false, &["/t/{id:[0-9]{2}}/"], "/t/12/y", Some((0, 6)));
    check(false, &["/t/{id:[0-9]{2}}/"], "/t/1/y", None);
    check(false, &["/t/{id}/", "/t/abc/"], "/t/abc/y", Some((1, 7)));
    check(false, &["/t/{id}/", "/t/abc/"], "/t/abd/y", Some((0, 7)));
}

#[test]
fn the_id_route_strips_nothing() {
    let mut builder = RouterBuilder::new(false, None).unwrap();
    builder.add_listen_path(None, "/app", 0).unwrap();
    builder.add_id(None, "noslash", 0).unwrap();
    let router = builder.build();
    assert_eq!(find(&router, "h", "/noslash/zz"), Some(Found { api: 0, listen_bytes: 0, rule: None }));
    assert_eq!(find(&router, "h", "/noslash"), None);
}

#[test]
fn hosts_come_first() {
    let mut builder = RouterBuilder::new(false, None).unwrap();
    builder.add_listen_path(Some("a.test"), "/", 0).unwrap();
    builder.add_listen_path(Some("{sub}.b.test"), "/", 1).unwrap();
    builder.add_listen_path(None, "/long/", 2).unwrap();
    let router = builder.build();
    let api = |host: &str, path: &str| find(&router, host, path).map(|found| found.api);
    assert_eq!(api("a.test", "/long/"), Some(0));
    assert_eq!(api("a.test:8080", "/long/"), Some(0));
    assert_eq!(api("x.b.test", "/"), Some(1));
    assert_eq!(api("x.y.b.test", "/long/"), Some(2));
    assert_eq!(api("c.test", "/"), None);
}

#[test]
fn letter_case_and_a_final_dot_are_no_part_of_a_host() {
    for domain in ["shop.test", "Shop.Test", "SHOP.TEST.", "{sub:shop}.Test", "{sub:SHOP}.test.", "{sub}.TEST", "{sub:\\S+}.test"] {
        let mut builder = RouterBuilder::new(false, None).unwrap();
        builder.add_listen_path(Some(domain), "/", 0).unwrap();
        builder.add_listen_path(None, "/", 1).unwrap();
        let router = builder.build();
        for host in ["shop.test", "SHOP.test", "Shop.Test", "shop.test.", "SHOP.TEST.:8080", "shop.test:8080", "sHOP.tEST:"] {
            assert_eq!(find(&router, host, "/").map(|found| found.api), Some(0), "{domain} {host}");
        }
        for host in ["shop.test..", "shop.tests", "shop", "", "shop.test.example"] {
            assert_eq!(find(&router, host, "/").map(|found| found.api), Some(1), "{domain} {host}");
        }
    }
    // A port that the definition names is a part of the host.
    let mut builder = RouterBuilder::new(false, Some("Gate.Test")).unwrap();
    builder.add_listen_path(Some("Gate.Test:8443"), "/", 0).unwrap();
    let router = builder.build();
    assert_eq!(find(&router, "gate.TEST.:8443", "/").map(|found| found.api), Some(0));
    assert_eq!(find(&router, "gate.test", "/"), None);
    assert_eq!(find(&router, "other.test:8443", "/"), None);
}

#[test]
fn ten_thousand_prefixes_are_all_found() {
    let mut builder = RouterBuilder::new(false, None).unwrap();
    for api in 0..10_000 {
        builder.add_listen_path(None, &format!("/api-{api:05}/"), api).unwrap();
    }
    let router = builder.build();
    for api in (0..10_000).step_by(97) {
        assert_eq!(find(&router, "h", &format!("/api-{api:05}/x")).map(|found| found.api), Some(api));
    }
}

#[test]
fn a_malformed_template_says_what_is_wrong_and_where() {
    for (template, expect) in [
        ("/{id", "has a brace that is not closed, at \"{id\""),
        ("/x{id/y", "has a brace that is not closed, at \"{id/y\""),
        ("/a/{b}/{id:[0-9]{2}", "has a brace that is not closed, at \"{id:[0-9]{2}\""),
        ("/id}", "has a brace that closes none, at \"}\""),
        ("/{id}}/x", "has a brace that closes none, at \"}/x\""),
        ("/{}/", "has braces without a name, at \"{}/\""),
        ("/{:a}/", "has braces without a name, at \"{:a}/\""),
        ("/{id:}/", "has no pattern after the colon, at \"{id:}/\""),
        ("/{id:[}/", "has an invalid pattern, at \"{id:[}/\""),
        ("/{id:a)(b}/", "has an invalid pattern, at \"{id:a)(b}/\""),
    ] {
        let errors = [check_listen_path(template), crate::route::check_host(template)];
        let mut builder = RouterBuilder::new(false, None).unwrap();
        let added = [builder.add_listen_path(None, template, 0), builder.add_listen_path(Some(template), "/", 0)];
        for error in errors.into_iter().chain(added).chain([RouterBuilder::new(false, Some(template)).map(|_| ())]) {
            let error = error.unwrap_err();
            assert!(error.starts_with(expect), "{template}: {error}");
        }
    }
    for usable in ["/", "/a/{id}", "/{id:[0-9]{2,3}}/x", "/{a}-{b}", "/{a:(?:x|y)}"] {
        assert_eq!((check_listen_path(usable), crate::route::check_host(usable)), (Ok(()), Ok(())), "{usable}");
    }
}

#[test]
fn a_segment_that_has_more_than_a_name_counts_in_full() {
    for (path, weight) in
        [("/", 1), ("/api/", 5), ("/{id}", 1), ("/{id}/", 2), ("/api/{t}/v{n}/", 11), ("/{a}{b}/", 2), ("/{}/", 4)]
    {
        assert_eq!(listen_path_weight(path), weight, "{path}");
    }
}

#[test]
fn a_whole_host_goes_before_all_paths_of_apis() {
    let mut builder = RouterBuilder::new(false, Some("gate.test")).unwrap();
    builder.add_host("portal.test", Found::PORTAL);
    builder.add_listen_path(Some("portal.test"), "/shop/", 0).unwrap();
    builder.add_listen_path(None, "/", 1).unwrap();
    let router = builder.build();
    let api = |host: &str, path: &str| find(&router, host, path).map(|found| found.api);
    for host in ["portal.test", "Portal.Test.", "portal.test:8080"] {
        assert_eq!((api(host, "/"), api(host, "/shop/x")), (Some(Found::PORTAL), Some(Found::PORTAL)), "{host}");
    }
    assert_eq!(api("gate.test", "/shop/x"), Some(1));
    assert_eq!((api("sub.portal.test", "/"), api("other.test", "/")), (None, None));
}
