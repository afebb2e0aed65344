use super::*;
use tollgate_pattern::PatternPool;

fn groups(pattern: &str, uri: &str) -> Option<Vec<String>> {
    let pattern = PatternPool::default().with_groups(pattern).unwrap();
    let found = UriMatch::find(&pattern, uri)?;
    Some((0..found.groups.len()).map(|number| found.get(number).to_owned()).collect())
}

#[test]
fn groups_are_parts_of_the_uri_as_it_was_sent() {
    for (pattern, uri, expect) in [
        ("/a/(.*)", "/a/x%2Fy", Some(vec!["/a/x%2Fy", "x%2Fy"])),
        ("/user-info/(.*)", "/user%2Dinfo/a%3Fb", Some(vec!["/user%2Dinfo/a%3Fb", "a%3Fb"])),
        ("/a b/(.)(.)", "/a%20b/%C3%A9%23", Some(vec!["/a%20b/%C3%A9%23", "%C3%A9", "%23"])),
        ("/é/(x)?(.*)", "/%C3%A9/y?q=%zz", Some(vec!["/%C3%A9/y?q=%zz", "", "y?q=%zz"])),
        ("/é", "/%C3", None),
        ("/a b", "/a+b", None),
        ("/a-b", "/a%2", None),
    ] {
        assert_eq!(groups(pattern, uri), expect.map(|texts| texts.into_iter().map(str::to_owned).collect()), "{pattern} {uri}");
    }
}

#[test]
fn only_valid_urls_leave() {
    for (text, path, query) in [
        ("/a b", "/a%20b", "/a%20b"),
        ("/ü", "/%C3%BC", "/%C3%BC"),
        ("/a\"b\t\r\n", "/a%22b%09%0D%0A", "/a%22b%09%0D%0A"),
        ("/100%", "/100%25", "/100%"),
        ("/a%zz%4", "/a%25zz%254", "/a%zz%4"),
        ("/a%20b", "/a%20b", "/a%20b"),
        ("[a]{b}|^`", "%5Ba%5D%7Bb%7D%7C%5E%60", "[a]{b}|^`"),
        ("/a'b!$&()*+,;=:@-._~", "/a'b!$&()*+,;=:@-._~", "/a'b!$&()*+,;=:@-._~"),
        ("a?b", "a%3Fb", "a?b"),
        ("a\u{7f}#", "a%7F%23", "a%7F%23"),
    ] {
        assert_eq!((escaped(text, true).as_ref(), escaped(text, false).as_ref()), (path, query), "{text:?}");
    }
}
