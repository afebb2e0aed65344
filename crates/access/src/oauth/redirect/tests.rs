use super::*;

#[path = "invariants.rs"]
mod invariants;

#[test]
fn a_uri_is_registered_or_lies_below_one() {
    let own = ["https://app.test/cb", "https://other.test/", "myapp://login", "https://bare.test"];
    for (uri, exact, below) in [
        ("https://app.test/cb", true, true),
        ("https://app.test/cb/more", false, true),
        ("https://app.test/cb?x=1", false, true),
        ("https://other.test/any", false, true),
        ("https://bare.test/any", false, true),
        ("myapp://login/x", false, true),
        ("https://app.test/cbx", false, false),
        ("https://app.test/c", false, false),
        ("https://app.test/", false, false),
        ("http://app.test/cb", false, false),
        ("https://app.test:444/cb", false, false),
        ("https://app.test.evil.test/cb", false, false),
        ("https://bare.test.evil.test", false, false),
        ("https://bare.test@evil.test", false, false),
        ("https://bare.test:80@evil.test", false, false),
        ("https://app.test/cb/../other", false, false),
        ("https://app.test/cb/%2e%2E/other", false, false),
        ("https://app.test/cb/..%2fother", false, false),
        ("https://app.test/cb/./x", false, false),
        ("https://app.test/cb\\evil", false, false),
        ("https://app.test/cb#fragment", false, false),
        ("https://app.test/cb\nx", false, false),
        ("", false, false),
        ("https://", false, false),
    ] {
        assert_eq!(is_allowed(&own, uri, true), exact, "{uri} exactly");
        assert_eq!(is_allowed(&own, uri, false), below, "{uri}");
    }
    assert!(!is_allowed(&["https://"], "https://evil.test/", false));
    assert!(!is_allowed(&["myapp:"], "myapp:/x", false));
    assert!(is_allowed(&["myapp:/cb"], "myapp:/cb", true));
}

#[test]
fn several_uris_are_one_text() {
    assert_eq!(registered("https://a.test, https://b.test,", ","), ["https://a.test", "https://b.test"]);
    assert_eq!(registered("https://a.test,b", ""), ["https://a.test,b"]);
    assert!(registered("", ";").is_empty());
}

#[test]
fn parameters_are_added() {
    assert_eq!(with_query("https://a.test/cb", &[("state", "x y&z"), ("code", "c")]), "https://a.test/cb?code=c&state=x+y%26z");
    assert_eq!(with_query("https://a.test/cb?z=1&code=old", &[("code", "c")]), "https://a.test/cb?code=c&z=1");
    assert_eq!(with_query("https://a.test/cb?z=1&%63ode=old", &[("code", "c")]), "https://a.test/cb?code=c&z=1");
    assert_eq!(with_fragment("https://a.test/cb?z=1", &[("b", "/"), ("a", "1")]), "https://a.test/cb?z=1#a=1&b=%2F");
}

/// Runs the fuzzer's corpus without a fuzzer.
#[test]
fn only_a_place_below_a_registered_one_is_allowed() {
    crate::mutation::Corpus::read("redirect_uri").each_and_mutated(20_000, invariants::redirect_uri);
}
