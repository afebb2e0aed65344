use super::*;

#[test]
fn paths_are_joined_with_one_slash() {
    let check = |target: &str, rest: &str, keep: bool, expect: &str| {
        let mut out = Vec::new();
        join_path(target, rest, keep, &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), expect, "{target} {rest} {keep}");
    };
    check("", "/", false, "/");
    check("/", "/get", false, "/get");
    check("/base/", "/z", false, "/base/z");
    check("/base", "/z/", false, "/base/z/");
    check("/base/path/", "/", false, "/base/path");
    check("/base/path/", "/", true, "/base/path/");
    check("/base", "//z", false, "/base/z");
    check("", "", true, "/");
}

#[test]
fn urls_are_cut_into_their_parts() {
    let check = |url: &str, expect: Option<(&str, &str, &str, &str)>| {
        let parts = split_url(url);
        assert_eq!(parts.as_ref().map(|p| (p.scheme, p.authority, p.path, p.query)), expect, "{url}");
    };
    check("http://a:80/b/c?d=e", Some(("http", "a:80", "/b/c", "d=e")));
    check("https://u:p@a?x", Some(("https", "a", "", "x")));
    check("tyk://self/a", Some(("tyk", "self", "/a", "")));
    check("http:///a", None);
    check("/a", None);
}
