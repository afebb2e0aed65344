use super::{BareItem, dictionary};

type Members = &'static [(&'static str, BareItem)];

#[test]
fn dictionaries_are_read_as_rfc_9651_says() {
    let cases: &[(&str, Option<Members>)] = &[
        ("", Some(&[])),
        ("a", Some(&[("a", BareItem::Boolean(true))])),
        ("a;x=1;y", Some(&[("a", BareItem::Boolean(true))])),
        ("a=1, b=?0 ,\tc=x/y", Some(&[("a", BareItem::Integer(1)), ("b", BareItem::Boolean(false)), ("c", BareItem::Token)])),
        ("a=-999999999999999", Some(&[("a", BareItem::Integer(-999_999_999_999_999))])),
        ("a=1.5", Some(&[("a", BareItem::Decimal)])),
        ("a=\"x\\\"y\\\\\"", Some(&[("a", BareItem::String)])),
        ("a=:aGk=:", Some(&[("a", BareItem::Bytes)])),
        ("a=@1659578233", Some(&[("a", BareItem::Date)])),
        ("a=%\"f%c3%bc\"", Some(&[("a", BareItem::DisplayString)])),
        ("a=( 1 \"b\";p  c )", Some(&[("a", BareItem::InnerList)])),
        ("a=1,a=2", Some(&[("a", BareItem::Integer(2))])),
        ("*a=1", Some(&[("*a", BareItem::Integer(1))])),
        ("A=1", None),
        ("1=1", None),
        ("a=", None),
        ("a=1,", None),
        ("a=1;", None),
        ("a=1 b=2", None),
        ("a=1000000000000000", None),
        ("a=1.", None),
        ("a=1.0000", None),
        ("a=--1", None),
        ("a=?2", None),
        ("a=\"x", None),
        ("a=\"x\\n\"", None),
        ("a=(1", None),
        ("a=(1,2)", None),
        ("a=@1.5", None),
        ("a=%\"%C3\"", None),
        ("a=\u{e9}", None),
    ];
    for (text, expect) in cases {
        let read = dictionary(text.as_bytes());
        let read: Option<Vec<(&str, BareItem)>> =
            read.as_ref().map(|members| members.iter().map(|(name, item)| (name.as_str(), *item)).collect());
        assert_eq!(read.as_deref(), *expect, "{text}");
    }
}

#[test]
fn a_dictionary_has_a_bound() {
    let text = |count: usize| (0..count).map(|number| format!("a{number}")).collect::<Vec<_>>().join(",");
    assert_eq!(dictionary(text(64).as_bytes()).map(|members| members.len()), Some(64));
    assert_eq!(dictionary(text(65).as_bytes()), None);
}
