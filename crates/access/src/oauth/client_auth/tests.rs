use super::*;

fn shown(authorization: Option<&str>, body: &str) -> Result<Option<(String, String)>, ErrorCode> {
    let parameters = OauthParameters::read(None, None, body.as_bytes()).unwrap();
    let credentials = Credentials::of(authorization.map(str::as_bytes), &parameters).map_err(|refused| refused.code)?;
    Ok(credentials.map(|credentials| (credentials.id, credentials.secret)))
}

#[test]
fn header_and_body_say_who_it_is() {
    // The example of RFC 6749, section 2.3.1.
    let expected = Some(("s6BhdRkqt3".to_owned(), "gX1fBat3bV".to_owned()));
    assert_eq!(shown(Some("Basic czZCaGRSa3F0MzpnWDFmQmF0M2JW"), ""), Ok(expected));
    let expected = Some(("s6BhdRkqt3".to_owned(), "7Fjfp0ZBr1KtDRbnfVdmIw".to_owned()));
    assert_eq!(shown(None, "client_id=s6BhdRkqt3&client_secret=7Fjfp0ZBr1KtDRbnfVdmIw"), Ok(expected));
    assert_eq!(shown(None, "client_id=s6BhdRkqt3"), Ok(None));
    assert_eq!(shown(None, ""), Ok(None));
}

#[test]
fn what_can_not_be_read_is_refused() {
    for header in ["Basic", "Basic !", "Bearer czZCaGRSa3F0MzpnWDFmQmF0M2JW", "Basic czZCaGRSa3F0Mw==", "Basic /////w=="] {
        assert_eq!(shown(Some(header), ""), Err(ErrorCode::InvalidRequest), "{header}");
    }
}

#[test]
fn header_and_body_may_say_the_same_and_nothing_else() {
    // a:b and a%2Fc:b+d
    let (plain, encoded) = ("Basic YTpi", "Basic YSUyRmM6Yitk");
    let same = |id: &str, secret: &str| Ok(Some((id.to_owned(), secret.to_owned())));
    assert_eq!(shown(Some(plain), "client_id=a&client_secret=b"), same("a", "b"));
    assert_eq!(shown(Some(encoded), "client_id=a%2Fc&client_secret=b+d"), same("a%2Fc", "b+d"));
    assert_eq!(shown(Some(plain), "client_id=a"), same("a", "b"));
    for body in ["client_id=a&client_secret=c", "client_id=c&client_secret=b", "client_id=A&client_secret=b"] {
        assert_eq!(shown(Some(plain), body), Err(ErrorCode::InvalidRequest), "{body}");
    }
}
