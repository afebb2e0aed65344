use super::*;

const DOCUMENT: &str = r#"<?xml version="1.0"?>
<order id="7"><user role="admin" name="ann"><key>one</key><key>t&lt;<b>w</b>o</key></user><user name="bob"><key>three</key></user></order>"#;

#[test]
fn a_path_finds_its_first_node() {
    for (path, found) in [
        ("/order/user/key", Some("one")),
        ("/order/user/key[2]", Some("t<wo")),
        ("order/@id", Some("7")),
        ("//key", Some("one")),
        ("//user[2]/key", Some("three")),
        ("//user[@name='bob']/key", Some("three")),
        ("//user[@role]/@name", Some("ann")),
        ("//user[key=\"three\"]/@name", Some("bob")),
        ("//b/text()", Some("w")),
        ("/order/*/@name", Some("ann")),
        ("/order/user/@*", Some("admin")),
        ("/user", None),
        ("/order/user[3]", None),
        ("//key/@id", None),
    ] {
        assert_eq!(XmlPath::compile(path).unwrap().find(DOCUMENT).as_deref(), found, "{path}");
    }
}

#[test]
fn what_is_no_document_has_no_identity() {
    let path = XmlPath::compile("//a").unwrap();
    for document in ["", "text", "<a>", "<a></b>", "<a>&unknown;</a>", &"<a>".repeat(1_000)] {
        assert_eq!(path.find(document).filter(|text| !text.is_empty()), None, "{document}");
    }
    let wide = |nodes: usize| format!("<a>{}<c>found</c></a>", "<b/>".repeat(nodes));
    let path = XmlPath::compile("//c").unwrap();
    assert_eq!((path.find(&wide(1_000)).as_deref(), path.find(&wide(VISITS_MAX))), (Some("found"), None));
}

#[test]
fn paths_that_are_not_supported_are_refused() {
    for path in
        ["", "/", "/a/", "/a[", "/a[0]", "/a[b", "/a[b=c]", "/a[b='c]", "/a/..", "/a:b", "count(/a)", "/a|/b", &"/a".repeat(40)]
    {
        assert!(XmlPath::compile(path).is_err(), "{path}");
    }
}
