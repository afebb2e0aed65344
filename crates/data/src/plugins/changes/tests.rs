use super::*;

fn changed(query: &str, delete: &[&str], add: &[(&str, &str)], extended: &[(&str, &[&str])]) -> String {
    let changes = RequestChanges {
        delete_params: delete.iter().map(|name| (*name).to_owned()).collect(),
        add_params: add.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        extended_params: extended
            .iter()
            .map(|(name, values)| ((*name).to_owned(), values.iter().map(|value| (*value).to_owned()).collect()))
            .collect(),
        ..RequestChanges::default()
    };
    encoded(&changed_query(query, &changes))
}

#[test]
fn parameters_are_deleted_then_set_then_appended() {
    for (query, delete, add, extended, wanted) in [
        ("b=1&a=2", &[][..], &[][..], &[][..], "a=2&b=1"),
        ("a=1&a=2", &["a"], &[], &[], ""),
        ("a=1&a=2&b=3", &[], &[("a", "x y")], &[], "a=x+y&b=3"),
        ("a=1", &["a"], &[("a", "2")], &[], "a=2"),
        ("a=1", &[], &[("ü", "&=")], &[], "a=1&%C3%BC=%26%3D"),
        ("a=1", &[], &[], &[("a", &["2", "3"][..])], "a=1&a=2&a=3"),
    ] {
        assert_eq!(changed(query, delete, add, extended), wanted, "{query} {delete:?} {add:?}");
    }
}

#[test]
fn a_url_is_a_path_or_absolute() {
    for (url, wanted) in [
        ("/a/b?c=d", Some((None, "/a/b", "c=d"))),
        ("/a", Some((None, "/a", ""))),
        ("http://other/a?b", Some((None, "/a", "b"))),
        ("https://other", Some((None, "/", ""))),
        ("http://other?x=1", Some((None, "/", "x=1"))),
        ("tyk://self/a?b", Some((Some("self"), "/a", "b"))),
        ("tyk://other", Some((Some("other"), "/", ""))),
        ("tyk:///a", None),
        ("a/b", None),
        ("", None),
        ("?a=b", None),
        ("/a\r\nX: y", None),
        ("ftp://other/a", None),
    ] {
        let parsed = NewUrl::parse(url).ok().map(|new| (new.api, new.path, new.query));
        assert_eq!(parsed, wanted, "{url:?}");
    }
}

#[test]
fn header_lines_that_inject_others_are_not_allowed() {
    let long = "x".repeat(HEADER_BYTES_MAX);
    for (name, value, is_allowed) in [
        ("X-One", "1", true),
        ("X-One", "tab\tis fine", true),
        ("X-One", "1\r\nX-Two: 2", false),
        ("X-One", "1\n", false),
        ("X-One\r\nX-Two", "1", false),
        ("X One", "1", false),
        ("", "1", false),
        ("X-One", "\u{0}", false),
        ("X-Long", long.as_str(), false),
    ] {
        let checked = check_lines(&[(name.to_owned(), value.to_owned())]);
        assert_eq!(checked.is_ok(), is_allowed, "{name:?}: {:?}", &value[..value.len().min(20)]);
    }
}

#[test]
fn the_type_of_a_text_is_found_as_in_go() {
    for (body, wanted) in [
        ("{\"a\": 1}", "text/plain; charset=utf-8"),
        ("  <!DOCTYPE html><html>", "text/html; charset=utf-8"),
        ("<html></html>", "text/html; charset=utf-8"),
        ("<?xml version=\"1.0\"?>", "text/xml; charset=utf-8"),
        ("", "text/plain; charset=utf-8"),
    ] {
        assert_eq!(sniffed(body), wanted, "{body}");
    }
}
