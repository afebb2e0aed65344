use super::*;

fn transformed(name: &str, value: &[u8]) -> Vec<u8> {
    Transformation::named(name).unwrap_or_else(|| panic!("{name}")).apply(value).into_owned()
}

#[test]
fn each_transformation_does_what_its_name_says() {
    let cases: &[(&str, &[u8], &[u8])] = &[
        ("base64Decode", b"YWJj", b"abc"),
        ("base64Decode", b"YWI=", b"ab"),
        ("base64Decode", b"YW.Jj", b"a"),
        ("base64Decode", b"Y", b""),
        ("base64DecodeExt", b"YW.J j", b"abc"),
        ("base64Encode", b"abc", b"YWJj"),
        ("cmdLine", b"C^md  /c, \"Di'r\"; (X", b"cmd/c dir(x"),
        ("compressWhitespace", b" a \t\n b", b" a b"),
        ("cssDecode", b"ja\\76 as\\63ript\\\n", b"javascript"),
        ("cssDecode", b"\\z\\", b"z"),
        ("escapeSeqDecode", b"\\x41\\102\\n\\q\\x4\\\\", b"AB\n\\q\\x4\\"),
        ("hexDecode", b"616263", b"abc"),
        ("hexEncode", b"ab\xff", b"6162ff"),
        ("htmlEntityDecode", b"&lt;&#x3c;&#60&#0000060;&QUOT;&nbsp;&unknown;&", b"<<<<\"\xa0&unknown;&"),
        ("htmlEntityDecode", "&#x20AC;".as_bytes(), "\u{20ac}".as_bytes()),
        ("htmlEntityDecode", b"&#xd800;&#x110000;&#;", b"&#xd800;&#x110000;&#;"),
        ("jsDecode", b"\\u0061\\x62\\143\\n\\q\\uff1c", b"abc\nq<"),
        ("jsDecode", b"\\777\\u00", b"?7u00"),
        ("length", b"abc", b"3"),
        ("lowercase", b"AbC\xc4", b"abc\xc4"),
        ("normalizePath", b"/a/./b//../c/../../../etc/passwd", b"/etc/passwd"),
        ("normalizePath", b"a/../../b/", b"../b/"),
        ("normalizePath", b"/a/..", b"/"),
        ("normalizePathWin", b"\\a\\..\\b", b"/b"),
        ("removeComments", b"a/*b*/c/*d", b"ac"),
        ("removeCommentsChar", b"a/*b*/--#<!--c-->", b"abc"),
        ("removeNulls", b"a\0b", b"ab"),
        ("removeWhitespace", b" a\tb\xa0", b"ab"),
        ("replaceComments", b"a/*b*/c/*d", b"a c "),
        ("replaceNulls", b"a\0b", b"a b"),
        ("trim", b" a ", b"a"),
        ("trimLeft", b" a ", b"a "),
        ("trimRight", b" a ", b" a"),
        ("uppercase", b"ab", b"AB"),
        ("urlDecode", b"a%20b+c%2", b"a b c%2"),
        ("urlDecode", b"%u0041", b"%u0041"),
        ("urlDecodeUni", b"%u0041%uff1c%41%u00", b"A<A%u00"),
        ("utf8toUnicode", "a\u{20ac}".as_bytes(), b"a%u20ac"),
        ("utf8toUnicode", b"\xff", b"\xff"),
    ];
    for (name, value, expected) in cases {
        let made = transformed(name, value);
        assert_eq!(made, *expected, "{name} {}: {}", value.escape_ascii(), made.escape_ascii());
    }
}

#[test]
fn the_hash_is_that_of_the_standard() {
    assert_eq!(transformed("hexEncode", &transformed("sha1", b"abc")), b"a9993e364706816aba3e25717850c26c9cd0d89d");
}

#[test]
fn no_transformation_makes_more_than_its_bound() {
    for (name, transformation) in NAMED {
        for seed in [&b"%"[..], b"\\", b"&", b"/*", b"\xe2\x82\xac", b"\0", b"../", b"%u", b"\\u"] {
            let value = seed.repeat(1_000);
            let made = transformation.apply(&value);
            assert!(made.len() <= 6 * value.len() + 64, "{name} {}: {}", seed.escape_ascii(), made.len());
        }
    }
}
