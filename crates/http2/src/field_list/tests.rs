use super::*;

#[test]
fn fields_are_found_again_in_their_order() {
    let mut fields = FieldList::new(4096);
    for (name, value) in
        [(":method", "GET"), (":scheme", "https"), (":path", "/a"), ("x", "1"), ("x", ""), ("content-length", "007")]
    {
        fields.push(name.as_bytes(), value.as_bytes());
    }
    fields.check_request().unwrap();
    assert_eq!(fields.pseudo(Pseudo::Path), Some(b"/a".as_slice()));
    assert_eq!((fields.pseudo(Pseudo::Authority), fields.content_length()), (None, Some(7)));
    let own: Vec<_> = fields.iter().collect();
    assert_eq!(own, [("x", b"1".as_slice()), ("x", b""), ("content-length", b"007")]);
    fields.clear();
    assert!(fields.is_empty() && fields.size() == 0 && fields.pseudo(Pseudo::Path).is_none());
}

#[test]
fn values_have_the_bytes_that_http_1_1_allows_them() {
    for byte in 0..=255u8 {
        let value = [b'a', byte, b'b'];
        assert_eq!(is_value(&value), tollgate_http::is_value(&value), "{byte:#x}");
        let name = [b'a', byte];
        assert_eq!(is_lower_token(&name), tollgate_http::is_token(&name) && !byte.is_ascii_uppercase(), "{byte:#x}");
    }
}

#[test]
fn lengths_are_decimal_numbers() {
    for (text, expected) in [("0", Some(0)), ("18", Some(18)), ("", None), ("-1", None), ("+1", None), ("1 ", None), ("0x1", None)]
    {
        assert_eq!(decimal(text.as_bytes()), expected, "{text}");
    }
    assert_eq!(decimal(&[b'9'; 18]), Some(999_999_999_999_999_999));
    assert_eq!(decimal(&[b'9'; 19]), None);
}
