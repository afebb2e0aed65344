use super::{is_address, redirected};

#[test]
fn addresses_are_told_from_files() {
    for (source, expected) in
        [("http://a/b", true), ("HTTPS://a/b", true), ("https.json", false), ("./http/a", false), ("-", false), ("ftp://a", false)]
    {
        assert_eq!(is_address(source), expected, "{source}");
    }
}

#[test]
fn redirects_stay_safe() {
    for (from, target, expected) in [
        ("http://a/b", "https://c/d", Ok("https://c/d")),
        ("http://a/b", "http://c/d", Ok("http://c/d")),
        ("https://a:1/b", "/d?e", Ok("https://a:1/d?e")),
        ("https://a/b", "https://c/", Ok("https://c/")),
        ("https://a/b", "http://c/", Err(())),
        ("https://a/b", "//c/", Err(())),
        ("https://a/b", "d", Err(())),
        ("https://a/b", "file:///etc/passwd", Err(())),
    ] {
        let outcome = redirected(&from.parse().unwrap(), target);
        assert_eq!(outcome.as_deref().map_err(|_| ()), expected, "{from} {target}");
    }
}
