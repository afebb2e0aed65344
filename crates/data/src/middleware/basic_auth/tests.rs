use super::*;

#[test]
fn credentials_are_read_as_the_rfc_says() {
    // RFC 7617, 2; passwords may contain colons; text that is not UTF-8 is an unknown user.
    for (value, user, password) in [
        ("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Aladdin", "open sesame"),
        ("basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Aladdin", "open sesame"),
        ("Basic YTpiOmM=", "a", "b:c"),
        ("Basic Og==", "", ""),
    ] {
        assert_eq!(credentials(value), Ok((user.to_owned(), password.as_bytes().to_vec())), "{value}");
    }
}

#[test]
fn what_are_no_credentials_is_told_apart() {
    for (value, refusal) in [
        ("", refusal::BASIC_FORMAT),
        ("Basic", refusal::BASIC_FORMAT),
        ("QWxhZGRpbjpvcGVuIHNlc2FtZQ==", refusal::BASIC_FORMAT),
        ("Digest QWxhZGRpbjpvcGVuIHNlc2FtZQ==", refusal::BASIC_FORMAT),
        ("Basic a b", refusal::BASIC_FORMAT),
        ("Basic ???", refusal::BASIC_ENCODING),
        ("Basic QWxhZGRpbjp", refusal::BASIC_ENCODING),
        ("Basic QWxhZGRpbg==", refusal::BASIC_VALUES),
    ] {
        assert_eq!(credentials(value), Err(refusal), "{value}");
    }
}
