use super::RequestUrl;

fn check(text: &str, expect: (bool, &str, u16, &str, &str)) {
    let url = RequestUrl::parse(text).unwrap();
    assert_eq!((url.tls, url.host.as_str(), url.port, url.authority.as_str(), url.path.as_str()), expect, "{text}");
}

#[test]
fn urls_are_taken_apart() {
    check("http://a.b", (false, "a.b", 80, "a.b", "/"));
    check("https://a.b:8443/x?y=1#z", (true, "a.b", 8443, "a.b:8443", "/x?y=1"));
    check("127.0.0.1:8080?apikey=t1", (false, "127.0.0.1", 8080, "127.0.0.1:8080", "/?apikey=t1"));
    check("http://[::1]:80/", (false, "::1", 80, "[::1]:80", "/"));
    check("http://u:p@h/x?to=http://z", (false, "h", 80, "h", "/x?to=http://z"));
    assert_eq!(RequestUrl::parse("http://u:p@h/").unwrap().userinfo.as_deref(), Some("u:p"));
}

#[test]
fn what_is_no_url_is_refused_with_its_reason() {
    for (text, reason) in [
        ("", "no host"),
        ("http://", "no host"),
        ("ftp://a", "unknown scheme"),
        ("http://a:b/", "port"),
        ("http://a:70000/", "port"),
        ("http://a/ b", "percent-encoded"),
        ("http://a/\r\nX: y", "percent-encoded"),
    ] {
        let error = RequestUrl::parse(text).unwrap_err();
        assert!(error.contains(reason), "{text}: {error}");
    }
}

#[test]
fn a_location_is_resolved_against_the_request() {
    let base = RequestUrl::parse("https://a.b:1/x/y?z").unwrap();
    for (location, expect) in [
        ("http://c/d", "http://c/d"),
        ("//c/d", "https://c/d"),
        ("/d", "https://a.b:1/d"),
        ("d", "https://a.b:1/x/d"),
        ("?d", "https://a.b:1/x/y?d"),
    ] {
        assert_eq!(base.join(location).unwrap().absolute(), expect, "{location}");
    }
}
