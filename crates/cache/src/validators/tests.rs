use super::{ClientHas, EntityTag, IfRange};

const NOV_6: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
const NOV_6_S: u64 = 784_111_777;

fn tag(text: &str) -> EntityTag {
    EntityTag::parse(text.as_bytes()).unwrap()
}

#[test]
fn tags_are_quoted() {
    for good in ["\"\"", "\"a\"", "W/\"a\"", "\"a,b\"", "\"\\\"", "\"\u{e9}\""] {
        assert_eq!(tag(good).to_bytes(), good.as_bytes());
    }
    for bad in ["", "a", "\"", "\"a", "a\"", "w/\"a\"", "W/a", "\"a\"b\"", "\"a b\"", "'a'", "*", "\"a\", \"b\""] {
        assert_eq!(EntityTag::parse(bad.as_bytes()), None, "{bad}");
    }
}

/// The table in RFC 9110 §8.8.3.2.
#[test]
fn tags_compare_strongly_and_weakly() {
    for (left, right, strong, weak) in [
        ("W/\"1\"", "W/\"1\"", false, true),
        ("W/\"1\"", "W/\"2\"", false, false),
        ("W/\"1\"", "\"1\"", false, true),
        ("\"1\"", "\"1\"", true, true),
    ] {
        assert_eq!(tag(left).matches_strongly(&tag(right)), strong, "{left} {right}");
        assert_eq!(tag(left).matches_weakly(&tag(right)), weak, "{left} {right}");
    }
}

#[test]
fn a_client_that_has_it_is_told_so() {
    let stored = tag("\"b\"");
    let cases: &[(&[(&str, &str)], bool)] = &[
        (&[], false),
        (&[("n", "\"b\"")], true),
        (&[("n", "W/\"b\"")], true),
        (&[("n", "\"a\", \"b\"")], true),
        (&[("n", "\"a\""), ("n", "\"b\"")], true),
        (&[("n", "\"a,b\"")], false),
        (&[("n", "b")], false),
        (&[("n", "*")], true),
        (&[("n", "\"a\""), ("s", "Sun, 06 Nov 2094 08:49:37 GMT")], false),
        (&[("s", "Sun, 06 Nov 2094 08:49:37 GMT"), ("n", "\"a\"")], false),
        (&[("s", NOV_6)], true),
        (&[("s", "Sun, 06 Nov 1994 08:49:36 GMT")], false),
        (&[("s", "Sunday, 06-Nov-94 08:49:37 GMT")], true),
        (&[("s", "Sun Nov  6 08:49:37 1994")], true),
        (&[("s", "yesterday")], false),
        (&[("s", "0")], false),
    ];
    for (lines, expect) in cases {
        let mut has = ClientHas::default();
        for (kind, value) in *lines {
            match *kind {
                "n" => has.add_none_match(value.as_bytes()),
                _ => has.add_modified_since(value.as_bytes()),
            }
        }
        assert_eq!(has.has(Some(&stored), Some(NOV_6_S), NOV_6_S + 100), *expect, "{lines:?}");
    }
    let mut since = ClientHas::default();
    since.add_modified_since(NOV_6.as_bytes());
    assert!(since.has(None, None, NOV_6_S), "without Last-Modified the date counts");
    assert!(!since.has(None, None, NOV_6_S + 1));
}

#[test]
fn tags_of_a_request_are_bounded() {
    let mut has = ClientHas::default();
    has.add_none_match(vec!["\"a\""; 1000].join(",").as_bytes());
    let ClientHas::Tags(tags) = has else { panic!("tags") };
    assert_eq!(tags.len(), super::TAGS_MAX);
}

#[test]
fn if_range_wants_a_strong_validator() {
    let holds = |text: &str, stored: &str, date: u64| {
        IfRange::parse(text.as_bytes()).holds(EntityTag::parse(stored.as_bytes()).as_ref(), Some(NOV_6_S), date)
    };
    let later = NOV_6_S + 60;
    assert!(holds("\"a\"", "\"a\"", later));
    assert!(!holds("W/\"a\"", "\"a\"", later));
    assert!(!holds("\"a\"", "W/\"a\"", later));
    assert!(!holds("\"b\"", "\"a\"", later));
    assert!(holds(NOV_6, "\"a\"", later));
    assert!(!holds(NOV_6, "\"a\"", later - 1), "modified within the minute before");
    assert!(!holds("Sun, 06 Nov 1994 08:49:38 GMT", "\"a\"", later), "later is not the same");
    assert!(!holds("a", "\"a\"", later));
}
