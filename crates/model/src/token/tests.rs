use super::{is_header_value, is_token, target_url_fault};

#[test]
fn targets_are_absolute_urls_with_a_host() {
    for good in [
        "http://a",
        "HTTPS://10.0.0.1:8443/x?y#z",
        "h2c://[::1]:50051",
        "http://[::1]/",
        "http://user:pw@host:1/",
        "ws://h",
        "wss://h",
        "tyk://self",
        "http://host:/",
    ] {
        assert_eq!(target_url_fault(good), None, "{good}");
    }
    for bad in [
        "",
        "/path",
        "host:80",
        "ftp://a",
        "http://",
        "http:///x",
        "http://:80",
        "http://h:0",
        "http://h:99999",
        "http://h:+1x",
        "http://a b/",
        "http://a/\r\n",
        "http://[::1",
        "http://[nope]/",
        "http://[::1]x/",
        "tyk://",
    ] {
        assert!(target_url_fault(bad).is_some(), "{bad}");
    }
}

#[test]
fn a_header_value_cannot_end_its_header() {
    assert!(is_header_value("plain, \ttext \u{e9}"));
    for bad in ["a\r\nb", "a\nb", "a\0", "\u{7f}"] {
        assert!(!is_header_value(bad), "{bad:?}");
    }
    assert!(is_token("X-Api_Key") && !is_token("") && !is_token("a b") && !is_token("a:b"));
}
